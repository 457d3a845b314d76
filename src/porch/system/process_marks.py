"""Finding and ending every process of an effect by a mark in its environment.

Agents start commands in sessions of their own, so a process group is not the whole tree. The
environment is inherited through forks, sessions and re-parenting, which makes it the only thread
that leads to every descendant.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from porch.errors import OutsideError

VARIABLE = "PORCH_MARK"
# A process in the middle of exec shows an empty environment for an instant.
SECOND_LOOK_S = 0.01
STUBBORN_S = 10.0


class MarkedProcess(Struct, frozen=True):
    """A living process and the mark it carries, or has from the parent that carries it."""

    pid: int
    mark: str


class ProcessEntry(Struct, frozen=True):
    """What one look at the process table says of one process; its own mark is "" if it has none."""

    pid: int
    parent: int
    group: int
    mark: str


MarkFilter = Callable[[str], bool]


def list_marked_processes(prefix: str) -> list[MarkedProcess]:
    """Every living process whose mark begins with the prefix, and the children of those."""
    return _find_marked(read_process_table(), lambda mark: mark.startswith(prefix))


def measure_cpu_seconds(mark: str) -> float:
    """What the living processes of exactly this mark have used, and those of theirs that ended.

    Nothing where there is no /proc: there only output is a sign of life.
    """
    found = _find_marked(read_process_table(), lambda known: known == mark)
    return sum(_read_cpu_seconds(each.pid) for each in found)


def _read_cpu_seconds(pid: int) -> float:
    try:
        fields = _read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return 0.0
    # Of its own, and of the children that it has waited for; each in user mode and in the kernel.
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def list_unmarked_heirs(mark: str) -> dict[int, bytes]:
    """Processes that carry no mark and have it from a parent, each with when it began."""
    table = read_process_table()
    heirs = [each.pid for each in _find_marked(table, mark.__eq__) if not table[each.pid].mark]
    return {pid: began for pid in heirs if (began := _read_begin(pid))}


def kill_processes(known: Mapping[int, bytes]) -> list[int]:
    """Those that still are the processes that were found; a number may be somebody else's now."""
    left = [pid for pid, began in known.items() if _read_begin(pid) == began]
    return [pid for pid in left if _kill_process(pid)]


def _read_begin(pid: int) -> bytes:
    """When a process began, in ticks of the kernel; empty if it has ended, or nobody says."""
    try:
        fields = _read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return b""
    return b"" if fields[:1] == [b"Z"] or len(fields) < _BEGIN else fields[_BEGIN - 1]


def reap_processes(prefix: str, looks: int = 2) -> list[int]:
    """Kill whatever a dead runner left behind; the caller and its ancestors are spared."""
    return kill_all_matching(lambda mark: mark.startswith(prefix), looks)


def kill_all_matching(wanted: MarkFilter, looks: int = 2) -> list[int]:
    """SIGKILL until so many looks in a row find nobody, for a process may fork while we look.

    Who finds nobody with one look has not looked for certain, and looks again later.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + STUBBORN_S
    quiet = 0
    while quiet < (2 if killed else looks):
        time.sleep(SECOND_LOOK_S if killed or quiet else 0)
        table = read_process_table() if _may_be_marked(wanted) else {}
        left = set(_list_killable(table, wanted))
        quiet = 0 if left else quiet + 1
        _kill_groups(table, left)
        refused = {pid for pid in left if not _kill_process(pid)}
        if left and refused == left:
            raise _unkillable_error(left, "they belong to another user")
        if left and time.monotonic() > deadline:
            raise _unkillable_error(left, f"they did not stop within {STUBBORN_S:g} s")
        killed |= left - refused
    return sorted(killed)


def _unkillable_error(pids: Iterable[int], why: str) -> OutsideError:
    names = ", ".join(map(str, sorted(pids)))
    return OutsideError(
        f"processes of this run could not be killed: {names} ({why})",
        fix=f"look at them with `ps -fp {names.replace(' ', '')}` and kill them yourself",
    )


def _kill_groups(table: Mapping[int, ProcessEntry], left: set[int]) -> None:
    """Whole groups at one blow: a chain that forks and exits is never where one looked.

    Only groups of which everybody we see is to be killed, so that nobody else goes with them.
    """
    members: dict[int, set[int]] = {}
    for pid, seen in table.items():
        members.setdefault(seen.group, set()).add(pid)
    for group, pids in members.items():
        if group > 1 and group != os.getpgrp() and pids <= left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, _SIGKILL)


def _kill_process(pid: int) -> bool:
    try:
        os.kill(pid, _SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def _list_killable(table: Mapping[int, ProcessEntry], wanted: MarkFilter) -> list[int]:
    spared = _with_ancestors(os.getpid(), table)
    return [found.pid for found in _find_marked(table, wanted) if found.pid not in spared]


def _with_ancestors(pid: int, table: Mapping[int, ProcessEntry]) -> set[int]:
    line = {pid, os.getppid()}
    while pid in table and table[pid].parent not in (0, pid):
        pid = table[pid].parent
        line.add(pid)
    return line


def _find_marked(table: Mapping[int, ProcessEntry], wanted: MarkFilter) -> list[MarkedProcess]:
    """A child that cleared its environment still belongs to the marked parent above it."""
    marks = {pid: seen.mark for pid, seen in table.items() if seen.mark and wanted(seen.mark)}
    # Our own children are ours, even where we ourselves were started under the mark.
    heirs = {pid: seen for pid, seen in table.items() if seen.parent != os.getpid()}
    grew = True
    while grew:
        new = {
            pid: marks[seen.parent]
            for pid, seen in heirs.items()
            if pid not in marks and not seen.mark and seen.parent in marks
        }
        marks.update(new)
        grew = bool(new)
    return [MarkedProcess(pid, marks[pid]) for pid in sorted(marks)]


def has_marked_ancestor(pid: int = 0) -> bool:
    """Whether a process of some run stands above this one, whatever our own environment says."""
    return any(list_marks_above(pid))


def list_marks_above(pid: int = 0) -> list[str]:
    """The marks of this process and of those above it; one that has none counts as "".

    Whose parent has ended is handed to another one, but stays in its session: that of the agent,
    which porch starts in a session of its own. With `pid` the same is asked of another process.
    """
    if os.path.exists("/proc/self/environ"):
        return [_read_mark(each)[0] for each in _read_proc_line(pid)]
    table = read_process_table()
    line = _with_ancestors(pid or os.getpid(), table) | {_find_session(pid)}
    return [table[each].mark for each in line if each in table]


def _read_proc_line(start: int = 0) -> set[int]:
    """A process, its session's leader and all ancestors, without a look at anybody else."""
    session = _find_session(start)
    pid, line = start or os.getpid(), {session}
    while pid > 0 and pid not in line - {session}:
        line.add(pid)
        entry, _ = _read_proc_entry(pid, marks=False)
        pid = entry.parent if entry else 0
    return line - {0}


