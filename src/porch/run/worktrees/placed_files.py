"""Files that a fresh worktree needs and git does not have: copied or linked from the main checkout.

Nothing that is there already is replaced. A tracked file would be committed with what somebody
changed in it for themselves.
"""

import os
from collections.abc import Iterator, Sequence

from porch.errors import OutsideError, UsageError
from porch.run.settings import Settings
from porch.run.worktrees.names import DIRECTORY

Told = list[str]


def place_files(source: str, worktree: str, known: Settings, told: Told) -> tuple[str, ...]:
    """Copy and link what the settings name; returns the paths that were put there."""
    placed = [*_copy_files(source, worktree, known.copy, told)]
    placed += _link_names(source, worktree, known.link, told)
    return tuple(placed)


def copy_documents(source: str, worktree: str, names: Sequence[str]) -> list[str]:
    """Documents of the run that nobody has committed yet; they become part of its work."""
    for name in names:
        _require_no_link_above(worktree, name)
        there = os.path.join(worktree, name)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        # The one that is committed is older than what the person has written since.
        _copy_file(os.path.join(source, name), there)
    return list(names)


def require_placed(source: str, worktree: str, placed: Sequence[str]) -> None:
    """What was put there is really there, byte for byte."""
    for name in placed:
        here, there = os.path.join(source, name), os.path.join(worktree, name)
        is_same = (
            os.path.realpath(here) == os.path.realpath(there)
            if os.path.islink(there)
            else os.path.isfile(there) and _have_same_bytes(here, there)
        )
        if not is_same:
            raise OutsideError(
                f"{there} is not the same as {here}, from which it was made",
                fix="check the commands under [worktree] setup and the disk, then try again",
                code="worktree-setup",
            )


def _have_same_bytes(here: str, there: str) -> bool:
    import filecmp

    return filecmp.cmp(here, there, shallow=False)


def _copy_file(source: str, to: str, *, follows_links: bool = False) -> None:
    import shutil  # most projects copy nothing

    shutil.copy2(source, to, follow_symlinks=follows_links)


def _copy_files(source: str, worktree: str, globs: Sequence[str], told: Told) -> Iterator[str]:
    for pattern in globs:
        _require_inside(pattern, "copy")
        names = sorted(_list_files(source, pattern))
        if not names:
            told.append(f"note: [worktree] copy: '{pattern}' matches no file in {source}")
        for name in names:
            if _leads_out(source, name):
                told.append(
                    f"note: [worktree] copy: {name} is a link, or behind a link, that leads out of "
                    "the project; it was not copied"
                )
            elif _copy(source, worktree, name):
                yield name
            else:
                told.append(
                    f"note: [worktree] copy: {name} is in the repository; it was not copied"
                )


def _list_files(source: str, pattern: str) -> Iterator[str]:
    import glob

    found = glob.glob(pattern, root_dir=source, recursive=True, include_hidden=True)
    for name in found:
        if _is_ours(name):
            continue
        whole = os.path.join(source, name)
        if os.path.isfile(whole):
            yield os.path.normpath(name)
        elif os.path.isdir(whole) and not pattern.endswith("**"):
            yield from _list_files(source, f"{glob.escape(name.rstrip('/'))}/**")


def _leads_out(top: str, name: str) -> bool:
    """Git may ignore the link, so that nobody sees who has put it there."""
    real = os.path.realpath(os.path.join(top, name))
    return not real.startswith(os.path.realpath(top) + os.sep)


def _is_ours(name: str) -> bool:
    return name.split("/", maxsplit=1)[0] in (".git", DIRECTORY)


def _copy(source: str, worktree: str, name: str) -> bool:
    """Whether it was copied; what is there stays as it is."""
    there = os.path.join(worktree, name)
    if os.path.lexists(there):
        return False
    _require_no_link_above(worktree, name)
    os.makedirs(os.path.dirname(there), exist_ok=True)
    _copy_file(os.path.join(source, name), there, follows_links=True)
    return True


def _link_names(source: str, worktree: str, names: Sequence[str], told: Told) -> Iterator[str]:
    for written in names:
        _require_inside(written, "link")
        name = os.path.normpath(written)
        here, there = os.path.join(source, name), os.path.join(worktree, name)
        if not os.path.exists(here):
            told.append(f"note: [worktree] link: there is no '{name}' in {source}")
        elif os.path.lexists(there):
            told.append(f"note: [worktree] link: {name} is there already; it was not linked")
        else:
            _require_no_link_above(worktree, name)
            os.makedirs(os.path.dirname(there), exist_ok=True)
            os.symlink(os.path.relpath(here, os.path.realpath(os.path.dirname(there))), there)
            yield name


def _require_inside(name: str, key: str) -> None:
    parts = name.split("/")
    if os.path.isabs(name) or ".." in parts or _is_ours(os.path.normpath(name)):
        raise UsageError(
            f"[worktree] {key}: '{name}' is not a path inside the project",
            fix="write it from the top of the repository, without '..', '.git' and 'worktrees'",
            code="bad-worktree-path",
        )


def _require_no_link_above(worktree: str, name: str) -> None:
    """A link in the repository could lead out of the worktree."""
    above = os.path.dirname(name)
    if above and _leads_out(worktree, above):
        raise UsageError(
            f"{name} lies behind a link that leads out of the worktree",
            fix="leave it out of [worktree] copy and link",
            code="bad-worktree-path",
        )
