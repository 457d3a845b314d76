"""Setting up a project: little is written, what was found is said, nothing is overwritten."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from porch.cli.codev.setup_lines import (
    describe_codex,
    describe_files,
    describe_findings,
    describe_needs,
    describe_rest,
    describe_trial,
    describe_unset_commands,
)
from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument
from porch.cli.typed_line import ask_line, ask_person
from porch.text.printable import make_printable

if TYPE_CHECKING:
    from porch.fleet.setup.additive_files import PlannedFile
    from porch.fleet.setup.project_setup import SetupChoices

_NOBODY = "porch, since git knows no name: git config user.name 'Your name'"
# Whoever sets a project up waits for it.
_LONGEST_TRIAL_S = 120
# So much is copied for it at most.
_MOST_FILES = 2000
_MOST_BYTES = 100_000_000


def _begin_project(args: Args) -> View:
    from porch.errors import UsageError
    from porch.fleet.setup import first_commit, project_setup

    root = _find_root()
    is_new = not first_commit.is_inside_repository(root)
    chosen = _choose_by_words(root, args)
    if is_new and not (args.yes or ask_person(f"{root} is not a git repository. Make one?", False)):
        raise UsageError(
            f"{root} is not a git repository, and porch cannot work without one",
            fix="run `git init`, then `codev init`; or `codev init --yes`, which does both",
            code="no-repository",
        )
    chosen = _ask_for_rest(root, args, chosen)
    planned = project_setup.plan_setup(root, chosen)
    if is_new:
        first_commit.make_repository(root)
    first_commit.finish_killed_setup(root)
    project_setup.write_setup(root, planned)
    lines = [f"made a git repository in {root}"] if is_new else []
    lines += describe_codex(chosen.mcp)
    shown = _show_setup(root, args, chosen, planned)
    lines += _commit_lines(root, planned, args.yes)
    return _finish_setup(root, args, chosen, planned, lines, shown)


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
    chosen = _ask_for_rest(root, args, _choose_by_words(root, args))
    planned = project_setup.plan_setup(root, chosen)
    if args.dry_run:
        return _setup_view(root, chosen, planned, ["nothing was written (--dry-run)"])
    project_setup.write_setup(root, planned)
    lines = [*describe_codex(chosen.mcp), *_commit_advice(planned)]
    shown = _show_setup(root, args, chosen, planned)
    return _finish_setup(root, args, chosen, planned, lines, shown)


def _show_setup(
    root: str, args: Args, chosen: "SetupChoices", planned: "Sequence[PlannedFile]"
) -> int:
    """On a terminal, before anybody is asked about these files; the number of lines."""
    from porch.cli.trust_prompt import is_person_at_terminal

    if args.yes or args.json or not is_person_at_terminal(args.as_person):
        return 0
    lines = _describe_setup(root, chosen, planned, True)
    print(make_printable("\n".join(lines)), flush=True)
    return len(lines)


def _finish_setup(
    root: str,
    args: Args,
    chosen: "SetupChoices",
    planned: "Sequence[PlannedFile]",
    lines: list[str],
    shown: int,
) -> View:
    """What follows once all files are there: trust, and one try of the tests."""
    from porch.fleet.health.command_health import remove_killed_trial
    from porch.store.where import find_project

    if planned[0].fate != "new":
        remove_killed_trial(find_project(root))
        return _setup_view(root, chosen, planned, lines, shown=shown)
    is_trusted = _trust_settings(root, args, chosen, planned[0])
    tried = (
        _try_tests(root, chosen, planned)
        if is_trusted
        else ["tests were not tried: see `porch trust`"]
    )
    return _setup_view(root, chosen, planned, [*tried, *lines], is_trusted, shown)


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


def _choose_by_words(root: str, args: Args) -> "SetupChoices":
    """What the project has, and what the options say, before anybody is asked anything."""
    from contextlib import suppress

    from msgspec.structs import replace

    from porch.errors import PorchError
    from porch.fleet.setup import integrations, project_setup
    from porch.run.settings import load_settings

    names = integrations.read_integrations(getattr(args, "with") or ())
    chosen = replace(project_setup.find_choices(root), mcp=tuple(args.mcp or ()))
    # Settings with errors are said later.
    with suppress(PorchError):
        chosen = replace(chosen, protocol=load_settings(root).protocol)
    if args.test:
        chosen = _with_test_command(root, chosen, args.test)
    return _with_integrations(chosen, names)


def _with_integrations(chosen: "SetupChoices", names: frozenset[str]) -> "SetupChoices":
    """An agent that cannot start the tools would only complain at each start."""
    from msgspec.structs import replace

    from porch.fleet.setup.mcp_entries import AGENTS
    from porch.fleet.setup.mcp_package import find_package_fault

    can_serve = find_package_fault() is None
    mcp = [name for name in AGENTS if name in chosen.mcp or (name in names and can_serve)]
    return replace(chosen, integrations=names, mcp=tuple(mcp))


def _ask_for_rest(root: str, args: Args, chosen: "SetupChoices") -> "SetupChoices":
    """On a terminal a person confirms; elsewhere only `--yes` allows an agent anything."""
    from msgspec.structs import replace

    from porch.cli.trust_prompt import is_person_at_terminal
    from porch.fleet.setup.integrations import include_others, list_offers

    is_yes = args.yes or getattr(args, "dry_run", False)
    is_asked = not is_yes and is_person_at_terminal(args.as_person)
    has_config = os.path.exists(os.path.join(root, "codev", "config.toml"))
    if is_asked and not args.test and not has_config:
        chosen = _confirm_test_command(root, chosen)
    if is_asked and not getattr(args, "with"):
        names: frozenset[str] = frozenset()
        for name in list_offers(root, chosen.agents):
            if name not in names and ask_person(_make_offer(name), False):
                names = include_others([*names, name])
        chosen = _with_integrations(chosen, names)
    if "envoy" not in chosen.integrations:
        return chosen
    said = "May specialists of Claude Code run envoy and git in their worktrees without asking?"
    return replace(chosen, permissions=ask_person(said, True) if is_asked else is_yes)


def _make_offer(name: str) -> str:
    from porch.fleet.setup.integrations import INTEGRATIONS

    return f"Add {name}: {INTEGRATIONS[name]}?"


def _confirm_test_command(root: str, chosen: "SetupChoices") -> "SetupChoices":
    known = next((each for each in chosen.commands if each.name == "test"), None)
    shown = f"{known.command}, from {known.file}" if known else "none found"
    typed = ask_line(f"The command that runs all tests [{shown}]: ")
    return _with_test_command(root, chosen, typed) if typed else chosen


def _with_test_command(root: str, chosen: "SetupChoices", typed: str) -> "SetupChoices":
    from msgspec.structs import replace

    from porch.fleet.setup.project_commands import FoundCommand
    from porch.fleet.setup.worktree_needs import find_needs

    others = [each for each in chosen.commands if each.name != "test"]
    commands = [*others, FoundCommand("test", typed, "")]
    return replace(chosen, commands=commands, needs=find_needs(root, commands))


def _trust_settings(root: str, args: Args, chosen: "SetupChoices", planned: "PlannedFile") -> bool:
    """Whether all settings count: a person who has just chosen them need not be asked later."""
    from porch.cli.trust_prompt import grant_requests, is_person_at_terminal
    from porch.fleet.setup.additive_files import read_existing
    from porch.run.grants import count_in_this_command
    from porch.run.settings import load_settings

    waiting = [each for each in load_settings(root).untrusted if each.file == planned.path]
    if waiting and read_existing(root, planned.path) == planned.data:
        is_asked = not args.yes and is_person_at_terminal(args.as_person)
        if args.yes or (is_asked and ask_person(describe_needs(chosen.needs), False)):
            grant_requests(waiting, args.as_person)
            count_in_this_command(each.digest for each in waiting)
    return not load_settings(root).untrusted


def _try_tests(
    root: str, chosen: "SetupChoices", planned: "Sequence[PlannedFile]"
) -> Iterator[str]:
    """Once, where a run would run them: on the last commit, and on what is not committed yet."""
    from msgspec.structs import replace

    from porch.errors import PorchError
    from porch.fleet.health.command_health import try_commands
    from porch.git import repository, worktrees
    from porch.run.settings import load_settings
    from porch.store.where import find_project

    command = next((each.command for each in chosen.commands if each.name == "test"), "")
    where = find_project(root)
    head = repository.read_head(where.workspace)
    if not command or head is None:
        return
    known = load_settings(root)
    limit = min(known.first_check, _LONGEST_TRIAL_S)
    known = replace(known, commands={"test": command}, first_check=limit)
    try:
        changed = [n for n in worktrees.list_changed_paths(root) if not n.endswith("/")]
        paths = [path for name in changed if os.path.lexists(path := os.path.join(root, name))]
        size = sum(os.lstat(path).st_size for path in paths)
        if len(changed) > _MOST_FILES or size > _MOST_BYTES:
            yield f"tests were not tried: {len(changed)} files, {size} bytes are not committed"
            yield "  commit what belongs to the project, then: codev doctor"
            return
        results = try_commands(where, known, head, _tell, uncommitted=changed)
        yield from describe_trial(results["test"], len({*changed} - {p.path for p in planned}))
    except PorchError as error:
        yield f"tests could not be tried: {error.findings[0].message}"
        yield f"  {error.findings[0].fix or 'try again: codev doctor'}"
    except KeyboardInterrupt:
        yield "tests were not tried to the end, since you stopped them; codev doctor tries them"


def _tell(what: str) -> None:
    """What one waits for, if somebody watches."""
    if sys.stderr.isatty():
        said = f"{what} (at most {_LONGEST_TRIAL_S} s; Ctrl-C leaves it out)"
        print(make_printable(said), file=sys.stderr, flush=True)


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
        yield "commit them, because a run uses the committed settings:"
        yield f"  git add {' '.join(paths)} && git commit -m 'Set up codev'"


def _setup_view(
    root: str,
    chosen: "SetupChoices",
    planned: "Sequence[PlannedFile]",
    said: list[str],
    is_trusted: bool = True,
    shown: int = 0,
) -> View:
    """`shown` lines of it stand on the terminal already."""
    told = _describe_setup(root, chosen, planned, is_trusted)[shown:]
    rest = describe_rest(root, chosen, planned[0].fate == "new")
    data = {
        "root": root,
        "commands": [
            {"name": each.name, "command": each.command, "file": each.file}
            for each in chosen.commands
        ],
        "worktree": {"link": chosen.needs.link, "setup": chosen.needs.setup},
        "integrations": sorted(chosen.integrations),
        "permissions": chosen.permissions,
        "agents": list(chosen.agents),
        "mcp": list(chosen.mcp),
        "files": [each.as_json() for each in planned],
        "said": said,
    }
    return View("\n".join([*told, *said, *rest]), data, is_prose=True)


def _describe_setup(
    root: str, chosen: "SetupChoices", planned: "Sequence[PlannedFile]", is_trusted: bool
) -> list[str]:
    """What was found, and each file."""
    is_new = planned[0].fate == "new"
    described = describe_findings(root, chosen, is_trusted)
    found = described if is_new else describe_unset_commands(root, chosen)
    return [*found, *describe_files(planned)]


_YES = make_argument("--yes", action="store_true", help="ask nothing, and take what was found")
_TEST = make_argument("--test", default="", metavar="COMMAND", help="what runs all tests")
_WITH = make_argument(
    "--with",
    action="append",
    metavar="NAMES",
    help="add these, with commas between: claude (skill, hook, MCP tools), claude-commands (/plan "
    "and /continue), codex (AGENTS.md, MCP tools), envoy (steps, specialists), hooks, agents-md, "
    "protocols (all of them)",
)
MCP = make_argument(
    "--mcp",
    action="append",
    choices=("claude", "codex"),
    help="let this agent call porch as MCP tools; can be repeated",
)
_DRY_RUN = make_argument("--dry-run", action="store_true", help="only list what would be written")
COMMANDS: Verbs = {
    "init": Verb(_begin_project, (_YES, _WITH, _TEST, MCP, PERSON)),
    "adopt": Verb(_adopt_project, (_DRY_RUN, _YES, _WITH, _TEST, MCP, PERSON)),
}
