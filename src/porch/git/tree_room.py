"""A directory in which measurements of worktrees keep what must stay the same between them."""

import os

from msgspec import Struct

from porch.git import git_directory, repository
from porch.git.fresh.plain_checkout import EXCLUDES, read_file_settings
from porch.git.own_git_directory import OwnGitDirectory
from porch.system import atomic
from porch.text.sha256 import sha256

IGNORE = "ignore"
BASE = "base"
LATEST = "latest"


class TreeRoom(Struct, frozen=True):
    """Where the indexes lie, what is ignored, and the commit whose submodules are known.

    What is ignored in a room that is pinned stays as it was when the room was made.
    """

    path: str
    ignore_file: str
    base: str
    is_pinned: bool


def pin_tree_room(toplevel: str, room: str) -> TreeRoom:
    """The room as it is; made now if there is none, with the rules for ignoring as they are now."""
    ignore, base = os.path.join(room, IGNORE), os.path.join(room, BASE)
    if not os.path.exists(base):
        atomic.ensure_directory(room)
        _put_file(ignore, _read_ignore_rules(toplevel))
        _put_file(base, (repository.read_head(toplevel) or "").encode())
    with open(base, encoding="ascii") as file:
        return TreeRoom(room, ignore, file.read(), is_pinned=True)


def open_latest_room(toplevel: str, own: OwnGitDirectory) -> TreeRoom:
    """A room in which what is ignored is as it is now, for who measures outside a run."""
    room = os.path.join(own.path, LATEST)
    atomic.ensure_directory(room)
    name = sha256(os.path.realpath(toplevel).encode()).hexdigest()[:20]
    ignore, rules = os.path.join(room, f"{name}.{IGNORE}"), _read_ignore_rules(toplevel)
    if _read_bytes(ignore) != rules:
        _put_file(ignore, rules)
    return TreeRoom(room, ignore, "", is_pinned=False)


def _read_ignore_rules(toplevel: str) -> bytes:
    """All rules that lie outside the worktree, the weaker ones first."""
    common = repository.find_common_directory(toplevel)
    own = _read_bytes(os.path.join(common, "info", "exclude"))
    inner = "".join(f"/{name}/\n" for name in _list_inner_worktrees(toplevel, common))
    return b"\n".join((_read_bytes(_find_excludes_file(toplevel)), own, inner.encode()))


def _list_inner_worktrees(toplevel: str, common: str) -> list[str]:
    """Checkouts of other branches that lie inside this one: no files of it."""
    top = os.path.realpath(toplevel) + os.sep
    paths = [os.path.realpath(w.path) for w in git_directory.list_linked_worktrees(common)]
    return sorted(path.removeprefix(top) for path in paths if path.startswith(top))


def _find_excludes_file(toplevel: str) -> str:
    told = read_file_settings(toplevel).get(EXCLUDES)
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(toplevel, told) if told else os.path.join(home, "git", "ignore")


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _put_file(path: str, data: bytes) -> None:
    # Two processes may come to this at once.
    atomic.publish_file(f"{path}.{os.getpid()}", path, data, sync=False)
