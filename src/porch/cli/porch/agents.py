"""The agents from the command line: who is there, and whether they do what porch relies on."""

import os
import sys
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument
from porch.text.printable import make_printable

if TYPE_CHECKING:
    from porch.run.agents import agent_list, conformance

_HEAD = ("agent", "installed", "model", "used for")
# What gives way first on a narrow terminal; the name of an agent is typed, and is cut last.
_SHRINKING = ((3, 12), (2, 8), (1, 8), (0, 8))
_TIMEOUT_S = 180.0


def _list_agents(_: Args) -> View:
    from porch.cli.terminal_width import listing_width
    from porch.run import settings
    from porch.run.agents import agent_list
    from porch.show.board import lay_out_table
    from porch.store import where as places

    known = agent_list.list_known_agents(
        settings.load_settings(places.find_project(os.getcwd()).root)
    )
    rows = [_HEAD, *(_agent_row(each) for each in known)]
    lines = lay_out_table(rows, listing_width(), _SHRINKING)
    return View("\n".join(lines), {"agents": [each.as_json() for each in known]})


def _agent_row(each: "agent_list.KnownAgent") -> tuple[str, ...]:
    post = each.post
    name = post.name if post.name == post.kind else f"{post.name} ({post.kind})"
    there = (each.version or "yes") if each.installed else "no"
    return name, there, post.model or "-", ", ".join(each.uses) or "-"


def _test_agent(args: Args) -> View:
    from msgspec.structs import asdict

    from porch.errors import EXIT_FAILED
    from porch.run.agents import conformance
    from porch.store import where as places

    timeout = _parse_seconds(args.timeout)
    world = conformance.make_trial_world(places.find_project(os.getcwd()), args.name)
    print(
        f"Testing {args.name} in a temporary repository with up to four short turns. They use real "
        f"tokens of its account.",
        file=sys.stderr,
        flush=True,
    )
    trial = conformance.run_trial(world, timeout, lambda step: _print_step(step, args.json))
    total = (sum(s.usd for s in trial.steps), sum(s.tokens for s in trial.steps))
    seconds = sum(step.seconds for step in trial.steps)
    data = {
        "agent": args.name,
        "passed": trial.passed,
        "steps": [asdict(step) for step in trial.steps],
        "usd": round(total[0], 6),
        "tokens": total[1],
        "seconds": round(seconds, 3),
        "kept": trial.kept,
    }
    word = "passed" if trial.passed else "failed"
    kept = f"\nthe transcripts are in {trial.kept}/run/turns" if trial.kept else ""
    text = f"{args.name} {word}: {_format_cost(*total, seconds)}{kept}"
    return View(text, data, 0 if trial.passed else EXIT_FAILED)


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        from porch.errors import UsageError

        raise UsageError(f"'{text}' is not a number of seconds", fix="write --timeout 180")
    return seconds


def _print_step(step: "conformance.TrialStep", as_json: bool) -> None:
    if as_json:
        return
    cost = f" ({_format_cost(step.usd, step.tokens, step.seconds)})" if step.seconds else ""
    print(make_printable(f"{step.result:<13}  {step.name:<9}  {step.seen}{cost}"), flush=True)


def _format_cost(usd: float, tokens: int, seconds: float) -> str:
    money = f"${usd:.4f}, " if usd else ""
    return f"{money}{tokens:,} tokens, {seconds:.1f} s"


COMMANDS: Verbs = {
    "agents list": Verb(_list_agents),
    "agents test": Verb(
        _test_agent,
        (
            make_argument("name", help="the name of an agent; see `porch agents list`"),
            make_argument(
                "--timeout",
                default=f"{_TIMEOUT_S:g}",
                metavar="S",
                help="time limit of one turn in seconds; default: 180",
            ),
        ),
    ),
}
