"""The commands of `[worktree] setup`: each in the new worktree, one after the other.

They get what checks get of the environment, and the first port of the worktree. Whatever they start
ends with them. One that fails or takes too long ends the set-up.
"""

import os
from collections.abc import Mapping

from porch.agents.environment import scrub_environment
from porch.errors import OutsideError
from porch.run.settings import Settings
from porch.store.worktree_records import PORT_VARIABLE
from porch.system import process
from porch.system.growing_file import read_tail
from porch.system.waited_command import AskedToLeaveError, run_to_end

LOG_END = 2000


def run_setup_commands(
    worktree: str, known: Settings, port_base: int, *, mark: str, log: str
) -> None:
    """Run them all; raises OutsideError with the end of the output of the first that failed."""
    env = {
        **check_environment(os.environ, known),
        PORT_VARIABLE: str(port_base),
    }
    for number, command in enumerate(known.setup, 1):
        _run_command(worktree, command, env, known.check, f"{mark}:setup-{number}", log)


def check_environment(environ: Mapping[str, str], known: Settings) -> dict[str, str]:
    """What checks get, too."""
    allowed = scrub_environment(environ, known.check_env)
    return {k: v for k, v in allowed.items() if not k.startswith(("GIT_", "PORCH_"))}


def _run_command(
    worktree: str, command: str, env: Mapping[str, str], limit_s: float, mark: str, log: str
) -> None:
    wanted = process.OutsideCommand(
        argv=None,
        shell=command,
        cwd=worktree,
        env=env,
        stdin_file=None,
        output=log,
        errors=log,
        mark=mark,
    )
    try:
        ended = run_to_end(wanted, limit_s)
    except AskedToLeaveError:
        raise _setup_error(command, "was interrupted", log) from None
    if ended.why != "exited" or ended.code != 0:
        raise _setup_error(command, _describe_end(ended, limit_s), log)


def _describe_end(ended: process.CommandResult, limit_s: float) -> str:
    if ended.why != "exited":
        return f"did not finish within {limit_s:g} s ([timeouts] check)"
    how = f"exit code {ended.code}" if ended.signal is None else f"signal {ended.signal}"
    return f"failed with {how}"


def _setup_error(command: str, how: str, log: str) -> OutsideError:
    lines = read_tail(log, LOG_END).strip().splitlines()
    said = "".join(f"\n  {line}" for line in lines[-8:])
    return OutsideError(
        f"the set-up command `{command}` {how}; the new worktree was removed{said}",
        fix="fix the command under [worktree] setup in codev/config.toml, then try again",
        code="worktree-setup",
    )
