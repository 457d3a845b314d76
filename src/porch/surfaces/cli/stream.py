"""The plain stream of a run, for pipes and narrow terminals: a line for each thing that happens."""

import os
import sys

from porch.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WAITING
from porch.machine.records import Record, encode
from porch.machine.state import State, effect_parts
from porch.operations.asking import Driven
from porch.surfaces.cli.command import View
from porch.views import timeline
from porch.views.text import printable

_CODES = {
    "waiting": EXIT_WAITING,
    "stopped": EXIT_DONE,
    "idle": EXIT_DONE,
    "interrupted": EXIT_INTERRUPTED,
}


class Stream:
    """Prints records and the last words of agents as they come."""

    def __init__(self, quiet: bool = False):
        self._quiet = quiet

    def record(self, record: Record, _state: State) -> None:
        raw = encode(record)
        for line in () if timeline.is_quiet(raw) else timeline.lines([raw]):
            self._say(line)

    def output(self, effect: str, text: str) -> None:
        who = effect_parts(effect)[2]
        for line in text.splitlines():
            if line.strip():
                self._say(f"    {who}| {line}")

    def notice(self, text: str) -> None:
        self._say(text)

    def _say(self, line: str) -> None:
        if self._quiet:
            return
        try:
            sys.stdout.write(printable(line) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever watched has gone; the run goes on, and its journal says what happened.
            self._quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_code(driven: Driven) -> int:
    if driven.rest == "ended":
        return EXIT_DONE if driven.state.outcome == "complete" else EXIT_FAILED
    return _CODES[driven.rest]


def driven_view(driven: Driven) -> View:
    """How a drive came to rest, and what would move it on."""
    state = driven.state
    data = {
        "run": driven.name,
        "rest": driven.rest,
        "outcome": state.outcome or None,
        "positions": list(state.positions),
        "decisions": [d.name for d in state.decisions.values()],
        "usd": state.usd,
    }
    return View("\n".join(_closing(driven)), data, exit_code(driven))


def _closing(driven: Driven) -> list[str]:
    state = driven.state
    if driven.rest == "ended":
        return [f"{driven.name} is {state.outcome}. Its files: {state.run.project_dir}/"]
    if driven.rest == "waiting":
        asked = ", ".join(decision.name for decision in state.decisions.values())
        return [
            f"waiting for a person: {asked}",
            f"  see: porch pending; porch status {state.run.id}",
        ]
    if driven.rest == "interrupted":
        return [f"interrupted; nothing is lost, `porch resume {state.run.id}` goes on"]
    where = ", ".join(state.positions)
    return [f"{driven.name} rests at {where}; `porch resume {state.run.id}` goes on"]
