"""Changing the course of a run from the command line."""

import os
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.run.handlers.products import Products
    from porch.run.verbs.steer import SteerResult

_ID = make_argument(
    "id", nargs="?", default="", help="the run: id, short id or directory name; default: here"
)
_NAMED = make_argument("id", help="the run: id, short id or directory name; `.` means here")


def _steer_view(steered: "SteerResult") -> View:
    return View(steered.message, {**steered.data, "message": steered.message})


def _stop_run(args: Args) -> View:
    from porch.run.verbs import steer
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    return _steer_view(steer.stop_run(where, find_run(where, args.id), args.as_person))


def _roll_run_back(args: Args) -> View:
    from porch.run.verbs import steer
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    return _steer_view(
        steer.roll_run_back(where, find_run(where, args.id), args.state, args.as_person)
    )


def _replan_run(args: Args) -> View:
    from porch.run.verbs import steer
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    return _steer_view(steer.replan_run(where, find_run(where, args.id), args.as_person))


def _upgrade_run(args: Args) -> View:
    from porch.run.verbs import steer
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    return _steer_view(steer.upgrade_run(where, find_run(where, args.id), args.as_person))


def _repair_journal(args: Args) -> View:
    from porch.run.verbs import steer
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    return _steer_view(steer.repair_journal(where, find_run(where, args.id), args.as_person))


def _show_next_work(args: Args) -> View:
    from msgspec import UNSET, to_builtins

    from porch.run.verbs import agent_side
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    told = agent_side.find_next_work(where, find_run(where, args.id))
    data = to_builtins(told)
    if told.outcome:
        return View(f"The run is over: {told.outcome}.", data)
    lines = [f"{e.kind} {e.name} at {e.position}" for e in told.effects]
    lines += [f"waiting for your decision: {d['name']}: {d['question']}" for d in told.decisions]
    lines += [f"nothing can begin: {said}; a person decides" for said in told.changed]
    lines += ["(the run is stopped; continue with `porch resume`)"] if told.paused else []
    prompts = [effect.prompt for effect in told.effects if effect.prompt is not UNSET]
    return View("\n\n".join(["\n".join(lines), *prompts]), data)


def _finish_agent_work(args: Args) -> View:
    from porch.cli.noticed_drive import watch_with_notices
    from porch.cli.terminal.stream import Stream, driven_view
    from porch.run.engine.drive_options import DriveWatch
    from porch.run.verbs import agent_side
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    run = find_run(where, args.id)
    stream = Stream(quiet=args.json)
    watch = DriveWatch(stream.record, stream.output, notice=stream.notice, protocol=stream.protocol)
    said = agent_side.AgentClaim(args.signal or "", args.expect or "", args.reason or "")
    driven = watch_with_notices(
        where,
        watch,
        lambda watch: agent_side.finish_agent_work(
            where, run, said, watch=watch, load_products=_load_products
        ),
    )
    return driven_view(driven, where)


def _load_products() -> "Products":
    """Loaded late: mostly nothing has to be driven."""
    from porch.cli.products import PRODUCTS

    return PRODUCTS


def _run_checks(args: Args) -> View:
    from msgspec import to_builtins

    from porch.errors import EXIT_FAILED
    from porch.run.verbs import agent_side
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    told = agent_side.run_checks(where, find_run(where, args.id))
    lines = [f"{c.check}: {c.result}\n{_indent_text(c.report)}" for c in told]
    failed = any(c.result not in ("passed", "skipped") for c in told)
    text = "\n".join(lines) or "there are no checks at this point of the run"
    return View(text, {"checks": to_builtins(told)}, EXIT_FAILED if failed else 0)


def _indent_text(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


COMMANDS: Verbs = {
    "stop": Verb(_stop_run, (_ID, PERSON)),
    "rollback": Verb(
        _roll_run_back,
        (
            _NAMED,
            make_argument("state", help="a phase or state; for a plan phase: implement:phase_2"),
            PERSON,
        ),
    ),
    "replan": Verb(_replan_run, (_ID, PERSON)),
    "upgrade": Verb(_upgrade_run, (_ID, PERSON)),
    "repair": Verb(_repair_journal, (_ID, PERSON)),
    "next": Verb(_show_next_work, (_ID,)),
    "done": Verb(
        _finish_agent_work,
        (
            _ID,
            make_argument("--signal", help="the signal; default: the first signal of the state"),
            make_argument("--reason", help="the reason; some signals need one"),
            make_argument("--expect", help="the position that `porch next` printed"),
        ),
    ),
    "check": Verb(_run_checks, (_ID,)),
}
