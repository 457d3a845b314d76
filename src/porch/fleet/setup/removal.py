"""`codev remove`: taking back what porch wrote into a project, and nothing else.

What porch wrote says its record; without one, the files are compared with the packaged ones. Only
paths to which porch writes count, and only files that are byte for byte as porch left them. So a
record that somebody changed can at most name files that hold nothing of anybody's. No link is
followed, and each file is looked at once more in the moment in which it goes.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from msgspec import Struct

from porch.fleet.setup import package_files, project_setup
from porch.fleet.setup.additions import (
    Remainder,
    WrittenFile,
    hash_content,
    is_shared,
    remove_additions,
)
from porch.fleet.setup.claude_settings import HOOK, SETTINGS_FILE
from porch.fleet.setup.mcp_entries import CLAUDE_FILE
from porch.fleet.setup.setup_record import (
    SetupRecord,
    damaged_record_error,
    keep_record,
    read_record,
)
from porch.run.settings import PROJECT_FILE
from porch.system import atomic
from porch.system.regular_file import NotRegularFile

# Where files of porch alone lie; one of another release may have another name.
_OWN_FILES = (PROJECT_FILE, package_files.QUESTIONS_PAGE, HOOK)
_OWN_DIRECTORIES = (
    f"{package_files.PROTOCOLS}/",
    f"{package_files.STEPS}/",
    ".claude/agents/",
    ".claude/commands/",
    ".claude/skills/porch/",
)
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class PlannedRemoval(Struct, frozen=True):
    """One file: `removed`, `shortened` to `data`, or `kept`, and `note` says why."""

    path: str
    fate: str
    digest: str = ""  # of what lies there now
    data: bytes = b""
    note: str = ""

    @property
    def is_change(self) -> bool:
        return self.fate in ("removed", "shortened")

    def as_json(self) -> dict[str, str]:
        return {"path": self.path, "fate": self.fate, "note": self.note}


class RemovalPlan(Struct, frozen=True):
    """What would happen to each file; `unrecorded` are like packaged ones, but in no record."""

    files: tuple[PlannedRemoval, ...]
    directories: tuple[str, ...] = ()
    unrecorded: int = 0

    @property
    def changes(self) -> list[PlannedRemoval]:
        return [each for each in self.files if each.is_change]


def plan_removal(root: str) -> RemovalPlan:
    """What there is to take back; nothing is changed."""
    record = read_record(root)
    packaged = _list_packaged(root)
    if record is None:
        written: Mapping[str, WrittenFile | None] = dict.fromkeys([*packaged, *_list_shared(root)])
        files = tuple(_plan_all(root, written, packaged))
        return RemovalPlan(files, tuple(_list_parents(files)))
    for path in (*record.files, *(f"{each}/" for each in record.directories)):
        _require_own_path(root, path)
    files = tuple(_plan_all(root, record.files, packaged))
    others = {path: None for path in packaged if path not in record.files}
    more = [each for each in _plan_all(root, others, packaged) if each.is_change]
    return RemovalPlan(files, record.directories, len(more))


def _list_packaged(root: str) -> dict[str, str]:
    """The digest of each file as a set-up would write it now."""
    settings = project_setup.render_settings(project_setup.find_choices(root))
    files = {
        **package_files.load_protocol_files(),
        **package_files.load_step_files(),
        **package_files.load_claude_directory(),
        package_files.QUESTIONS_PAGE: package_files.load_questions_page(),
        HOOK: package_files.load_hook(),
        PROJECT_FILE: settings,
    }
    return {path: hash_content(data) for path, data in files.items()}


def _list_shared(root: str) -> tuple[str, ...]:
    return SETTINGS_FILE, CLAUDE_FILE, project_setup.find_agents_page(root)


def _require_own_path(root: str, path: str) -> None:
    """A path of the record is one that porch may have written; nothing else is ever touched."""
    parts = path.rstrip("/").split("/")
    is_plain = not any(part in ("", ".", "..") for part in parts) and "\0" not in path
    if path.endswith("/"):
        known = any(each.startswith(path) for each in (*_OWN_FILES, *_OWN_DIRECTORIES))
        is_ours = known or path.startswith(_OWN_DIRECTORIES)
    else:
        is_ours = path in _OWN_FILES or path.startswith(_OWN_DIRECTORIES) or is_shared(path)
    if not (is_plain and is_ours):
        raise damaged_record_error(root, f"porch never writes to {path!r}")


def _plan_all(
    root: str, written: Mapping[str, WrittenFile | None], packaged: Mapping[str, str]
) -> Iterator[PlannedRemoval]:
    for path, entry in written.items():
        planned = _plan_file(root, path, entry, packaged.get(path, ""))
        if planned is not None:
            yield planned


def _plan_file(
    root: str, path: str, written: WrittenFile | None, packaged: str
) -> PlannedRemoval | None:
    """Nothing where no file lies, or one in which nothing is of porch."""
    if not (packaged or is_shared(path)):
        return PlannedRemoval(path, "kept", note="this release of porch has no such file")
    try:
        with _open_parent(root, path) as (parent, name):
            data = _read_file(parent, name)
    except (FileNotFoundError, NotADirectoryError):
        has_link = os.path.lexists(os.path.join(root, path))
        return PlannedRemoval(path, "kept", note="it lies behind a link") if has_link else None
    except OSError as error:
        is_link = error.errno == errno.ELOOP
        note = "it is a link" if is_link else f"it cannot be read: {error.strerror or error}"
        return PlannedRemoval(path, "kept", note=note)
    digest = hash_content(data)
    if is_shared(path):
        left = remove_additions(path, data, written)
        return _planned_remainder(path, digest, left)
    if digest == (written.digest if written else packaged):
        return PlannedRemoval(path, "removed", digest)
    note = "it was changed" if written else "it differs from the packaged file"
    return PlannedRemoval(path, "kept", note=note)


def _planned_remainder(path: str, digest: str, left: Remainder) -> PlannedRemoval | None:
    if left.fate == "gone":
        return None
    note = "only what porch added goes" if left.fate == "shortened" else left.note
    return PlannedRemoval(path, left.fate, digest, left.data, note)


def _list_parents(files: tuple[PlannedRemoval, ...]) -> Iterator[str]:
    for each in files:
        parts = each.path.split("/")[:-1]
        yield from ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


def carry_out_removal(root: str, plan: RemovalPlan) -> list[PlannedRemoval]:
    """Do what was planned; returns the files that were not as planned any more, and stay."""
    left = [each for each in plan.changes if not _carry_out(root, each)]
    for path in sorted(set(plan.directories), key=len, reverse=True):
        # One in which something lies stays.
        with suppress(OSError), _open_parent(root, path) as (parent, name):
            os.rmdir(name, dir_fd=parent)
    keep_record(root, SetupRecord())
    return left


def _carry_out(root: str, planned: PlannedRemoval) -> bool:
    with suppress(OSError), _open_parent(root, planned.path) as (parent, name):
        if hash_content(_read_file(parent, name)) != planned.digest:
            return False
        if planned.fate == "removed":
            os.unlink(name, dir_fd=parent)
        else:
            _replace_file(parent, name, planned.data)
        return True
    return False


def _replace_file(parent: int, name: str, data: bytes) -> None:
    """Whole or not at all, with the rights that it has."""
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o777
    new = f"{name}.porch-new"
    with suppress(FileNotFoundError):
        os.unlink(new, dir_fd=parent)
    fd = os.open(new, _NEW_FILE_FLAGS, mode, dir_fd=parent)
    try:
        atomic.write_all(fd, data)
        os.fchmod(fd, mode)
        os.replace(new, name, src_dir_fd=parent, dst_dir_fd=parent)
    except OSError:
        os.unlink(new, dir_fd=parent)
        raise
    finally:
        os.close(fd)


@contextmanager
def _open_parent(root: str, path: str) -> Iterator[tuple[int, str]]:
    """The directory of a path and its last name; no part of it is a link."""
    *above, name = path.split("/")
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            below = os.open(part, _DIRECTORY_FLAGS, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd, name
    finally:
        os.close(fd)


def _read_file(parent: int, name: str) -> bytes:
    """A regular file, and never through a link."""
    with open(os.open(name, _READ_FLAGS, dir_fd=parent), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularFile(name)
        return file.read()
