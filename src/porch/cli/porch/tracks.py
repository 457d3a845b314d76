"""Tracks from the command line: looking at plans, and what people take back in a run."""

import os
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from typing import Protocol as Port

    from porch.run.verbs.steer import SteerResult
    from porch.store.where import ProjectPaths

    class TakeBack(Port):
        """What a person takes back of a track, and why."""

        def __call__(
            self, where: ProjectPaths, run: str, word: str, reason: str, *, as_person: bool
        ) -> SteerResult: ...


def _find_place() -> "ProjectPaths":
    from porch.store import where as places

    return places.find_project(os.getcwd())


def _show_plan(args: Args) -> View:
    from porch.track import plan_view

    look = plan_view.look_at_track(_find_place(), args.track)
    return View("\n".join(plan_view.render_look(look)), plan_view.look_data(look), is_prose=True)


def _lint_plan(args: Args) -> View:
    from porch.errors import EXIT_INPUT
    from porch.run.definitions.track_plans import find_plan_file, read_plan_file
    from porch.track import plan_view

    file = args.track if os.path.isfile(args.track) else find_plan_file(args.track)
    findings = plan_view.lint_plan(_find_place(), read_plan_file(file), strict=args.strict)
    failed = any(finding.severity == "error" for finding in findings)
    text = "\n".join(str(finding) for finding in findings) or "no problems found"
    data = {"findings": [finding.as_json() for finding in findings]}
    return View(text, data, EXIT_INPUT if failed else 0, is_prose=True)


def _repair_plan(args: Args) -> View:
    from porch.run.definitions.track_plans import find_plan_file
    from porch.track.plan_repair import repair_plan

    file = args.track if os.path.isfile(args.track) else find_plan_file(args.track)
    done = repair_plan(file, write=args.write)
    data = {"file": file, "difference": done.difference, "written": done.is_written}
    if not done.difference:
        return View(f"{file} can be read; nothing was changed", data)
    told = f"{file} was repaired" if done.is_written else "nothing was written; add --write"
    return View(f"{done.difference}\n{told}", data)


def _archive_track(args: Args) -> View:
    from porch.track.archive import archive_track

    done = archive_track(_find_place(), args.track, force=args.force, reason=args.reason or "")
    lines = [f"archived: {done.path}"]
    lines += [f"still open: {each}" for each in done.still_open]
    lines += [f"waived: {each}" for each in done.waived]
    data = {"path": done.path, "open": list(done.still_open), "waived": list(done.waived)}
    return View("\n".join(lines), data)


def _cancel_node(args: Args) -> View:
    from porch.track import people_verbs

    return _take_back(args, people_verbs.cancel_node)


def _reopen_node(args: Args) -> View:
    from porch.track import people_verbs

    return _take_back(args, people_verbs.reopen_node)


def _take_back(args: Args, verb: "TakeBack") -> View:
    from porch.run.verbs.run_lookup import find_run
    from porch.track.plan_picture import draw_track_of

    where = _find_place()
    run = find_run(where, args.id)
    done = verb(where, run, args.gate, args.reason, as_person=args.as_person)
    notes = draw_track_of(where, run)
    return View("\n".join((done.message, *notes)), {**done.data, "message": done.message})


def _ask_again(args: Args) -> View:
    from porch.run.verbs.run_lookup import find_run
    from porch.track import people_verbs
    from porch.track.plan_picture import draw_track_of

    where = _find_place()
    run = find_run(where, args.id)
    done = people_verbs.ask_again(where, run, args.gate, args.reason, as_person=args.as_person)
    notes = draw_track_of(where, run)
    message = f"{args.gate} is asked again"
    return View("\n".join((message, *notes)), {"run": done.run, "message": message})


_TRACK = make_argument("track", metavar="TRACK_DIR", help="the directory of the track")
_STEER = (
    make_argument("id", help="the run: id, short id or directory name; `.` means here"),
    make_argument("gate", help="the confirmation or the task, such as T1.1-after or T1.1"),
    make_argument("--reason", required=True, help="why; it is kept with the run"),
    PERSON,
)

COMMANDS: Verbs = {
    "plan show": Verb(_show_plan, (_TRACK,)),
    "plan lint": Verb(
        _lint_plan,
        (_TRACK, make_argument("--strict", action="store_true", help="warnings are errors, too")),
    ),
    "plan repair": Verb(
        _repair_plan,
        (
            _TRACK,
            make_argument("--write", action="store_true", help="write it, not only show it"),
            PERSON,
        ),
    ),
    "plan archive": Verb(
        _archive_track,
        (
            _TRACK,
            make_argument("--force", action="store_true", help="although something is open"),
            make_argument("--reason", help="why, with --force; it is kept with the track"),
            PERSON,
        ),
    ),
    "cancel": Verb(_cancel_node, _STEER),
    "reopen": Verb(_reopen_node, _STEER),
    "ask-again": Verb(_ask_again, _STEER),
}
