"""Reading and deciding: a form sends the digest of what it showed, and counts for nothing else."""

from collections.abc import Mapping
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import Response

from porch.errors import FailedError, PorchError, UsageError
from porch.machine.state import Decision, RunState, Standing
from porch.model.protocol import Human
from porch.plan.gate_files.pending_problems import add_form_problems
from porch.run.verbs import decide
from porch.run.verbs.asked_files import digest_asked_files, read_asked_files
from porch.run.verbs.decide import DecisionRequest
from porch.run.verbs.liveness import complete_status
from porch.run.verbs.read_run import ReadRun, read_run
from porch.show.answer_effects import describe_effect
from porch.show.board import format_moment
from porch.store import run_drivers
from porch.store.where import ProjectPaths
from porch.web.pages.answers import name_answer
from porch.web.pages.decision_view import make_decision
from porch.web.pages.documents import list_difference_lines
from porch.web.pages.wording import run_address
from porch.web.server.call import Call, NoSuchPage
from porch.web.server.drivers import drive_on

CHANNEL = "dashboard"
_MOVED = (
    "The files changed after you looked, so nothing was recorded. Read them again, then decide."
)


def show_decision(call: Call) -> Response:
    project, where, name = call.run()
    found, at = read_run(where, name), call.asked("at")
    if at not in found.state.decisions:
        return _show_settled(call, found, project, at)
    return _show_open(call, project, where, found, at)


def _show_open(
    call: Call,
    project: str,
    where: ProjectPaths,
    found: ReadRun,
    at: str,
    trouble: str = "",
    moves: list[tuple[str, str]] | None = None,
    status: int = 200,
) -> Response:
    state = found.state
    shown = read_asked_files(where, state, state.decisions[at])
    call.dashboard.shown.keep(shown)
    context = make_decision(
        project,
        _find_told(where, found, at),
        shown,
        _list_effects(found, state.positions[at]),
        call.dashboard.now(),
    )
    more = {
        "project": project if call.dashboard.has_several else "",
        "trouble": trouble,
        "typed": call.form.get("text", "") if trouble else "",
        "typed_answer": call.form.get("answer", "") if trouble else "",
        "moves": [(path, list(list_difference_lines(text))) for path, text in moves or ()],
    }
    title = f"{context['name']} of {context['id']}"
    return call.page("decision.html", title, {**context, **more}, status)


def _find_told(where: ProjectPaths, found: ReadRun, at: str) -> Mapping[str, Any]:
    """The decision as `porch pending` has it."""
    asked = complete_status(where, found.name, found.picture())["decisions"]
    told = next(each for each in asked if each["position"] == at)
    add_form_problems(where, [told])
    driver = run_drivers.find_driver(where.run_dir(found.name))
    return {**told, "is_driven": driver.holder is not None}


def _list_effects(found: ReadRun, standing: Standing) -> dict[str, str]:
    protocol = found.definition.protocol
    actor = protocol.states[standing.state].actor
    options = actor.options if isinstance(actor, Human) else ()
    return {
        option.exit: describe_effect(protocol, found.state, standing, option.exit)
        for option in options
    }


def _show_settled(call: Call, found: ReadRun, project: str, at: str) -> Response:
    told = describe_settled(found, at)
    if not told:
        raise NoSuchPage(f"{found.name} asks nothing at '{at}'", fix="go back to the inbox")
    context = {"told": told, "run_address": run_address(project, found.name), "name": found.name}
    return call.page("settled.html", "Already decided", context)


def describe_settled(found: ReadRun, at: str) -> str:
    """Who was first, if this was asked and is no longer; nothing if it never was."""
    protocol, label = found.definition.protocol, at.rpartition("#")[0]
    fits = [name for name in protocol.states if label == name or label.startswith(f"{name}:")]
    actor = protocol.states[max(fits, key=len)].actor if fits else None
    if not isinstance(actor, Human):
        return ""
    gate = found.state.gates.get(actor.name)
    if gate is None or not gate.decided_at:
        return f"{actor.name} is no longer waiting for an answer."
    by = f" by {gate.by}" if gate.by else ""
    return f"{actor.name} was already {gate.status}{by} at {format_moment(gate.decided_at)}."


def decide_here(call: Call) -> Response:
    """Nothing is recorded for other bytes than those that the page showed."""
    project, where, name = call.run()
    found, form = read_run(where, name), call.form
    at, digest = form.get("at", ""), form.get("digest", "")
    if not digest or not form.get("answer"):
        raise UsageError("this form names no answer or no content", fix="open the page again")
    decision = found.state.decisions.get(at)
    if decision is None:
        told = describe_settled(found, at) or f"{at} is not waiting for an answer."
        return call.go(run_address(project, name), f"{told} Nothing was changed.")
    if digest_asked_files(where, found.state, decision) != digest:
        return _show_moved(call, project, where, found, decision)
    try:
        return _record(call, project, where, found, decision)
    except FailedError as error:
        return _show_open(call, project, where, found, at, _tell(error), status=409)
    except UsageError as error:
        return _show_open(call, project, where, found, at, _tell(error), status=400)


def _show_moved(
    call: Call, project: str, where: ProjectPaths, found: ReadRun, decision: Decision
) -> Response:
    now = read_asked_files(where, found.state, decision)
    moves = call.dashboard.shown.describe_moves(call.form["digest"], now)
    return _show_open(call, project, where, found, decision.position, _MOVED, moves, 409)


def _record(
    call: Call, project: str, where: ProjectPaths, found: ReadRun, decision: Decision
) -> Response:
    answer, text = call.form["answer"], call.form.get("text", "").strip()
    request = DecisionRequest(
        answer, text, call.dashboard.as_person, call.form["digest"], channel=CHANNEL
    )
    done = decide.decide_question(where, found.name, decision.position, request, _read_plan_form)
    if done.notice:
        said = f"{done.message}. Nothing was changed."
    else:
        said = f"{decision.name}: {name_answer(answer).lower()}, recorded as event {done.seq}."
    answered = call.go(run_address(project, found.name), said)
    answered.headers["x-porch-event"] = str(done.seq)
    answered.background = BackgroundTask(drive_on, call.dashboard, where, found.name)
    return answered


def _read_plan_form(
    where: ProjectPaths, state: RunState, standing: Standing, text: str
) -> Mapping[str, Any] | None:
    from porch.plan.gates import typed_answers

    return typed_answers.read_typed_form(where, state, standing, text)


def _tell(error: PorchError) -> str:
    return ". ".join(
        f"{each.message}{f' ({each.fix})' if each.fix else ''}" for each in error.findings
    )
