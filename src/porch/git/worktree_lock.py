"""One at a time for those who make and remove worktrees of a repository, or move their files."""

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator

from porch.system.regular_file import open_regular


@contextlib.contextmanager
def lock_worktrees(common_dir: str) -> Iterator[None]:
    """Nobody else makes or removes worktrees meanwhile; git fails if it meets a half made one."""
    with _hold_lock(common_dir, "worktrees.lock"):
        yield


@contextlib.contextmanager
def lock_moves(common_dir: str) -> Iterator[None]:
    """Nobody else moves a branch with its files meanwhile, so what is half moved has no owner."""
    with _hold_lock(common_dir, "moves.lock"):
        yield


@contextlib.contextmanager
def _hold_lock(common_dir: str, name: str) -> Iterator[None]:
    held = _THREAD.__dict__.setdefault("held", set())
    place = os.path.join(common_dir, "porch")
    path = os.path.join(place, name)
    if path in held:
        yield
        return
    os.makedirs(place, mode=0o700, exist_ok=True)
    with open(path, "a", encoding="ascii", opener=open_regular) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        held.add(path)
        try:
            yield
        finally:
            held.remove(path)


_THREAD = threading.local()
