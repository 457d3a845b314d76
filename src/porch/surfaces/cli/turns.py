"""porch log --turns and --turn: which turns a run took, and what was done in one."""

import shutil
import sys

from porch.adapters.where import Where
from porch.errors import UsageError
from porch.operations import activity as doing
from porch.operations import turns
from porch.surfaces.cli.command import Args, View, arg
from porch.views import activity
from porch.views.turns import rows

ARGUMENTS = (
    arg("--turns", action="store_true", help="the turns of its agents, with their numbers"),
    arg("--turn", metavar="N", default="", help="what the agent did in that turn; N.M is one part"),
    arg("--raw", action="store_true", help="with --turn: the transcript itself, without secrets"),
)


def is_asked(args: Args) -> bool:
    return bool(args.turns or args.turn or args.raw)


def view(where: Where, name: str, args: Args) -> View:
    """One of the two; asking for what does not go together is refused, not guessed at."""
    if args.follow or bool(args.turns) == bool(args.turn) or (args.raw and args.turns):
        raise UsageError(
            "--turns, --turn N and --follow do not go together, and --raw belongs to --turn",
            fix="list the turns with --turns, then look at one with --turn N [--raw]",
        )
    if args.turns:
        known = [turn.as_json() for turn in turns.turns(where, name)]
        return View(rows(known), {"run": name, "turns": known})
    return _one(name, turns.turn(where, name, args.turn), args)


def _one(name: str, turn: turns.Turn, args: Args) -> View:
    front = {"run": name, "turn": turn.as_json()}
    if args.raw:
        lines = list(doing.raw(turn))
        return View("\n".join(lines), {**front, "lines": lines})
    if args.json:
        return View("", {**front, "parts": doing.data(turn)})
    head = [(activity.NOTE, f"turn {turn.number}: {turn.position}, {turn.outcome}")]
    return View("\n".join(activity.lines([*head, *doing.told(turn)], _width())))


def _width() -> int:
    """A pipe gets the same whatever terminal it was started from."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else activity.WIDTH
