"""Moving documents so that at every instant each of them lies somewhere whole.

First all of them are copied, then every copy is read again, and only then the old ones go.
"""

import os

from msgspec import Struct

from porch.errors import FailedError
from porch.fleet.migration.old_tree import OldProject
from porch.fleet.setup.additive_files import PlannedFile, plan_new_file, write_planned_file
from porch.system.regular_file import open_regular


class DocumentMove(Struct, frozen=True):
    """One file from its old place to its new one."""

    old: str
    new: str
    planned: PlannedFile


def plan_moves(root: str, project: OldProject) -> list[DocumentMove]:
    moves = []
    for name, old in project.files.items():
        new = f"{project.directory}/{name}"
        moves.append(DocumentMove(old, new, plan_new_file(root, new, _read(root, old))))
    return moves


def find_conflict(moves: list[DocumentMove]) -> str:
    """What stands in the way: nobody's file is replaced by an older one."""
    return next((f"{m.new} is there with other content" for m in moves if _is_other(m)), "")


def _is_other(move: DocumentMove) -> bool:
    return move.planned.fate == "kept"


def copy_documents(root: str, moves: list[DocumentMove]) -> None:
    for move in moves:
        write_planned_file(root, move.planned)


def verify_copies(root: str, moves: list[DocumentMove]) -> None:
    """Every copy is read again, and is what the old file is now."""
    for move in moves:
        if _read(root, move.old) != _read(root, move.new):
            raise FailedError(
                f"{move.new} is not the same as {move.old}; nothing was removed",
                fix="compare the two files, keep the right one, then run `codev migrate` again",
                code="not-verified",
            )


def remove_old_documents(root: str, moves: list[DocumentMove]) -> None:
    verify_copies(root, moves)
    for move in moves:
        os.unlink(os.path.join(root, move.old))
    for place in {os.path.dirname(move.old) for move in moves}:
        _remove_empty_directory(os.path.join(root, place))


def _remove_empty_directory(path: str) -> None:
    """Other files of people keep it where it is."""
    if os.path.isdir(path) and not os.listdir(path):
        os.rmdir(path)


def _read(root: str, path: str) -> bytes:
    with open(os.path.join(root, path), "rb", opener=open_regular) as file:
        return file.read()
