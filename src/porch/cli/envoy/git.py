"""`envoy git`: the base branch, what differs from it, pull requests and worktrees left behind."""

import os
from typing import TYPE_CHECKING

from porch.cli.command import Args, Verb, Verbs, View, make_argument
from porch.cli.envoy.envelope import (
    answer_in_envelope,
    catch_complaints,
    failing_view,
    success_view,
)

if TYPE_CHECKING:
    from msgspec import Struct


def _get_base_branch(_: Args) -> "Struct":
    from porch.plan import branches
    from porch.store import where as places

    return branches.get_base_branch(places.find_project(os.getcwd()))


def _is_base_branch(_: Args) -> "Struct":
    from porch.plan import branches
    from porch.store import where as places

    return branches.is_base_branch(places.find_project(os.getcwd()))


def _diff_base(args: Args) -> "Struct":
    from porch.plan import branches
    from porch.store import where as places

    here = os.getcwd()
    return branches.diff_base(
        places.find_project(here), here, path=args.path, summary=args.summary, cap=args.max_bytes
    )


def _checkout_base(_: Args) -> "Struct":
    from porch.plan import branches
    from porch.store import where as places

    return branches.checkout_base(places.find_project(os.getcwd()))


def _create_pr(args: Args) -> "Struct":
    from porch.plan import branches
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    return branches.create_pr(where, args.title, args.body, draft=args.draft)


def _cleanup_worktrees(args: Args) -> View:
    from porch.plan import branches
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    data = branches.cleanup_worktrees(where, dry_run=args.dry_run, force_orphans=args.force_orphans)
    if not data.errors:
        return success_view(data)
    first = data.errors[0]
    message = f"{len(data.errors)} worktrees could not be removed: {first.message}"
    return failing_view(data, first.type, message, first.suggestion)


# Said here, too, so that no other command pays for what only these import.
_CAP = 200_000
_AGENT = make_argument("--agent", metavar="NAME", default="", help="who is calling")

COMMANDS: Verbs = {
    "git get-base-branch": Verb(answer_in_envelope(_get_base_branch), (_AGENT,)),
    "git is-base-branch": Verb(answer_in_envelope(_is_base_branch), (_AGENT,)),
    "git diff-base": Verb(
        answer_in_envelope(_diff_base),
        (
            make_argument("--path", metavar="P", default="", help="only this file or directory"),
            make_argument("--summary", action="store_true", help="only the numbers, not the text"),
            make_argument(
                "--max-bytes",
                type=int,
                metavar="N",
                default=_CAP,
                help=f"cut the text after so many characters, at a line end; default: {_CAP}",
            ),
            _AGENT,
        ),
    ),
    "git checkout-base": Verb(answer_in_envelope(_checkout_base), (_AGENT,)),
    "git create-pr": Verb(
        answer_in_envelope(_create_pr),
        (
            make_argument("--title", required=True, metavar="TEXT", help="its title"),
            make_argument("--body", required=True, metavar="TEXT", help="its text, in Markdown"),
            make_argument("--draft", action="store_true", help="not ready for review yet"),
            _AGENT,
        ),
    ),
    "git cleanup-worktrees": Verb(
        catch_complaints(_cleanup_worktrees),
        (
            make_argument("--dry-run", action="store_true", help="only show what would be removed"),
            make_argument(
                "--force-orphans",
                action="store_true",
                help="also those without a feature branch; refs/porch/archive keeps the commits",
            ),
            _AGENT,
        ),
    ),
}
