"""Reading a run without touching it: the journal is folded, nothing is decided, nothing is cut."""

import os
from dataclasses import dataclass
from typing import Any

from porch.adapters.journal import scan
from porch.adapters.where import Where
from porch.machine.evolve import fold
from porch.machine.records import decode_all
from porch.machine.state import State
from porch.model.definition import Definition
from porch.operations.session import definition_of
from porch.views import picture


@dataclass(frozen=True, slots=True)
class Read:
    """A run as its journal has it at this instant."""

    name: str
    definition: Definition
    state: State
    raws: list[dict[str, Any]]
    length: int
    sum: str

    def picture(self, changed: bool = False) -> dict[str, Any]:
        protocol = self.definition.protocol
        return picture.picture(protocol, self.state, self.length, self.sum, changed)


def read(where: Where, name: str) -> Read:
    found = scan(os.path.join(where.run_dir(name), "journal.jsonl"))
    state = fold(State(), decode_all(found.records))
    definition = definition_of(where, name, state.run.digest)
    return Read(name, definition, state, found.records, found.length, found.sum)
