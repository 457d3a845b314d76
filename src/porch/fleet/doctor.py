"""Whether porch can run here: the machine, the agents, the settings; with a fix for each fault."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct

from porch.errors import DefinitionError, Finding, OutsideError, Place
from porch.fleet import platform_probe
from porch.model.permissions import INSIDE, UNLIMITED
from porch.run import settings
from porch.run.agents import agent_list
from porch.store.where import ProjectPaths

# What git must be able to do: merge two commits without a checkout.
OLDEST_GIT = (2, 38)
LineStatus = Literal["ok", "warning", "missing"]


class DoctorLine(Struct, frozen=True):
    """One thing that was looked at; `stops` where porch cannot run without it."""

    status: LineStatus
    what: str
    fix: str = ""
    more: tuple[str, ...] = ()
    stops: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "what": self.what,
            "fix": self.fix,
            "more": list(self.more),
            "stops": self.stops,
        }


def examine_installation(where: ProjectPaths) -> list[DoctorLine]:
    """Everything, in the order in which one would mend it."""
    known, findings = _load_settings(where)
    return [
        _check_python(),
        _check_git(),
        _check_node(),
        *_check_platform(where),
        *_check_settings_files(where, findings),
        *(_describe_agent(each, known.trusted) for each in agent_list.list_known_agents(known)),
        *(
            _describe_unknown_agent(use, name)
            for use, name in agent_list.list_unknown_agents(known)
        ),
    ]


def _check_python() -> DoctorLine:
    # An older one would not have come as far as this line.
    return DoctorLine("ok", f"Python {'.'.join(map(str, sys.version_info[:3]))}")


def _check_git() -> DoctorLine:
    said = platform_probe.read_program_version("git", "--version")
    if not said:
        return DoctorLine("missing", "git", "install git and add it to PATH", stops=True)
    number = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    if number < OLDEST_GIT:
        return DoctorLine(
            "warning",
            said,
            "install git 2.38 or later; protocols that use a tree of worktrees (v3) need it",
        )
    return DoctorLine("ok", said)


def _check_node() -> DoctorLine:
    said = platform_probe.read_program_version("node", "--version")
    if said:
        return DoctorLine("ok", f"node {said}")
    fix = "install node 20 or later if you want to install claude, codex or gemini with npm"
    return DoctorLine("missing", "node", fix)


def _check_platform(where: ProjectPaths) -> Iterator[DoctorLine]:
    directory = where.state_dir
    try:
        with platform_probe.make_trial_directory(directory) as place:
            yield _describe_writing(directory, platform_probe.find_writing_fault(place))
            yield _describe_locks(directory, platform_probe.find_lock_fault(place))
            yield _check_fault(
                "two files can be swapped in one step (renameat2)",
                lambda: platform_probe.find_swap_fault(place),
                "nothing to do; a file that porch rewrites may be missing for a very short time",
            )
    except OSError as error:
        yield _describe_writing(directory, error.strerror or str(error))
    yield _check_fault(
        "file events (inotify)",
        platform_probe.find_watching_fault,
        "raise fs.inotify.max_user_instances; without it porch checks files at intervals",
    )


def _describe_writing(directory: str, fault: str) -> DoctorLine:
    if not fault:
        return DoctorLine("ok", f"state directory {directory} is writable")
    what = f"state directory {directory} is not writable: {fault}"
    return DoctorLine(
        "missing", what, "free some space there, or give this user permission to write", stops=True
    )


def _describe_locks(directory: str, fault: str) -> DoctorLine:
    if not fault:
        return DoctorLine("ok", "file locks work there (flock)")
    what = f"file locks do not work in {directory}: {fault}"
    return DoctorLine(
        "missing", what, "move the repository to a local disk of this machine", stops=True
    )


def _check_fault(what: str, fault_of: Callable[[], str], fix: str) -> DoctorLine:
    fault = fault_of()
    return DoctorLine("warning", f"{what}: {fault}", fix) if fault else DoctorLine("ok", what)


def _load_settings(where: ProjectPaths) -> tuple[settings.Settings, list[Finding]]:
    """Settings that cannot be read are reported, and the rest is looked at without them."""
    try:
        known = settings.load_settings(where.root)
    except (DefinitionError, OutsideError) as error:
        return settings.Settings(), list(error.findings)
    return known, list(known.notes)


def _check_settings_files(where: ProjectPaths, findings: list[Finding]) -> Iterator[DoctorLine]:
    own = os.path.join(settings.user_directory(os.environ), settings.USER_FILE)
    for name, path in ((settings.PROJECT_FILE, ""), (own, own)):
        mine = [each for each in findings if each.place is not None and each.place.file == name]
        if mine:
            yield from map(_describe_finding, mine)
        elif os.path.exists(path or os.path.join(where.root, name)):
            yield DoctorLine("ok", f"settings {name}")
        else:
            yield DoctorLine("ok", f"settings {name}: no file, the defaults are used")
    yield from (_describe_finding(each) for each in findings if each.place is None)


def _describe_finding(finding: Finding) -> DoctorLine:
    place = finding.place or Place("")
    what = f"settings {place}: {finding.message}" if finding.place else finding.message
    if finding.severity == "note":
        return DoctorLine("ok", what)
    return DoctorLine(
        "warning", what, finding.fix or "fix that line; `porch settings` shows the rest"
    )


def _describe_agent(each: agent_list.KnownAgent, trusted: bool) -> DoctorLine:
    post = each.post
    uses = f" ({', '.join(each.uses)})" if each.uses else ""
    name = f"agent {post.name}{uses}"
    if not each.installed:
        fix = each.note or f"install `{post.executable}` and add it to PATH"
        return DoctorLine("missing", name, fix)
    what = f"{name} {each.version}".rstrip()
    more = tuple(_describe_agent_terms(each, trusted))
    if each.note:
        fix = f"try it: `{post.executable} --version`"
        return DoctorLine("warning", f"{what}: {each.note}", fix, more)
    return DoctorLine("ok", what, more=more)


def _describe_agent_terms(each: agent_list.KnownAgent, trusted: bool) -> Iterator[str]:
    post = each.post
    patterns = (*post.agent.CREDENTIALS, *post.env)
    names = sorted(n for n in os.environ if any(fnmatchcase(n, glob) for glob in patterns))
    if patterns and post.executable:
        # Values are nobody's business, and a login of its own cannot be seen from here.
        yield f"variables it gets: {', '.join(names) or 'none; log in with its own command'}"
    can = {
        "can resume a conversation": post.resumes,
        "can fork a conversation": post.agent.FORKS,
        "reports its cost": post.tells_usd,
    }
    yield "; ".join(word if has else f"not: {word}" for word, has in can.items())
    permissions = UNLIMITED if trusted else INSIDE
    yield f"allowed by default: {', '.join(permissions.texts())}"
    yield from (f"cannot be enforced: {text}" for text in post.agent.unenforced(permissions))


def _describe_unknown_agent(use: str, name: str) -> DoctorLine:
    fix = f"correct the name, or add [agents.{name}] to codev/config.toml"
    return DoctorLine("missing", f"agent {name} ({use}): unknown agent", fix)
