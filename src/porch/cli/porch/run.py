"""Running protocols from the command line."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument, refuse_empty_values

if TYPE_CHECKING:
    from porch.model.protocol import Protocol
    from porch.run.engine.drive_options import DriveResult, DriveWatch, RunRequest
    from porch.run.engine.driver import DriveManner
    from porch.store.where import ProjectPaths

    Drive = Callable[[DriveManner, DriveWatch], DriveResult]
_SHORT = 100  # letters of a request that may need no specification
_SUGGESTION = 'needs no specification? `porch run change "what you want"` has one gate, then merges'
TRUST = make_argument(
    "--trust",
    action="append",
    metavar="DIGEST",
    help="trust the settings with this digest, for this run alone; see `porch trust`",
)
_WAYS = (
    make_argument("--agent", metavar="NAME", help="the agent: claude, codex, gemini, or your own"),
    make_argument("--script", help="a YAML script of answers for the scripted agent"),
    make_argument("--once", action="store_true", help="stop after one agent turn and its checks"),
    make_argument(
        "--wait", action="store_true", help="keep waiting for decisions, also without a terminal"
    ),
    make_argument("--plain", action="store_true", help="plain lines, also on a terminal"),
    make_argument(
        "--take-over",
        action="store_true",
        help="continue a run from another machine or before a restart",
    ),
    make_argument(
        "--hands-off", action="store_true", help="start no agents; you use `next` and `done`"
    ),
    TRUST,
    PERSON,
)


def _choose_agent(args: Args) -> str:
    is_scripted = getattr(args, "no_claude", False) or bool(args.script)
    if is_scripted and args.agent not in (None, "scripted"):
        from porch.errors import UsageError

        raise UsageError(
            f"--agent {args.agent} cannot be used in a scripted run",
            fix="use only one of them",
        )
    return "scripted" if is_scripted else args.agent or ""


def _read_request(args: Args, protocol: str = "") -> "RunRequest":
    from porch.cli.input_options import parse_inputs
    from porch.errors import UsageError
    from porch.run.engine.drive_options import RunRequest

    words = tuple(getattr(args, "words", None) or ())
    refuse_empty_values(args, "title", "request", "issue", "agent", "script", "into")
    if "" in words:
        raise UsageError("the request is empty", fix="give one, or leave it out")
    given = {name: getattr(args, name, None) for name in ("title", "request", "issue")}
    return RunRequest(
        protocol=protocol,
        words=words,
        title=given["title"] or "",
        request_option=given["request"] or "",
        issue=given["issue"] or "",
        inputs=parse_inputs(getattr(args, "input", None) or []),
        agent=_choose_agent(args),
        script=args.script or "",
        adopt=getattr(args, "adopt", False),
        take_over=args.take_over,
        hands_off=("agent",) if args.hands_off else (),
        as_person=args.as_person,
        into=getattr(args, "into", "") or "",
        in_checkout=_stays_in_checkout(args),
        trust=tuple(args.trust or ()),
    )


def _stays_in_checkout(args: Args) -> bool:
    if getattr(args, "here", False) and args.worktree:
        from porch.errors import UsageError

        raise UsageError("--worktree and --here exclude each other", fix="use only one of them")
    return getattr(args, "here", False)


def _start_run(args: Args) -> View:
    from porch.cli.products import PRODUCTS
    from porch.run.verbs import launch
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    wanted = _with_typed_request(args, where, _read_request(args, args.protocol))
    return _watch_drive(
        args,
        where,
        lambda manner, watch: launch.start_run(
            where, wanted, manner, watch=_suggest_change(args, wanted, watch), products=PRODUCTS
        ),
    )


def _suggest_change(args: Args, wanted: "RunRequest", watch: "DriveWatch") -> "DriveWatch":
    """A person who named no protocol may not know the one for a short request; never chosen."""
    from msgspec.structs import replace

    text = " ".join((wanted.protocol, *wanted.words)).strip()
    is_open = len(wanted.protocol.split()) != 1 and 0 < len(text) <= _SHORT and "\n" not in text
    if not (is_open and _is_interactive(args)):
        return watch

    def tell(protocol: "Protocol") -> None:
        watch.protocol(protocol)
        if len(protocol.gates) > 1:
            watch.notice(_SUGGESTION)

    return replace(watch, protocol=tell)


def _with_typed_request(args: Args, where: "ProjectPaths", wanted: "RunRequest") -> "RunRequest":
    """Where nothing says what is wanted: asked on a terminal, refused elsewhere."""
    said = (wanted.words, wanted.request_option, wanted.issue, wanted.inputs, wanted.adopt)
    if any(said) or len(wanted.protocol.split()) > 1 or (wanted.protocol and wanted.title):
        return wanted
    from porch.run.requests.run_request import lacks_request

    if _is_interactive(args) and lacks_request(where, wanted.protocol):
        from msgspec.structs import replace

        from porch.cli.typed_line import ask_line

        return replace(wanted, words=tuple(filter(None, (ask_line("What do you want? "),))))
    if not wanted.protocol:
        from porch.errors import UsageError

        raise UsageError(
            "nothing says what you want",
            fix='porch run "what you want"; `porch protocols list` shows other protocols',
        )
    return wanted


def _resume_run(args: Args) -> View:
    from msgspec.structs import replace

    from porch.cli.products import PRODUCTS
    from porch.run.verbs import overview, resume
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    foreign = overview.find_run_without_journal(where, args.id)
    if foreign is not None and foreign.status.is_history:
        said = f"{foreign.directory} is history ({foreign.status.state}); nothing was changed"
        return View(said, {"run": foreign.directory, "outcome": foreign.status.state})
    if foreign is not None:
        wanted = _read_request(args, foreign.status.protocol)
        from porch.run.verbs import launch

        # What somebody began goes on where its files are.
        adopted = replace(wanted, subject=foreign.status.id, title=foreign.title, in_checkout=True)
        return _watch_drive(
            args,
            where,
            lambda manner, watch: launch.start_run(
                where, adopted, manner, watch=watch, products=PRODUCTS
            ),
        )
    name, known = find_run(where, args.id, "resume"), _read_request(args)
    return _watch_drive(
        args,
        where,
        lambda manner, watch: resume.resume_run(
            where, name, known, manner, watch=watch, products=PRODUCTS
        ),
    )


def _watch_drive(args: Args, where: "ProjectPaths", drive: "Drive") -> View:
    """On a terminal the live view with its prompt; in a pipe a plain stream."""
    from porch.cli.noticed_drive import watch_with_notices
    from porch.run.engine.drive_options import DriveWatch
    from porch.run.engine.driver import DriveManner

    def noticed(manner: DriveManner, watch: DriveWatch) -> "DriveResult":
        driven = watch_with_notices(where, watch, lambda watch: drive(manner, watch))
        if driven.state.outcome == "complete":
            driven = _merge_work(where, driven, watch)
        if driven.state.outcome and _choose_agent(args) != "scripted":
            _propose_work(where, driven, watch)
        return driven

    if _is_interactive(args):
        from porch.cli.terminal.repl import Repl

        return Repl(where, noticed, DriveManner(wait=not args.once, turns=int(args.once))).run()
    from porch.cli.terminal.stream import Stream, driven_view

    stream = Stream(quiet=args.json)
    watch = DriveWatch(stream.record, stream.output, notice=stream.notice, protocol=stream.protocol)
    manner = DriveManner(wait=args.wait, turns=int(args.once))
    if kicked_off := os.environ.pop("PORCH_KICKED_OFF", ""):
        from porch.fleet.drivers.detached import detach_drive

        manner, watch = detach_drive(where, kicked_off, manner, watch)
    return driven_view(noticed(manner, watch), where)


def _merge_work(where: "ProjectPaths", driven: "DriveResult", watch: "DriveWatch") -> "DriveResult":
    """What the protocol promises and a person has approved; the run as it is afterwards."""
    from porch.run.verbs.read_run import read_run

    if not read_run(where, driven.name).definition.protocol.finish:
        return driven
    from msgspec.structs import replace

    from porch.fleet.finish.merge_approved import merge_when_complete

    return replace(driven, state=merge_when_complete(where, driven.state, watch.notice))


def _propose_work(where: "ProjectPaths", driven: "DriveResult", watch: "DriveWatch") -> None:
    """Only runs of real agents: what is tried out is published nowhere."""
    from porch.fleet.finish.finish import propose_when_complete
    from porch.run.settings import load_settings

    protocols = load_settings(where.root).pull_request_protocols
    propose_when_complete(where, driven.state, protocols, watch.notice)


def _is_interactive(args: Args) -> bool:
    plain = args.json or args.plain or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdin.isatty() and sys.stdout.isatty()


COMMANDS: Verbs = {
    "run": Verb(
        _start_run,
        (
            make_argument(
                "protocol",
                nargs="?",
                default="",
                help="the name of a protocol, see `porch protocols list`; default: [run] protocol",
            ),
            make_argument(
                "words",
                nargs="*",
                metavar="REQUEST",
                help="what you want, in your own words or as a file; an id may stand before it",
            ),
            make_argument(
                "--title", help="the title of a new run; default: the request's first line"
            ),
            make_argument(
                "--request",
                metavar="TEXT",
                help="what you want: a text, @FILE, or - for standard input",
            ),
            make_argument(
                "--issue", metavar="N", help="an issue as the request: number, address or file"
            ),
            make_argument(
                "--input", action="append", metavar="K=V", help="an input of the protocol"
            ),
            make_argument(
                "--no-claude",
                action="store_true",
                help="use the scripted agent, not a real one",
            ),
            make_argument(
                "--worktree",
                action="store_true",
                help="no effect: every run has a worktree of its own unless --here is given",
            ),
            make_argument(
                "--here",
                action="store_true",
                help="work in this checkout and commit nothing; you commit the changes",
            ),
            make_argument("--into", help="merge the finished tree into this branch; default: none"),
            make_argument(
                "--adopt",
                action="store_true",
                help="continue from a status file and its passed gates",
            ),
            *_WAYS,
        ),
    ),
    "resume": Verb(
        _resume_run,
        (
            make_argument(
                "id", nargs="?", default="", help="the run; default: the run of this directory"
            ),
            make_argument(
                "--no-claude",
                action="store_true",
                help="use the scripted agent, for an adopted run",
            ),
            make_argument(
                "--adopt",
                action="store_true",
                help="continue from a status file and its passed gates",
            ),
            *_WAYS,
        ),
    ),
}
