"""Reading and deciding: a form sends the digest of what it showed, and counts for nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace
from starlette.background import BackgroundTask
from starlette.responses import Response

from porch.errors import EXIT_BUSY, FailedError, PorchError, UsageError
from porch.fleet.answer_forms import read_form
from porch.fleet.drivers.go_on import needs_new_driver, start_again
from porch.machine.approvals import APPROVED
from porch.machine.state import Decision
from porch.model.protocol import TRACK
from porch.plan.gate_files.pending_problems import add_form_problems
from porch.run.decisions import decision_evidence
from porch.run.decisions.asked_files import (
    NO_FILES,
    AskedFiles,
    digest_asked_files,
    read_asked_files,
)
from porch.run.decisions.decision_facts import LastRound
from porch.run.decisions.settled_questions import describe_settled
from porch.run.decisions.shown_files import note_shown_files
from porch.run.verbs import decide
from porch.run.verbs.decide import ChangedFilesError, DecisionRequest
from porch.run.verbs.setting_changes import add_setting_changes
from porch.show.board import name_answer
from porch.show.difference_lines import list_difference_lines
from porch.store.where import ProjectPaths
from porch.web.pages.decision_view import DecisionFacts, make_decision
from porch.web.pages.page_words import run_address
from porch.web.server.call import CHANNEL, Call, NoSuchPage
from porch.web.server.dashboard import Dashboard
from porch.web.server.parts.run_frame import OpenRun

_MOVED = (
    "The files changed after you looked, so nothing was recorded. Read them again, then decide."
)

_ACCEPT = (
    "Nothing was recorded. Read the difference; to approve the files as they are now, tick the box "
    "in the form."
)


def drive_on(dashboard: Dashboard, where: ProjectPaths, name: str) -> None:
    """What goes wrong here is told on the next pages: whoever clicked has had an answer."""
    try:
        if not needs_new_driver(where, name):
            return
        started = start_again(where, name)
    except (PorchError, OSError) as error:
        dashboard.note(name, f"its driver could not be started: {error}")
        return
    # Somebody else was quicker to start one: that is as good.
    if not started.run and started.code not in (0, EXIT_BUSY):
        said = started.said or "it ended without a word"
        dashboard.note(name, f"its driver ended at once: {said}")
    else:
        dashboard.forget_note(name)


def show_decision(call: Call) -> Response:
    run, at = OpenRun(call), call.asked("at")
    if at not in run.state.decisions:
        return _show_settled(call, run, at)
    return _show_open(call, run, at)


def _show_open(
    call: Call,
    run: OpenRun,
    at: str,
    *,
    trouble: str = "",
    moves: Sequence[tuple[str, str]] = (),
    status: int = 200,
) -> Response:
    # Before the files are read: what is written after this is news.
    stream = run.stream(at)
    picture = run.picture()
    told, now = _find_told(run, picture, at), call.dashboard.now()
    facts = _find_facts(run, at)
    call.dashboard.shown.keep(facts.shown)
    shown = {each.path: each.digest for each in facts.shown.files}
    note_shown_files(run.where, run.state, run.state.decisions[at], shown)
    context = make_decision(run.project, told, replace(facts, cost=picture["cost"]), now)
    more = {
        **stream,
        "project": run.project if call.dashboard.has_several else "",
        "is_driven": not run.needs_driver,
        "trouble": trouble,
        "typed": call.form.get("text", "") if trouble else "",
        "typed_answer": call.form.get("answer", "") if trouble else "",
        "moves": [(path, list(list_difference_lines(text))) for path, text in moves],
    }
    title = f"{context['name']} of {context['id']}"
    return call.page("decision.html", title, {**context, **more}, status)


def _find_facts(run: OpenRun, at: str) -> DecisionFacts:
    decision = run.state.decisions[at]
    history = decision_evidence.read_history(run.where, run.protocol, run.state, decision)
    return DecisionFacts(
        shown=_read_files(run, decision, history.last_round),
        last_round=history.last_round,
        reviewers=history.reviewers,
        work=decision_evidence.measure_work(run.where, run.protocol, run.state, decision),
    )


def _read_files(run: OpenRun, decision: Decision, last: LastRound | None) -> AskedFiles:
    is_rejected = last is not None and last.answer not in APPROVED
    rejected = last.artifacts if last and is_rejected else NO_FILES
    return read_asked_files(run.where, run.state, decision, rejected)


def _find_told(run: OpenRun, picture: Mapping[str, Any], at: str) -> Mapping[str, Any]:
    """The decision as `porch pending` has it."""
    told = next(each for each in picture["decisions"] if each["position"] == at)
    add_form_problems(run.where, [told])
    add_setting_changes(run.where, [told])
    return cast("Mapping[str, Any]", told)


def _show_settled(call: Call, run: OpenRun, at: str) -> Response:
    told = describe_settled(run.protocol, run.state, at)
    if not told:
        raise NoSuchPage(f"{run.name} asks nothing at '{at}'", fix="go back to the inbox")
    context = {"told": told, "run_address": run_address(run.project, run.name), "name": run.name}
    return call.page("settled.html", "Already decided", context)


def decide_here(call: Call) -> Response:
    """Nothing is recorded for other bytes than those that the page showed."""
    run, form = OpenRun(call), call.form
    at, digest = form.get("at", ""), form.get("digest", "")
    if not digest or not form.get("answer"):
        raise UsageError("this form names no answer or no content", fix="open the page again")
    decision = run.state.decisions.get(at)
    if decision is None:
        told = (
            describe_settled(run.protocol, run.state, at) or f"{at} is not waiting for an answer."
        )
        return call.go(run_address(run.project, run.name), f"{told} Nothing was changed.")
    if digest_asked_files(run.where, run.state, decision) != digest:
        return _show_moved(call, run, decision)
    try:
        return _record(call, run, decision)
    except ChangedFilesError as error:
        moves = list(error.changes.difference.items())
        return _show_open(
            call, run, at, trouble=f"{error.message}. {_ACCEPT}", moves=moves, status=409
        )
    except FailedError as error:
        return _show_open(call, run, at, trouble=_tell(error), status=409)
    except UsageError as error:
        return _show_open(call, run, at, trouble=_tell(error), status=400)


def _show_moved(call: Call, run: OpenRun, decision: Decision) -> Response:
    now = read_asked_files(run.where, run.state, decision)
    moves = call.dashboard.shown.describe_moves(call.form["digest"], now)
    return _show_open(call, run, decision.position, trouble=_MOVED, moves=moves, status=409)


def _record(call: Call, run: OpenRun, decision: Decision) -> Response:
    answer, text = call.form["answer"], call.form.get("text", "").strip()
    request = DecisionRequest(
        answer,
        text,
        call.dashboard.as_person,
        call.form["digest"],
        channel=CHANNEL,
        accept_changes=call.form.get("accept_changes") == "yes",
    )
    done = decide.decide_question(
        run.where, run.name, decision.position, request, read_form=read_form
    )
    if run.protocol.subject == TRACK:
        from porch.track.plan_picture import draw_track_of

        draw_track_of(run.where, run.name)
    if done.notice:
        said = f"{done.message}. Nothing was changed."
    else:
        said = f"{decision.name}: {name_answer(answer).lower()}, recorded as event {done.seq}."
    answered = call.go(run_address(run.project, run.name), said)
    answered.headers["x-porch-event"] = str(done.seq)
    answered.background = BackgroundTask(drive_on, call.dashboard, run.where, run.name)
    return answered


def _tell(error: PorchError) -> str:
    return ". ".join(
        f"{each.message}{f' ({each.fix})' if each.fix else ''}" for each in error.findings
    )
