"""What must fail later is refused now: before the first turn that somebody pays for.

All of it is said at once, so that nobody mends one thing to meet the next.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import ParamSpec

from porch.agents.scripted.script_reader import read_script
from porch.errors import DefinitionError, Finding, OutsideError, Place, PorchError, UsageError
from porch.git import repository
from porch.model.protocol import Agent, Check, Command, Panel, Protocol
from porch.run.agents.default_panel import list_missing, list_reachable
from porch.run.agents.roster import EmployedAgent, Roster, choose_other
from porch.run.drive.script_names import ScriptNames
from porch.run.engine.drive_options import RunRequest
from porch.run.settings import PROJECT_FILE, Settings, read_written_settings
from porch.run.start_settings import COMMIT_SETTINGS
from porch.run.worktrees.free_place import require_base
from porch.store.where import ProjectPaths

_P = ParamSpec("_P")


def refuse_wrong_options(protocol: Protocol, wanted: RunRequest) -> None:
    """What was said on the command line and has no meaning here, or is missing."""
    if wanted.into and not protocol.spec:
        raise UsageError(
            f"--into does not work with {protocol.name}: it has no branch of its own",
            fix="leave out --into",
            code="no-tree",
        )
    if protocol.spec and not wanted.subject:
        raise no_spec_error(protocol, "no spec was given")
    if protocol.spec and wanted.in_checkout:
        raise UsageError(
            f"--here does not work with {protocol.name}: each of its parts has its own worktree",
            fix="leave out --here",
            code="tree-in-checkout",
        )


def no_spec_error(protocol: Protocol, what: str) -> UsageError:
    return UsageError(what, fix=f"porch run {protocol.name} SPEC.yaml", code="no-spec")


def require_script(protocol: Protocol, script: str) -> None:
    """Without an entry the scripted agent says only signals, which nobody reads in a tree."""
    if not protocol.spec:
        return
    what = f"the scripted agent needs a script for {protocol.name}"
    if script:
        begin, keys = protocol.initial.state, read_script(script, "").agents
        is_agent = isinstance(protocol.states[begin].actor, Agent)
        if not is_agent or ScriptNames(protocol).is_named(keys, begin):
            return
        what = f"the script has no entry for '{begin}', with which {protocol.name} begins"
    raise UsageError(
        what,
        fix="add --script FILE with entries for its agents; docs/reference/script.md describes "
        "the format",
        code="no-script",
    )


def require_start(
    where: ProjectPaths,
    known: Settings,
    wanted: RunRequest,
    protocol: Protocol,
    *,
    has_worktree: bool,
) -> None:
    """A place in git, agents that are logged in, and panels that can decide."""
    roster = Roster(known, wanted.agent)
    if roster.is_scripted or "agent" in wanted.hands_off:
        if has_worktree:
            require_base(where, "HEAD")
        return
    _require_commit(where)
    for post in list_workers(roster, protocol):
        _require_login(post, list_reachable(roster))
    has_models = known.models == read_written_settings(where.root).models
    for state in protocol.states.values():
        if isinstance(state.actor, Panel):
            fix = "" if has_models else COMMIT_SETTINGS
            _require_quorum(roster, state.title or state.group, state.actor, fix)


def _require_commit(where: ProjectPaths) -> None:
    """Without git nobody can tell what an agent changed, and nothing can be committed."""
    if where.common_dir and repository.read_head(where.workspace) is not None:
        return
    what = "this git repository has no commit yet" if where.common_dir else "there is no git here"
    makes = "the first commit" if where.common_dir else "a repository with a first commit"
    raise UsageError(
        f"{what}: porch could not tell what an agent changes",
        fix=f"run `codev init --yes`, which makes {makes}; or try the protocol with "
        "--no-claude --here",
        code="no-repository",
    )


def list_workers(roster: Roster, protocol: Protocol) -> Iterator[EmployedAgent]:
    for state in protocol.states.values():
        if isinstance(state.actor, Agent):
            yield roster.worker(state.actor.role, state.group, state.actor.permissions)


def _require_login(post: EmployedAgent, others: Sequence[str]) -> None:
    missing = post.missing_login
    if not missing:
        return
    import shlex

    raise OutsideError(
        f"the agent '{post.name}' is not logged in: {missing}",
        fix=f"{post.agent.LOGIN}, {choose_other(others)}or try the protocol with --no-claude; to "
        f"try the login: porch agents test {shlex.quote(post.name)}",
        code="agent-login",
    )


def _require_quorum(roster: Roster, phase: str, panel: Panel, fix: str = "") -> None:
    """Reviewers who cannot be asked abstain; too many of them, and the panel never decides."""
    posts = {name: roster.reviewer(name) for name in panel.reviewers}
    why = {name: post.why_not_asked for name, post in posts.items()}
    here = [name for name in posts if not why[name]]
    if len(here) >= panel.quorum:
        return
    missing = list_missing(why)
    able = here or list_reachable(roster)
    models = ", ".join(f'"{name}"' for name in able)
    other = f", or write into {PROJECT_FILE}, below [panel]: models = [{models}]" if able else ""
    raise UsageError(
        f"the reviews of {phase} need {panel.quorum} of {len(posts)} reviewers, and only "
        f"{len(here)} can be reached: {missing}",
        fix=fix or f"install them and log in{other}",
        code="quorum-unreachable",
    )


def require_check_commands(
    where: ProjectPaths, protocol: Protocol, known: Settings, is_dry: bool
) -> None:
    """Every required check has its command in the settings, or nothing begins.

    A command that is written and not committed is refused for every check, in a dry run, too:
    whoever wrote it expects it to run.
    """
    commands = _list_setting_commands(protocol)
    unset = [each for each in commands if each.setting not in known.commands]
    written = read_written_settings(where.root).commands if unset else {}
    missing = {
        command.setting: command
        for command in unset
        if command.setting in written or not command.may_be_skipped(is_dry)
    }
    if missing:
        raise DefinitionError([_finding(each, where, written) for each in missing.values()])


def _list_setting_commands(protocol: Protocol) -> Iterator[Command]:
    for state in protocol.states.values():
        if isinstance(state.actor, Check):
            yield from (command for command in state.actor.commands if command.setting)


def _finding(command: Command, where: ProjectPaths, written: Collection[str]) -> Finding:
    setting = command.setting
    needs = f"the check '{command.name}' is {'optional' if command.optional else 'required'}"
    message = f"{needs}, but [commands] {setting} is not set"
    fix = f'write into {PROJECT_FILE}, below [commands]: {setting} = "your command"'
    if setting in written:
        message = f"{needs}, but [commands] {setting} is not committed"
        fix = COMMIT_SETTINGS
    elif setting == "test" and not os.path.lexists(os.path.join(where.root, PROJECT_FILE)):
        fix = 'codev init --yes --test "your command"'
    return Finding("no-check-command", message, Place(PROJECT_FILE), fix)


@contextmanager
def all_refusals() -> Iterator[Callable[..., None]]:
    """Gives a function that tries a demand; at the end the first refusal tells of all of them."""
    refused: list[PorchError] = []

    def attempt(demand: Callable[_P, None], *args: _P.args, **named: _P.kwargs) -> None:
        try:
            demand(*args, **named)
        except PorchError as error:
            refused.append(error)

    yield attempt
    if refused:
        found = (each for error in refused for each in error.findings)
        refused[0].findings = tuple(dict.fromkeys(found))  # two demands may miss the same thing
        raise refused[0]
