"""Whether porch can run here: the machine, the agents, the settings; with a fix for each fault."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from porch.adapters import ground, settings
from porch.adapters.agents.environment import CREDENTIALS
from porch.adapters.where import Where
from porch.errors import DefinitionError, Finding, OutsideError, Place
from porch.model.permissions import INSIDE, UNLIMITED
from porch.operations import agents

# What git must be able to do: merge two commits without a checkout.
OLDEST_GIT = (2, 38)
Status = Literal["ok", "warning", "missing"]


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at; `stops` where porch cannot run without it."""

    status: Status
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


def examined(where: Where) -> list[Line]:
    """Everything, in the order in which one would mend it."""
    known, findings = _settings(where)
    return [
        _python(),
        _git(),
        _node(),
        *_ground(where),
        *_files(where, findings),
        *(_agent(each, known.trusted) for each in agents.known(known)),
        *(_stranger(use, name) for use, name in agents.strangers(known)),
    ]


def _python() -> Line:
    # An older one would not have come as far as this line.
    return Line("ok", f"Python {'.'.join(map(str, sys.version_info[:3]))}")


def _git() -> Line:
    said = ground.version("git", "--version")
    if not said:
        return Line("missing", "git", "install git and put it on PATH", stops=True)
    number = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    if number < OLDEST_GIT:
        return Line("warning", said, "trees of worktrees need git 2.38 or later")
    return Line("ok", said)


def _node() -> Line:
    said = ground.version("node", "--version")
    if said:
        return Line("ok", f"node {said}")
    fix = "the command lines of claude, codex and gemini are mostly installed with node 20 or later"
    return Line("missing", "node", fix)


def _ground(where: Where) -> Iterator[Line]:
    directory = where.state_dir
    try:
        with ground.trial_place(directory) as place:
            yield _writing(directory, ground.fault_of_writing(place))
            yield _locks(directory, ground.fault_of_locks(place))
            yield _tried(
                "files change names in one step (renameat2)",
                lambda: ground.fault_of_swaps(place),
                "nothing to do: porch writes its pictures a little more slowly",
            )
    except OSError as error:
        yield _writing(directory, error.strerror or str(error))
    yield _tried(
        "file events (inotify)",
        ground.fault_of_watching,
        "raise fs.inotify.max_user_instances; without it porch looks again and again",
    )


def _writing(directory: str, fault: str) -> Line:
    if not fault:
        return Line("ok", f"state directory {directory} can be written")
    what = f"state directory {directory} cannot be written: {fault}"
    return Line("missing", what, "make room there, or give this user the right to it", stops=True)


def _locks(directory: str, fault: str) -> Line:
    if not fault:
        return Line("ok", "files can be locked there (flock)")
    what = f"files cannot be locked in {directory}: {fault}"
    return Line("missing", what, "keep the repository on a file system of this machine", stops=True)


def _tried(what: str, fault_of: Callable[[], str], fix: str) -> Line:
    fault = fault_of()
    return Line("warning", f"{what}: {fault}", fix) if fault else Line("ok", what)


def _settings(where: Where) -> tuple[settings.Settings, list[Finding]]:
    """Settings that cannot be read are reported, and the rest is looked at without them."""
    try:
        known = settings.load(where.root)
    except (DefinitionError, OutsideError) as error:
        return settings.Settings(), list(error.findings)
    return known, list(known.notes)


def _files(where: Where, findings: list[Finding]) -> Iterator[Line]:
    own = os.path.join(settings.user_directory(os.environ), settings.USER_FILE)
    for name, path in ((settings.PROJECT_FILE, ""), (own, own)):
        mine = [each for each in findings if each.place is not None and each.place.file == name]
        if mine:
            yield from map(_found, mine)
        elif os.path.exists(path or os.path.join(where.root, name)):
            yield Line("ok", f"settings {name}")
        else:
            yield Line("ok", f"settings {name}: there is none, the defaults hold")
    yield from (_found(each) for each in findings if each.place is None)


def _found(finding: Finding) -> Line:
    place = finding.place or Place("")
    what = f"settings {place}: {finding.message}" if finding.place else finding.message
    if finding.severity == "note":
        return Line("ok", what)
    return Line("warning", what, finding.fix or "mend that line; `porch settings` shows the rest")


def _agent(each: agents.Known, trusted: bool) -> Line:
    post = each.post
    uses = f" ({', '.join(each.uses)})" if each.uses else ""
    name = f"agent {post.name}{uses}"
    if not each.installed:
        fix = each.note or f"put `{post.executable}` on PATH"
        return Line("missing", name, fix)
    what = f"{name} {each.version}".rstrip()
    more = tuple(_terms(each, trusted))
    if each.note:
        fix = f"look at it: `{post.executable} --version`"
        return Line("warning", f"{what}: {each.note}", fix, more)
    return Line("ok", what, more=more)


def _terms(each: agents.Known, trusted: bool) -> Iterator[str]:
    post = each.post
    patterns = (*CREDENTIALS.get(post.kind, ()), *post.env)
    names = sorted(n for n in os.environ if any(fnmatchcase(n, glob) for glob in patterns))
    if patterns and post.executable:
        # Values are nobody's business, and a login of its own cannot be seen from here.
        yield f"variables it gets: {', '.join(names) or 'none; it must be logged in by itself'}"
    can = {
        "resumes conversations": post.resumes,
        "forks them": post.agent.FORKS,
        "tells money": post.tells_usd,
    }
    yield "; ".join(word if has else f"not: {word}" for word, has in can.items())
    permissions = UNLIMITED if trusted else INSIDE
    yield f"may by default: {', '.join(permissions.texts())}"
    yield from (f"not held to: {text}" for text in post.agent.unenforced(permissions))


def _stranger(use: str, name: str) -> Line:
    fix = f"correct the name, or describe it under [agents.{name}] in codev/config.toml"
    return Line("missing", f"agent {name} ({use}): nobody is called that", fix)
