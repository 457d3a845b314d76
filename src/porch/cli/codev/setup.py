"""Setting up a project: little is asked, what was found is said, nothing is overwritten."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument
from porch.cli.typed_line import ask_line

if TYPE_CHECKING:
    from porch.fleet.setup.additive_files import PlannedFile
    from porch.fleet.setup.project_commands import FoundCommand
    from porch.fleet.setup.project_setup import SetupChoices


MCP = make_argument(
    "--mcp",
    action="append",
    choices=("claude", "codex"),
    help="let this agent call porch as MCP tools; can be repeated",
)

_SIGNS = {"new": "new", "extended": "added to", "kept": "left alone"}
_NOBODY = "porch, since git knows no name: git config user.name 'Your name'"
# More lines of one directory than this are counted, not listed.
_LISTED = 3


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_person(question: str, default: bool) -> bool:
    """Without anybody to ask, nothing is done that was not asked for."""
    if not is_terminal():
        return False
    said = ask_line(f"{question} [{'Y/n' if default else 'y/N'}] ").lower()
    return said in ("y", "yes") if said else default


def ask_for_mcp(agents: Sequence[str]) -> list[str]:
    """Of those who are installed; the default is no."""
    from porch.fleet.setup.mcp_entries import AGENTS, CLAUDE_FILE, CODEX_FILE, find_codex_home

    files = {"claude": CLAUDE_FILE, "codex": os.path.join(find_codex_home(os.environ), CODEX_FILE)}
    found = [name for name in AGENTS if name in agents]
    where = " and ".join(files[name] for name in found)
    question = f"Let {' and '.join(found)} call porch as MCP tools ({where})?"
    return found if found and ask_person(question, False) else []


def install_for_codex(chosen: Sequence[str]) -> Iterator[str]:
    """The entry of codex, which is in the home of the person; in words what became of it."""
    from porch.fleet.setup import mcp_entries

    if "codex" not in chosen:
        return
    home = mcp_entries.find_codex_home(os.environ)
    path = os.path.join(home, mcp_entries.CODEX_FILE)
    planned = mcp_entries.plan_codex_entry(home)
    mcp_entries.write_codex_entry(home, planned)
    if planned.is_change:
        yield f"wrote [mcp_servers.porch] into {path}"
    else:
        yield f"left {path} alone: {planned.note or 'it starts porch already'}"


def describe_missing_package(chosen: Sequence[str]) -> Iterator[str]:
    from porch.fleet.setup.mcp_package import find_package_fault

    fault = find_package_fault() if chosen else None
    if fault is not None:
        yield f"{fault.findings[0].message}: {fault.findings[0].fix}"


def _begin_project(args: Args) -> View:
    from porch.errors import UsageError
    from porch.fleet.setup import first_commit, project_setup

    root = _find_root()
    is_new = not first_commit.is_inside_repository(root)
    if is_new and not (args.yes or ask_person(f"{root} is not a git repository. Make one?", False)):
        raise UsageError(
            f"{root} is not a git repository, and porch cannot work without one",
            fix="run `git init`, then `codev init`; or `codev init --yes`, which does both",
            code="no-repository",
        )
    chosen = _choose(root, args, is_yes=args.yes)
    planned = project_setup.plan_setup(root, chosen)
    if is_new:
        first_commit.make_repository(root)
    first_commit.finish_killed_setup(root)
    project_setup.write_setup(root, planned)
    lines = [f"made a git repository in {root}"] if is_new else []
    lines += install_for_codex(chosen.mcp)
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
    chosen = _choose(root, args, is_yes=args.yes or args.dry_run)
    planned = project_setup.plan_setup(root, chosen)
    if args.dry_run:
        return _setup_view(root, chosen, planned, ["nothing was written (--dry-run)"])
    project_setup.write_setup(root, planned)
    lines = [*install_for_codex(chosen.mcp), *_commit_advice(planned)]
    return _setup_view(root, chosen, planned, lines)


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


def _choose(root: str, args: Args, *, is_yes: bool) -> "SetupChoices":
    """On a terminal a person confirms; elsewhere only `--yes` allows an agent anything."""
    from porch.fleet.setup import project_commands, project_setup
    from porch.run.agents import agent_list

    found = project_commands.find_commands(root)
    has_config = os.path.exists(os.path.join(root, "codev", "config.toml"))
    is_asked = not is_yes and is_terminal()
    if args.test:
        found = _with_test_command(found, args.test)
    elif is_asked and not has_config:
        found = _confirm_test_command(found)
    said = "May specialists of Claude Code run envoy and git in their worktrees without asking?"
    is_allowed = ask_person(said, True) if is_asked else is_yes
    agents = agent_list.find_agents()
    mcp = tuple(args.mcp or (ask_for_mcp(agents) if is_asked else ()))
    return project_setup.SetupChoices(found, is_allowed, agents, mcp)


def _confirm_test_command(found: "list[FoundCommand]") -> "list[FoundCommand]":
    known = next((each for each in found if each.name == "test"), None)
    shown = f"{known.command}, from {known.file}" if known else "none found"
    typed = ask_line(f"The command that runs all tests [{shown}]: ")
    return _with_test_command(found, typed) if typed else found


def _with_test_command(found: "list[FoundCommand]", typed: str) -> "list[FoundCommand]":
    from porch.fleet.setup.project_commands import FoundCommand

    return [*(each for each in found if each.name != "test"), FoundCommand("test", typed, "")]


def _commit_lines(root: str, planned: "Sequence[PlannedFile]", is_yes: bool) -> Iterator[str]:
    from porch.fleet.setup import first_commit

    # Also those that a call wrote that was killed before it committed them.
    paths = [each.path for each in planned if each.fate != "kept"]
    if first_commit.has_commit(root):
        yield from _commit_advice(planned)
    elif is_yes or ask_person("There is no commit yet. Commit these files as the first one?", True):
        who = first_commit.make_first_commit(root, paths)
        yield f"committed these files as the first commit, by {who or _NOBODY}"
        if left := first_commit.list_uncommitted(root):
            yield f"{_count_left(len(left))}: git add -A && git commit -m start"
    else:
        yield "there is no commit yet, and porch needs one"
        yield from _commit_advice(planned)


def _count_left(count: int) -> str:
    if count == 1:
        return "1 of your files is not committed yet; commit it"
    return f"{count} of your files are not committed yet; commit them"


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
        "agents": list(chosen.agents),
        "mcp": list(chosen.mcp),
        "files": [each.as_json() for each in planned],
        "said": said,
    }
    return View("\n".join(lines), data, is_prose=True)


def _command_lines(chosen: "SetupChoices") -> Iterator[str]:
    for each in chosen.commands:
        origin = f"found in {each.file}" if each.file else "as you typed it"
        yield f"{each.name:<6}{each.command}   ({origin})"
    if not any(each.name == "test" for each in chosen.commands):
        yield "no test command was found, and spider, tick and bugfix do not begin without one:"
        yield '  write into codev/config.toml, below [commands]: test = "your command"'
    if len(chosen.agents) == 1:
        yield f"agent {chosen.agents[0]}   (the only one found here: it works, and it reviews)"


def _unset_command_lines(root: str, chosen: "SetupChoices") -> Iterator[str]:
    """The settings of a project are its own: what they do not say is only mentioned."""
    import json

    from porch.errors import PorchError
    from porch.run.settings import PROJECT_FILE, load_settings

    try:
        known = load_settings(root).commands
    except PorchError as error:
        yield f"the settings have errors, which `codev doctor` lists: {error.findings[0].message}"
        return
    for each in chosen.commands:
        if each.name not in known:
            origin = f"{each.file} has" if each.file else "you gave"
            yield f"{PROJECT_FILE} has no {each.name} command; {origin}: {each.command}"
            yield f"  write into it, below [commands]: {each.name} = {json.dumps(each.command)}"


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
    yield from describe_missing_package(chosen.mcp)
    yield "next: codev doctor"
    yield 'then: porch run spider "what you want"'


_YES = make_argument("--yes", action="store_true", help="ask nothing, and do all of it but --mcp")
_TEST = make_argument("--test", default="", metavar="COMMAND", help="what runs all tests")
COMMANDS: Verbs = {
    "init": Verb(_begin_project, (_YES, _TEST, MCP, PERSON)),
    "adopt": Verb(
        _adopt_project,
        (
            make_argument("--dry-run", action="store_true", help="only list what would be written"),
            _YES,
            _TEST,
            MCP,
            PERSON,
        ),
    ),
}
