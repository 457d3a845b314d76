"""Deciding: one inbox for everything a person is asked, under the same rules for every channel.

The command line, the prompt of a run and the pages bring a `DecisionRequest`. Here it becomes the
wish that is left for the holder of the run's lock, and the answer to that becomes words. An
approval is for the files that porch asked about; for others only if the person accepts the changes,
and then for those that this person was shown last (`shown_files`).
"""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from porch.errors import FailedError, UsageError, suggest_name
from porch.machine import facts as f
from porch.machine.approvals import APPROVED
from porch.machine.budgets import DRIVERLESS
from porch.machine.exits.causes import RETRY
from porch.machine.state import Decision, RunState, Standing
from porch.machine.wishes import ACCEPTED, is_approval
from porch.model.protocol import Human, Option, Protocol
from porch.run.decisions.shown_files import FileChanges, read_shown_files, show_changes
from porch.run.engine.artifacts import (
    changed_artifacts,
    digest_hashes,
    hash_artifacts,
    list_unreadable_artifacts,
)
from porch.run.engine.run_places import workspace_of
from porch.run.engine.send_wish import send_recorded_wish
from porch.run.verbs.next_step import describe_next_step
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.decision import format_answer, list_answerable, list_decisions, takes_text
from porch.store.run_names import unique_word
from porch.store.where import ProjectPaths
from porch.text.printable import make_printable

_SHOWN = 60


class DecisionRequest(Struct, frozen=True):
    """What somebody wants to decide; `digest` is that of the files that a page showed."""

    exit: str
    text: str = ""
    as_person: bool = False
    digest: str = ""
    channel: str = "cli"
    keeps_settings: bool = False  # try again although the settings of the run are old ones
    accept_changes: bool = False


class DecisionResult(Struct, frozen=True):
    """What came of it: taken, or a notice that nothing had to change."""

    run: str
    name: str
    position: str
    message: str
    notice: bool = False
    changed: tuple[str, ...] = ()  # since porch asked, and accepted
    seq: int = 0  # of the record that holds the answer
    notes: tuple[str, ...] = ()


class ChangedFilesError(FailedError):
    """An approval of files that are not those that the person was asked about, or saw last."""

    def __init__(self, message: str, fix: str, changes: FileChanges):
        lines = [line for text in changes.difference.values() for line in text.split("\n")]
        told = "\n".join([message, *(f"    {line}" for line in lines)])
        super().__init__(told, fix, code="approve-changed")
        self.message = message
        self.changes = changes


# Reads the words for a gate as its form; nothing if the gate has none.
FormReader = Callable[[ProjectPaths, RunState, Standing, str], Mapping[str, Any] | None]


def decide_question(
    where: ProjectPaths,
    run: str,
    name: str,
    request: DecisionRequest,
    *,
    read_form: FormReader | None = None,
    found: ReadRun | None = None,
) -> DecisionResult:
    """Decide what is being asked; a decision already taken that way is a notice.

    Words for a gate that has a form are read by whoever knows that form. Whoever has read the run
    to understand the words brings it along.
    """
    found = found or read_run(where, run)
    decision = find_asked_decision(found, name)
    if decision is None:
        return answer_nothing_asked(where, found, name, request)
    notes = tuple(check_answer(where, found, decision, request))
    wish = make_answer(where, found, decision, request, read_form)
    record = send_recorded_wish(where, run, wish, f"porch {request.exit}")
    fact, seq = record["fact"], int(record["seq"])
    if fact["is"] == "WishTaken":
        changed = tuple(wish["data"].get(ACCEPTED, ()))
        said = f"{decision.name}: {request.exit}"
        place = decision.position
        return DecisionResult(run, decision.name, place, said, False, changed, seq, notes)
    reason = str(fact["reason"])
    if fact.get("notice"):
        return DecisionResult(run, decision.name, decision.position, reason, notice=True)
    raise _refusal_error(where, run, decision, wish=wish, reason=reason)


def check_answer(
    where: ProjectPaths, found: ReadRun, decision: Decision, request: DecisionRequest
) -> list[str]:
    """What is to be said with an answer; a retry that would repeat what was fixed is refused."""
    if request.exit != RETRY or decision.kind != "failure" or request.keeps_settings:
        return []
    from porch.run.verbs.setting_changes import check_retry

    return check_retry(where, found, decision)


def make_answer(
    where: ProjectPaths,
    found: ReadRun,
    decision: Decision,
    request: DecisionRequest,
    read_form: FormReader | None = None,
) -> dict[str, Any]:
    """The wish to leave: for which question and for which files, with what was said."""
    state, protocol = found.state, found.definition.protocol
    data = {"name": decision.name, **_read_form(where, found, decision, request, read_form)}
    if request.exit in APPROVED and decision.artifacts:
        _require_readable(where, state)
    files: Mapping[str, str] | None = None
    if not request.digest and _is_approval(protocol, state, decision, request.exit, data):
        files = read_shown_files(where, state, decision) or decision.artifacts
    if files is None:
        files = hash_artifacts(workspace_of(where, state), "", decision.artifacts)
    if request.accept_changes and (changed := changed_artifacts(decision.artifacts, files)):
        data[ACCEPTED] = changed
    return {
        "kind": "decide",
        "position": decision.position,
        "exit": request.exit,
        "text": request.text,
        "digest": request.digest or digest_hashes(files),
        "as_person": request.as_person,
        "channel": request.channel,
        "data": data,
    }


