"""Commands as processes of their own that need not import everything anew: forks of this one.

Such a process has its own id, exit code, streams, directory and variables; it can be signalled,
killed and waited for like any other. What it does not have is a cold start: tests of imports, of
the interpreter's options and of `/proc/PID/environ` start a real interpreter.
"""

import faulthandler
import gc
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

import porch
from porch.cli import dispatch
from porch.system import crash_points
from porch.testing import Project
from porch.testing.project import FOREIGN

Main = Callable[[], int]
_FAILED = 70


class Forked(subprocess.Popen[Any]):
    """A function of this process, run in a process of its own; it reads `sys.argv`."""

    def __init__(self, main: Main, words: Sequence[str], **given: Any) -> None:
        self._main = main
        load_all_modules()
        super().__init__([main.__name__, *words], **given)

    def _execute_child(self, args: Sequence[str], *given: Any) -> None:
        """Instead of an exec; the other arguments are those of the standard library's own."""
        cwd, env, streams = given[4], given[5], given[9:15]
        with warnings.catch_warnings():
            # Newer interpreters warn of threads; the child starts none before it has let go of all.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _become(self._main, args, cwd, env, (streams[0], streams[3], streams[5]), given[-2])
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]


def start(
    program: str,
    words: Sequence[str],
    cwd: Path | str,
    env: Mapping[str, str],
    output: int | IO[bytes] = subprocess.PIPE,
    errors: int | IO[bytes] = subprocess.PIPE,
    is_text: bool = True,
) -> "subprocess.Popen[Any]":
    """One of the three commands, at work while the test does something else."""
    return Forked(
        getattr(dispatch, program),
        words,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        text=is_text,
    )


def run(
    program: str,
    words: Sequence[str],
    cwd: Path | str,
    env: Mapping[str, str],
    timeout_s: float = 100,
) -> "subprocess.CompletedProcess[str]":
    """One of the three commands, to its end."""
    with start(program, words, cwd, env) as running:
        try:
            out, err = running.communicate(timeout=timeout_s)
        except BaseException:
            running.kill()
            raise
    return subprocess.CompletedProcess(list(words), running.returncode, out, err)


@cache
def load_all_modules() -> None:
    """Commands import late what they need; here that would be paid for by each of them."""
    # The plugin of pytest belongs to another interpreter, and reads what lies beside it there. The
    # server of MCP loads a library that takes longer than all of porch, and only its tests need it.
    left_out = ("__main__", "canary_plugin", "cli.mcp.server")
    for module in pkgutil.walk_packages(porch.__path__, "porch."):
        if not module.name.endswith(left_out):
            importlib.import_module(module.name)


def _become(
    main: Main,
    argv: Sequence[str],
    cwd: str | None,
    env: Mapping[str, str] | None,
    streams: Sequence[int],
    is_session: bool,
) -> NoReturn:
    code = _FAILED
    try:
        _let_go()
        if is_session:
            os.setsid()
        _take_streams(streams)
        os.chdir(cwd or ".")
        if env is not None:
            variables = dict(env)  # it may be those of this process
            os.environ.clear()
            os.environ.update(variables)
        importlib.reload(crash_points)
        sys.argv = list(argv)
        code = main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else _FAILED
    except BaseException:  # noqa: BLE001 - nobody above us may go on as if it were the test
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _let_go() -> None:
    """What the test runner has set up for itself is none of the command's business."""
    sys.settrace(None)
    threading.settrace(None)
    faulthandler.disable()
    # Files of the test runner that nobody holds any more would else close descriptors of ours.
    gc.freeze()
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _take_streams(streams: Sequence[int]) -> None:
    for number, stream in enumerate(streams):
        if stream != -1:
            os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue


class ForkedProject(Project, frozen=True):
    """A project whose commands are forks; one test of each kind uses the cold ones."""

    def start(self, *words: str, **environ: str) -> "subprocess.Popen[str]":
        kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        return start("porch", words, self.root, {**kept, **environ})
