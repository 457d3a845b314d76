"""The clock by which a file system dates changes: only such times can be compared with those."""

import os
import stat


def read_file_clock(toplevel: str) -> int:
    """The time of change that a file of this linked worktree would get now; 0 if nobody can tell.

    Whatever changes later gets this time or a later one. The file that is touched is git's own,
    and nobody measures it. It stays as old as it is: by that a worktree is known that was deleted
    and made again.
    """
    probe = os.path.join(toplevel, ".git")
    try:
        seen = os.lstat(probe)
        if not stat.S_ISREG(seen.st_mode):
            return 0
        os.utime(probe, ns=(seen.st_atime_ns, seen.st_mtime_ns), follow_symlinks=False)
        return os.lstat(probe).st_ctime_ns
    except OSError:
        return 0
