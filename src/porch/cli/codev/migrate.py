"""Migrating projects of the old shape: everything is decided and said first, and asked once."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeVar

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument
from porch.cli.typed_line import ask_line

if TYPE_CHECKING:
    from porch.fleet.migration.decisions import MigrationPlan, ProjectDecision
    from porch.fleet.migration.old_worktrees import OldWorktree
    from porch.store.where import ProjectPaths

K = TypeVar("K")
_NAMED = 5
_ABOUT_CLAIMS = (
    "nobody here approved these gates: add --adopt to count them all the same, or --no-adopt"
)


def _migrate_project(args: Args) -> View:
    from porch.fleet.migration.carry_out import hold_migration
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    # What another call moves between looking and moving would be said of this one, too.
    is_moving = where.common_dir and not args.dry_run
    with hold_migration(where) if is_moving else nullcontext():
        return _migrate_found_project(where, args)


def _migrate_found_project(where: "ProjectPaths", args: Args) -> View:
    from msgspec.structs import replace

    from porch.errors import EXIT_FAILED
    from porch.fleet.migration.carry_out import Migrator
    from porch.fleet.migration.decisions import MigrationChoice, plan_migration

    choice = MigrationChoice(adopt=not args.no_adopt, clean=args.clean, words=tuple(args.ids))
    plan = plan_migration(where, choice)
    if not plan.is_empty:
        _require_repository(where.common_dir)
    if args.dry_run or plan.is_empty:
        note = "nothing was changed (--dry-run)" if args.dry_run else "nothing was changed"
        lines = _describe_plan(plan, {}, is_verbose=args.verbose, is_clean=args.clean)
        asked = [] if args.adopt or not plan.list_claims() else [_ABOUT_CLAIMS]
        return View("\n".join([*lines, *asked, note]), _plan_data(plan, (), {}))
    if not _accepts_claims(plan, args):
        plan = plan_migration(where, replace(choice, adopt=False))
    failed = Migrator(where).carry_out_plan(plan, clean=args.clean)
    lines = _describe_plan(plan, failed, is_verbose=args.verbose, is_clean=args.clean)
    done = [each.run for each in plan.decisions if _is_moved(each, failed)]
    text = "\n".join([*lines, *_next_lines(plan, failed)])
    code = EXIT_FAILED if len(done) < len(plan.decisions) else 0
    return View(text, _plan_data(plan, done, failed), code)


def _require_repository(common_dir: str) -> None:
    if not common_dir:
        from porch.errors import UsageError

        raise UsageError(
            "this is not a git repository: nobody could undo a migration here",
            fix="run `git init`, commit everything, then run `codev migrate` again",
            code="no-repository",
        )


def _accepts_claims(plan: "MigrationPlan", args: Args) -> bool:
    """Approvals that only files speak of count if a person says so, once for all of them."""
    if args.adopt or args.no_adopt or not plan.list_claims():
        return not args.no_adopt
    if sys.stdin.isatty() and sys.stdout.isatty():
        print("\n".join(_describe_plan(plan, {}, is_verbose=True, is_clean=args.clean)))
        answer = ask_line("Count these gates as approved? [y/N] ").lower()
        return answer in ("y", "yes")
    from porch.errors import UsageError

    gates = ", ".join(f"{run} {gate} ({why})" for run, gate, why in plan.list_claims())
    raise UsageError(
        f"the old files count these gates as approved: {gates}",
        fix=_ABOUT_CLAIMS,
        code="adopted-approval",
    )


def _describe_plan(
    plan: "MigrationPlan", failed: Mapping[str, str], *, is_verbose: bool, is_clean: bool
) -> Iterator[str]:
    """The details if they are wanted, then the summary; the same before and after."""
    if plan.is_empty:
        yield "there is nothing of the old shape here"
        return
    for each in plan.decisions if is_verbose else ():
        yield from _describe_decision(each)
    moved = [each for each in plan.decisions if _is_moved(each, failed)]
    if plan.decisions:
        counts = [(name, sum(each.outcome == name for each in moved)) for name in _COUNTED]
        kinds = ", ".join(f"{count} {_COUNTED[name]}" for name, count in counts if count)
        verb = "moves" if len(plan.decisions) == 1 else "move"
        front = f"{len(moved)} of {_count(len(plan.decisions), 'project')} {verb} to codev/projects"
        yield f"{front} ({kinds})" if kinds else front
    for gate, runs in _group((gate, run) for run, gate, _ in plan.list_claims()).items():
        yield f"{gate} counts as approved in {_count(len(runs), 'project')}: {_name_some(runs)}"
    reasons = _group(
        ((each.reason or failed[each.run], each.fix), each.run)
        for each in plan.decisions
        if not _is_moved(each, failed)
    )
    for (reason, fix), runs in reasons.items():
        verb = "stays" if len(runs) == 1 else "stay"
        yield f"{_count(len(runs), 'project')} {verb}: {reason}: {_name_some(runs)}"
        if fix:
            yield f"  fix: {fix}"
    yield from _describe_worktrees(plan, is_clean)
    for why, paths in _group((why, path) for path, why in plan.left.items()).items():
        yield f"{_count(len(paths), 'file')} left alone: {why}: {_name_some(paths)}"


def _group(pairs: "Iterable[tuple[K, str]]") -> "dict[K, list[str]]":
    groups: dict[K, list[str]] = {}
    for key, name in pairs:
        groups.setdefault(key, []).append(name)
    return groups


_COUNTED = {"history": "history", "paused": "paused", "joined": "with a run already"}


def _is_moved(decision: "ProjectDecision", failed: Mapping[str, str]) -> bool:
    return decision.outcome != "left" and decision.run not in failed


def _describe_decision(decision: "ProjectDecision") -> Iterator[str]:
    if decision.outcome == "left":
        yield f"{decision.run}: stays: {decision.reason}"
        return
    state = f", {decision.protocol} at {decision.state}" if decision.protocol else ""
    ended = f" ({decision.state})" if decision.outcome == "history" else ""
    yield f"{decision.run}: {_COUNTED[decision.outcome]}{state}{ended}"
    yield from (f"  {old} -> {new}" for old, new in decision.documents.items())
    yield from (f"  {gate} counts as approved: {why}" for gate, why in decision.claims)
    yield from (f"  note: {note}" for note in decision.notes)


def _describe_worktrees(plan: "MigrationPlan", is_clean: bool) -> Iterator[str]:
    for each in plan.decisions:
        old = each.worktree
        if old is not None and each.is_cleaned:
            yield from _describe_removed(old)
        elif old is not None:
            yield f"{old.path} -> {old.new_path}, branch {old.branch} -> {old.new_branch}"
    for old in plan.worktrees:
        if is_clean and not old.is_kept:
            yield from _describe_removed(old)
        else:
            yield f"{old.path}: left alone: {old.trouble}"


def _describe_removed(old: "OldWorktree") -> Iterator[str]:
    name = os.path.basename(old.path)
    yield f"{old.path}: removed; its branch {old.branch or '(none)'} stays"
    yield f"  what was not committed: git show refs/porch/salvage/{name}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _name_some(names: Iterable[str]) -> str:
    known = list(names)
    return ", ".join(known[:_NAMED]) + (", ..." if len(known) > _NAMED else "")


def _plan_data(
    plan: "MigrationPlan", done: Iterable[str], failed: Mapping[str, str]
) -> dict[str, object]:
    worktrees = [*filter(None, (each.worktree for each in plan.decisions)), *plan.worktrees]
    return {
        "projects": [
            {
                "run": each.run,
                "outcome": each.outcome,
                "protocol": each.protocol,
                "state": each.state,
                "files": dict(each.documents),
                "claims": dict(each.claims),
                "notes": list(each.notes),
                "conflict": each.reason,
                "fix": each.fix,
            }
            for each in plan.decisions
        ],
        "worktrees": [
            {"path": old.path, "branch": old.branch, "run": old.run, "trouble": old.trouble}
            for old in worktrees
        ],
        "left": dict(plan.left),
        "done": [f"{run}: moved to codev/projects/{run}/" for run in done],
        "failed": [f"{run}: {reason}" for run, reason in failed.items()],
    }


def _next_lines(plan: "MigrationPlan", failed: Mapping[str, str]) -> Iterator[str]:
    moved = [each for each in plan.decisions if _is_moved(each, failed)]
    if any(each.outcome == "paused" for each in moved):
        yield "`porch status` lists the paused runs; to continue one: porch resume ID"
    if moved:
        yield "to commit this: git add -A codev && git commit -m 'Migrate to codev/projects'"


COMMANDS: Verbs = {
    "migrate": Verb(
        _migrate_project,
        (
            make_argument("ids", nargs="*", metavar="ID", help="a project; default: all"),
            make_argument("--dry-run", action="store_true", help="only say what would happen"),
            make_argument("--verbose", action="store_true", help="say it of each project"),
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
