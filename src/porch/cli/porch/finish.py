"""Finishing a run from the command line."""

import os

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument, refuse_empty_values


def _finish_run(args: Args) -> View:
    from porch.fleet.finish import finish
    from porch.fleet.finish.acceptance import FinishRequest, FinishWay
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    refuse_empty_values(args, "into", "accept")
    where = places.find_project(os.getcwd())
    name = find_run(where, args.id)
    ways: tuple[FinishWay, ...] = ("merge", "squash", "pr", "keep")
    way = finish.choose_way([each for each in ways if getattr(args, each)])
    into = args.into or ""
    told = (
        finish.finish_run(
            where,
            name,
            FinishRequest(way, into, args.as_person, args.accept_changes, args.accept or ""),
        )
        if way
        else finish.show_choices(where, name, into)
    )
    return View(told.message, {**told.data, "message": told.message}, is_prose=True)


COMMANDS: Verbs = {
    "finish": Verb(
        _finish_run,
        (
            make_argument(
                "id",
                nargs="?",
                default="",
                help="the run: id, short id or directory name; default: here",
            ),
            make_argument(
                "--merge", action="store_true", help="merge the work, after the checks, with git"
            ),
            make_argument(
                "--squash", action="store_true", help="the same as one commit on the branch"
            ),
            make_argument(
                "--pr", action="store_true", help="push the branch and open a pull request with gh"
            ),
            make_argument("--keep", action="store_true", help="leave the work where it is"),
            make_argument(
                "--into", metavar="BRANCH", help="the branch; default: the one the run began on"
            ),
            make_argument(
                "--accept-changes",
                action="store_true",
                help="deliver what was changed after its approval or after the end of the run",
            ),
            make_argument(
                "--accept",
                metavar="REASON",
                help="deliver although not all of it has passed; the reason is recorded",
            ),
            PERSON,
        ),
    )
}
