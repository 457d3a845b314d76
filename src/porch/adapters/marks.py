"""Finding and ending every process of an effect by a mark in its environment.

Agents start commands in sessions of their own, so a process group is not the whole tree. The
environment is inherited through forks, sessions and re-parenting, which makes it the only thread
that leads to every descendant.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from porch.errors import OutsideError

VARIABLE = "PORCH_MARK"
# A process in the middle of exec shows an empty environment for an instant.
SECOND_LOOK_S = 0.01
STUBBORN_S = 10.0


@dataclass(frozen=True, slots=True)
class Marked:
    """A living process and the mark it carries, or has from the parent that carries it."""

    pid: int
    mark: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look at the process table says of one process; its own mark is "" if it has none."""

    pid: int
    parent: int
    group: int
    mark: str


Wanted = Callable[[str], bool]


def marked(prefix: str) -> list[Marked]:
    """Every living process whose mark begins with the prefix, and the children of those."""
    return _found(look(), lambda mark: mark.startswith(prefix))


def reap(prefix: str) -> list[int]:
    """Kill whatever a dead runner left behind; the caller and its ancestors are spared."""
    return kill_all(lambda mark: mark.startswith(prefix))


def kill_all(wanted: Wanted, looks: int = 2) -> list[int]:
    """SIGKILL until so many looks in a row find nobody, for a process may fork while we look.

    Who finds nobody with one look has not looked for certain, and looks again later.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + STUBBORN_S
    quiet = 0
    while quiet < (2 if killed else looks):
        time.sleep(SECOND_LOOK_S if killed or quiet else 0)
        table = look()
        left = set(_killable(table, wanted))
        quiet = 0 if left else quiet + 1
        _kill_groups(table, left)
        refused = {pid for pid in left if not _killed(pid)}
        if left and refused == left:
            raise _stubborn(left, "they belong to somebody else")
        if left and time.monotonic() > deadline:
            raise _stubborn(left, f"they did not end within {STUBBORN_S:g} s")
        killed |= left - refused
    return sorted(killed)


def _stubborn(pids: Iterable[int], why: str) -> OutsideError:
    names = ", ".join(map(str, sorted(pids)))
    return OutsideError(
        f"processes of this run could not be killed: {names} ({why})",
        fix=f"look at them with `ps -fp {names.replace(' ', '')}` and end them by hand",
    )


def _kill_groups(table: Mapping[int, Seen], left: set[int]) -> None:
    """Whole groups at one blow: a chain that forks and exits is never where one looked.

    Only groups of which everybody we see is to be killed, so that nobody else goes with them.
    """
    members: dict[int, set[int]] = {}
    for pid, seen in table.items():
        members.setdefault(seen.group, set()).add(pid)
    for group, pids in members.items():
        if group > 1 and group != os.getpgrp() and pids <= left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


def _killed(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def _killable(table: Mapping[int, Seen], wanted: Wanted) -> list[int]:
    spared = _with_ancestors(os.getpid(), table)
    return [found.pid for found in _found(table, wanted) if found.pid not in spared]


def _with_ancestors(pid: int, table: Mapping[int, Seen]) -> set[int]:
    line = {pid, os.getppid()}
    while pid in table and table[pid].parent not in (0, pid):
        pid = table[pid].parent
        line.add(pid)
    return line


def _found(table: Mapping[int, Seen], wanted: Wanted) -> list[Marked]:
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
    return [Marked(pid, marks[pid]) for pid in sorted(marks)]


def has_marked_ancestor() -> bool:
    """Whether a process of some run stands above this one, whatever our own environment says."""
    table = look()
    line = _with_ancestors(os.getpid(), table)
    return any(table[pid].mark for pid in line if pid in table)


def has_living(group: int) -> bool:
    """Whether a process group has anybody left; the kernel itself counts zombies too."""
    return any(seen.group == group for seen in look(marks=False).values())


def look(marks: bool = True) -> dict[int, Seen]:
    """The living processes; zombies are dead and do not count."""
    seen = _from_proc(marks) if os.path.exists("/proc/self/environ") else from_ps(_ps())
    return {process.pid: process for process in seen}


def _from_proc(marks: bool) -> Iterable[Seen]:
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return filter(None, (_proc_entry(pid, marks) for pid in pids))


def _proc_entry(pid: int, marks: bool) -> Seen | None:
    try:
        # The command name may hold spaces and parentheses; the fields begin after the last.
        state, parent, group, _ = _content(f"/proc/{pid}/stat").rpartition(b")")[2].split(None, 3)
    except (OSError, ValueError):
        return None
    if state in (b"Z", b"X"):
        return None
    return Seen(pid, int(parent), int(group), _mark_of(pid) if marks else "")


def _mark_of(pid: int) -> str:
    try:
        environment = b"\0" + _content(f"/proc/{pid}/environ")
    except OSError:
        return ""
    _, found, after = environment.partition(_ASSIGNED)
    return after.partition(b"\0")[0].decode(errors="replace") if found else ""


_ASSIGNED = f"\0{VARIABLE}=".encode()
_CHUNK = 64 * 1024


def _content(path: str) -> bytes:
    """By descriptor: every end of an agent looks at all processes, and file objects cost double."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = b""
        while piece := os.read(descriptor, _CHUNK):
            content += piece
        return content
    finally:
        os.close(descriptor)


def _ps() -> str:
    command = ["ps", "axeww", "-o", "pid=,ppid=,pgid=,stat=,command="]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", timeout=20
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OutsideError(f"`{' '.join(command)}` failed: {error}", fix="install ps") from error
    return done.stdout


_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)")
_MARK = re.compile(rf"(?:^|\s){VARIABLE}=(\S+)")


def from_ps(text: str) -> Iterable[Seen]:
    """Where there is no /proc, `ps` prints the environment behind the command."""
    for row in filter(None, map(_ROW.match, text.splitlines())):
        pid, parent, group, state, words = row.groups()
        if not state.startswith("Z"):
            mark = _MARK.search(words)
            yield Seen(int(pid), int(parent), int(group), mark.group(1) if mark else "")
