"""What `codev init`, `adopt` and `remove` print: what was found, each file, and what comes next."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porch.fleet.setup.additive_files import PlannedFile
    from porch.fleet.setup.project_setup import SetupChoices
    from porch.fleet.setup.worktree_needs import WorktreeNeeds
    from porch.run.handlers.command_trials import TrialResult

_SIGNS = {"new": "new", "extended": "added to", "kept": "left alone"}
# More files of one directory than this are counted, not listed.
_LISTED = 12
_REPORTED = 5


def describe_findings(root: str, chosen: "SetupChoices", is_trusted: bool) -> Iterator[str]:
    """Languages, commands, what a worktree needs, agents: a line for each."""
    import json

    from porch.fleet.setup.languages import find_languages

    languages = find_languages(root)
    if languages:
        named = ", ".join(f"{name} ({file})" for name, file in languages.items())
        yield f"{'language':<12}{named}"
    for each in chosen.commands:
        origin = f"found in {each.file}" if each.file else "as you typed it"
        yield f"{each.name:<12}{each.command}   ({origin})"
    if not any(each.name == "test" for each in chosen.commands):
        yield "no test command was found; spider, change, tick and bugfix do not begin without one:"
        yield '  write into codev/config.toml, below [commands]: test = "your command"'
    trust = "" if is_trusted else "; it counts once you trust it: porch trust"
    for key, values in (("link", chosen.needs.link), ("setup", chosen.needs.setup)):
        if values:
            said = json.dumps(values, ensure_ascii=False)
            yield f"{'worktree':<12}{key} = {said}   (a new worktree has no packages{trust})"
    yield _describe_agents(chosen)


def describe_needs(needs: "WorktreeNeeds") -> str:
    """What a person is asked about them, in one question."""
    steps = [f"use your {' and '.join(needs.link)} by a link"] if needs.link else []
    steps += [f"run `{command}` there" for command in needs.setup]
    return f"A new worktree has only what git has. May runs {', and '.join(steps)}?"


def _describe_agents(chosen: "SetupChoices") -> str:
    from porch.run.agents.agent_list import KNOWN

    if len(chosen.agents) == 1:
        said = f"{chosen.agents[0]}   (the only one found here: it works, and it reviews)"
    else:
        said = ", ".join(chosen.agents) or f"none found here; porch works with {', '.join(KNOWN)}"
    return f"{'agents':<12}{said}"


def describe_unset_commands(root: str, chosen: "SetupChoices") -> Iterator[str]:
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


def describe_files(planned: "Sequence[PlannedFile]") -> Iterator[str]:
    changed = [_describe_file(each) for each in planned if each.fate != "same"]
    for (fate, note), path in group_paths(dict.fromkeys(changed)):
        yield f"{_SIGNS[fate]:<12}{path}{f': {note}' if note else ''}"
    if not changed:
        yield "everything is there already; nothing was changed"


def _describe_file(planned: "PlannedFile") -> tuple[str, str, str]:
    """Fate, note and path; a protocol that people changed is left alone as a whole."""
    parts = planned.path.split("/")
    if planned.fate == "kept" and parts[:2] == ["codev", "protocols"]:
        return planned.fate, "it is not the packaged one", "/".join(parts[:3])
    return planned.fate, planned.note, planned.path


def group_paths(files: Iterable[tuple[str, str, str]]) -> Iterator[tuple[tuple[str, str], str]]:
    """Fate and note of each file with its path; many files of one directory are counted."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for fate, note, path in files:
        groups.setdefault((fate, note, "/".join(path.split("/")[:2])), []).append(path)
    for (fate, note, top), paths in groups.items():
        shown = paths if len(paths) <= _LISTED else [f"{top} ({len(paths)} files)"]
        yield from (((fate, note), path) for path in shown)


def describe_trial(result: "TrialResult", uncommitted: int) -> Iterator[str]:
    """How the test command went, with its last lines if it did not pass."""
    head = f"{'tried':<12}test"
    if result.result == "passed":
        yield f"{head} passes in a new worktree, in {result.seconds:.1f} s"
        return
    how = "does not pass" if result.result == "failed" else "could not be measured"
    first, *rest = result.report.splitlines() or [""]
    yield f"{head} {how} in a new worktree: {first}"
    yield from (f"  | {line}" for line in [line for line in rest if line.strip()][-_REPORTED:])
    yield "  change [commands] test in codev/config.toml, or bring what it needs: [worktree] link"
    yield "  and setup; then try it again: codev doctor"
    if uncommitted:
        yield f"  ({_count_files(uncommitted)} not committed yet; they were there)"


def _count_files(count: int) -> str:
    return "1 file is" if count == 1 else f"{count} files are"


def describe_rest(root: str, chosen: "SetupChoices", is_new: bool) -> Iterator[str]:
    """What can be added, what is missing, and what to type next."""
    from porch.fleet.setup.integrations import list_offers

    if "envoy" in chosen.integrations and not chosen.permissions:
        yield "specialists of Claude Code will ask before they run envoy;"
        yield "  to allow it: codev adopt --with envoy --yes"
    yield from describe_missing_package(chosen.mcp)
    offers = [name for name in list_offers(root, chosen.agents) if name not in chosen.integrations]
    if is_new and offers:
        yield f"more: codev adopt --with {','.join(offers)}   (what each adds: codev adopt --help)"
    yield "next: codev doctor"
    yield 'then: porch run "what you want"'


def describe_missing_package(chosen: Sequence[str]) -> Iterator[str]:
    from porch.fleet.setup.mcp_package import find_package_fault

    fault = find_package_fault() if chosen else None
    if fault is not None:
        yield f"{fault.findings[0].message}: {fault.findings[0].fix}"


def describe_codex(chosen: Sequence[str]) -> Iterator[str]:
    """Write the entry of codex, which is in the home of the person; in words what became of it."""
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


def list_remains(root: str) -> Iterator[str]:
    """What `codev remove` does not take, and how each of it goes."""
    remains = dict(_find_remains(root))
    if remains:
        yield "what stays, and how it goes:"
    width = max(map(len, remains), default=0)
    yield from (f"  {what:<{width}}  {how}" for what, how in remains.items())


def _find_remains(root: str) -> Iterator[tuple[str, str]]:
    from porch.fleet.setup.small_files import read_small_file
    from porch.run.grants import read_grants
    from porch.run.settings import PROJECT_FILE, user_directory
    from porch.run.verbs.start import OWN_FILES
    from porch.store.where import find_project

    where = find_project(root)
    if os.path.isdir(os.path.join(root, "codev", "projects")):
        yield "documents of runs", "delete codev/projects"
    if where.runs():
        yield "worktrees and branches of runs", "af cleanup ID, for each run of `af status`"
        yield "files that runs merged", "they are yours; git log shows them"
    if os.path.isdir(where.state_dir):
        shown = os.path.relpath(where.state_dir, root)
        yield f"the state of porch in {shown}", f"last of all: rm -r {shown}"
    excluded = read_small_file(where.common_dir, "info/exclude").splitlines()
    if lines := [line for line in excluded if line in OWN_FILES]:
        yield "lines in .git/info/exclude", f"delete {' '.join(lines)}"
    grants = read_grants(user_directory(os.environ)).by_digest.values()
    for grant in grants:
        if grant.file == os.path.join(root, PROJECT_FILE):
            yield f"your trust in {PROJECT_FILE}", f"porch trust --revoke {grant.digest}"
