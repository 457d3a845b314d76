"""Deciding from the command line: approve, reject, answer, retry, skip."""

import os
from functools import partial
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View
from porch.cli.decision_words import ARGUMENTS, read_decision

if TYPE_CHECKING:
    from porch.run.verbs.decide import DecisionResult
    from porch.run.verbs.read_run import ReadRun
    from porch.store.where import ProjectPaths


def _decide(verb: str, args: Args) -> View:
    from porch.fleet.answer_forms import read_form
    from porch.run.verbs import decide
    from porch.run.verbs.read_run import read_run
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    run = find_run(where, args.id, verb)
    found = read_run(where, run)
    name, request = read_decision(verb, args, found)
    answered = decide.decide_question(where, run, name, request, read_form=read_form, found=found)
    view = _decision_view(where, answered, found.definition.protocol.subject)
    has_news = found.definition.protocol.finish and not answered.notice
    return _with_merge(where, view, found) if has_news else view


def _with_merge(where: "ProjectPaths", view: View, found: "ReadRun") -> View:
    """Where the answer ended the run and nobody drives it, nobody has merged it either."""
    from porch.account.consequences import find_merge_target
    from porch.run.verbs.read_run import read_run
    from porch.store.run_drivers import find_driver

    state, word = read_run(where, found.name).state, found.state.run.id or found.name
    into = find_merge_target(found.definition.protocol, state)
    if not into or find_driver(where.run_dir(found.name)).holder is not None:
        return view
    next_ = f"Ready to merge into {into}: porch resume {word}"
    return View(f"{view.text}\n{next_}", {**view.data, "next": next_})


def _decision_view(where: "ProjectPaths", answered: "DecisionResult", subject: str) -> View:
    from porch.run.verbs.liveness import describe_next_move

    next_ = "" if answered.notice else _describe_open(where, answered.run, subject)
    next_ = next_ or ("" if answered.notice else describe_next_move(where, answered.run))
    lines = [answered.message, *answered.notes, *_draw_track(where, answered.run, subject)]
    if answered.changed:
        lines.append(f"approved as changed since porch asked: {', '.join(answered.changed)}")
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


def _describe_open(where: "ProjectPaths", run: str, subject: str) -> str:
    """Of a round of questions, what the answer left open."""
    from porch.machine.budgets import ASK

    if subject != ASK:
        return ""
    from porch.track.questions.ask_answers import describe_open_questions

    return describe_open_questions(where, run)


def _draw_track(where: "ProjectPaths", run: str, subject: str) -> list[str]:
    """The statuses in the plan of a track, which are loaded where somebody answers one."""
    from porch.model.protocol import TRACK

    if subject != TRACK:
        return []
    from porch.track.plan_picture import draw_track_of

    return draw_track_of(where, run)


COMMANDS: Verbs = {
    verb: Verb(partial(_decide, verb), arguments) for verb, arguments in ARGUMENTS.items()
}
