"""A driver as a fork of the command that starts it: what that has loaded is not loaded once more.

It becomes what a new process would be: a session, streams and files of its own, and nothing of its
caller's. Only a command that has its process to itself may do this, and only while it has no
threads: a fork copies their locks, and not them.
"""

import fcntl
import os
import sys
from collections.abc import Callable, Sequence
from typing import IO, NoReturn

from msgspec import Struct

from porch.system import atomic

_TASKS = "/proc/self/task"
_DESCRIPTORS = "/proc/self/fd"
_FIRST_OWN = 3
_FAILED = 1
# What a terminal of the caller's says about a file is nothing.
OF_TERMINALS = ("COLUMNS", "LINES")


class DriverCall(Struct, frozen=True, kw_only=True):
    """What a driver reads and where it works; `tell` is the descriptor through which it reports."""

    words: Sequence[str]
    directory: str
    given: IO[bytes]
    output: IO[bytes]
    tell: int


class ForkedDriver:
    """A child of ours, of which one asks what one asks of `subprocess`."""

    def __init__(self, pid: int):
        self.pid = pid

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def may_fork() -> bool:
    """Whether nobody else is at work in this process; where one cannot tell, somebody is."""
    try:
        return len(os.listdir(_TASKS)) == 1
    except OSError:
        return False


def fork_driver(main: Callable[[], int], call: DriverCall) -> ForkedDriver:
    """Call `main` in a process of its own."""
    import gc
    import json  # noqa: F401 - both of us need it in a moment, so it is loaded once

    # What is loaded stays. A driver that looked through it for unused objects would copy it all.
    gc.freeze()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # what waits there would be said twice
    pid = os.fork()
    if pid == 0:
        _become(main, call)
    return ForkedDriver(pid)


def _become(main: Callable[[], int], call: DriverCall) -> NoReturn:
    """Never returns: above us are the frames of whoever started us."""
    code = _FAILED
    try:
        os.setsid()
        log = str(call.output.name)
        told = _take_descriptors(call.given, call.output, call.tell)
        _open_streams()
        os.chdir(call.directory)
        for name in OF_TERMINALS:
            os.environ.pop(name, None)
        os.environ["PORCH_KICKED_OFF"] = f"{told}:{log}"
        sys.argv = ["porch", *call.words]
        code = main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else _FAILED
    except BaseException:  # noqa: BLE001 - whatever it is, it must not reach those frames
        import traceback

        traceback.print_exc()
    finally:
        _leave(code)


def _take_descriptors(given: IO[bytes], output: IO[bytes], tell: int) -> int:
    """Three streams and the way to tell; whatever else is open belongs to our caller.

    All are moved up first: where a caller had closed its streams, they have those numbers.
    """
    lifted = [_lift(each) for each in (given.fileno(), output.fileno(), output.fileno(), tell)]
    for file in (given, output):
        file.close()
    for number, each in enumerate(lifted[:_FIRST_OWN]):
        os.dup2(each, number)
    told = lifted[-1]
    for number in map(int, os.listdir(_DESCRIPTORS)):
        if number >= _FIRST_OWN and number != told:
            # One of them was that of the list itself.
            atomic.try_os_call(os.close, number)
    return told


def _lift(number: int) -> int:
    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_OWN)


def _open_streams() -> None:
    """As Python opens them at its start, with the words of this machine."""
    old = sys.stdout
    encoding, errors = old.encoding or "utf-8", old.errors
    sys.stdin = open(0, encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False
    )


def _leave(code: int) -> NoReturn:
    """As Python does it: threads are waited for, then what was to be done at the end."""
    import atexit

    try:
        threading = sys.modules.get("threading")
        if threading is not None:
            threading._shutdown()  # noqa: SLF001 - nothing public does what Python does at its end
        atexit._run_exitfuncs()  # noqa: SLF001
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
