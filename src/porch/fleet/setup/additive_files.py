"""Files that are only ever added: what a person or a tool wrote before is never overwritten."""

import os
from typing import Literal

from msgspec import Struct

from porch.errors import OutsideError
from porch.system import atomic
from porch.system.regular_file import open_regular, require_directory_inside, require_regular

FileFate = Literal["new", "same", "kept", "extended"]


class PlannedFile(Struct, frozen=True):
    """One file of a set-up. `kept` is there with other content, and stays; `note` says more."""

    path: str
    data: bytes
    fate: FileFate
    mode: int = 0o644
    note: str = ""

    @property
    def is_change(self) -> bool:
        return self.fate in ("new", "extended")

    def as_json(self) -> dict[str, str]:
        return {"path": self.path, "fate": self.fate, "note": self.note}


def plan_new_file(root: str, path: str, data: bytes, mode: int = 0o644) -> PlannedFile:
    """A file of ours: written where there is none."""
    there = read_existing(root, path)
    fate: FileFate = "new" if there is None else "same" if there == data else "kept"
    return PlannedFile(path, data, fate, mode)


def plan_extended_file(root: str, path: str, data: bytes) -> PlannedFile:
    """A file that others write too; `data` holds all that is there already, and more."""
    there = read_existing(root, path)
    fate: FileFate = "new" if there is None else "same" if there == data else "extended"
    return PlannedFile(path, data, fate)


def read_existing(root: str, path: str) -> bytes | None:
    """What lies there; None where nothing does. A link or a directory is refused by its name."""
    whole = os.path.join(root, path)
    require_directory_inside(root, os.path.dirname(whole))
    require_regular(whole)
    try:
        with open(whole, "rb", opener=open_regular) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        above = _find_file_above(root, path)
        raise OutsideError(
            f"{above} is a file, and a directory is needed there",
            fix=f"move {above} away, then run the same command again",
        ) from error


def _find_file_above(root: str, path: str) -> str:
    """The first part of the path that is no directory."""
    parts = path.split("/")[:-1]
    above = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    found = (each for each in above if not os.path.isdir(os.path.join(root, each)))
    return next(found, os.path.dirname(path))


def write_planned_file(root: str, planned: PlannedFile) -> None:
    """Do what was planned; a file that appeared in the meantime is left alone.

    Half a file is never seen: the next call would take it for the project's own.
    """
    path = os.path.join(root, planned.path)
    if planned.is_change:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    temporary = f"{path}.porch-new"
    if planned.fate == "extended":
        atomic.publish_file(temporary, path, planned.data, mode=planned.mode)
    elif planned.fate == "new":
        atomic.publish_new_file(temporary, path, planned.data, mode=planned.mode)
    else:
        # Of a call that was killed between the name and the end of this function.
        atomic.try_os_call(os.unlink, temporary)