def _find_session(pid: int) -> int:
    """The leader of its session; 0 if the process has ended meanwhile."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def read_environment(pid: int) -> dict[str, str]:
    """The variables with which a process began; none if it has ended or is somebody else's."""
    try:
        told = _read_file(f"/proc/{pid}/environ").decode(errors="replace")
    except OSError:
        return {}
    pairs = (line.partition("=") for line in told.split("\0") if "=" in line)
    return {name: value for name, _, value in pairs}


def is_group_alive(group: int) -> bool:
    """Whether a process group has anybody left; the kernel itself counts zombies too."""
    return any(seen.group == group for seen in read_process_table(marks=False).values())


def read_process_table(marks: bool = True) -> dict[int, ProcessEntry]:
    """The living processes; zombies are dead and do not count."""
    seen = (
        _read_proc_table(marks)
        if os.path.exists("/proc/self/environ")
        else parse_ps_output(_run_ps())
    )
    return {process.pid: process for process in seen}


def _may_be_marked(wanted: MarkFilter) -> bool:
    """Whether anybody carries such a mark; mostly nobody does, and then nothing else is read."""
    if not os.path.exists("/proc/self/environ"):
        return True
    known: set[int] = set()
    for _ in range(_LISTINGS):
        came = {int(name) for name in os.listdir("/proc") if name.isdigit()} - known
        known.update(came)
        seen = [_read_mark(pid) for pid in came]
        if any(mark and wanted(mark) for mark, _ in seen):
            return True
        # As where all is read: whoever was gone, or showed nothing, may have left a child.
        if all(is_sure for _, is_sure in seen):
            return False
    return True


def _read_proc_table(marks: bool) -> Iterable[ProcessEntry]:
    """Every process; whoever is gone before it could be read may have left a child, so look on.

    A chain that forks and exits is else never where one looks: its members die between the list
    and the reading. What came since the list is few and quickly read.
    """
    known: set[int] = set()
    for _ in range(_LISTINGS):
        came = sorted({int(name) for name in os.listdir("/proc") if name.isdigit()} - known)
        known.update(came)
        entries = [_read_proc_entry(pid, marks) for pid in came]
        yield from (seen for seen, _ in entries if seen is not None)
        if all(is_sure for _, is_sure in entries):
            return


def _read_proc_entry(pid: int, marks: bool) -> tuple[ProcessEntry | None, bool]:
    """What is known of a process, and whether it was there until all of it was read."""
    try:
        # The command name may hold spaces and parentheses; the fields begin after the last.
        state, parent, group, _ = _read_file(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, 3)
    except (OSError, ValueError):
        return None, False
    if state in (b"Z", b"X"):
        return None, False
    mark, is_sure = _read_mark(pid) if marks else ("", True)
    return ProcessEntry(pid, int(parent), int(group), mark), is_sure


def _read_mark(pid: int) -> tuple[str, bool]:
    """Whoever is about to end, or in the middle of exec, shows an empty environment."""
    try:
        environment = _read_file(f"/proc/{pid}/environ")
    except PermissionError:
        return "", True
    except OSError:
        return "", False
    _, found, after = (b"\0" + environment).partition(_ASSIGNED)
    mark = after.partition(b"\0")[0].decode(errors="replace") if found else ""
    return mark, bool(environment)


# So many that only a machine which starts processes faster than we read ends the looking.
_LISTINGS = 100
_ASSIGNED = f"\0{VARIABLE}=".encode()
_CHUNK = 64 * 1024


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


def _run_ps() -> str:
    import subprocess

    command = ["ps", "axeww", "-o", "pid=,ppid=,pgid=,stat=,command="]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", timeout=20
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OutsideError(f"`{' '.join(command)}` failed: {error}", fix="install ps") from error
    return done.stdout


# Behind the name of the command, in `/proc/PID/stat`.
_BEGIN = 20
# The same on every system; the module that names it costs every command a millisecond.
_SIGKILL = 9
_ROW = r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)"
_MARK = rf"(?:^|\s){VARIABLE}=(\S+)"


def parse_ps_output(text: str) -> Iterable[ProcessEntry]:
    """Where there is no /proc, `ps` prints the environment behind the command."""
    for row in filter(None, map(re.compile(_ROW).match, text.splitlines())):
        pid, parent, group, state, words = row.groups()
        if not state.startswith("Z"):
            mark = re.search(_MARK, words)
            yield ProcessEntry(int(pid), int(parent), int(group), mark.group(1) if mark else "")
