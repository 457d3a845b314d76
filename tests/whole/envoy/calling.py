"""Commands as processes of their own, without each of them paying for the imports anew."""

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from porch.cli import dispatch
from porch.cli.table import load_all_commands
from porch.knowledge import search  # noqa: F401 - loaded once, for every call
from porch.plan.findings import findings_files  # noqa: F401 - the same
from porch.plan.gates import gate_question  # noqa: F401 - the same
from porch.plan.prompts import plan_merge, prompt_work, walkthroughs  # noqa: F401 - the same
from porch.plan.reviews import review  # noqa: F401 - the same

load_all_commands("envoy")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said, and the words that it was called with."""

    words: tuple[str, ...] = ()
    code: int = 0
    text: str = ""

    @property
    def verb(self) -> str:
        return " ".join(self.words[:2])

    @property
    def data(self) -> dict[str, Any]:
        return self._envelope.get("data") or {}

    @property
    def error(self) -> str:
        return str((self._envelope.get("error") or {}).get("type", ""))

    @property
    def _envelope(self) -> dict[str, Any]:
        return dict(json.loads(self.text)) if self.text else {}


def envoy(words: Sequence[str], directory: str) -> Answer:
    """A child of ours, so that whoever looks for the caller of the command finds us."""
    with tempfile.TemporaryFile("w+") as out:
        pid = os.fork()
        if pid == 0:
            _become(words, directory, out.fileno())
        _, status = os.waitpid(pid, 0)
        out.seek(0)
        return Answer(tuple(words), os.waitstatus_to_exitcode(status), out.read())


def _become(words: Sequence[str], directory: str, out: int) -> NoReturn:
    code = 70
    try:
        os.chdir(directory)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        sys.argv = ["envoy", *words]
        code = dispatch.envoy()
    except BaseException:  # noqa: BLE001 - nobody above us may go on as if it were the agent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
