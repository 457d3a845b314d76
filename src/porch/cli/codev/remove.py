"""`codev remove`: shown first, asked about, and never more than porch wrote."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from porch.cli.codev.setup_lines import group_paths, list_remains
from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument
from porch.cli.typed_line import ask_person, is_terminal

if TYPE_CHECKING:
    from porch.fleet.setup.removal import PlannedRemoval, RemovalPlan

_SIGNS = {"removed": "remove", "shortened": "shorten", "kept": "left alone"}


def _remove_setup(args: Args) -> View:
    from porch.errors import EXIT_WAITING
    from porch.fleet.setup import project_setup, removal
    from porch.text.printable import make_printable

    root = project_setup.find_project_root(os.getcwd())
    plan = removal.plan_removal(root)
    shown = [*_file_lines(plan.files), *_describe_rest(plan)]
    if not plan.changes:
        lines = [*shown, "there is nothing to remove", *list_remains(root)]
        return View("\n".join(lines), _describe(root, plan, []), is_prose=True)
    shown += _check_runs(root)
    if not args.yes and (args.json or not is_terminal()):
        lines = [*shown, "nothing was removed; to do it: codev remove --yes"]
        return View("\n".join(lines), _describe(root, plan, []), EXIT_WAITING)
    if not args.yes:
        print(make_printable("\n".join(shown)), flush=True)
        shown = []
        if not ask_person(f"Remove this from {root}?", False):
            return View("nothing was removed")
    left = removal.carry_out_removal(root, plan)
    done = [each for each in plan.changes if each not in left]
    lines = [*shown, *_result_lines(root, left, done)]
    return View("\n".join(lines), _describe(root, plan, done), is_prose=True)


def _check_runs(root: str) -> Iterator[str]:
    """Nothing goes while a process works on a run; of one that rests a person is told first."""
    from porch.errors import BusyError
    from porch.fleet.fleet_rows import ProjectRuns
    from porch.store.where import find_project

    runs = ProjectRuns(find_project(root))
    live = [row["run"] for row in runs.rows if row["driver"]]
    if live:
        raise BusyError(
            f"a process works on {', '.join(live)}; nothing was removed",
            fix=f"stop it first: porch stop {live[0]}",
            code="runs-at-work",
        )
    rest = [row["run"] for row in runs.rows if row["group"] != "over"]
    for name in (*rest, *runs.finishable):
        how = "has not ended" if name in rest else "is not merged"
        yield f"{'left alone':<12}{name}, a run that {how}, with its worktree"
    if rest or runs.finishable:
        yield "  without these settings it may fail; to be safe, finish it before you remove them"


def _file_lines(files: "Sequence[PlannedRemoval]") -> Iterator[str]:
    for (fate, note), path in group_paths((each.fate, each.note, each.path) for each in files):
        yield f"{_SIGNS[fate]:<12}{path}{f': {note}' if note else ''}"


def _describe_rest(plan: "RemovalPlan") -> Iterator[str]:
    from porch.fleet.setup import mcp_entries

    if plan.unrecorded:
        yield f"{_count_files(plan.unrecorded)} more: like packaged ones, but older than the record"
        yield "  `codev remove` once more takes them, too"
    home = mcp_entries.find_codex_home(os.environ)
    if any(agent == "codex" for agent, _ in mcp_entries.list_entries("", home)):
        path = os.path.join(home, mcp_entries.CODEX_FILE)
        yield f"{'left alone':<12}{path}: [mcp_servers.porch] is for all your projects"


def _count_files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _result_lines(
    root: str,
    left: "Sequence[PlannedRemoval]",
    done: "Sequence[PlannedRemoval]",
) -> Iterator[str]:
    removed = sum(each.fate == "removed" for each in done)
    shortened = len(done) - removed
    more = f", shortened {_count_files(shortened)}" if shortened else ""
    yield f"removed {_count_files(removed)}{more}"
    for each in left:
        yield f"left alone  {each.path}: it changed meanwhile, or cannot be written"
    yield from list_remains(root)
    if tops := _list_committed(root, done):
        yield f"now commit it: git add -A {' '.join(tops)} && git commit -m 'Remove codev'"


def _list_committed(root: str, done: "Sequence[PlannedRemoval]") -> list[str]:
    """Where git sees that something is gone, as few words as `git add` needs."""
    from porch.git import repository, worktrees

    if not os.path.lexists(os.path.join(root, ".git")) or repository.read_head(root) is None:
        return []
    changed = set(worktrees.list_changed_tracked_paths(root))
    return sorted({each.path.split("/")[0] for each in done if each.path in changed})


def _describe(root: str, plan: "RemovalPlan", done: "Sequence[PlannedRemoval]") -> dict[str, Any]:
    return {
        "root": root,
        "files": [each.as_json() for each in plan.files],
        "done": [each.path for each in done],
    }


COMMANDS: Verbs = {
    "remove": Verb(
        _remove_setup,
        (make_argument("--yes", action="store_true", help="ask nothing, and remove it"), PERSON),
    ),
}
