"""`af kickoff`: a run in a worktree of its own, driven by a process that nobody has to watch."""

import os
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument, refuse_empty_values
from porch.cli.own_process import find_program

if TYPE_CHECKING:
    from collections.abc import Collection

    from porch.fleet.drivers.start import DriverStart, StartingDriver
    from porch.store.where import ProjectPaths

_INPUT = 2  # the same as in `errors`, which is loaded only when there is something to say
_PASSED = ("title", "request", "agent", "script")


def _kick_off(args: Args) -> View:
    if args.legacy:
        return _kick_off_legacy(args)
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    words = _driver_words(where, args)
    if not where.common_dir:
        from porch.run.worktrees.free_place import require_base

        require_base(where, "HEAD")
    if args.foreground:
        return _run_here(words, args.json)
    from porch.fleet.drivers.start import start_driver

    notes = _take_back_leftovers(where)
    said = _read_request() if args.request == "-" else b""
    main = find_program("porch")
    started = _wait_for(start_driver(where, words, os.getcwd(), said=said, main=main))
    raise_untrusted(where, started, args.trust or ())
    if not started.run and started.code < 0:
        notes += _explain_death(where, started)
    view = make_start_view(started, "Started")
    return View("\n".join([*notes, view.text]), {**view.data, "notes": notes}, view.code)


def _wait_for(starting: "StartingDriver") -> "DriverStart":
    """Ctrl-C ends only the wait: the driver has no terminal, and nobody must think it is gone."""
    try:
        return starting.wait()
    except KeyboardInterrupt:
        import sys

        told = f"interrupted; the run continues in the background (pid {starting.pid})"
        print(f"{told}\n  see: af status; to stop its run: af stop ID", file=sys.stderr)
        raise


def _read_request() -> bytes:
    """The driver has no terminal: what is said here is handed on."""
    import sys

    from porch.run.requests.request_text import MOST_BYTES

    try:
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    except OSError:
        return b""  # closed; the driver says that nothing was asked for


def _take_back_leftovers(where: "ProjectPaths") -> list[str]:
    """What cleans up is loaded only if some kickoff has not come to its end."""
    from porch.fleet.drivers.kickoff_logs import list_kickoff_logs

    if not any(list_kickoff_logs(where)):
        return []
    from porch.fleet.drivers.leftovers import take_back_leftovers

    return take_back_leftovers(where)


def _explain_death(where: "ProjectPaths", started: "DriverStart") -> list[str]:
    """Killed before it could say a word: what it had made is taken back, or goes on."""
    from porch.fleet.drivers.leftovers import take_back_kickoff

    return [
        f"the driver was ended by signal {-started.code} before its run was there",
        *take_back_kickoff(where),
        "look with `af status`, then try the same command again",
    ]


def raise_untrusted(
    where: "ProjectPaths", started: "DriverStart", trust: "Collection[str]" = ()
) -> None:
    """The driver has no terminal to be asked at; whoever called may have one."""
    if started.run or started.code != _INPUT:
        return
    from porch.run.start_settings import list_untrusted, read_start_commit
    from porch.run.trust_requests import require_trust

    require_trust(list_untrusted(where, read_start_commit(where), trust))


def make_start_view(started: "DriverStart", verb: str) -> View:
    """The run that is driven now, or what its driver said before it ended."""
    if not started.run:
        from porch.errors import EXIT_OUTSIDE

        data = {"run": None, "exit": started.code, "said": started.said}
        code = started.code if started.code >= 0 else EXIT_OUTSIDE
        return View(started.said or "the process ended without output", data, code)
    tree = started.worktree
    lines = [f"{verb} {started.run} (pid {started.pid})"]
    lines += [f"  {note}" for note in started.notes]
    lines += [f"  see: af status {started.run}; af logs {started.run} --follow"]
    data = {"run": started.run, "pid": started.pid, "worktree": tree}
    return View("\n".join(lines), {**data, "told": list(started.notes)})


def _driver_words(where: "ProjectPaths", args: Args) -> list[str]:
    """The words of `porch run` that mean the same."""
    _refuse_mixed(args)
    _refuse_name_of_protocol(where, args)
    words = ["run", _choose_protocol(where, args), *_subject_words(args)]
    for name in _PASSED:
        if getattr(args, name):
            words += [f"--{name}", getattr(args, name)]
    words += ["--no-claude"] if args.no_claude else []
    words += [word for digest in args.trust or () for word in ("--trust", digest)]
    words += ["--as-person"] if args.as_person else []
    return words


