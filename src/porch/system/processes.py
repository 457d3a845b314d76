"""What the system tells of processes: read in /proc, and asked of psutil where there is no /proc.

psutil knows every system, but takes 22 ms of CPU to load and 9 ms to look at 130 processes; /proc
takes 2 ms, and nothing to load. Python itself starts in 10 ms. `porch approve` looks whether an
agent stands above it, `porch status` whether the driver of a run is halted, and each end of a turn
looks at all processes. So /proc is read where it exists, and psutil is loaded only elsewhere.

Both ways tell the same. On macOS the environment of the system's own programs, such as /bin/sh, is
not shown to others: there a mark is found on the parents and the children of such a program.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    import psutil

    T = TypeVar("T")

_PROC = "/proc"
_CHUNK = 64 * 1024
# As far as the kernel keeps it.
_LONGEST_NAME = 15


class ProcessStat:
    """One process; `began` is only good for comparing: a number is given again, this is not."""

    __slots__ = ("began", "group", "has_terminal", "is_dead", "is_halted", "parent")

    parent: int
    group: int
    began: str
    is_dead: bool
    is_halted: bool
    has_terminal: bool


def has_proc() -> bool:
    """Whether this system has /proc, and shows processes there."""
    return os.path.exists(f"{_PROC}/self/environ")


def list_pids() -> set[int]:
    """Everybody's; a process may have ended when its number is used."""
    if has_proc():
        return {int(name) for name in os.listdir(_PROC) if name.isdigit()}
    import psutil

    # On macOS the kernel itself is among them; of 0 the system would tell what holds for us.
    return set(psutil.pids()) - {0}


def read_stat(pid: int) -> ProcessStat | None:
    """None if it has ended, or nobody says. A zombie has not; it is dead."""
    try:
        fields = _read_fields(pid)
    except OSError:
        return None if has_proc() else _try_to_ask(pid, _make_stat)
    stat = ProcessStat()
    stat.parent, stat.group = int(fields[1]), int(fields[2])
    stat.began = fields[19].decode()
    stat.is_dead, stat.is_halted = fields[0] in (b"Z", b"X"), fields[0] == b"T"
    stat.has_terminal = fields[4] != b"0"
    return stat


def read_cpu_seconds(pid: int) -> float:
    """Of its own, and of the children that it has waited for; 0 if nobody says."""
    try:
        fields = _read_fields(pid)
    except OSError:
        times = None if has_proc() else _try_to_ask(pid, lambda process: process.cpu_times())
        return float(sum(times[:4])) if times else 0.0
    # In user mode and in the kernel, of its own and of its children.
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _read_fields(pid: int) -> list[bytes]:
    """What the kernel tells of it; the name of its command may hold spaces and parentheses."""
    fields = _read_file(f"{_PROC}/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < _FIELDS:
        raise ProcessLookupError(f"there is no process {pid}")
    return fields


_FIELDS = 20


def is_suspended(pid: int) -> bool:
    """Whether it was halted, for example with Ctrl-Z: it holds what it has and does nothing."""
    stat = read_stat(pid) if pid > 0 else None
    return stat is not None and stat.is_halted


def find_session(pid: int) -> int:
    """The leader of its session; 0 if the process has ended meanwhile, or nobody says."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def read_environ(pid: int) -> bytes:
    """The variables with which it began, each with a zero behind it; OSError if nobody says."""
    try:
        return _read_file(f"{_PROC}/{pid}/environ")
    except OSError:
        if has_proc():
            raise
    pairs = _ask(pid, lambda process: process.environ())
    return b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in pairs.items())


def read_name(pid: int) -> str:
    """The name of its program; empty if nobody says."""
    try:
        return _read_file(f"{_PROC}/{pid}/comm").decode("utf-8", "replace").strip()
    except OSError:
        said = None if has_proc() else _try_to_ask(pid, lambda process: process.name())
        return (said or "")[:_LONGEST_NAME]


def read_words(pid: int) -> list[str]:
    """The words with which it was started; none if nobody says."""
    try:
        words = _read_file(f"{_PROC}/{pid}/cmdline").decode("utf-8", "replace").split("\0")
    except OSError:
        words = [] if has_proc() else _try_to_ask(pid, lambda process: process.cmdline()) or []
    return [word for word in words if word]


def read_directory(pid: int) -> str:
    """Where it stands; empty if nobody says."""
    try:
        return os.readlink(f"{_PROC}/{pid}/cwd")
    except OSError:
        return "" if has_proc() else _try_to_ask(pid, lambda process: process.cwd()) or ""


def _make_stat(process: psutil.Process) -> ProcessStat:
    import psutil

    stat = ProcessStat()
    with process.oneshot():
        status = process.status()
        stat.parent, stat.group = process.ppid(), _find_group(process.pid)
        stat.began = repr(process.create_time())
        stat.is_dead = status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        stat.is_halted = status == psutil.STATUS_STOPPED
        stat.has_terminal = process.terminal() is not None
    return stat


def _find_group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except PermissionError:
        return 0


def _ask(pid: int, question: Callable[[psutil.Process], T]) -> T:
    """What psutil answers, with its refusals as those of the system."""
    import psutil

    try:
        return question(psutil.Process(pid))
    except psutil.AccessDenied as error:
        raise PermissionError(f"process {pid} belongs to another user") from error
    except psutil.Error as error:
        raise ProcessLookupError(f"there is no process {pid}") from error


def _try_to_ask(pid: int, question: Callable[[psutil.Process], T]) -> T | None:
    try:
        return _ask(pid, question)
    except OSError:
        return None


def _read_file(path: str) -> bytes:
    """By descriptor: every end of an agent looks at all processes, and file objects cost double."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = piece = os.read(descriptor, _CHUNK)
        # These files are given as far as one asks; less means that it was all.
        while len(piece) == _CHUNK:
            piece = os.read(descriptor, _CHUNK)
            content += piece
        return content
    finally:
        os.close(descriptor)
