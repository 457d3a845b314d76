"""Files of a worktree that git cannot take into a commit, so that nothing counts as measured."""

import contextlib
import os
import re
import stat

from porch.errors import OutsideError
from porch.text.late_pattern import late_pattern

# To measure once more would say the same.
ODD_CODES = ("embedded-repository", "untaken-file")
_NOT_TAKEN = late_pattern(
    r"^error: (.*)\nerror: unable to (?:index file|add) '(.*?)'(?: to index)?$", re.MULTILINE
)
_NO_COMMIT = late_pattern(r"^error: '(.*)/' does not have a commit checked out$", re.MULTILINE)


# Then nothing is wrong with the file that git was about to write.
_NO_ROOM = late_pattern(
    r": (No space left on device|Disk quota exceeded|Read-only file system|Input/output error)$",
    re.MULTILINE,
)


def refuse_odd_files(toplevel: str, said: str) -> None:
    """What `git add` said of such a file, in words that tell what to do."""
    if blank := _NO_COMMIT.search(said):
        raise embedded_repository_error(toplevel, blank[1])
    if (odd := _NOT_TAKEN.search(said)) and not _NO_ROOM.search(said):
        raise OutsideError(
            f"git cannot take {odd[2]} in {toplevel}: {odd[1]}",
            fix="remove the file, or make it readable",
            code="untaken-file",
        )


def refuse_pipes(toplevel: str) -> None:
    """Git would wait for ever for somebody to write into one."""
    for name in (".gitignore", ".gitattributes"):
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISFIFO(os.lstat(os.path.join(toplevel, name)).st_mode):
                raise OutsideError(
                    f"{name} in {toplevel} is a named pipe, and git would wait for it",
                    fix=f"remove it: rm {name}",
                )


def embedded_repository_error(toplevel: str, name: str) -> OutsideError:
    return OutsideError(
        f"{name} in {toplevel} is a git repository of its own; porch cannot see what changes in it",
        fix=f"move it away, add `/{name}/` to .gitignore, or commit it as a submodule",
        code="embedded-repository",
    )
