"""That `af cleanup` removed the worktree of a stopped run: a small file beside its journal.

It says at which commit the worktree stood, so that the run goes on from there and from nowhere
else, and under which name people find its work. Views read it with os alone.
"""

from __future__ import annotations

import os

_FILE = "worktree-removed"


class RemovedPlace:
    """The worktree that is gone: its path, its last commit, and the branch that keeps it."""

    __slots__ = ("commit", "kept", "path")

    def __init__(self, commit: str, kept: str, path: str) -> None:
        self.commit = commit
        self.kept = kept
        self.path = path

    def describe(self, resume: str) -> str:
        """What a person is told; `resume` is the command that makes it again."""
        return (
            f"its worktree was removed by `af cleanup`; {self.kept} has its work, "
            f"and `{resume}` makes the worktree again"
        )


def note_removed_place(directory: str, gone: RemovedPlace) -> None:
    from porch.system import atomic  # whoever shows a run writes nothing

    text = f"{gone.commit}\n{gone.kept}\n{gone.path}"
    path = os.path.join(directory, _FILE)
    atomic.replace_file(path, text.encode("utf-8", "surrogateescape"), sync=True)


def read_removed_place(directory: str) -> RemovedPlace | None:
    """What was removed and is still gone; None if the worktree is there."""
    path = os.path.join(directory, _FILE)
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        commit, kept, place = (*file.read().split("\n", 2), "", "")[:3]
    return None if os.path.isdir(place) else RemovedPlace(commit, kept, place)


def forget_removed_place(directory: str) -> None:
    """The worktree is there again."""
    path = os.path.join(directory, _FILE)
    if os.path.lexists(path):
        os.unlink(path)
