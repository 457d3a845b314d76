"""Source files of a worktree that hold a text: found by git itself, rewritten without a trace.

`git grep` looks through tracked and untracked, not ignored files with threads of its own; reading
twenty thousand files here would take many times as long.
"""

import contextlib
import os
import stat

from porch.git.command import GitEnd, git_error, run_git, try_git
from porch.plan.cleanup.source_text import DecodedSource, decode_source
from porch.system import atomic

LARGEST = 4 * 1024 * 1024
# How git lists a submodule.
_LINK = "160000 "


def list_files_with(workspace: str, text: str, commit: str = "") -> list[str]:
    """Paths, from the top of the worktree, of the files that git knows and that hold this text.

    In whatever case, and in UTF-16 too. With a commit, of the files in it.
    """
    wide = r"\x00".join(text)
    done = _grep_files(workspace, "-P", f"(?i){text}|{wide}", commit)
    if done.returncode > 1:
        # A git that was built without these patterns; what it knows instead is much slower.
        wide = "[^a]".join(text)
        done = _grep_files(workspace, "-E", f"{text}|{wide}", commit)
    if done.returncode not in (0, 1) or (done.returncode and done.stderr.strip()):
        raise git_error(workspace, ("grep", text), done)
    prefix = f"{commit}:" if commit else ""
    return sorted({name.removeprefix(prefix) for name in done.stdout.split("\0") if name})


def _grep_files(workspace: str, kind: str, pattern: str, commit: str) -> GitEnd:
    how = ("-l", "-z", "-a", kind, "--full-name", *(("-i",) if kind == "-E" else ()))
    place = (commit,) if commit else ("--untracked",)
    return try_git(workspace, "grep", *how, "-e", pattern, *place)


def list_submodules(workspace: str) -> list[str]:
    """Paths of the submodules of a worktree that are checked out, inner ones behind their outer."""
    rows = run_git(workspace, "ls-files", "-s", "-z")
    if _LINK not in rows:
        return []
    known = [row.partition("\t")[2] for row in rows.split("\0") if row.startswith(_LINK)]
    found: list[str] = []
    for path in known:
        place = os.path.join(workspace, path)
        if os.path.lexists(os.path.join(place, ".git")):
            found += [path, *(f"{path}/{inner}" for inner in list_submodules(place))]
    return found


class SourceFile:
    """A file as it was when it was read."""

    __slots__ = ("data", "path", "source", "was")

    def __init__(self, path: str, data: bytes, source: DecodedSource, was: os.stat_result):
        self.path = path
        self.data = data
        self.source = source
        self.was = was


def read_source(workspace: str, name: str) -> SourceFile | str:
    """The file, or why it is not looked at."""
    path = os.path.join(workspace, name)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return f"it cannot be opened: {error.strerror}"
    with open(fd, "rb") as file:
        was = os.fstat(fd)
        if not stat.S_ISREG(was.st_mode):
            return "it is not a regular file"
        if was.st_size > LARGEST:
            return f"it is larger than {LARGEST // (1024 * 1024)} MB"
        data = file.read()
    source = decode_source(data)
    return SourceFile(path, data, source, was) if source else "it is binary"


def write_source(source: SourceFile, data: bytes) -> str:
    """Put other bytes into its place, with the same rights; why not, if it has changed since."""
    temporary = f"{source.path}.porch-{os.getpid()}"
    try:
        _write_beside(temporary, data, source.was)
        if _has_changed(source):
            return "somebody else changed it in the meantime"
        os.replace(temporary, source.path)
    except OSError as error:
        raise atomic.disk_error(source.path, "write", error) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    atomic.sync_directory(os.path.dirname(source.path))
    return ""


def _write_beside(temporary: str, data: bytes, was: os.stat_result) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o600)
    try:
        atomic.write_all(fd, data)
        with contextlib.suppress(PermissionError):
            os.fchown(fd, was.st_uid, was.st_gid)
        os.fchmod(fd, stat.S_IMODE(was.st_mode))
        atomic.sync_file(fd, temporary)
    finally:
        os.close(fd)


def _has_changed(source: SourceFile) -> bool:
    now = os.lstat(source.path)
    return (now.st_ino, now.st_size, now.st_mtime_ns) != (
        source.was.st_ino,
        source.was.st_size,
        source.was.st_mtime_ns,
    )
