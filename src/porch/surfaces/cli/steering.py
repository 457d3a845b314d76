"""Changing the course of a run from the command line."""

import os

from porch.adapters import where as places
from porch.errors import EXIT_FAILED
from porch.operations import mending, planner, steering
from porch.operations.finding import find_run
from porch.operations.runs import Watch
from porch.operations.steering import Steered
from porch.operations.wishing import refuse_agents
from porch.surfaces.cli.command import Args, Command, View, arg
from porch.surfaces.cli.stream import Stream, driven_view

_ID = arg(
    "id", nargs="?", default="", help="the run: id, unpadded id or directory name; default: here"
)
_NAMED = arg("id", help="the run: id, unpadded id or directory name; `.` means here")
_PERSON = arg("--as-person", action="store_true", help="say that a person decides; recorded")


def _view(steered: Steered) -> View:
    return View(steered.message, {**steered.data, "message": steered.message})


def _stop(args: Args) -> View:
    where = places.find(os.getcwd())
    return _view(steering.stop(where, find_run(where, args.id)))


def _rollback(args: Args) -> View:
    refuse_agents(os.environ, args.as_person)
    where = places.find(os.getcwd())
    return _view(steering.rollback(where, find_run(where, args.id), args.state, args.as_person))


def _replan(args: Args) -> View:
    where = places.find(os.getcwd())
    return _view(steering.replan(where, find_run(where, args.id)))


def _upgrade(args: Args) -> View:
    refuse_agents(os.environ, args.as_person)
    where = places.find(os.getcwd())
    return _view(steering.upgrade(where, find_run(where, args.id), args.as_person))


def _repair(args: Args) -> View:
    where = places.find(os.getcwd())
    return _view(mending.repair(where, find_run(where, args.id)))


def _next(args: Args) -> View:
    where = places.find(os.getcwd())
    told = planner.following(where, find_run(where, args.id))
    if told["outcome"]:
        return View(f"The run is over: {told['outcome']}.", told)
    lines = [f"{e['kind']} {e['name']} at {e['position']}" for e in told["effects"]]
    lines += [f"a person must decide {d['name']}: {d['question']}" for d in told["decisions"]]
    lines += ["(the run is stopped; `porch resume` goes on)"] if told["paused"] else []
    prompts = [effect["prompt"] for effect in told["effects"] if "prompt" in effect]
    return View("\n\n".join(["\n".join(lines), *prompts]), told)


def _done(args: Args) -> View:
    where = places.find(os.getcwd())
    run = find_run(where, args.id)
    stream = Stream(quiet=args.json)
    watch = Watch(stream.record, stream.output, notice=stream.notice)
    driven = planner.done(
        where, run, args.signal or "", args.expect or "", args.reason or "", watch
    )
    return driven_view(driven)


def _check(args: Args) -> View:
    where = places.find(os.getcwd())
    told = planner.checks(where, find_run(where, args.id))
    lines = [f"{c['check']}: {c['result']}\n{_indented(c['report'])}" for c in told]
    failed = any(c["result"] != "passed" for c in told)
    text = "\n".join(lines) or "no checks belong to where the run stands"
    return View(text, {"checks": told}, EXIT_FAILED if failed else 0)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


COMMANDS = (
    Command("stop", "stop the agents of a run; everything stays", _stop, (_ID,)),
    Command(
        "rollback",
        "go back to a state; what lay at and after it is void",
        _rollback,
        (_NAMED, arg("state", help="a state or phase, or implement:phase_2"), _PERSON),
    ),
    Command("replan", "read the plan again", _replan, (_ID,)),
    Command("upgrade", "pin the protocol as it is on disk now", _upgrade, (_ID, _PERSON)),
    Command("repair", "keep the good part of a damaged journal", _repair, (_ID,)),
    Command("next", "what should be done now, with the whole prompt", _next, (_ID,)),
    Command(
        "done",
        "say that an agent's work is done; checks and reviews follow at once",
        _done,
        (
            _ID,
            arg("--signal", help="the signal; default: the first one of the state"),
            arg("--reason", help="the reason that some signals need"),
            arg("--expect", help="the position this is for, as `porch next` printed it"),
        ),
    ),
    Command("check", "run the checks of the current phase, moving nothing", _check, (_ID,)),
)
