"""Which documents there are, and whether any of them has changed: names and stamps, no contents.

Git is asked only when a name, its index or a file of ignore rules is not what it was; a search
otherwise costs one look at every document's stamp. Nothing heavy is imported here: the whole cold
search has the budget of three imports of sqlite3.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.adapters.where import Where

# A file that changed so short a time ago may change again without a new stamp.
_TOO_FRESH_NS = 100_000_000
UNSURE = "?"
MARKDOWN = (".md", ".markdown", ".mdx")
ENDINGS = (*MARKDOWN, ".txt", ".text", ".rst", ".adoc")


class Scan:
    """One look at the documents: the stamp of each candidate, and all names that git must judge."""

    __slots__ = ("names", "rules", "stamps")

    def __init__(self, rules: list[str]):
        self.names: list[str] = []
        self.stamps: dict[str, str] = {}
        self.rules = rules

    def picture(self) -> str:
        """The same text again means that nothing at all has changed."""
        return "\n".join([self.listing(), *self.stamps.values()])

    def listing(self) -> str:
        """The same text again means that git's answer still stands."""
        return "\n".join([*self.names, *self.stamps, *self.rules])


def is_document(name: str) -> bool:
    """By the ending of its name."""
    return name.endswith(ENDINGS) or name.lower().endswith(ENDINGS)


def scan(where: Where, paths: list[str], pruned: set[str]) -> Scan:
    """Look at everything under these paths; `pruned` are directories that git ignores."""
    found = Scan(_rules(where, paths))
    for path in paths:
        full = os.path.join(where.workspace, path)
        if os.path.isdir(full):
            _walk(full, "" if path == "." else f"{path}/", pruned, found)
        elif os.path.isfile(full) and not os.path.islink(full):
            found.stamps[path] = stamp(os.lstat(full))
    return found


def _walk(top: str, front: str, pruned: set[str], found: Scan) -> None:
    pruned = {*pruned, f"{front}.git"}
    waiting = [(top, front)]
    while waiting:
        directory, front = waiting.pop()
        try:
            entries = list(os.scandir(directory))
        except OSError:
            continue
        for entry in entries:
            name = entry.name
            if is_document(name) and entry.is_file(follow_symlinks=False):
                found.stamps[front + name] = _entry_stamp(entry)
            elif name == ".gitignore":
                found.rules.append(_known(entry.path))
            elif entry.is_dir(follow_symlinks=False) and front + name not in pruned:
                found.names.append(front + name)
                waiting.append((entry.path, f"{front}{name}/"))


def _entry_stamp(entry: os.DirEntry[str]) -> str:
    try:
        return stamp(entry.stat(follow_symlinks=False))
    except OSError:
        return UNSURE


def stamp(known: os.stat_result) -> str:
    return f"{known.st_size} {known.st_mtime_ns} {known.st_ctime_ns}"


def settled(stamps: dict[str, str]) -> dict[str, str]:
    """Those of files that have just changed are not to be trusted next time."""
    edge = time.time_ns() - _TOO_FRESH_NS
    return {path: each if _is_older(each, edge) else UNSURE for path, each in stamps.items()}


def _is_older(known: str, edge: int) -> bool:
    return all(int(part) < edge for part in known.split(" ")[1:])


def _rules(where: Where, paths: list[str]) -> list[str]:
    """Stamps of everything outside the scanned directories that git's answer depends on."""
    if not where.common_dir:
        return []
    own = _own_git_directory(where)
    home = os.environ.get("HOME", "")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = [
        os.path.join(own, "index"),
        os.path.join(where.common_dir, "info", "exclude"),
        os.path.join(where.common_dir, "config"),
        os.path.join(config, "git", "ignore"),
        os.path.join(config, "git", "config"),
        os.path.join(home, ".gitconfig"),
    ]
    above = {part for path in paths for part in _above(path)}
    files += [os.path.join(where.workspace, part, ".gitignore") for part in sorted(above)]
    return [_known(file) for file in files]


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(len(parts))]


def _own_git_directory(where: Where) -> str:
    """The one with this worktree's index; in a linked worktree `.git` is a file that names it."""
    dot = os.path.join(where.workspace, ".git")
    try:
        with open(dot, encoding="utf-8", errors="surrogateescape") as file:
            named = file.readline().strip().removeprefix("gitdir:").strip()
    except OSError:
        return where.common_dir
    return os.path.join(where.workspace, named)


def _known(path: str) -> str:
    try:
        return f"{path}\t{stamp(os.stat(path))}"
    except OSError:
        return path


def judged(where: Where, paths: list[str]) -> tuple[set[str] | None, set[str]]:
    """What git counts as files of the project, and the directories that it ignores.

    Outside of a repository nobody ignores anything, and the first answer is None.
    """
    if not where.common_dir or where.is_bare:
        return None, set()
    from porch.adapters.git_command import ask

    there = [path for path in paths if os.path.lexists(os.path.join(where.workspace, path))]
    if not there:
        return set(), set()
    named = ["--", *(f":(top,literal){'' if path == '.' else path}" for path in there)]
    front = ("ls-files", "-z", "--exclude-standard")
    known = ask(where.workspace, *front, "-co", *named)
    ignored = ask(where.workspace, *front, "-oi", "--directory", *named)
    closed = [name for name in ignored.split("\0") if name.endswith("/")]
    return set(known.split("\0")), _ignored_themselves(where.workspace, closed)


def _ignored_themselves(workspace: str, names: list[str]) -> set[str]:
    """Git also lists directories in which all files happen to be ignored; a new one may not be."""
    from porch.adapters.git_command import attempt

    if not names:
        return set()
    done = attempt(workspace, "check-ignore", "-z", "--stdin", stdin="\0".join(names))
    return {name.rstrip("/") for name in done.stdout.split("\0") if name}


def content(workspace: str, path: str, most: int) -> tuple[bytes, str]:
    """The bytes of a document, or why it is none."""
    try:
        fd = os.open(os.path.join(workspace, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return b"", f"it cannot be read: {error.strerror}"
    with open(fd, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        return b"", f"it is larger than {most // 1024} KB"
    return (b"", "it is not text") if b"\0" in data else (data, "")
