"""The agents: who is installed, who is needed, and what can be seen of their logins."""

import os
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from porch.agents.environment import (
    list_dropped_variables,
    list_passed_variables,
    make_agent_environment,
)
from porch.agents.login_check import Login
from porch.model.permissions import INSIDE, UNLIMITED
from porch.run.agents import agent_list
from porch.run.agents.default_panel import find_absences, list_missing
from porch.run.agents.roster import SCRIPTED, EmployedAgent, Roster
from porch.run.settings import Settings
from porch.show.fleet.doctor_line import DoctorLine

_DEFAULT = "default"
_ONLY_REVIEWS = "panel"


def examine_agents(known: Settings) -> Iterator[DoctorLine]:
    agents = agent_list.list_known_agents(known)
    others = [each.post.name for each in agents if each.installed and _may_work(each.post)]
    for each in agents:
        line = _describe_agent(each, known.trusted)
        is_missing = not each.installed
        yield _weigh_missing(line, each.uses, each.post.name, others) if is_missing else line
    for use, name in agent_list.list_unknown_agents(known):
        fix = f"correct the name, or add [agents.{name}] to codev/config.toml"
        line = DoctorLine("missing", f"agent {name} ({use}): unknown agent", fix)
        # A wrong word in the settings is for a person to correct, whoever else could work.
        stops = use == _DEFAULT and not others
        yield replace(_weigh_missing(line, (use,), name, others), stops=stops)
    if not known.models:
        yield from _describe_default_panel(known)


def _may_work(post: EmployedAgent) -> bool:
    return post.kind != SCRIPTED and not post.missing_login


def _describe_default_panel(known: Settings) -> Iterator[DoctorLine]:
    """Who would review in a run that began now, unless its protocol names others."""
    absences = find_absences(Roster(known, ""))
    here, why = [name for name, absence in absences.items() if not absence], list_missing(absences)
    if here:
        alone = ", in a fresh context" if here == [known.agent] else ""
        yield DoctorLine("ok", f"reviews: {', '.join(here)}{alone}{f' ({why})' if why else ''}")


def _weigh_missing(
    line: DoctorLine, uses: Sequence[str], name: str, others: Sequence[str]
) -> DoctorLine:
    """What can't run without this one; the scripted agent always can."""
    if not uses:
        return line
    if tuple(uses) == (_ONLY_REVIEWS,):
        return replace(line, limit=f"not with {name} as a reviewer: it abstains")
    if _DEFAULT in uses and others:
        there = others[0]
        line = replace(line, fix=f'{line.fix}; or write [agent] name = "{there}", which is there')
        return replace(line, limit=f"only with `--agent {there}`: {name} is not installed")
    if _DEFAULT in uses:
        return replace(line, limit=f"only with `--no-claude`, the scripted agent: no {name}")
    return replace(line, limit=f"not as {', '.join(uses)}: {name} is not there")


def _describe_agent(each: agent_list.KnownAgent, trusted: bool) -> DoctorLine:
    post = each.post
    uses = f" ({', '.join(each.uses)})" if each.uses else ""
    name = f"agent {post.name}{uses}"
    notice = (post.agent.NOTICE,) if post.agent.NOTICE else ()
    if not each.installed and not each.uses and notice:
        return DoctorLine("ok", f"{name}: not installed", more=notice)
    if not each.installed:
        fix = each.note or f"install `{post.executable}` and add it to PATH"
        return DoctorLine("missing", name, fix, notice)
    what = f"{name} {each.version}".rstrip()
    more = (*notice, *_describe_terms(each, trusted))
    login = post.find_login()
    if login is not None and login.state != "in":
        return _describe_without_login(each, login, what, more)
    more = more if login is None else (login.because, *more)
    if each.note:
        fix = f"try it: `{post.executable} --version`"
        return DoctorLine("warning", f"{what}: {each.note}", fix, more)
    return DoctorLine("ok", what, more=more)


def _describe_without_login(
    each: agent_list.KnownAgent, login: Login, what: str, more: tuple[str, ...]
) -> DoctorLine:
    """Another agent may work, so this stops nothing."""
    name = each.post.name
    is_out = login.state == "out"
    said = f"not logged in: {login.because}" if is_out else "no sign of a login"
    fix = f"{each.post.agent.LOGIN}; then run `porch agents test {name}`"
    limit = f"not with {name}: it is" if is_out else f"{name} only if it is logged in: there is"
    limit = f"{limit} {'not logged in' if is_out else 'no sign of it'}" if each.uses else ""
    return DoctorLine("warning", f"{what}: {said}", fix, more, limit=limit)


def _describe_terms(each: agent_list.KnownAgent, trusted: bool) -> Iterator[str]:
    post = each.post
    if post.executable:
        # Values are nobody's business.
        passed = make_agent_environment(os.environ, post.agent.CREDENTIALS, post.env)
        names = list_passed_variables(os.environ, passed)
        yield from [f"variables it gets: {', '.join(names)}"] if names else []
        dropped = list_dropped_variables(os.environ, passed)
        yield from (
            [f"variables that are set and it doesn't get: {', '.join(dropped)}"] if dropped else []
        )
    can = {
        "can resume a conversation": post.resumes,
        "can fork a conversation": post.agent.FORKS,
        "reports its cost": post.tells_usd,
    }
    yield "; ".join(word if has else f"not: {word}" for word, has in can.items())
    permissions = UNLIMITED if trusted else INSIDE
    yield f"allowed by default: {', '.join(permissions.texts())}"
    yield from (f"cannot be enforced: {text}" for text in post.agent.unenforced(permissions))
