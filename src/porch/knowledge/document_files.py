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
    from porch.store.where import ProjectPaths

# A file that changed so short a time ago may change again without a new stamp.
_TOO_FRESH_NS = 100_000_000
UNSURE_STAMP = "?"
MARKDOWN_ENDINGS = (".md", ".markdown", ".mdx")
DOCUMENT_ENDINGS = (*MARKDOWN_ENDINGS, ".txt", ".text", ".rst", ".adoc")


class DocumentScan:
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
    return name.endswith(DOCUMENT_ENDINGS) or name.lower().endswith(DOCUMENT_ENDINGS)


def scan_documents(where: ProjectPaths, paths: list[str], pruned: set[str]) -> DocumentScan:
    """Look at everything under these paths; `pruned` are directories that git ignores."""
    found = DocumentScan(_stamp_ignore_rules(where, paths))
    for path in paths:
        full = os.path.join(where.workspace, path)
        if os.path.isdir(full):
            _scan_directory(full, "" if path == "." else f"{path}/", pruned, found)
        elif os.path.isfile(full) and not os.path.islink(full):
            found.stamps[path] = make_stamp(os.lstat(full))
    return found


def _scan_directory(top: str, front: str, pruned: set[str], found: DocumentScan) -> None:
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
                found.stamps[front + name] = _stamp_entry(entry)
            elif name == ".gitignore":
                found.rules.append(_stamp_file(entry.path))
            elif entry.is_dir(follow_symlinks=False) and front + name not in pruned:
                found.names.append(front + name)
                waiting.append((entry.path, f"{front}{name}/"))


def _stamp_entry(entry: os.DirEntry[str]) -> str:
    try:
        return make_stamp(entry.stat(follow_symlinks=False))
    except OSError:
        return UNSURE_STAMP


def make_stamp(known: os.stat_result) -> str:
    return f"{known.st_size} {known.st_mtime_ns} {known.st_ctime_ns}"


def distrust_fresh_stamps(stamps: dict[str, str]) -> dict[str, str]:
    """Those of files that have just changed are not to be trusted next time."""
    edge = time.time_ns() - _TOO_FRESH_NS
    return {path: each if _is_older(each, edge) else UNSURE_STAMP for path, each in stamps.items()}


def _is_older(known: str, edge: int) -> bool:
    return all(int(part) < edge for part in known.split(" ")[1:])


def _stamp_ignore_rules(where: ProjectPaths, paths: list[str]) -> list[str]:
    """Stamps of everything outside the scanned directories that git's answer depends on."""
    if not where.common_dir:
        return []
    own = _find_own_git_directory(where)
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
    above = {part for path in paths for part in _parent_paths(path)}
    files += [os.path.join(where.workspace, part, ".gitignore") for part in sorted(above)]
    return [_stamp_file(file) for file in files]


def _parent_paths(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(len(parts))]


def _find_own_git_directory(where: ProjectPaths) -> str:
    """The one with this worktree's index; in a linked worktree `.git` is a file that names it."""
    dot = os.path.join(where.workspace, ".git")
    try:
        with open(dot, encoding="utf-8", errors="surrogateescape") as file:
            named = file.readline().strip().removeprefix("gitdir:").strip()
    except OSError:
        return where.common_dir
    return os.path.join(where.workspace, named)


def _stamp_file(path: str) -> str:
    try:
        return f"{path}\t{make_stamp(os.stat(path))}"
    except OSError:
        return path


def list_project_files(where: ProjectPaths, paths: list[str]) -> tuple[set[str] | None, set[str]]:
    """What git counts as files of the project, and the directories that it ignores.

    Outside of a repository nobody ignores anything, and the first answer is None.
    """
    if not where.common_dir or where.is_bare:
        return None, set()
    from porch.git.command import run_git

    there = [path for path in paths if os.path.lexists(os.path.join(where.workspace, path))]
    if not there:
        return set(), set()
    named = ["--", *(f":(top,literal){'' if path == '.' else path}" for path in there)]
    front = ("ls-files", "-z", "--exclude-standard")
    known = run_git(where.workspace, *front, "-co", *named)
    ignored = run_git(where.workspace, *front, "-oi", "--directory", *named)
    closed = [name for name in ignored.split("\0") if name.endswith("/")]
    return set(known.split("\0")), _list_ignored_directories(where.workspace, closed)


def _list_ignored_directories(workspace: str, names: list[str]) -> set[str]:
    """Git also lists directories in which all files happen to be ignored; a new one may not be."""
    from porch.git.command import try_git

    if not names:
        return set()
    done = try_git(workspace, "check-ignore", "-z", "--stdin", stdin="\0".join(names))
    return {name.rstrip("/") for name in done.stdout.split("\0") if name}


def read_document_bytes(workspace: str, path: str, most: int) -> tuple[bytes, str]:
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
