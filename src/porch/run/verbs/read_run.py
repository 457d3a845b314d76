"""Reading a run without touching it: the journal is folded, nothing is decided, nothing is cut."""

from typing import TYPE_CHECKING

from msgspec import Struct

from porch.account.consequences import object_to_nothing
from porch.machine.state import RunState
from porch.model.definition import Definition
from porch.run.decisions.answer_guards import AnswerGuards
from porch.run.engine.folded_journal import JournalReader
from porch.run.engine.pinned_definition import find_shown_request, read_pinned_definition
from porch.show import run_picture as picture
from porch.store.where import ProjectPaths

if TYPE_CHECKING:
    from porch.show.shapes import PictureShape, RunRowShape


class ReadRun(Struct, frozen=True):
    """A run as its journal has it at this instant."""

    name: str
    definition: Definition
    state: RunState
    length: int
    sum: str
    request: str = ""
    guards: AnswerGuards | None = None

    def picture(self, changed: bool = False) -> "PictureShape":
        protocol = self.definition.protocol
        return picture.make_run_picture(
            protocol,
            self.state,
            self.length,
            self.sum,
            definition_changed=changed,
            request=self.request,
            objection=self.guards or object_to_nothing,
            files=self.guards.look_at_files() if self.guards else {},
        )

    def row(self) -> "RunRowShape":
        """What the run's row file would hold if it were drawn now."""
        protocol = self.definition.protocol
        # Before the files are looked at: what is written after this is news.
        stamps = self.guards.list_stamps() if self.guards else []
        row = picture.row_with_decisions(
            protocol,
            self.state,
            self.length,
            self.sum,
            request=self.request,
            objection=self.guards or object_to_nothing,
            files=self.guards.look_at_files() if self.guards else {},
        )
        if stamps:
            row["stamps"] = stamps
        return row


class RunReader:
    """Reads many runs of one project; a definition that several have is taken apart once."""

    def __init__(self, where: ProjectPaths):
        self._where = where
        self._known: dict[str, Definition] = {}

    def read(self, name: str) -> ReadRun:
        folded = JournalReader(self._where.run_dir(name), name).fold()
        state, found = folded.state, folded.found
        definition = self._definition(name, state.run.digest)
        request = find_shown_request(self._where.run_dir(name), definition.protocol, state.run)
        guards = AnswerGuards(self._where, definition.protocol, state)
        return ReadRun(name, definition, state, found.length, found.sum, request, guards)

    def _definition(self, name: str, digest: str) -> Definition:
        """By its digest: what has the same one is the same."""
        if digest not in self._known:
            self._known[digest] = read_pinned_definition(self._where, name, digest)
        return self._known[digest]


def read_run(where: ProjectPaths, name: str) -> ReadRun:
    return RunReader(where).read(name)
