"""What people say about a track beside answering: waive, take back, ask again."""

import contextlib
import os

from porch.errors import FailedError, UsageError, suggest_name
from porch.machine.track.track_status import find_gate_state, find_track_states
from porch.model.protocol import Human, Protocol
from porch.model.track_names import CODUMENT, helper_state
from porch.run.definitions.track_plans import find_plan_file, find_track
from porch.run.engine.run_commits import END_FILE
from porch.run.engine.send_wish import send_wish
from porch.run.verbs.decide import DecisionRequest, DecisionResult, decide_question
from porch.run.verbs.read_run import ReadRun, read_run
from porch.run.verbs.steer import SteerResult
from porch.store.where import ProjectPaths


def cancel_node(
    where: ProjectPaths, run: str, word: str, reason: str, *, as_person: bool = False
) -> SteerResult:
    """A confirmation counts as waived, a task is given up; both are told wherever they show."""
    return _send(where, run, "cancel", word, reason=reason, as_person=as_person)


def reopen_node(
    where: ProjectPaths, run: str, word: str, reason: str, *, as_person: bool = False
) -> SteerResult:
    """Something done is not done; what comes after it is confirmed again."""
    return _send(where, run, "reopen", word, reason=reason, as_person=as_person)


_TOLD = {"cancel": "was cancelled", "reopen": "is open again"}


def _send(
    where: ProjectPaths, run: str, kind: str, word: str, *, reason: str, as_person: bool
) -> SteerResult:
    found = _require_track(where, run)
    state = _require_node(found, word)
    if kind == "reopen":
        # Of a track that was put away nothing goes on.
        find_plan_file(find_track(where, found.state))
    wish = {"kind": kind, "text": reason, "data": {"state": state}, "as_person": as_person}
    fact = send_wish(where, run, wish, f"porch {kind}")
    if fact["is"] != "WishTaken":
        raise FailedError(f"{word}: {fact['reason']}", code="wish-refused")
    # A run that was over ends once more, and its last work is committed again.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(where.run_dir(run), END_FILE))
    return SteerResult(f"{word} {_TOLD[kind]}: {reason}", {"run": run, "name": word})


def ask_again(
    where: ProjectPaths, run: str, word: str, reason: str, *, as_person: bool = False
) -> DecisionResult:
    """Of a confirmation that has halted: the same question once more, although nothing changed."""
    found = _require_track(where, run)
    halted = helper_state(_require_node(found, word), "halted")
    standing = next((p for p in found.state.positions.values() if p.state == halted), None)
    if standing is None:
        known = find_track_states(found.definition.protocol, found.state)
        status = known.gates.get(_require_node(found, word), "no confirmation")
        raise UsageError(
            f"{word} has not halted: it is {status}",
            fix="`porch pending` shows what waits for an answer",
            code="not-halted",
        )
    if standing.position not in found.state.decisions:
        raise UsageError(
            f"{word} has halted, and nobody has been asked yet",
            fix=f"run `porch resume {found.state.run.id}` first",
            code="not-halted",
        )
    return decide_question(
        where, run, standing.position, DecisionRequest("retry", reason, as_person)
    )


def _require_track(where: ProjectPaths, run: str) -> ReadRun:
    found = read_run(where, run)
    if found.state.run.protocol != CODUMENT:
        raise UsageError(
            f"{run} is not a track",
            fix="`porch rollback` goes back in other runs",
            code="no-track",
        )
    return found


def _require_node(found: ReadRun, word: str) -> str:
    protocol = found.definition.protocol
    state = find_gate_state(protocol, word)
    if not state:
        names = _list_names(protocol)
        raise UsageError(
            f"'{word}' is no confirmation and no task of this track",
            fix=f"{suggest_name(word, names)}known: {', '.join(names)}",
            code="unknown-gate",
        )
    return state


def _list_names(protocol: Protocol) -> list[str]:
    gates = [
        kind.actor.name if isinstance(kind.actor, Human) else kind.title
        for name, kind in protocol.states.items()
        if find_gate_state(protocol, name) == name and "-" in name
    ]
    tasks = [k.group for n, k in protocol.states.items() if find_gate_state(protocol, k.group) == n]
    return [*gates, *tasks]
