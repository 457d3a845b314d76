"""How a command of the project ended, and what it printed, for checks and for suites alike."""

import signal

from porch.agents.clean_output import clean_output
from porch.agents.redaction import Redactor, find_secrets
from porch.system import process
from porch.system.growing_file import read_head_and_tail
from porch.system.variables import read_environment

OUTPUT_KEPT = 1 << 20
# What stops a check from outside; any other signal is the program's own crash, which is a failure.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)
# How a shell tells that a program was killed, as the kernel does when there is no memory left.
_KILLED_IN_SHELL = 128 + signal.SIGKILL


def describe_kill(ended: process.CommandResult) -> str:
    """Whoever is killed has measured nothing; empty if the command came to its own end."""
    if ended.signal in _FROM_OUTSIDE or ended.code == _KILLED_IN_SHELL:
        number = ended.signal or signal.SIGKILL
        return f"killed by signal {int(number)}, perhaps because memory ran out; nothing measured"
    return ""


def redact_output(output: str, kept: int) -> str:
    """What people, agents and files of the project get to read; a check knows all our secrets."""
    redactor = Redactor(find_secrets(read_environment()))
    clean_output(output, redactor, OUTPUT_KEPT)
    return redactor.text(read_head_and_tail(output, kept // 2))


def redact_report(path: str) -> None:
    """The same for a report that a test runner wrote."""
    Redactor(find_secrets(read_environment())).file(path)