def _choose_protocol(where: "ProjectPaths", args: Args) -> str:
    special = "tick" if args.tick else "bugfix" if args.issue else ""
    if args.protocol or special:
        return args.protocol or special
    from porch.run.settings import load_settings

    return load_settings(where.root).protocol


def _subject_words(args: Args) -> list[str]:
    if args.tick:
        spec, name = args.tick
        return [spec, *args.words, *([] if args.title else ["--title", name])]
    if args.issue_file:
        number = [args.issue] if args.issue else []
        return [*number, *args.words, "--request", f"@{args.issue_file}"]
    digits = str(args.issue or "").lstrip("#")
    is_told = bool(args.words or args.request or args.title or args.no_claude or args.script)
    if is_told and digits.isdecimal() and not args.protocol:
        return [digits, *args.words]  # so nobody needs gh to know what to do
    return [*args.words, *(["--issue", args.issue] if args.issue else [])]


def _refuse_name_of_protocol(where: "ProjectPaths", args: Args) -> None:
    """A protocol stands behind its option here; with `porch run` it is the first word."""
    words = args.words
    is_said = args.protocol or args.tick or args.issue or args.request
    if is_said or not words or " " in words[0] or words[0].isdecimal():
        return
    if len(words) <= 2 or words[1].lstrip("#").isdecimal():
        from porch.run.requests.run_request import refuse_name_of_protocol

        start = "af kickoff --protocol"
        refuse_name_of_protocol(where, words, start, is_near_enough=True)


def _refuse_mixed(args: Args) -> None:
    from porch.errors import UsageError

    refuse_empty_values(args, *_PASSED, "protocol", "issue", "issue_file")
    if args.tick and args.issue:
        raise UsageError("--tick and --issue exclude each other", fix="use only one of them")
    if args.issue_file and not args.issue:
        raise UsageError("--issue-file needs the number of the issue", fix="add it: --issue 142")
    if args.issue_file and args.request:
        raise UsageError(
            "--issue-file and --request exclude each other", fix="use only one of them"
        )


def _run_here(words: list[str], as_json: bool) -> View:
    """In this terminal, with its live view; it ends with the command."""
    from porch.cli.command import run_command
    from porch.cli.rows import PORCH
    from porch.cli.table import load_command

    row = next(row for row in PORCH if row.words == "run")
    argv = [*words, *(["--json"] if as_json else [])]
    return View(code=run_command("porch", load_command(row), argv))


def _kick_off_legacy(args: Args) -> View:
    from porch.fleet.legacy import start_legacy_builder
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    made = start_legacy_builder(where, args.legacy, args.protocol or "spider", args.title or "")
    data = {"worktree": made.path, "branch": made.branch, "exit": made.code}
    return View(f"claude has left {made.path} (branch {made.branch})", data, made.code)


COMMANDS: Verbs = {
    "kickoff": Verb(
        _kick_off,
        (
            make_argument(
                "words",
                nargs="*",
                metavar="REQUEST",
                help="an id, what you want in your own words or as a file, or both",
            ),
            make_argument("--title", help="the title of a new run"),
            make_argument(
                "--request",
                metavar="TEXT",
                help="what you want: a text, @FILE, or - for standard input",
            ),
            make_argument(
                "--protocol", help="the protocol; default: [run] protocol in the settings"
            ),
            make_argument(
                "--tick", nargs=2, metavar=("SPEC", "NAME"), help="amend a project, with TICK"
            ),
            make_argument("--issue", metavar="N", help="fix what an issue reports, with BUGFIX"),
            make_argument("--issue-file", metavar="PATH", help="the text of that issue"),
            make_argument(
                "--legacy",
                default="",
                metavar="ID",
                help="as before porch: claude alone, in a worktree under .builders/",
            ),
            make_argument(
                "--agent",
                metavar="NAME",
                help="the agent: claude, codex, gemini, or your own",
            ),
            make_argument("--script", help="a YAML script of answers for the scripted agent"),
            make_argument(
                "--no-claude", action="store_true", help="use the scripted agent, not a real one"
            ),
            make_argument(
                "--foreground", action="store_true", help="drive it here, until it needs you"
            ),
            make_argument(
                "--trust",
                action="append",
                metavar="DIGEST",
                help="trust the settings with this digest, for this run alone",
            ),
            PERSON,
        ),
    ),
}
