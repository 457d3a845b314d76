"""Whether somebody is logged in to an agent: by what can be seen, and by its own command line.

A key in a variable settles it, and costs nothing to see. A file may be left of a login that is
over, and a login may be kept where nobody can look. So where no variable settles it, the command
line is asked, if it has a command for that: no turn is begun, and nobody pays. It may be too old
for that command, want the network, or hang. Then nothing is known by it, and nobody is kept out.
"""

import os
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Literal

from msgspec import Struct

from porch.agents.environment import make_agent_environment
from porch.agents.login_signs import find_login_signs, find_sure_signs
from porch.agents.port import AgentPort

LIMIT_S = 5.0
MOST_BYTES = 1 << 16
# So long an answer holds: a start asks several times, and a person may log in while a run waits.
KEPT_S = 20.0
NO_SIGN = "no key is set, and it has no login file"
LoginState = Literal["in", "out", "unknown"]


class Login(Struct, frozen=True):
    """Whether somebody is logged in, and what says so."""

    state: LoginState
    because: str = ""


_kept: dict[tuple[tuple[str, ...], frozenset[tuple[str, str]]], tuple[float, bool | None]] = {}


def find_login(
    kind: str, agent: AgentPort, environ: Mapping[str, str], extra: Iterable[str] = ()
) -> Login | None:
    """None for agents without logins; `extra` are the variables that the settings let pass."""
    more = tuple(extra)
    signs = find_login_signs(kind, environ, more)
    if signs is None:
        return None
    if sure := find_sure_signs(kind, environ, more):
        return _see_login(sure)
    if not agent.LOGIN_STATUS:
        return _see_login(signs) if signs else Login("out", NO_SIGN)
    argv = (agent.EXECUTABLE, *agent.LOGIN_STATUS)
    answer = _ask(agent, argv, make_agent_environment(environ, agent.CREDENTIALS, more))
    if answer is not None:
        said = f"`{' '.join(argv)}` says so"
        return Login("in", f"logged in: {said}") if answer else Login("out", said)
    return _see_login(signs) if signs else Login("unknown")


def _see_login(signs: list[str]) -> Login:
    return Login("in", f"signs of a login: {'; '.join(signs)}")


def _ask(agent: AgentPort, argv: tuple[str, ...], env: Mapping[str, str]) -> bool | None:
    key, now = (argv, frozenset(env.items())), time.monotonic()
    asked_at, answer = _kept.get(key, (-KEPT_S, None))
    if key not in _kept or now - asked_at >= KEPT_S:
        output = _run(argv, env)
        answer = None if output is None else agent.read_login_status(*output)
        _kept[key] = (time.monotonic(), answer)
    return answer


def _run(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, int] | None:
    """What it printed, and its exit code; nothing if it can't be started or says far too much.

    It works at the root of all files: the settings of a project are none of its business.
    """
    import signal
    import subprocess
    from threading import Timer

    from porch.system.process import signal_group

    try:
        # In a session of its own it has no terminal to ask at, and ends with all it started.
        process = subprocess.Popen(
            argv,
            cwd=os.sep,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError:
        return None
    stop = partial(signal_group, process.pid, signal.SIGKILL)
    clock = Timer(LIMIT_S, stop)
    with process:
        clock.start()
        try:
            output = process.stdout.read(MOST_BYTES) if process.stdout else b""
            if len(output) == MOST_BYTES:
                stop()
            code = process.wait()
        except BaseException:
            stop()
            raise
        finally:
            clock.cancel()
    return output.decode("utf-8", "replace"), code
