"""Deciding from the command line: approve, reject, answer, retry, skip."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument, refuse_empty_values

if TYPE_CHECKING:
    from porch.machine.state import RunState, Standing
    from porch.run.verbs.decide import DecisionRequest, DecisionResult
    from porch.store.where import ProjectPaths

_ID = make_argument("id", help="the run: id, short id or directory name; `.` means here")
_HERE = make_argument(
    "id", nargs="?", default="", help="the run: id, short id or directory name; default: here"
)


def _decide_question(
    where: "ProjectPaths", run: str, name: str, verdict: "DecisionRequest"
) -> "DecisionResult":
    """With the forms of plans, which are loaded where somebody answers one."""
    from porch.run.verbs import decide

    return decide.decide_question(where, run, name, verdict, read_form=_read_form)


def _read_form(
    where: "ProjectPaths", state: "RunState", standing: "Standing", text: str
) -> Mapping[str, Any] | None:
    from porch.machine.budgets import ASK

    if state.run.protocol == ASK:
        from porch.track.questions import ask_answers

        return ask_answers.read_typed_reply(where, state, standing, text)
    from porch.plan.gates import typed_answers

    return typed_answers.read_typed_form(where, state, standing, text)


def _decide_named(args: Args, name: str, exit_: str, text: str) -> View:
    from porch.run.verbs.decide import DecisionRequest
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    run = find_run(where, args.id)
    answered = _decide_question(where, run, name, DecisionRequest(exit_, text, args.as_person))
    return _decision_view(where, answered)


def _decision_view(where: "ProjectPaths", answered: "DecisionResult") -> View:
    from porch.run.verbs.liveness import describe_next_move

    next_ = "" if answered.notice else _describe_open(where, answered.run)
    next_ = next_ or ("" if answered.notice else describe_next_move(where, answered.run))
    lines = [answered.message, *answered.notes, *_draw_track(where, answered.run)]
    if answered.changed:
        lines.append(f"changed since porch asked: {', '.join(answered.changed)}")
    lines += [next_] if next_ else []
    data = {
        "run": answered.run,
        "decision": answered.name,
        "position": answered.position,
        "message": answered.message,
        "notice": answered.notice,
        "changed": list(answered.changed),
        **({"notes": list(answered.notes)} if answered.notes else {}),
        **({"next": next_} if next_ else {}),
    }
    return View("\n".join(lines), data)


def _describe_open(where: "ProjectPaths", run: str) -> str:
    """Of a round of questions, what the answer left open."""
    if not run.startswith("ask_"):
        return ""
    from porch.track.questions.ask_answers import describe_open_questions

    return describe_open_questions(where, run)


def _draw_track(where: "ProjectPaths", run: str) -> list[str]:
    """The statuses in the plan of a track, which are loaded where somebody answers one."""
    if not run.startswith("track_"):
        return []
    from porch.track.plan_picture import draw_track_of

    return draw_track_of(where, run)


def _approve_gate(args: Args) -> View:
    refuse_empty_values(args, "override")
    text = args.override or args.note or ""
    return _decide_named(args, _read_gate(args), "waived" if args.override else "approved", text)


def _reject_gate(args: Args) -> View:
    return _decide_named(args, _read_gate(args), "rejected", args.reason)


def _answer_question(args: Args) -> View:
    """The first word may be an option of the decision; anything else is the text of an answer."""

    from porch.run.verbs import decide
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    text = " ".join(args.text)
    where = places.find_project(os.getcwd())
    found = read_run(where, find_run(where, args.id))
    exit_, rest = decide.choose_option(found, args.question, args.text)
    return _decide_named(args, args.question, exit_, text if exit_ == "answered" else rest)


def _retry_failure(args: Args) -> View:
    return _resolve_failure(args, "retry", args.note or "", keeps_settings=args.keep_settings)


def _skip_failure(args: Args) -> View:
    return _resolve_failure(args, "skip", args.reason)


def _resolve_failure(args: Args, exit_: str, text: str, *, keeps_settings: bool = False) -> View:
    from porch.run.verbs import decide
    from porch.run.verbs.decide import DecisionRequest
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    run = find_run(where, args.id)
    name = decide.resolve_failure(read_run(where, run), exit_)
    verdict = DecisionRequest(exit_, text, args.as_person, keeps_settings=keeps_settings)
    return _decision_view(where, _decide_question(where, run, name, verdict))


def _read_gate(args: Args) -> str:
    """Without one, that which is waiting; an empty one is a slip, and nobody's decision."""
    refuse_empty_values(args, "gate")
    return args.gate or ""


COMMANDS: Verbs = {
    "approve": Verb(
        _approve_gate,
        (
            _ID,
            make_argument("gate", nargs="?", help="the gate; not needed if only one is waiting"),
            make_argument("--note", help="a note to keep with the approval"),
            make_argument("--override", help="approve although a check failed; give the reason"),
            PERSON,
        ),
    ),
    "reject": Verb(
        _reject_gate,
        (
            _ID,
            make_argument("gate", nargs="?", help="the gate"),
            make_argument(
                "--reason", required=True, help="what must change; the agent gets this text"
            ),
            PERSON,
        ),
    ),
    "answer": Verb(
        _answer_question,
        (
            _ID,
            make_argument("question", help="the name of the decision; see `porch pending`"),
            make_argument("text", nargs="+", help="the answer, or an option and its reason"),
            PERSON,
        ),
    ),
    "retry": Verb(
        _retry_failure,
        (
            _HERE,
            make_argument("--note", help="a note to keep with it"),
            make_argument(
                "--keep-settings",
                action="store_true",
                help="try again with the settings that the run keeps, although a setting on "
                "which it failed was changed",
            ),
            PERSON,
        ),
    ),
    "skip": Verb(
        _skip_failure,
        (_HERE, make_argument("--reason", required=True, help="why it may be skipped"), PERSON),
    ),
}
