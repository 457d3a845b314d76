"""Running protocols from the command line."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace

from porch.adapters import where as places
from porch.errors import UsageError
from porch.operations import overview, runs
from porch.operations.asking import Driven, Wanted, Watch
from porch.operations.finding import find_run
from porch.runtime.driver import Manner
from porch.surfaces.cli.command import Args, Command, View, arg
from porch.surfaces.cli.given import pairs
from porch.surfaces.cli.stream import Stream, driven_view

Drive = Callable[[Manner, Watch], Driven]
_WAYS = (
    arg("--agent", default="", metavar="NAME", help="who works: claude, codex, gemini, or yours"),
    arg("--script", default="", help="a YAML script of answers for the scripted agent"),
    arg("--once", action="store_true", help="one agent turn and what follows from it"),
    arg("--wait", action="store_true", help="stay while people decide, also without a terminal"),
    arg("--plain", action="store_true", help="a plain stream, also on a terminal"),
    arg("--take-over", action="store_true", help="the run was begun on another machine or boot"),
    arg("--hands-off", action="store_true", help="leave the agents' work to `next` and `done`"),
    arg("--as-person", action="store_true", help="say that a person wrote the script's decisions"),
)


def _agent(args: Args) -> str:
    is_scripted = getattr(args, "no_claude", False) or bool(args.script)
    if is_scripted and args.agent not in ("", "scripted"):
        raise UsageError(
            f"--agent {args.agent} and a scripted run exclude each other",
            fix="leave out one of them",
        )
    return "scripted" if is_scripted else args.agent


def _wanted(args: Args, protocol: str = "") -> Wanted:
    for what in ("subject", "title"):
        # Left out is one thing, given as nothing another: a variable of the caller was empty.
        if getattr(args, what, None) == "":
            raise UsageError(f"the {what} is empty", fix="give one, or leave it out")
    return Wanted(
        protocol=protocol,
        subject=getattr(args, "subject", "") or "",
        title=getattr(args, "title", "") or "",
        inputs=pairs(getattr(args, "input", None) or []),
        agent=_agent(args),
        script=args.script,
        adopt=getattr(args, "adopt", False),
        take_over=args.take_over,
        hands_off=("agent",) if args.hands_off else (),
        as_person=args.as_person,
        into=getattr(args, "into", "") or "",
    )


def _run(args: Args) -> View:
    where = places.find(os.getcwd())
    wanted = _wanted(args, args.protocol)
    return _watched(args, where, lambda manner, watch: runs.run(where, wanted, manner, watch))


def _resume(args: Args) -> View:
    where = places.find(os.getcwd())
    foreign = overview.without_journal(where, args.id)
    if foreign is not None:
        wanted = _wanted(args, foreign.status.protocol)
        adopted = replace(wanted, subject=foreign.status.id, title=foreign.title)
        return _watched(args, where, lambda manner, watch: runs.run(where, adopted, manner, watch))
    name, known = find_run(where, args.id), _wanted(args)
    return _watched(
        args, where, lambda manner, watch: runs.resume(where, name, known, manner, watch)
    )


def _watched(args: Args, where: places.Where, drive: Drive) -> View:
    """On a terminal the live view with its prompt; in a pipe a plain stream."""
    if _is_interactive(args):
        from porch.surfaces.cli.repl import Repl

        return Repl(where, drive, Manner(wait=not args.once, turns=int(args.once))).run()
    stream = Stream(quiet=args.json)
    watch = Watch(stream.record, stream.output, notice=stream.notice)
    manner = Manner(wait=args.wait, turns=int(args.once))
    return driven_view(drive(manner, watch))


def _is_interactive(args: Args) -> bool:
    plain = args.json or args.plain or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdin.isatty() and sys.stdout.isatty()


COMMANDS = (
    Command(
        "run",
        "run a protocol, or go on with a run of it",
        _run,
        (
            arg("protocol", help="a protocol by name; see `porch protocols list`"),
            arg("subject", nargs="?", help="what the run is about: an id or a file"),
            arg("--title", help="the title of a new project"),
            arg("--input", action="append", metavar="K=V", help="an input of the protocol"),
            arg(
                "--no-claude", action="store_true", help="the scripted agent instead of a real one"
            ),
            arg("--into", help="the branch that a finished tree is merged into; default: none"),
            arg("--adopt", action="store_true", help="adopt a status file of another journal"),
            *_WAYS,
        ),
    ),
    Command(
        "resume",
        "go on with a run from its last record",
        _resume,
        (
            arg("id", nargs="?", default="", help="the run; default: the one of this directory"),
            arg("--no-claude", action="store_true", help="the scripted agent, for an adopted run"),
            arg("--adopt", action="store_true", help="adopt a status file of another journal"),
            *_WAYS,
        ),
    ),
)