def _is_approval(
    protocol: Protocol, state: RunState, decision: Decision, exit_: str, data: Mapping[str, Any]
) -> bool:
    answer = f.Wish(id="", kind="decide", position=decision.position, exit=exit_, data=data)
    return is_approval(protocol, state, answer)


def _require_readable(where: ProjectPaths, state: RunState) -> None:
    """Nobody can have read what is not there; it would only be asked once more after `resume`."""
    if not os.path.isdir(workspace_of(where, state)):
        from porch.run.worktrees.gone_worktree import gone_worktree_error

        raise gone_worktree_error(where, state)


def _read_form(
    where: ProjectPaths,
    found: ReadRun,
    decision: Decision,
    request: DecisionRequest,
    read_form: FormReader | None,
) -> Mapping[str, Any]:
    """A gate of a plan has a form; its words are read before anybody is bothered with them."""
    is_form = found.definition.protocol.subject in DRIVERLESS and request.exit == "answered"
    if not is_form or read_form is None:
        return {}
    standing = found.state.positions[decision.position]
    form = read_form(where, found.state, standing, request.text)
    return {} if form is None else {"form": form}


def _refusal_error(
    where: ProjectPaths, run: str, decision: Decision, *, wish: Mapping[str, Any], reason: str
) -> FailedError:
    """Why an answer was not taken, and what to do; it looks at the run as it is now."""
    found = read_run(where, run)
    what = f"your answer to {decision.name} was refused: {reason}"
    if decision.position not in found.state.decisions:
        fix = f"somebody else already answered; `porch log {run}` shows what was decided"
        return FailedError(what, fix, code="wish-refused")
    command = format_answer(found.definition.protocol, found.state, decision, wish["exit"])
    again = f"answer it again: `{command}`; " if command else _list_possible(found, decision)
    return find_file_refusal(where, found, decision, wish) or FailedError(
        what, f"it is still waiting; {again}`porch pending` shows the answers", "wish-refused"
    )


def _list_possible(found: ReadRun, decision: Decision) -> str:
    """The commands of the answers that the question has."""
    shown = list_decisions(found.definition.protocol, found.state)
    asked = [each for each in shown if each["position"] == decision.position]
    commands = [f"`{option['command']}`" for each in asked for option in each["options"]]
    return f"possible: {', '.join(commands)}; " if commands else ""


def find_file_refusal(
    where: ProjectPaths, found: ReadRun, decision: Decision, wish: Mapping[str, Any]
) -> FailedError | None:
    """What to say of an approval that was refused because of its files; the difference is shown."""
    state, protocol = found.state, found.definition.protocol
    if not _is_approval(protocol, state, decision, wish["exit"], wish["data"]):
        return None
    files = hash_artifacts(workspace_of(where, state), "", decision.artifacts)
    name = decision.name
    back = format_answer(protocol, state, decision, "rejected")
    back = f"send it back: {back}; or " if back else ""
    if odd := list_unreadable_artifacts(protocol.subject, decision.artifacts, files):
        return FailedError(
            f"{name} was not approved: {'; '.join(odd)}, and what nobody can read cannot be "
            "approved",
            fix=f"{back}write the file, look at it, and approve it with --accept-changes",
            code="approve-missing",
        )
    is_unseen = digest_hashes(files) != wish["digest"]
    if not is_unseen and (wish["data"].get(ACCEPTED) or files == decision.artifacts):
        return None
    changes = show_changes(where, state, decision)
    if not changes.difference:
        return None
    command = format_answer(protocol, state, decision, wish["exit"])
    return ChangedFilesError(
        f"{name} was not approved: {', '.join(changes.paths)} changed since {changes.since}",
        f"read the difference; then {back}approve it as it is now: {command} --accept-changes",
        changes,
    )


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


def is_decision_name(found: ReadRun, word: str) -> bool:
    """Whether a word names a decision of this run, or is near to the name of one that waits."""
    open_ = found.state.decisions.values()
    names = {n for d in open_ for n in (d.name, d.position, d.position.rpartition("#")[0])}
    known = names | set(_list_names(found.definition.protocol))
    return word in known or bool(suggest_name(word, names))


