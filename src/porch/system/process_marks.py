"""Finding and ending every process of an effect by a mark in its environment.

Agents start commands in sessions of their own, so a process group is not the whole tree. The
environment is inherited through forks, sessions and re-parenting, which makes it the only thread
that leads to every descendant.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from porch.errors import OutsideError
from porch.system.processes import (
    find_session,
    list_pids,
    read_cpu_seconds,
    read_environ,
    read_stat,
)

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
    """What the living processes of exactly this mark have used, and those of theirs that ended."""
    found = _find_marked(read_process_table(), lambda known: known == mark)
    return sum(read_cpu_seconds(each.pid) for each in found)


def list_unmarked_heirs(mark: str) -> dict[int, str]:
    """Processes that carry no mark and have it from a parent, each with when it began."""
    table = read_process_table()
    heirs = [each.pid for each in _find_marked(table, mark.__eq__) if not table[each.pid].mark]
    return {pid: began for pid in heirs if (began := _read_begin(pid))}


def kill_processes(known: Mapping[int, str]) -> list[int]:
    """Those that still are the processes that were found; a number may be somebody else's now."""
    left = [pid for pid, began in known.items() if _read_begin(pid) == began]
    return [pid for pid in left if _kill_process(pid)]


def _read_begin(pid: int) -> str:
    """When a process began; empty if it has ended, or nobody says."""
    stat = read_stat(pid)
    return "" if stat is None or stat.is_dead else stat.began


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
    return [_read_mark(each)[0] for each in _read_line(pid)]


def _read_line(start: int = 0) -> set[int]:
    """A process, its session's leader and all ancestors, without a look at anybody else."""
    session = find_session(start)
    pid, line = start or os.getpid(), {session}
    while pid > 0 and pid not in line - {session}:
        line.add(pid)
        stat = read_stat(pid)
        pid = stat.parent if stat and not stat.is_dead else 0
    return line - {0}


def read_environment(pid: int) -> dict[str, str]:
    """The variables with which a process began; none if it has ended or is somebody else's."""
    try:
        told = read_environ(pid).decode(errors="replace")
    except OSError:
        return {}
    pairs = (line.partition("=") for line in told.split("\0") if "=" in line)
    return {name: value for name, _, value in pairs}


def is_group_alive(group: int) -> bool:
    """Whether a process group has anybody left; the kernel itself counts zombies too."""
    return any(seen.group == group for seen in read_process_table(marks=False).values())


def read_process_table(marks: bool = True) -> dict[int, ProcessEntry]:
    """The living processes; zombies are dead and do not count."""
    return {process.pid: process for process in _read_table(marks)}


def _may_be_marked(wanted: MarkFilter) -> bool:
    """Whether anybody carries such a mark; mostly nobody does, and then nothing else is read."""
    known: set[int] = set()
    for _ in range(_LISTINGS):
        came = list_pids() - known
        known.update(came)
        seen = [_read_mark(pid) for pid in came]
        if any(mark and wanted(mark) for mark, _ in seen):
            return True
        # As where all is read: whoever was gone, or showed nothing, may have left a child.
        if all(is_sure for _, is_sure in seen):
            return False
    return True


def _read_table(marks: bool) -> Iterable[ProcessEntry]:
    """Every process; whoever is gone before it could be read may have left a child, so look on.

    A chain that forks and exits is else never where one looks: its members die between the list
    and the reading. What came since the list is few and quickly read.
    """
    known: set[int] = set()
    for _ in range(_LISTINGS):
        came = sorted(list_pids() - known)
        known.update(came)
        entries = [_read_entry(pid, marks) for pid in came]
        yield from (seen for seen, _ in entries if seen is not None)
        if all(is_sure for _, is_sure in entries):
            return


def _read_entry(pid: int, marks: bool) -> tuple[ProcessEntry | None, bool]:
    """What is known of a process, and whether it was there until all of it was read."""
    stat = read_stat(pid)
    if stat is None or stat.is_dead:
        return None, False
    mark, is_sure = _read_mark(pid) if marks else ("", True)
    return ProcessEntry(pid, stat.parent, stat.group, mark), is_sure


def _read_mark(pid: int) -> tuple[str, bool]:
    """Whoever is about to end, or in the middle of exec, shows an empty environment."""
    try:
        environment = read_environ(pid)
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
# The same on every system; the module that names it costs every command a millisecond.
_SIGKILL = 9
