"""Migrating a project of the old shape: everything is said first, and asked once."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument
from porch.cli.typed_line import ask_line

if TYPE_CHECKING:
    from porch.fleet.migration.migrate import MigrationPlan


def _migrate_project(args: Args) -> View:
    from porch.errors import EXIT_FAILED
    from porch.fleet.migration import migrate
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    plan = migrate.plan_migration(where)
    lines = list(_describe_plan(plan, args.clean))
    data = _plan_data(plan)
    if args.dry_run or plan.is_empty:
        note = "nothing was changed (--dry-run)" if args.dry_run else "nothing was changed"
        return View("\n".join([*lines, note]), {**data, "done": [], "failed": []})
    _require_repository(where.common_dir)
    chosen = migrate.MigrationChoice(adopt=_accepts_claims(plan, args, lines), clean=args.clean)
    done: list[str] = []
    failed = migrate.apply_migration(where, plan, chosen, done.append)
    left = [f"left alone: {path}: {why}" for path, why in _list_left(plan)]
    text = "\n".join([*done, *left, *map(_failure, failed), *_next_lines(done)])
    return View(text, {**data, "done": done, "failed": failed}, EXIT_FAILED if failed else 0)


def _failure(told: str) -> str:
    return f"not migrated, and nothing of it was removed: {told}"


def _require_repository(common_dir: str) -> None:
    if not common_dir:
        from porch.errors import UsageError

        raise UsageError(
            "this is not a git repository: nobody could undo a migration here",
            fix="run `git init`, commit everything, then run `codev migrate` again",
            code="no-repository",
        )


def _accepts_claims(plan: "MigrationPlan", args: Args, lines: list[str]) -> bool:
    """Approvals that only files speak of count if a person says so, once for all of them."""
    if args.adopt or args.no_adopt or not plan.claims:
        return bool(args.adopt)
    if sys.stdin.isatty() and sys.stdout.isatty():
        print("\n".join(lines))
        said = ask_line("Count these gates as approved? [y/N] ").lower()
        return said in ("y", "yes")
    from porch.errors import UsageError

    gates = ", ".join(f"{run} {gate} ({why})" for run, gate, why in plan.claims)
    raise UsageError(
        f"the old files count these gates as approved: {gates}",
        fix="nobody here approved them; add --adopt to count them all the same, or --no-adopt",
        code="adopted-approval",
    )


def _describe_plan(plan: "MigrationPlan", is_clean: bool) -> Iterator[str]:
    for each in plan.ready:
        yield f"{each.project.run}, at {each.progress.state}"
        yield from (f"  {move.old} -> {move.new}" for move in each.moves)
        yield from (f"  {gate} counts as approved: {why}" for gate, why in each.progress.claims)
    for old in plan.worktrees:
        if is_clean and not old.is_in_use:
            yield f"{old.path}: would be removed, with its work kept under refs/porch"
        elif not old.trouble:
            yield f"{old.path} -> {old.new_path}, branch {old.branch} -> {old.new_branch}"
    yield from (f"left alone: {path}: {why}" for path, why in _list_left(plan))
    if plan.is_empty:
        yield "there is nothing of the old shape here"


def _list_left(plan: "MigrationPlan") -> list[tuple[str, str]]:
    conflicts = [(p.project.files["spec.md"], p.conflict) for p in plan.projects if p.conflict]
    return [*conflicts, *plan.left.items()]


def _plan_data(plan: "MigrationPlan") -> dict[str, object]:
    return {
        "projects": [
            {
                "run": each.project.run,
                "state": each.progress.state,
                "files": {move.old: move.new for move in each.moves},
                "claims": dict(each.progress.claims),
                "conflict": each.conflict,
            }
            for each in plan.projects
        ],
        "worktrees": [
            {"path": old.path, "branch": old.branch, "run": old.run, "trouble": old.trouble}
            for old in plan.worktrees
        ],
        "left": plan.left,
    }


def _next_lines(done: list[str]) -> Iterator[str]:
    if done:
        yield "now look at it with `porch status`, and commit it:"
        yield "  git add -A codev && git commit -m 'Migrate to codev/projects'"


COMMANDS: Verbs = {
    "migrate": Verb(
        _migrate_project,
        (
            make_argument("--dry-run", action="store_true", help="only say what would happen"),
            make_argument(
                "--adopt", action="store_true", help="count the gates that old files call approved"
            ),
            make_argument("--no-adopt", action="store_true", help="let every gate be asked again"),
            make_argument(
                "--clean",
                action="store_true",
                help="remove old worktrees instead of moving them; their work is kept",
            ),
            PERSON,
        ),
    ),
}
