"""The agents from the command line: who is there, and whether they do what porch relies on."""

import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from porch.adapters import settings
from porch.adapters import where as places
from porch.errors import EXIT_FAILED, UsageError
from porch.operations import agents
from porch.surfaces.cli.command import Args, Command, View, arg
from porch.views.text import printable

if TYPE_CHECKING:
    from porch.operations import conformance

_HEAD = ("agent", "installed", "model", "used for")
_TIMEOUT_S = 180.0


def _list(_: Args) -> View:
    known = agents.known(settings.load(places.find(os.getcwd()).root))
    rows = [_HEAD, *(_row(each) for each in known)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    return View("\n".join(lines), {"agents": [each.as_json() for each in known]})


def _row(each: agents.Known) -> tuple[str, ...]:
    post = each.post
    name = post.name if post.name == post.kind else f"{post.name} ({post.kind})"
    there = (each.version or "yes") if each.installed else "no"
    return name, there, post.model or "-", ", ".join(each.uses) or "-"


def _test(args: Args) -> View:
    from porch.operations import conformance

    timeout = _seconds(args.timeout)
    world = conformance.candidate(places.find(os.getcwd()), args.name)
    print(
        f"Testing {args.name} in a throw-away repository: up to four short turns, which cost real "
        f"tokens of its account.",
        file=sys.stderr,
        flush=True,
    )
    trial = conformance.trial(world, timeout, lambda step: _tell(step, args.json))
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
    kept = f"\nlook at the transcripts in {trial.kept}/run/turns" if trial.kept else ""
    text = f"{args.name} {word}: {_cost(*total, seconds)}{kept}"
    return View(text, data, 0 if trial.passed else EXIT_FAILED)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"'{text}' is no number of seconds", fix="write --timeout 180")
    return seconds


def _tell(step: "conformance.Step", as_json: bool) -> None:
    if as_json:
        return
    cost = f" ({_cost(step.usd, step.tokens, step.seconds)})" if step.seconds else ""
    print(printable(f"{step.result:<13}  {step.name:<9}  {step.seen}{cost}"), flush=True)


def _cost(usd: float, tokens: int, seconds: float) -> str:
    money = f"${usd:.4f}, " if usd else ""
    return f"{money}{tokens:,} tokens, {seconds:.1f} s"


COMMANDS = (
    Command("agents list", "the agents that can be named here, and what they are used for", _list),
    Command(
        "agents test",
        "try an agent out in a throw-away repository; it costs tokens",
        _test,
        (
            arg("name", help="an agent by name; see `porch agents list`"),
            arg(
                "--timeout",
                default=f"{_TIMEOUT_S:g}",
                metavar="S",
                help="seconds that one turn may take; default: 180",
            ),
        ),
    ),
)
