"""The files as a phase found them, kept in a file of the run.

It is written before the agent begins, so that a crash in the middle of a turn does not make its
changes the beginning of the next. What changes while the run waits for a person is that person's.
"""

import os
from collections.abc import Mapping

from msgspec import Struct, field, json

from porch.system import atomic


class PhaseEntry(Struct, frozen=True):
    """The files as a phase found them; `last` is how porch saw them last.

    `given` holds what a person changed meanwhile, `agreed` what a person let an agent change, and
    `refused` what the last comparison refused: path to mode and id, empty if the file is gone.
    `carried` are files that were changed in earlier visits of the phase, as they were before, and
    `hidden` those that git ignores: no tree has them, but a test runner reads them all the same.
    """

    since: str
    tree: str
    last: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    agreed: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)


def read_phase_entry(path: str) -> PhaseEntry | None:
    try:
        with open(path, "rb") as file:
            return json.decode(file.read(), type=PhaseEntry)
    except (OSError, ValueError):
        return None


def write_phase_entry(path: str, entry: PhaseEntry) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    atomic.replace_file(path, json.encode(entry), sync=False)
