"""`envoy git`: the base branch, what differs from it, pull requests and worktrees left behind."""

import os
from typing import Any

from porch.adapters import where as places
from porch.surfaces.cli.command import Args, Command, View, arg
from porch.surfaces.cli.enveloping import failing, shown, success, told


def _get_base(_: Args) -> dict[str, Any]:
    from porch.operations import branches

    return branches.get_base_branch(places.find(os.getcwd()))


def _is_base(_: Args) -> dict[str, Any]:
    from porch.operations import branches

    return branches.is_base_branch(places.find(os.getcwd()))


def _diff(args: Args) -> dict[str, Any]:
    from porch.operations import branches

    here = os.getcwd()
    return branches.diff_base(
        places.find(here), here, path=args.path, summary=args.summary, cap=args.max_bytes
    )


def _checkout(_: Args) -> dict[str, Any]:
    from porch.operations import branches

    return branches.checkout_base(places.find(os.getcwd()))


def _create_pr(args: Args) -> dict[str, Any]:
    from porch.operations import branches

    where = places.find(os.getcwd())
    return branches.create_pr(where, args.title, args.body, draft=args.draft)


def _cleanup(args: Args) -> View:
    from porch.operations import branches

    where = places.find(os.getcwd())
    data = branches.cleanup_worktrees(where, dry_run=args.dry_run, force_orphans=args.force_orphans)
    if not data["errors"]:
        return success(data)
    first = data["errors"][0]
    message = f"{len(data['errors'])} worktrees could not be removed: {first['message']}"
    return failing(data, first["type"], message, first["suggestion"])


# Said here, too, so that no other command pays for what only these import.
_CAP = 200_000
_AGENT = arg("--agent", metavar="NAME", default="", help="who calls")

COMMANDS: tuple[Command, ...] = (
    Command("git get-base-branch", "the branch that work goes back to", told(_get_base), (_AGENT,)),
    Command("git is-base-branch", "whether we stand on it", told(_is_base), (_AGENT,)),
    Command(
        "git diff-base",
        "all that differs from the base branch, uncommitted and untracked files included",
        told(_diff),
        (
            arg("--path", metavar="P", default="", help="only this file or directory"),
            arg("--summary", action="store_true", help="the numbers without the text"),
            arg(
                "--max-bytes",
                type=int,
                metavar="N",
                default=_CAP,
                help=f"cut the text there, at the end of a line; default: {_CAP}",
            ),
            _AGENT,
        ),
    ),
    Command("git checkout-base", "switch to the base branch", told(_checkout), (_AGENT,)),
    Command(
        "git create-pr",
        "push this branch and open a pull request with gh, unless one is open",
        told(_create_pr),
        (
            arg("--title", required=True, metavar="TEXT", help="its title"),
            arg("--body", required=True, metavar="TEXT", help="its text, in Markdown"),
            arg("--draft", action="store_true", help="not ready for review yet"),
            _AGENT,
        ),
    ),
    Command(
        "git cleanup-worktrees",
        "remove the worktrees of prompts that are merged into their feature branch",
        shown(_cleanup),
        (
            arg("--dry-run", action="store_true", help="say what would go, change nothing"),
            arg(
                "--force-orphans",
                action="store_true",
                help="also those whose feature branch is gone; refs/porch/archive keeps them",
            ),
            _AGENT,
        ),
    ),
)
