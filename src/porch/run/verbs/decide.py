"""Deciding: one inbox for everything a person is asked, under the same rules for every channel."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import FailedError, UsageError, suggest_name
from porch.machine.approvals import APPROVED
from porch.machine.budgets import DRIVERLESS
from porch.machine.exits.causes import RETRY
from porch.machine.state import Decision, RunState, Standing
from porch.machine.wishes import TOO_LATE
from porch.model.protocol import Human, Protocol
from porch.run.engine.artifacts import changed_artifacts, digest_hashes, hash_artifacts
from porch.run.engine.run_places import workspace_of
from porch.run.engine.send_wish import send_recorded_wish
from porch.run.verbs.read_run import ReadRun, read_run
from porch.run.verbs.setting_changes import check_retry
from porch.show.decision import list_answerable
from porch.store.where import ProjectPaths


class DecisionRequest(Struct, frozen=True):
    """What somebody wants to decide."""

    exit: str
    text: str = ""
    as_person: bool = False
    digest: str = ""
    channel: str = "cli"
    keeps_settings: bool = False  # try again although the settings of the run are old ones


class DecisionResult(Struct, frozen=True):
    """What came of it: taken, or a notice that nothing had to change."""

    run: str
    name: str
    position: str
    message: str
    notice: bool = False
    changed: tuple[str, ...] = ()
    seq: int = 0  # of the record that holds the answer
    notes: tuple[str, ...] = ()


# Reads the words for a gate as its form; nothing if the gate has none.
FormReader = Callable[[ProjectPaths, RunState, Standing, str], Mapping[str, Any] | None]


def decide_question(
    where: ProjectPaths,
    run: str,
    name: str,
    verdict: DecisionRequest,
    *,
    read_form: FormReader | None = None,
) -> DecisionResult:
    """Decide what is being asked; a decision already taken that way is a notice.

    Words for a gate that has a form are read by whoever knows that form.
    """
    found = read_run(where, run)
    decision = find_asked_decision(found, name)
    if decision is None:
        return _answer_nothing_asked(found, name, verdict)
    if verdict.exit in APPROVED and decision.artifacts:
        _require_readable(where, found.state)
    notes: list[str] = []
    if verdict.exit == RETRY and decision.kind == "failure" and not verdict.keeps_settings:
        notes = check_retry(where, found, decision)
    now = hash_artifacts(workspace_of(where, found.state), "", decision.artifacts)
    wish = {
        "kind": "decide",
        "position": decision.position,
        "exit": verdict.exit,
        "text": verdict.text,
        "digest": verdict.digest or digest_hashes(now),
        "as_person": verdict.as_person,
        "channel": verdict.channel,
        "data": {"name": decision.name, **_read_form(where, found, decision, verdict, read_form)},
    }
    record = send_recorded_wish(where, run, wish, f"porch {verdict.exit}")
    moved = tuple(changed_artifacts(decision.artifacts, now))
    answered = _decision_result(run, decision, verdict, record=record, moved=moved)
    return replace(answered, notes=tuple(notes))


def _require_readable(where: ProjectPaths, state: RunState) -> None:
    """Nobody can have read what is not there; it would only be asked once more after `resume`."""
    if not os.path.isdir(workspace_of(where, state)):
        from porch.run.worktrees.gone_worktree import gone_worktree_error

        raise gone_worktree_error(where, state)


def _read_form(
    where: ProjectPaths,
    found: ReadRun,
    decision: Decision,
    verdict: DecisionRequest,
    read_form: FormReader | None,
) -> Mapping[str, Any]:
    """A gate of a plan has a form; its words are read before anybody is bothered with them."""
    is_form = found.definition.protocol.subject in DRIVERLESS and verdict.exit == "answered"
    if not is_form or read_form is None:
        return {}
    standing = found.state.positions[decision.position]
    form = read_form(where, found.state, standing, verdict.text)
    return {} if form is None else {"form": form}


def find_asked_decision(found: ReadRun, name: str) -> Decision | None:
    """The open decision of this name or position; without a name, the only one there is."""
    open_ = list(found.state.decisions.values())
    if not name and len(open_) == 1:
        return open_[0]
    fits = [d for d in open_ if name in (d.name, d.position, d.position.rpartition("#")[0])]
    if len(fits) > 1:
        names = ", ".join(d.position for d in fits)
        raise UsageError(f"'{name}' matches several decisions", fix=f"use one of: {names}")
    return fits[0] if fits else None


def _decision_result(
    run: str,
    decision: Decision,
    verdict: DecisionRequest,
    *,
    record: Mapping[str, Any],
    moved: tuple[str, ...],
) -> DecisionResult:
    fact, seq = record["fact"], int(record["seq"])
    if fact["is"] == "WishTaken":
        said = f"{decision.name}: {verdict.exit}"
        return DecisionResult(run, decision.name, decision.position, said, False, moved, seq)
    reason = str(fact["reason"])
    if fact.get("notice"):
        return DecisionResult(run, decision.name, decision.position, reason, notice=True)
    is_late = reason.endswith(TOO_LATE)
    raise FailedError(
        f"your answer to {decision.name} was refused: {reason}",
        fix=f"somebody was quicker; `porch log {run}` shows what was decided"
        if is_late
        else "it is still waiting; `porch pending` shows the possible answers",
        code="wish-refused",
    )


def _answer_nothing_asked(found: ReadRun, name: str, verdict: DecisionRequest) -> DecisionResult:
    state, protocol = found.state, found.definition.protocol
    if state.outcome and (not name or name in (*state.gates, *_list_names(protocol))):
        said = f"{found.name} is already {state.outcome}; nothing was changed"
        return DecisionResult(found.name, name, "", said, notice=True)
    gate = state.gates.get(name)
    if gate and gate.status in APPROVED and verdict.exit in APPROVED:
        said = f"{name} is already {gate.status}; nothing was changed"
        return DecisionResult(found.name, name, "", said, notice=True)
    if gate and gate.status in APPROVED:
        word = state.run.id or found.name
        raise UsageError(
            f"{name} is already {gate.status}, so it waits for no answer",
            fix=f"to take that back, go back to a phase: porch rollback {word} STATE",
            code="not-asked",
        )
    what = f"{name} is not waiting for an answer" if name else _say_nothing_fits(state)
    raise UsageError(
        what,
        fix=_describe_open_decisions(state, protocol, name),
        code="not-asked",
    )


def _say_nothing_fits(state: RunState) -> str:
    many = len(state.decisions) > 1
    return "several decisions are waiting: say which one" if many else "no decision is waiting here"


def _describe_open_decisions(state: RunState, protocol: Protocol, name: str) -> str:
    names = [d.name for d in state.decisions.values()]
    open_ = ", ".join(names)
    known = _list_names(protocol)
    if state.outcome:
        return f"{suggest_name(name, known)}the run is already {state.outcome}"
    if open_:
        return f"{suggest_name(name, names)}waiting now: {open_}"
    where = ", ".join(s.position for s in state.positions.values())
    later = "it comes later; " if name in known else ""
    return f"{later}the run is at {where}"


def _list_names(protocol: Protocol) -> list[str]:
    """What the decisions of a protocol are called."""
    return [s.actor.name for s in protocol.states.values() if isinstance(s.actor, Human)]


def resolve_failure(found: ReadRun, exit_: str) -> str:
    """The open decision that has this answer, for `retry` and `skip` that name no decision."""
    protocol = found.definition.protocol
    fits = list_answerable(protocol, found.state, exit_)
    if len(fits) == 1:
        return fits[0].name
    if found.state.outcome:
        return ""
    if fits:
        places = " or ".join(sorted(each.position for each in fits))
        raise UsageError(
            f"{len(fits)} decisions can be answered with '{exit_}'",
            fix=f"say which: porch answer {found.state.run.id} NAME {exit_}; NAME is {places}",
        )
    raise UsageError(
        f"nothing that is waiting can be answered with '{exit_}'",
        fix=_describe_open_decisions(found.state, protocol, ""),
        code="not-asked",
    )


def choose_option(found: ReadRun, name: str, words: Sequence[str]) -> tuple[str, str]:
    """The option that the first word names, with the rest as its reason; else a plain answer."""
    decision = find_asked_decision(found, name)
    if decision is None:
        return "answered", " ".join(words)
    actor = found.definition.protocol.states[found.state.positions[decision.position].state].actor
    exits = [option.exit for option in actor.options] if isinstance(actor, Human) else []
    if words and words[0] in exits and "answered" not in exits:
        return words[0], " ".join(words[1:])
    if words and words[0] == "stopped" and len(words) == 1:
        return "stopped", ""
    return _read_consent(" ".join(words)) if "declined" in exits else ("answered", " ".join(words))


def _read_consent(text: str) -> tuple[str, str]:
    """A reply to a confirmation: a plain yes, no or stop, else what has to change."""
    from porch.claims.questions.consent import read_consent

    consent = read_consent(text)
    exits = {"confirmed": "approved", "changes": "rejected", "unanswered": "answered"}
    return exits.get(consent.verdict, consent.verdict), consent.feedback
