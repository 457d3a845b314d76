"""The plain stream of a run, for pipes and narrow terminals: a line for each thing that happens."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from porch.cli.command import View
from porch.cli.terminal.terminal_faults import silence_output
from porch.cli.terminal_width import terminal_style
from porch.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WAITING
from porch.machine.exits.touched_files import list_touched_files, list_uncompared
from porch.machine.outside import list_outside_changes
from porch.machine.records import JournalRecord, encode_record
from porch.machine.state import Decision, RunState, effect_parts
from porch.model.protocol import Protocol
from porch.run.engine.drive_options import DriveResult
from porch.show.evidence_notes import OUTSIDE, TITLE, UNCOMPARED, list_abstentions
from porch.show.place_words import PlaceWords, question_words
from porch.show.records import timeline
from porch.show.records.log_text import shown_lines
from porch.show.status import names_of
from porch.store.picture_cache import kept_names
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths
from porch.text.printable import make_printable

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import PlaceNames

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
        self._look = terminal_style()
        self._protocol: Protocol | None = None

    def protocol(self, protocol: Protocol) -> None:
        """Whose words the lines are to use."""
        self._protocol = protocol

    def record(self, record: JournalRecord, state: RunState) -> None:
        raw = encode_record(record)
        words = PlaceWords(names_of(self._protocol, state) if self._protocol else None)
        for line in () if timeline.is_quiet(raw) else shown_lines([raw], words, self._look):
            self._write(line)

    def output(self, effect: str, text: str) -> None:
        who = effect_parts(effect)[2]
        for line in text.splitlines():
            if line.strip():
                self._say(f"    {who}| {line}")

    def notice(self, text: str) -> None:
        self._say(self._look.fitted(text) if self._look else text)

    def _say(self, line: str) -> None:
        self._write(make_printable(line))

    def _write(self, line: str) -> None:
        """What is coloured is not made printable again; its words are by now."""
        if self._quiet:
            return
        try:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        except OSError:
            # A closed pipe, a closed window, a full disk: the run goes on, and its journal says
            # what happened.
            self._quiet = True
            silence_output(sys.stdout)


def drive_exit_code(driven: DriveResult) -> int:
    if driven.rest == "ended":
        return EXIT_DONE if driven.state.outcome == "complete" else EXIT_FAILED
    return _CODES[driven.rest]


def driven_view(
    driven: DriveResult, where: ProjectPaths | None = None, finishing: Sequence[str] = ()
) -> View:
    """How a drive came to rest, and what would move it on; with `where` also what was done.

    `finishing` says how the work can be finished, if somebody has asked for that already.
    """
    state = driven.state
    touched = list_touched_files(state)
    data = {
        "run": driven.name,
        "rest": driven.rest,
        "outcome": state.outcome or None,
        "positions": list(state.positions),
        "decisions": [d.name for d in state.decisions.values()],
        "usd": state.usd,
        **({"reviews": missing} if (missing := list_abstentions(state)) else {}),
        **({"measured_by_changed": list(touched)} if touched else {}),
        **({"not_compared": list(reasons)} if (reasons := list_uncompared(state)) else {}),
        **({"changed_outside": list(outside)} if (outside := list_outside_changes(state)) else {}),
    }
    id_ = state.run.id
    word = unique_word(where.names(), driven.name, id_) if where is not None else id_
    # Phases are called as people type them.
    kept = kept_names(where.run_dir(driven.name)) if where is not None else {}
    names: PlaceNames = {
        "answers": kept.get("answers", {}),
        "questions": kept.get("questions", {}),
    }
    lines = _render_closing(driven, word, names)
    if where is not None and driven.rest == "ended":
        from porch.fleet.finish.finish_texts import describe_ended_run, list_not_passed, list_noted

        gaps, noted = list_not_passed(where, state), list_noted(where, state)
        lines += [make_printable(f"  {line}") for line in noted]
        lines += finishing or describe_ended_run(where, state, gaps)
        data |= {"not_passed": list(gaps)} if gaps else {}
        data |= {"noted": list(noted)} if noted else {}
    return View("\n".join(lines), data, drive_exit_code(driven), is_prose=True)


def _describe_decision(decision: Decision, names: "PlaceNames") -> str:
    """Gates are called as people answer them; the question of a failure says more than its name."""
    if decision.kind != "failure":
        return decision.name
    return question_words(decision.position, decision.name, names) or decision.name


def _render_closing(driven: DriveResult, word: str, names: "PlaceNames") -> list[str]:
    state = driven.state
    if driven.rest == "ended":
        ended = f"{driven.name} is {state.outcome}. Its files: {state.run.project_dir}/"
        touched = ", ".join(list_touched_files(state))
        return [
            ended,
            *(f"  review of {make_printable(each)}" for each in list_abstentions(state)),
            *([make_printable(f"{TITLE}: {touched}")] if touched else []),
            *(make_printable(f"{UNCOMPARED}: {reason}") for reason in list_uncompared(state)),
            *(make_printable(f"{OUTSIDE}: {line}") for line in list_outside_changes(state)),
        ]
    if driven.rest == "waiting":
        asked = ", ".join(_describe_decision(each, names) for each in state.decisions.values())
        return [
            f"waiting for your decision: {asked}",
            f"  see: porch pending; porch status {word}",
        ]
    if driven.rest == "interrupted":
        return [f"interrupted; nothing is lost. Continue with `porch resume {word}`"]
    where = ", ".join(state.positions)
    return [f"{driven.name} is paused at {where}. Continue with `porch resume {word}`"]
