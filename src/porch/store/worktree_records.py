"""What porch knows of each worktree that it made: one small file beside the runs.

It is written before anything is made. So whatever a crash leaves is known to be half made by porch,
and not somebody's work. Nothing about a run is decided from it.
"""

import os
from collections.abc import Iterator

from msgspec import Struct, ValidationError, json
from msgspec.structs import replace

from porch.errors import OutsideError
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.regular_file import open_regular
from porch.text.sha256 import sha256

# Below the ports that systems hand out by themselves.
FIRST_PORT = 20000
PORTS_EACH = 20
BLOCKS = 600
PORT_VARIABLE = "PORCH_PORT_BASE"


class WorktreeRecord(Struct, frozen=True, kw_only=True):
    """One worktree: its branch, the commit it began at, its ports, and what was put into it."""

    name: str
    run: str
    branch: str
    base: str
    port_base: int = 0
    placed: tuple[str, ...] = ()  # copied and linked files, which are nobody's work
    # What set-up commands wrote, each with its stamp: nobody's work until somebody changes it.
    set_up: dict[str, str] = {}
    is_ready: bool = False
    into: str = ""  # the branch that one stood on when it was made; empty if that was none
    was_there: bool = False  # somebody worked in it before porch had it, so it is never taken back


def read_record(where: ProjectPaths, name: str) -> WorktreeRecord | None:
    try:
        with open(_record_path(where, name), "rb", opener=open_regular) as file:
            return json.decode(file.read(), type=WorktreeRecord)
    except (FileNotFoundError, NotADirectoryError, ValueError, ValidationError):
        return None


def find_record_of(where: ProjectPaths, workspace: str) -> WorktreeRecord | None:
    """The record of the worktree at a path; None if porch did not make one there."""
    return read_record(where, os.path.basename(workspace)) if where.common_dir else None


def stamp_file(path: str) -> str:
    """Whether a file is as it was, without reading it: its kind, size and time of change."""
    try:
        stat = os.lstat(path)
    except OSError:
        return ""
    return f"{stat.st_mode:o}-{stat.st_size}-{stat.st_mtime_ns}"


def list_placed(record: WorktreeRecord | None, path: str) -> tuple[str, ...]:
    """What porch or a set-up command put into the worktree at `path`, and nobody changed since."""
    if record is None:
        return ()
    written = record.set_up.items()
    same = (name for name, stamp in written if stamp == stamp_file(os.path.join(path, name)))
    return (*record.placed, *same)


def keep_record(where: ProjectPaths, record: WorktreeRecord) -> None:
    path = _record_path(where, record.name)
    atomic.ensure_directory(os.path.dirname(path))
    atomic.replace_file(path, json.encode(record), sync=True)


def remove_record(where: ProjectPaths, name: str) -> None:
    try:
        os.unlink(_record_path(where, name))
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutsideError(f"{_record_path(where, name)} cannot be removed: {error}") from error


def list_records(where: ProjectPaths) -> Iterator[WorktreeRecord]:
    try:
        names = sorted(os.listdir(os.path.join(where.state_dir, "worktrees")))
    except OSError:
        return
    for name in names:
        record = read_record(where, name.removesuffix(".json")) if name.endswith(".json") else None
        if record is not None:
            yield record


def take_port_block(where: ProjectPaths, record: WorktreeRecord) -> WorktreeRecord:
    """A block of ports that no other worktree has; other projects mostly begin elsewhere."""
    taken = {each.port_base for each in list_records(where) if each.name != record.name}
    place = os.path.realpath(where.state_dir).encode("utf-8", "surrogateescape")
    begin = int(sha256(place).hexdigest()[:8], 16) % BLOCKS
    ports = [FIRST_PORT + (begin + n) % BLOCKS * PORTS_EACH for n in range(BLOCKS)]
    free = next((port for port in ports if port not in taken), None)
    if free is None:
        raise OutsideError(
            f"all {BLOCKS} blocks of ports are taken by worktrees of this project",
            fix="remove worktrees that nobody needs: af cleanup ID",
        )
    return replace(record, port_base=free)


def _record_path(where: ProjectPaths, name: str) -> str:
    return os.path.join(where.state_dir, "worktrees", f"{name}.json")
