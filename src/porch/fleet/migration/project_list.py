"""The lists in which old projects were tracked: `codev/projectlist.md` and its archives.

They are pages for people, with pieces of YAML or tables in them, so they are read line by line. An
entry begins with an id; its status and the path of its specification follow, before the next id.
"""

import os
import re
from collections.abc import Iterator

from msgspec import Struct

from porch.dialects.ended_states import ENDED
from porch.system.document_file import read_document

_LIST = re.compile(r"projectlist[\w.-]*\.md", re.IGNORECASE)
_KEY = re.compile(r"\s*(?:-\s+)?(id|status|spec):\s*[\"']?([^\s\"',#]+)")
_LIVE = frozenset(
    {"conceived", "specified", "planned", "implementing", "implemented", "on-hold", "waiting"}
)


class ListedProject(Struct, frozen=True):
    """One entry of a list; `spec` is empty where the list names no file."""

    id: str
    status: str
    spec: str = ""


def read_project_lists(root: str) -> list[ListedProject]:
    """The entries of all lists, those of the archives last."""
    directory = os.path.join(root, "codev")
    names = sorted(os.listdir(directory), key=lambda name: (len(name), name))
    paths = [os.path.join(directory, name) for name in names if _LIST.fullmatch(name)]
    return [entry for path in paths for entry in _read_entries(read_document(path, "replace"))]


def find_listed_status(
    entries: list[ListedProject], id_: str, spec: str, *, is_id_shared: bool
) -> str:
    """What the lists say of a project; that it has ended counts, whatever another entry says.

    An id that several projects share means none of them, unless the entry names the file.
    """
    statuses = [
        entry.status
        for entry in entries
        if entry.spec == spec or (entry.id.lstrip("0") == id_.lstrip("0") and not is_id_shared)
    ]
    ended = (status for status in statuses if status in ENDED)
    return next(ended, statuses[0] if statuses else "")


def _read_entries(text: str) -> Iterator[ListedProject]:
    entry: dict[str, str] = {}
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            yield from _read_table_row(line)
        elif match := _KEY.match(line):
            if match[1] == "id":
                yield from _make_entry(entry)
                entry = {}
            entry.setdefault(match[1], match[2])
    yield from _make_entry(entry)


def _make_entry(entry: dict[str, str]) -> Iterator[ListedProject]:
    if entry.get("id", "").isdecimal() and "status" in entry:
        spec = entry.get("spec", "")
        yield ListedProject(entry["id"], entry["status"].lower(), "" if spec == "null" else spec)


def _read_table_row(line: str) -> Iterator[ListedProject]:
    """The first cell that is a number, and the first one that is the word for a status."""
    cells = [cell.strip().strip("*`").lower() for cell in line.strip().strip("|").split("|")]
    ids = [cell for cell in cells if cell.isdecimal() and len(cell) > 2]
    statuses = [cell for cell in cells if cell in _LIVE | ENDED]
    if ids and statuses:
        yield ListedProject(ids[0], statuses[0])
