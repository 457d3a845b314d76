"""Setting up a project: little is asked, what was found is said, nothing is overwritten."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument

if TYPE_CHECKING:
    from porch.fleet.setup.additive_files import PlannedFile
    from porch.fleet.setup.project_commands import FoundCommand
    from porch.fleet.setup.project_setup import SetupChoices

_SIGNS = {"new": "new", "extended": "added to", "kept": "left alone"}
_NOBODY = "porch, since git knows no name: git config user.name 'Your name'"
# More lines of one directory than this are counted, not listed.
_LISTED = 3


def _begin_project(args: Args) -> View:
    from porch.errors import UsageError
    from porch.fleet.setup import first_commit, project_setup

    root = _find_root()
    is_new = not first_commit.is_inside_repository(root)
    if is_new and not (args.yes or _ask(f"{root} is not a git repository. Make one?", False)):
        raise UsageError(
            f"{root} is not a git repository, and porch cannot work without one",
            fix="run `git init`, then `codev init`; or `codev init --yes`, which does both",
            code="no-repository",
        )
    chosen = _choose(root, args.yes)
    planned = project_setup.plan_setup(root, chosen)
    if is_new:
        first_commit.make_repository(root)
    project_setup.write_setup(root, planned)
    lines = [f"made a git repository in {root}"] if is_new else []
    return _setup_view(root, chosen, planned, [*lines, *_commit_lines(root, planned, args.yes)])


def _adopt_project(args: Args) -> View:
    from porch.errors import UsageError
    from porch.fleet.setup import first_commit, project_setup

    root = _find_root()
    if not first_commit.is_inside_repository(root):
        raise UsageError(
            f"{root} is not a git repository, and porch cannot work without one",
            fix="run `git init`, or use `codev init`, which can make one",
            code="no-repository",
        )
    chosen = _choose(root, args.yes or args.dry_run)
    planned = project_setup.plan_setup(root, chosen)
    if args.dry_run:
        return _setup_view(root, chosen, planned, ["nothing was written (--dry-run)"])
    project_setup.write_setup(root, planned)
    return _setup_view(root, chosen, planned, list(_commit_advice(planned)))


def _find_root() -> str:
    from porch.errors import UsageError
    from porch.fleet.setup import project_setup
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    if where.common_dir and where.workspace == where.common_dir:
        raise UsageError(
            f"{where.root} is a bare repository, which has no files to work on",
            fix="create a worktree and set that up: git worktree add ../work",
            code="bare-repository",
        )
    return project_setup.find_project_root(os.getcwd())


def _choose(root: str, is_yes: bool) -> "SetupChoices":
    """On a terminal a person confirms; elsewhere only `--yes` allows an agent anything."""
    from porch.fleet.setup import project_commands, project_setup

    found = project_commands.find_commands(root)
    if is_yes or not _is_terminal():
        return project_setup.SetupChoices(found, permissions=is_yes)
    if not os.path.exists(os.path.join(root, "codev", "config.toml")):
        found = _confirm_test_command(found)
    said = "May specialists of Claude Code run envoy and git in their worktrees without asking?"
    return project_setup.SetupChoices(found, permissions=_ask(said, True))


def _confirm_test_command(found: "list[FoundCommand]") -> "list[FoundCommand]":
    from porch.fleet.setup.project_commands import FoundCommand

    known = next((each for each in found if each.name == "test"), None)
    shown = f"{known.command}, from {known.file}" if known else "none found"
    typed = input(f"The command that runs all tests [{shown}]: ").strip()
    if not typed:
        return found
    return [*(each for each in found if each.name != "test"), FoundCommand("test", typed, "")]


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask(question: str, default: bool) -> bool:
    """Without anybody to ask, nothing is done that was not asked for."""
    if not _is_terminal():
        return False
    said = input(f"{question} [{'Y/n' if default else 'y/N'}] ").strip().lower()
    return said in ("y", "yes") if said else default


def _commit_lines(root: str, planned: "Sequence[PlannedFile]", is_yes: bool) -> Iterator[str]:
    from porch.fleet.setup import first_commit

    paths = [each.path for each in planned if each.is_change]
    if first_commit.has_commit(root) or not paths:
        yield from _commit_advice(planned)
    elif is_yes or _ask("There is no commit yet. Commit these files as the first one?", True):
        who = first_commit.make_first_commit(root, paths)
        yield f"committed these files as the first commit, by {who or _NOBODY}"
    else:
        yield "there is no commit yet, and porch needs one"
        yield from _commit_advice(planned)


def _commit_advice(planned: "Sequence[PlannedFile]") -> Iterator[str]:
    from porch.fleet.setup.project_setup import list_written_paths

    paths = list_written_paths(planned)
    if paths:
        yield f"now commit them: git add {' '.join(paths)} && git commit -m 'Set up codev'"


def _setup_view(
    root: str, chosen: "SetupChoices", planned: "Sequence[PlannedFile]", said: list[str]
) -> View:
    is_new = planned[0].fate == "new"
    told = _command_lines(chosen) if is_new else _unset_command_lines(root, chosen)
    lines = [*told, *_file_lines(planned), *said, *_next_lines(chosen)]
    data = {
        "root": root,
        "commands": [
            {"name": each.name, "command": each.command, "file": each.file}
            for each in chosen.commands
        ],
        "permissions": chosen.permissions,
        "files": [each.as_json() for each in planned],
        "said": said,
    }
    return View("\n".join(lines), data)


def _command_lines(chosen: "SetupChoices") -> Iterator[str]:
    for each in chosen.commands:
        origin = f"found in {each.file}" if each.file else "as you typed it"
        yield f"{each.name:<6}{each.command}   ({origin})"
    if not any(each.name == "test" for each in chosen.commands):
        yield "no test command was found; write it into codev/config.toml, below [commands]"


def _unset_command_lines(root: str, chosen: "SetupChoices") -> Iterator[str]:
    """The settings of a project are its own: what they do not say is only mentioned."""
    from porch.errors import PorchError
    from porch.run.settings import PROJECT_FILE, load_settings

    try:
        known = load_settings(root).commands
    except PorchError as error:
        yield f"the settings have errors, which `codev doctor` lists: {error.findings[0].message}"
        return
    for each in chosen.commands:
        if each.name not in known:
            yield f"{PROJECT_FILE} has no {each.name} command; {each.file} has: {each.command}"


def _file_lines(planned: "Sequence[PlannedFile]") -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for each in planned:
        if each.fate != "same":
            top = "/".join(each.path.split("/")[:2])
            groups.setdefault((each.fate, top, each.note), []).append(each.path)
    for (fate, top, note), paths in groups.items():
        more = f": {note}" if note else ""
        shown = paths if len(paths) <= _LISTED else [f"{top} ({len(paths)} files)"]
        yield from (f"{_SIGNS[fate]:<12}{path}{more}" for path in shown)
    if not groups:
        yield "everything is there already; nothing was changed"


def _next_lines(chosen: "SetupChoices") -> Iterator[str]:
    if not chosen.permissions:
        yield "specialists of Claude Code will ask before they run envoy;"
        yield "  to allow it: codev adopt --yes"
    yield "next: codev doctor"


_YES = make_argument("--yes", action="store_true", help="ask nothing, and do all of it")
COMMANDS: Verbs = {
    "init": Verb(_begin_project, (_YES, PERSON)),
    "adopt": Verb(
        _adopt_project,
        (
            make_argument("--dry-run", action="store_true", help="only list what would be written"),
            _YES,
            PERSON,
        ),
    ),
}
