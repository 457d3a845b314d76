"""One run as a list of its phases: what is over, where it stands, what went wrong, what it cost."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from porch.account.attempts import find_attempt
from porch.account.gaps import list_other_gaps
from porch.account.outcomes import SIGNS, Outcome
from porch.account.phases import list_phases
from porch.account.waiting import list_waits
from porch.machine.path_values import is_named_by_engine
from porch.machine.state import RunState, Standing
from porch.model.protocol import TRACK, Protocol
from porch.show import cost
from porch.show.board import cut_text, format_moment, one_line, text_width, wrap_text
from porch.show.phase_words import LOOKS, describe_outcome
from porch.show.place_words import attempt_words, item_words
from porch.show.status import find_position_title, names_of
from porch.show.wait_words import describe_delay
from porch.text.telling_line import find_telling_line

_CODES = {"done": "32", "now": "36", "asked": "33", "skipped": "33", "failed": "31"}


class CheckRow(NamedTuple):
    """A phase with its sign and with what there is to say of it now; parts lie further in."""

    phase: str
    outcome: Outcome
    notes: list[str]
    level: int = 0

    @property
    def sign(self) -> str:
        """How it looks on pages."""
        return LOOKS[self.outcome]


def render_checklist(
    protocol: Protocol,
    state: RunState,
    driven: str,
    width: int,
    *,
    colour: bool = False,
    notes: Sequence[str] = (),
) -> list[str]:
    """Lines that fit the width; `driven` says who drives the run, `notes` come last."""
    run = state.run
    head = f"{run.id or run.name} {run.heading or run.title} ({run.protocol})"
    lines = [cut_text(one_line(head), width)]
    for row in list_checklist(protocol, state):
        told = _fit_place(f"[{SIGNS[row.outcome]}] {row.phase}", row.notes, width)
        told = [f"{'  ' * row.level}{each}" for each in told]
        lines += [_paint(cut_text(each, width), _CODES.get(row.sign, ""), colour) for each in told]
    for note in [*_list_notes(protocol, state, driven), *notes]:
        lines += _wrap_under(note, 4, width)
    return lines


def list_checklist(protocol: Protocol, state: RunState) -> list[CheckRow]:
    """The phases of a run, each with its sign and with what there is to say of it now."""
    if protocol.subject == TRACK:
        return _list_track(protocol, state)
    phases = list_phases(protocol, state)
    rows = [
        CheckRow(
            phase.name,
            phase.outcome,
            describe_outcome(phase) or _describe_place(protocol, state, phase.name),
        )
        for phase in phases
    ]
    others = list_other_gaps(protocol, state)
    rows += [CheckRow(gap.name, gap.outcome, [gap.outcome]) for gap in others]
    return [*rows, *_list_questions(protocol, state, {phase.name for phase in phases})]


def describe_place(checklist: Sequence[CheckRow]) -> str:
    """Where a run is, in words: `implement, plan phase 2 of 3, attempt 2 of 3`."""
    now = [row for row in checklist if row.sign == "now"]
    # Of a track the phase has its task below it, which says more.
    deepest = [row for row in now if row.level or not any(each.level for each in now)]
    return " and ".join(", ".join([row.phase, *row.notes[:2]]) for row in deepest)


def _list_questions(
    protocol: Protocol, state: RunState, phases: Collection[str]
) -> Iterator[CheckRow]:
    """What is asked beside all phases: a budget, an approval once more, a round of questions."""
    for decision in state.decisions.values():
        standing = state.positions[decision.position]
        if protocol.group_of(standing.state) not in phases:
            title = find_position_title(protocol, state, standing)
            yield CheckRow(title, "waiting", [f"waiting for you: {decision.name}"])


def _list_track(protocol: Protocol, state: RunState) -> list[CheckRow]:
    """Of a track its tasks and confirmations, by their statuses."""
    from porch.show.track_rows import list_track_rows

    return [
        CheckRow(
            f"{row.id} {row.title}".rstrip(),
            row.outcome,
            _describe_place(protocol, state, row.id) if row.outcome == "working" else [],
            row.level,
        )
        for row in list_track_rows(protocol, state)
    ]


def _fit_place(phase: str, parts: Sequence[str], width: int) -> list[str]:
    """On one line; where that is too long, what there is to say stands below the phase."""
    front, told = f"  {one_line(phase)}", [one_line(part) for part in parts]
    whole = f"{front}: {', '.join(told)}" if told else front
    if not told or text_width(whole) <= width:
        return [whole]
    return [f"{front}:", *(f"      {part}" for part in told)]


def _wrap_under(text: str, indent: int, width: int) -> list[str]:
    """What does not fit goes on below, further in."""
    first, *more = wrap_text(one_line(text), indent, width) or [""]
    return [cut_text(line, width) for line in (f"  {first.strip()}", *more)]


def _describe_place(protocol: Protocol, state: RunState, group: str) -> list[str]:
    """Plan phase 2 of 3, attempt 2 of 3, and the first line of the last failure."""
    if state.outcome:
        return []
    names = names_of(protocol, state)
    for standing in state.positions.values():
        if protocol.group_of(standing.state) == group:
            asked = state.decisions.get(standing.position)
            parts = [
                item_words(standing.item, names) if standing.item else "",
                f"waiting for you: {asked.name}" if asked else "",
                _describe_attempt(protocol, state, standing),
                _describe_wait(protocol, state, standing),
                _describe_failure(protocol, state, standing),
            ]
            return [part for part in parts if part]
    return []


def _describe_failure(protocol: Protocol, state: RunState, standing: Standing) -> str:
    """The first line of it: of the agent's last attempt, else of a check that sent it back."""
    failure = str(state.marked(standing.position, "failure") or "").strip()
    if failure:
        return f"failed: {failure.splitlines()[0]}"
    group = protocol.group_of(standing.state)
    for scope in ((standing.instance, standing.item), (standing.instance, "")):
        for path, payload in reversed([*state.memory.get(scope, {}).items()]):
            is_ours = is_named_by_engine(protocol, path)
            if is_ours and protocol.group_of(path.rpartition(".")[0]) == group:
                for name, report in (payload.get("reports") or {}).items():
                    return f"{name} failed: {find_telling_line(str(report))}"
    return ""


def _describe_wait(protocol: Protocol, state: RunState, standing: Standing) -> str:
    """What has to pass before the next try."""
    mine = [each for each in list_waits(protocol, state) if each.position == standing.position]
    return next((describe_delay(each) for each in mine), "")


def _describe_attempt(protocol: Protocol, state: RunState, standing: Standing) -> str:
    attempt = find_attempt(protocol, state, standing)
    return attempt_words(attempt.begun, (attempt.number, attempt.limit))


def _list_notes(protocol: Protocol, state: RunState, driven: str) -> Iterator[str]:
    if driven:
        yield f"process: {driven}"
    if state.paused and not state.outcome:
        yield "stopped by a person"
    if state.outcome:
        yield f"the run is {state.outcome}"
    total = cost.make_cost_data(protocol, state)
    took = cost.format_duration(total["seconds"])
    yield f"started {format_moment(state.run.started_at)}, updated {format_moment(state.at)}"
    yield f"agents worked {took}, {cost.format_cost(state, total)}"


def _paint(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code and colour else text
