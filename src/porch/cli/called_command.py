"""The process of one tool call: a command as if it had been typed, its words from standard input.

A command line holds no text of more than 128 KB, and an agent's text can be longer.
"""

import json
import sys
from typing import NoReturn


def run_called_command() -> NoReturn:
    from porch.cli import dispatch

    program, words = json.loads(sys.stdin.buffer.read())
    sys.argv = [program, *words]
    raise SystemExit(getattr(dispatch, program)())


if __name__ == "__main__":
    run_called_command()
