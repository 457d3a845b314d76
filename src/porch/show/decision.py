"""An open question as plain data: what is asked, what each answer means, what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import filterfalse
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from porch.account.consequences import FilesNow, Objection, object_to_nothing
from porch.account.failures import find_failure
from porch.account.phases import find_phase
from porch.machine import approvals
from porch.machine.base_commands import is_trial
from porch.machine.budgets import DRIVERLESS
from porch.machine.exits.causes import RETRY, Cause, failure_cause, repeated_state
from porch.machine.facts import Payload
from porch.machine.path_values import is_named_by_engine
from porch.machine.state import Decision, RunState, Standing
from porch.model.artifact_names import CHANGES, MISSING, find_changes_base, is_pattern
from porch.model.protocol import TRACK, Human, Option, Protocol
from porch.show.answer_effects import describe_answers
from porch.show.evidence_notes import (
    describe_measurement,
    find_check_notes,
    list_check_notes,
    list_full_rounds,
    list_phase_abstentions,
)
from porch.show.failure_words import make_failure_data
from porch.show.gate_words import describe_shortcuts
from porch.show.phase_words import describe_review, list_asking
from porch.show.request_lines import first_lines
from porch.text.late_pattern import late_pattern
from porch.text.printable import TEXT_REF_KEY, describe_text, make_printable

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import DecisionShape, OptionShape, ReviewerFinding

REPORT_KEPT = 4000
FINDING_KEPT = 1000

_SAFE_WORD = late_pattern(r"[A-Za-z0-9@%+=:,./_-]+")
# The commands by the answer they give; any other answer is chosen by its name.
_ANSWER_COMMANDS: Mapping[str, str] = {
    "approved": "porch approve {run} {name}",
    "waived": 'porch approve {run} {name} --override "..."',
    "rejected": 'porch reject {run} {name} --reason "..."',
    "answered": 'porch answer {run} {name} "..."',
    "retry": "porch retry {run}",
    "skip": 'porch skip {run} --reason "..."',
}
NOT_LOOKED_AT: Mapping[str, FilesNow] = MappingProxyType({})
_REPETITIONS: Mapping[Cause, str] = {
    "measurement": "run the checks again; no agent is started and no attempt is charged",
    "git": "commit again; no agent is started and no attempt is charged",
    "reviewer": "ask the reviewers again; no round is charged",
    "environment": "start the agent again; no attempt is charged",
}


def list_decisions(
    protocol: Protocol,
    state: RunState,
    request: str = "",
    objection: Objection = object_to_nothing,
    files: Mapping[str, FilesNow] = NOT_LOOKED_AT,
) -> list[DecisionShape]:
    """Everything a person is asked by this run, oldest first, and how its request begins.

    `files` are those of each position as they are now; who did not look has them as they were.
    """
    asked = sorted(state.decisions.values(), key=lambda each: each.asked_at)
    told = [
        _describe_decision(protocol, state, each, objection, files.get(each.position))
        for each in asked
    ]
    for each in told:
        if request:
            each["request"] = first_lines(request, each["id"])
        if protocol.subject in (*DRIVERLESS, TRACK):
            each["subject"] = protocol.subject
        if state.run.heading:
            each["heading"] = state.run.heading
        if state.run.worktree not in ("", "."):
            each["worktree"] = state.run.worktree
    return [_make_printable(each) for each in told]


def _describe_decision(
    protocol: Protocol,
    state: RunState,
    decision: Decision,
    objection: Objection,
    now: FilesNow | None,
) -> DecisionShape:
    files = now.files if now else decision.artifacts
    standing = state.positions[decision.position]
    actor = protocol.states[standing.state].actor
    human = actor if isinstance(actor, Human) else _make_stand_in_human(decision)
    human = approvals.asked_human(protocol, standing, human)
    shown = dict(_recall_payloads(state, standing, human.shows))
    seen = [payload for path, payload in shown.items() if is_named_by_engine(protocol, path)]
    needs_override = any(_recall_payloads(state, standing, human.override))
    decided: DecisionShape = {
        "run": state.run.name,
        "id": state.run.id or state.run.name,
        "title": state.run.title,
        "position": decision.position,
        "kind": decision.kind,
        "name": decision.name,
        "asked_at": decision.asked_at,
        "by": "porch",
        "question": _describe_question(protocol, state, standing, human),
        "description": human.description,
        "reason": "\n".join(
            (
                *_list_reasons(protocol, state, standing, seen),
                *describe_shortcuts(protocol, state, standing),
                *_list_facts(protocol, state, standing, human),
                *_tell_changes(state, files),
            )
        ),
        "options": list(
            _list_options(
                protocol,
                state,
                decision,
                human,
                describe_answers(protocol, state, decision, objection, now),
                needs_override=needs_override,
                has_failed=bool(shown),
            )
        ),
        "artifacts": _list_shown_files(files, human),
        "digest": decision.digest,
        "deadline": _reminder_time(decision.asked_at, human.stale_after_s),
        "stale": bool(state.marked(decision.position, f"fired/{decision.name}")),
        "findings": [found for each in seen for found in _payload_findings(each)],
        "reports": {
            **dict(_collect_reports(protocol, state, standing, human, seen)),
            **describe_measurement(protocol, state),
        },
        "needs_override": needs_override,
    }
    if absent := [path for path, found in files.items() if found == MISSING]:
        decided["missing"] = absent
    phase = find_phase(protocol, state, standing)
    rounds = phase.open_reviews if phase else []
    title = phase.title if phase else ""
    open_ = [f"{title}, {describe_review(each)}" for each in rounds]
    passed = phase.passed_checks if phase else []
    reviews = [] if open_ else list_full_rounds(protocol, state, standing)
    told = [f"passed: {', '.join(passed)}"] if passed else []
    if told := [*told, *(f"reviews: {each}" for each in reviews)]:
        decided["evidence"] = told
    unmeasured = [str(name) for each in seen for name in each.get("unmeasured") or ()]
    measured = {"passed": passed, "reviews": reviews, "unmeasured": unmeasured}
    measured |= find_check_notes(state)
    if any(measured.values()):
        decided["measured"] = {word: names for word, names in measured.items() if names}
    if open_:
        decided["open_reviews"] = open_
        asked = [told for told, each in zip(open_, rounds, strict=True) if list_asking(each)]
        decided.update({"asked_changes": asked} if asked else {})
    if missing := [*list_phase_abstentions(protocol, state, standing), *open_]:
        decided["reviews"] = missing
    if decision.kind == "failure" and standing.state in protocol.states:
        decided["failure"] = make_failure_data(find_failure(protocol, state, standing), state)
    if difference := _describe_difference(seen):
        decided["difference"] = difference
    return decided


def _list_shown_files(files: Mapping[str, str], human: Human) -> list[str]:
    """What can be opened: all changes together are seen by a command."""
    named = files or filterfalse(is_pattern, human.artifacts)
    return [path for path in named if path != CHANGES and not find_changes_base(path)]


def _tell_changes(state: RunState, files: Mapping[str, str]) -> Iterator[str]:
    """How to see all changes of a run, where a question is about them."""
    if any(map(find_changes_base, files)):
        place = f"-C {state.run.worktree} " if state.run.worktree not in ("", ".") else ""
        yield "see the whole change:"
        yield f"git {place}diff {state.run.base_commit[:12]}"


def _describe_difference(seen: list[Payload]) -> dict[str, str]:
    """What changed since an approval; only a question about that has it."""
    found = [each["difference"] for each in seen if each.get("difference")]
    return {path: describe_text(text) for each in found for path, text in each.items()}


def _list_facts(
    protocol: Protocol, state: RunState, standing: Standing, human: Human
) -> Iterator[str]:
    """What a confirmation of a track is about; loaded where there is a track."""
    if _is_of_track(protocol, standing):
        from porch.show.track_rows import list_track_facts

        yield from list_track_facts(protocol, state, standing, human)


def _describe_question(
    protocol: Protocol, state: RunState, standing: Standing, human: Human
) -> str:
    if not _is_of_track(protocol, standing):
        return human.title
    from porch.show.track_rows import describe_question

    return describe_question(protocol, state, standing, human)


def _is_of_track(protocol: Protocol, standing: Standing) -> bool:
    """Whether the plan of a track asks; what porch asks by itself has no place in a plan."""
    is_own = standing.state != approvals.STATE and not is_trial(protocol, standing.state)
    return protocol.subject == TRACK and is_own


def _list_reasons(
    protocol: Protocol, state: RunState, standing: Standing, seen: list[Payload]
) -> Iterator[str]:
    """What led here, and the reason of each answer that is shown, unless that has said it."""
    causes = []
    if protocol.spec:
        from porch.show.tree_causes import describe_cause

        causes = list(describe_cause(protocol, state, standing))
    yield from causes
    reasons = (told for each in seen if (told := _payload_reason(each)))
    yield from (each for each in reasons if not any(each in cause for cause in causes))
    for each in seen:
        if each.get("unmeasured"):
            yield f"unmeasured: {', '.join(each['unmeasured'])}"
    yield from list_check_notes(state)


def _collect_reports(
    protocol: Protocol, state: RunState, standing: Standing, human: Human, seen: list[Payload]
) -> Iterator[tuple[str, str]]:
    """What checks said; in a tree, what was answered that led here, field by field."""
    for each in seen:
        yield from _payload_reports(each)
    if protocol.spec:
        from porch.show.tree_causes import list_answer_fields

        fields = list_answer_fields(protocol, state, standing, human)
        yield from ((name, text[-REPORT_KEPT:]) for name, text in fields)


def _make_stand_in_human(decision: Decision) -> Human:
    """A question of an older definition is still shown, so that nobody wonders why it stands."""
    return Human("question", decision.name, decision.name, ())


def _recall_payloads(
    state: RunState, standing: Standing, paths: tuple[str, ...]
) -> Iterator[tuple[str, Payload]]:
    known = ((path, state.recall(standing, path)) for path in paths)
    return ((path, payload) for path, payload in known if payload is not None)


def _list_options(
    protocol: Protocol,
    state: RunState,
    decision: Decision,
    human: Human,
    effects: Mapping[str, str],
    *,
    needs_override: bool,
    has_failed: bool,
) -> Iterator[OptionShape]:
    """Where an approval would be refused now, only its form with a reason is offered."""
    standing = state.positions[decision.position]
    has_waiver = any(option.exit == "waived" for option in human.options)
    for option in human.options:
        if option.needs_failure and not (has_failed or needs_override):
            continue
        if not (option.exit == "approved" and needs_override and has_waiver):
            told: OptionShape = {
                "answer": option.exit,
                "meaning": _describe_option(protocol, standing, option),
                "needs_text": option.needs_text,
                "command": _format_answer_command(protocol, state, decision, option),
            }
            if effects.get(option.exit):
                told["then"] = effects[option.exit]
            yield told


def _describe_option(protocol: Protocol, standing: Standing, option: Option) -> str:
    """What an answer does; another try repeats only what failed."""
    if option.exit == RETRY and repeated_state(protocol, standing):
        return _REPETITIONS[failure_cause(protocol, standing)]
    return option.meaning


def _format_answer_command(
    protocol: Protocol, state: RunState, decision: Decision, option: Option
) -> str:
    form = _ANSWER_COMMANDS.get(option.exit)
    # A command that names no decision is for the only one that can be answered so.
    if form is None or (
        "{name}" not in form and len(list_answerable(protocol, state, option.exit)) > 1
    ):
        text = ' "..."' if option.needs_text else ""
        flag = "--option " if _asks_for_text(protocol, state, decision) else ""
        form = f"porch answer {{run}} {{name}} {flag}{_quote_shell_word(option.exit)}{text}"
    same = [each for each in state.decisions.values() if each.name == decision.name]
    name = decision.name if len(same) == 1 else decision.position
    return form.format(
        run=_quote_shell_word(state.run.id or state.run.name), name=_quote_shell_word(name)
    )


def format_answer(protocol: Protocol, state: RunState, decision: Decision, exit_: str) -> str:
    """The command that gives one answer; nothing if the question does not have it."""
    kind = protocol.states.get(state.positions[decision.position].state)
    options = kind.actor.options if kind and isinstance(kind.actor, Human) else ()
    option = next((each for each in options if each.exit == exit_), None)
    return _format_answer_command(protocol, state, decision, option) if option else ""


def takes_text(human: Human) -> bool:
    """Whether every word behind `porch answer` is the answer; an option is named by `--option`."""
    return human.kind == "question" and any(each.exit == "answered" for each in human.options)


def _asks_for_text(protocol: Protocol, state: RunState, decision: Decision) -> bool:
    kind = protocol.states.get(state.positions[decision.position].state)
    return kind is not None and isinstance(kind.actor, Human) and takes_text(kind.actor)


def list_answerable(protocol: Protocol, state: RunState, exit_: str) -> list[Decision]:
    """The open decisions that have this answer."""
    return [each for each in state.decisions.values() if _has_option(protocol, state, each, exit_)]


def _has_option(protocol: Protocol, state: RunState, decision: Decision, exit_: str) -> bool:
    kind = protocol.states.get(state.positions[decision.position].state)
    actor = kind.actor if kind else None
    return isinstance(actor, Human) and any(option.exit == exit_ for option in actor.options)


def _quote_shell_word(text: str) -> str:
    """As a shell takes it for one word."""
    return text if _SAFE_WORD.fullmatch(text) else "'" + text.replace("'", "'\"'\"'") + "'"


def _reminder_time(asked_at: str, seconds: float) -> str | None:
    """When people are reminded; nothing is ever decided by it."""
    if not seconds or not asked_at:
        return None
    then = datetime.fromisoformat(asked_at) + timedelta(seconds=seconds)
    return then.isoformat(timespec="seconds").replace("+00:00", "Z")


def _payload_reason(payload: Payload) -> str:
    """Why a person is asked; of reviewers, how many of them spoke at all."""
    return describe_text(payload.get("reason") or payload.get("coverage") or "")


def _payload_findings(payload: Payload) -> Iterator[ReviewerFinding]:
    for each in payload.get("findings", ()):
        told = each if isinstance(each, Mapping) else {"finding": each}
        finding = describe_text(told.get("finding", ""))[:FINDING_KEPT]
        yield {"by": str(told.get("by", "reviewer")), "finding": finding}


def _payload_reports(payload: Payload) -> Iterator[tuple[str, str]]:
    for name, text in payload.get("reports", {}).items():
        yield name, describe_text(text)[-REPORT_KEPT:]


def _make_printable(value: Any) -> Any:
    """What agents wrote reaches terminals and browsers from here."""
    if isinstance(value, str):
        return make_printable(value)
    if isinstance(value, dict) and TEXT_REF_KEY in value:
        return make_printable(describe_text(value))
    if isinstance(value, dict):
        return {make_printable(key): _make_printable(each) for key, each in value.items()}
    return [_make_printable(each) for each in value] if isinstance(value, list) else value
