"""One at a time for those who make and remove worktrees of a repository."""

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator

from porch.system.regular_file import open_regular


@contextlib.contextmanager
def lock_worktrees(common_dir: str) -> Iterator[None]:
    """Nobody else makes or removes worktrees meanwhile; git fails if it meets a half made one."""
    if getattr(_THREAD, "is_alone", False):
        yield
        return
    place = os.path.join(common_dir, "porch")
    os.makedirs(place, mode=0o700, exist_ok=True)
    path = os.path.join(place, "worktrees.lock")
    with open(path, "a", encoding="ascii", opener=open_regular) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _THREAD.is_alone = True
        try:
            yield
        finally:
            _THREAD.is_alone = False


_THREAD = threading.local()