def answer_nothing_asked(
    where: ProjectPaths, found: ReadRun, name: str, request: DecisionRequest
) -> DecisionResult:
    state, protocol = found.state, found.definition.protocol
    known = {"", *state.gates, *_list_names(protocol)}
    # Where one gate is asked for each phase of a plan, its number stands behind a colon.
    if state.outcome and {name, name.rpartition(":")[0] or name} & known:
        said = f"{found.name} is already {state.outcome}; nothing was changed"
        if state.run.delivery is None:
            word = unique_word(where.names(), found.name, state.run.id)
            said += f"; to merge or keep its work: porch finish {word}"
        return DecisionResult(found.name, name, "", said, notice=True)
    gate = state.gates.get(name)
    if gate and gate.status in APPROVED and request.exit in APPROVED:
        said = f"{name} is already {gate.status}; nothing was changed"
        return DecisionResult(found.name, name, "", said, notice=True)
    if gate and gate.status in APPROVED:
        word = state.run.id or found.name
        raise UsageError(
            f"{name} is already {gate.status}, so it waits for no answer",
            fix=f"to take that back, go back to a phase: porch rollback {word} STATE",
            code="not-asked",
        )
    if not name:
        what = _say_nothing_fits(state)
    elif name in _list_names(protocol) and name not in {d.name for d in state.decisions.values()}:
        what = f"{name} is not waiting for an answer: it comes later"
    else:
        what = f"{name} is not waiting for an answer"
    near = suggest_name(name, _list_candidates(state, protocol, name))
    fix = f"{near}{describe_next_step(where, state, protocol)}"
    raise UsageError(what, fix, code="not-asked")


def _list_candidates(state: RunState, protocol: Protocol, name: str) -> list[str]:
    """What somebody may have meant; nothing else by a name that the protocol has."""
    if name in _list_names(protocol):
        return []
    return [each.name for each in state.decisions.values()] or _list_names(protocol)


def _say_nothing_fits(state: RunState) -> str:
    many = len(state.decisions) > 1
    return "several decisions are waiting: say which one" if many else "no decision is waiting here"


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
    names = ", ".join(each.name for each in found.state.decisions.values())
    raise UsageError(
        f"nothing that is waiting can be answered with '{exit_}'",
        fix=f"waiting now: {names}; `porch pending {found.state.run.id}` shows the answers"
        if names
        else f"`porch status {found.state.run.id}` shows where the run is",
        code="not-asked",
    )


def choose_answer(
    found: ReadRun, name: str, words: Sequence[str], option: str = ""
) -> tuple[str, str]:
    """The option that the words behind `porch answer` mean, and its text or reason.

    At a question all of them are the text, and an option is chosen with `--option`. Elsewhere the
    first word may name an option: alone, or before one reason. Where any text is an answer, or an
    option lets something pass, a reason in several words is refused: it may be a sentence that only
    begins like an option.
    """
    text, decision = " ".join(words), find_asked_decision(found, name)
    if not option and not words:
        raise UsageError(
            "the answer is empty",
            fix=f"give a text: porch answer {found.state.run.id or found.name} "
            f'{shlex.quote(name)} "..."; `porch pending` shows what is possible',
        )
    human = _human_of(found, decision) if decision else None
    if human is None:
        return option or "answered", text
    offered = {each.exit: each for each in human.options}
    if option:
        return _require_option(name, offered, option), text
    if takes_text(human) or not words or words[0] not in offered or words[0] == "answered":
        return _read_consent(text) if "declined" in offered else ("answered", text)
    chosen, reason = offered[words[0]], words[1:]
    is_free = "answered" in offered or "declined" in offered
    is_loose = chosen.needs_text and not is_free and chosen.exit not in APPROVED
    if not reason or is_loose or (len(reason) == 1 and chosen.exit != "approved"):
        return chosen.exit, " ".join(reason)
    raise UsageError(
        f"'{chosen.exit}' is a possible answer to {name}, and other words follow it",
        fix=f"if you mean that answer: --option {chosen.exit}, with a reason in quotes; "
        "if you mean a text: put all of it in quotes",
        code="unclear-answer",
    )


def _human_of(found: ReadRun, decision: Decision) -> Human | None:
    kind = found.definition.protocol.states.get(found.state.positions[decision.position].state)
    return kind.actor if kind and isinstance(kind.actor, Human) else None


def _require_option(name: str, offered: Mapping[str, Option], option: str) -> str:
    if option not in offered:
        raise UsageError(
            f"'{option}' is not a possible answer to {name}",
            fix=f"{suggest_name(option, offered)}possible: {', '.join(offered)}",
        )
    return option


def _read_consent(text: str) -> tuple[str, str]:
    """A reply to a confirmation: a plain yes, no or stop, else what has to change."""
    from porch.claims.questions.consent import read_consent

    consent = read_consent(text)
    if consent.verdict == "unanswered":
        said = f"'{make_printable(text.strip()[:_SHOWN])}'" if text.strip() else "an empty answer"
        raise FailedError(
            f"{said} says neither yes nor no, and not what has to change; it is still waiting",
            fix="answer yes, no or stop, or say in a sentence what has to change",
            code="unclear-answer",
        )
    exits = {"confirmed": "approved", "changes": "rejected"}
    return exits.get(consent.verdict, consent.verdict), consent.feedback
