"""The agents that can be named here: whether they are there, and what settings say of them."""

from collections.abc import Iterator, Sequence
from typing import TypedDict

from msgspec import Struct

from porch.agents.port import Probe
from porch.errors import UsageError
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.settings import Settings

KNOWN = ("claude", "codex", "gemini")


class KnownAgentShape(TypedDict):
    """The same as `porch agents --json` prints it."""

    name: str
    kind: str
    installed: bool
    version: str
    model: str
    uses: list[str]
    note: str


class KnownAgent(Struct, frozen=True):
    """One agent by name; `uses` are the words of the settings that name it."""

    post: EmployedAgent
    installed: bool
    version: str
    note: str
    uses: tuple[str, ...]

    def as_json(self) -> KnownAgentShape:
        return {
            "name": self.post.name,
            "kind": self.post.kind,
            "installed": self.installed,
            "version": self.version,
            "model": self.post.model,
            "uses": list(self.uses),
            "note": self.note,
        }


def list_known_agents(settings: Settings) -> list[KnownAgent]:
    """Everybody, each command line asked for its version; they answer slowly, so all at once."""
    posts = list(_list_posts(settings))
    kinds = {post.kind: post.agent for post in posts}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(kinds)) as pool:
        probes = dict(
            zip(kinds, pool.map(lambda agent: agent.probe(), kinds.values()), strict=True)
        )
    uses = _uses_by_agent(settings)
    return [_known_agent(post, probes[post.kind], uses.get(post.name, ())) for post in posts]


def list_unknown_agents(settings: Settings) -> list[tuple[str, str]]:
    """Where the settings name an agent that nobody knows, and whom."""
    there = {post.name for post in _list_posts(settings)}
    used = [(name, use) for name, uses in _uses_by_agent(settings).items() for use in uses]
    return [(use, name) for name, use in used if name not in there]


def _list_posts(settings: Settings) -> Iterator[EmployedAgent]:
    roster = Roster(settings, "")
    for name in roster.names():
        try:
            yield roster.of(name)
        except UsageError:
            # The kind `command` is nobody until the settings say which command.
            continue


def _known_agent(post: EmployedAgent, probe: Probe, uses: tuple[str, ...]) -> KnownAgent:
    if post.agent.NEEDS_COMMAND:
        note = "" if post.is_installed else f"no `{post.executable}` on PATH"
        return KnownAgent(post, post.is_installed, "", note, uses)
    missing = post.missing_login
    note = probe.note or (f"not logged in: {missing}" if missing else "")
    return KnownAgent(post, post.is_installed and probe.installed, probe.version, note, uses)


def _uses_by_agent(settings: Settings) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, use in _iterate_uses(settings):
        found[name] = (*found.get(name, ()), use)
    return found


def _iterate_uses(settings: Settings) -> Iterator[tuple[str, str]]:
    yield settings.agent, "default"
    for word, tables in (("role", settings.roles), ("phase", settings.phases)):
        for name, terms in tables.items():
            if terms.get("agent"):
                yield str(terms["agent"]), f"{word} {name}"
    for name in settings.models:
        yield name, "panel"


def find_agents() -> list[str]:
    """Those of the known command lines that are on PATH."""
    roster = Roster(Settings(), "")
    return [name for name in KNOWN if roster.of(name).is_installed]


def choose_worker(found: Sequence[str]) -> str:
    """Who must be named as the worker: nobody while the default is there."""
    return found[0] if found and KNOWN[0] not in found else ""
