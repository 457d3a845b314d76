"""The agents that can be named here: whether they are there, and what the settings use them for."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from porch.adapters.agents.base import Probe
from porch.adapters.settings import Settings
from porch.errors import UsageError
from porch.runtime.roster import Post, Roster


@dataclass(frozen=True, slots=True)
class Known:
    """One agent by name; `uses` are the words of the settings that name it."""

    post: Post
    installed: bool
    version: str
    note: str
    uses: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.post.name,
            "kind": self.post.kind,
            "installed": self.installed,
            "version": self.version,
            "model": self.post.model,
            "uses": list(self.uses),
            "note": self.note,
        }


def known(settings: Settings) -> list[Known]:
    """Everybody, each command line asked for its version; they answer slowly, so all at once."""
    posts = list(_posts(settings))
    kinds = {post.kind: post.agent for post in posts}
    with ThreadPoolExecutor(len(kinds)) as pool:
        probes = dict(
            zip(kinds, pool.map(lambda agent: agent.probe(), kinds.values()), strict=True)
        )
    uses = _uses(settings)
    return [_known(post, probes[post.kind], uses.get(post.name, ())) for post in posts]


def strangers(settings: Settings) -> list[tuple[str, str]]:
    """Where the settings name an agent that nobody knows, and whom."""
    there = {post.name for post in _posts(settings)}
    used = [(name, use) for name, uses in _uses(settings).items() for use in uses]
    return [(use, name) for name, use in used if name not in there]


def _posts(settings: Settings) -> Iterator[Post]:
    roster = Roster(settings, "")
    for name in roster.names():
        try:
            yield roster.of(name)
        except UsageError:
            # The kind `command` is nobody until the settings say which command.
            continue


def _known(post: Post, probe: Probe, uses: tuple[str, ...]) -> Known:
    if post.kind == "command":
        note = "" if post.is_installed else f"no `{post.executable}` on PATH"
        return Known(post, post.is_installed, "", note, uses)
    return Known(post, post.is_installed and probe.installed, probe.version, probe.note, uses)


def _uses(settings: Settings) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, use in _used(settings):
        found[name] = (*found.get(name, ()), use)
    return found


def _used(settings: Settings) -> Iterator[tuple[str, str]]:
    yield settings.agent, "default"
    for word, tables in (("role", settings.roles), ("phase", settings.phases)):
        for name, terms in tables.items():
            if terms.get("agent"):
                yield str(terms["agent"]), f"{word} {name}"
    for name in settings.models:
        yield name, "panel"
