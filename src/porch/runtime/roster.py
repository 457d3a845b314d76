"""Who does which work, and on what terms: a run's agent, a role's, a phase's, a reviewer's."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from porch.adapters.agents import AGENTS
from porch.adapters.agents.base import Agent
from porch.adapters.agents.kinds import AGENT_KINDS
from porch.adapters.settings import Settings
from porch.errors import OutsideError, UsageError
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions, parse

SCRIPTED = "scripted"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Post:
    """One agent as it is employed for a piece of work; `prices` are of a million tokens."""

    name: str
    kind: str
    agent: Agent
    model: str = ""
    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    prices: tuple[float, ...] = ()
    permissions: Permissions = INSIDE
    wall_s: float = 0
    idle_s: float | None = None
    max_steps: int = 0

    @property
    def tells_usd(self) -> bool:
        return self.agent.TELLS_USD or bool(self.prices)

    @property
    def resumes(self) -> bool:
        if self.kind == "command":
            return any("{session}" in word for word in self.command)
        return self.agent.RESUMES

    def cost(self, usd: float, tokens: int, cached: int, output: int) -> float:
        """What the agent says it cost, else what its tokens cost by the settings."""
        if usd or not self.prices:
            return usd
        read, from_cache, written = self.prices
        fresh = max(0, tokens - cached - output)
        return (fresh * read + cached * from_cache + output * written) / _MILLION

    def demand_installed(self) -> None:
        """Said before a run is begun, not after."""
        if not self.is_installed:
            raise OutsideError(
                f"the agent '{self.name}' is not there: no `{self.executable}` on PATH",
                fix="install it, name another one with --agent NAME, or try the protocol out with "
                "--no-claude; `codev doctor` shows what is installed",
                code="agent-missing",
            )

    @property
    def executable(self) -> str:
        return self.command[0] if self.command else self.agent.EXECUTABLE

    @property
    def is_installed(self) -> bool:
        return not self.executable or shutil.which(self.executable) is not None


@dataclass(frozen=True, slots=True)
class Roster:
    """The settings, read as answers to the question who works."""

    settings: Settings
    chosen: str

    @property
    def is_scripted(self) -> bool:
        return self._default() == SCRIPTED

    def worker(self, role: str, phase: str, asked: tuple[str, ...] = ()) -> Post:
        """For a turn of this role in this phase; what was chosen for the run beats the settings.

        `asked` are the permissions that the protocol names.
        """
        tables = (self.settings.roles.get(role, {}), self.settings.phases.get(phase, {}))
        named = [str(table["agent"]) for table in tables if "agent" in table]
        name = self.chosen or next(reversed(named), self._default())
        terms = {key: value for table in tables for key, value in self._for(name, table).items()}
        post = replace(self._post(name), permissions=self._permissions(terms, asked))
        return _on_terms(post, terms)

    def _for(self, name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """A table's terms for this agent: the model of one is no model of another."""
        meant = table.get("agent", self.settings.agent)
        return table if meant == name else {k: v for k, v in table.items() if k != "model"}

    def reviewer(self, name: str) -> Post:
        """Whoever reviews reads and changes nothing; with a scripted run all of it is scripted."""
        terms = self.settings.roles.get("reviewer", {})
        post = self._post(SCRIPTED if self.is_scripted else name)
        return replace(_on_terms(post, terms), permissions=READ_ONLY)

    def names(self) -> list[str]:
        return list(dict.fromkeys((*self.settings.agents, *AGENT_KINDS)))

    def of(self, name: str) -> Post:
        return self._post(name)

    def _default(self) -> str:
        return self.chosen or self.settings.agent

    def _post(self, name: str) -> Post:
        said = self.settings.agents.get(name, {})
        fallback = "command" if said.get("command") else name
        kind = str(said.get("kind") or fallback)
        if kind not in AGENTS or (kind == "command" and not said.get("command")):
            raise self._unknown(name)
        return Post(
            name,
            kind,
            AGENTS[kind],
            str(said.get("model", "")),
            tuple(said.get("command", ())),
            tuple(said.get("env", ())),
            tuple(said.get("usd_per_million", ())),
        )

    def _permissions(self, terms: Mapping[str, Any], asked: tuple[str, ...]) -> Permissions:
        texts = tuple(terms.get("permissions") or asked)
        if not texts:
            return UNLIMITED if self.settings.trusted else INSIDE
        said = parse(texts)
        # A protocol or a project cannot vouch for itself.
        return INSIDE if said.unlimited and not self.settings.trusted else said

    def _unknown(self, name: str) -> UsageError:
        known = [each for each in self.names() if each != "command"]
        return UsageError(
            f"there is no agent '{name}'",
            fix=f"known agents: {', '.join(known)}; [agents.{name}] in codev/config.toml makes one,"
            " and --no-claude tries a protocol out without any",
            code="unknown-agent",
        )


def _on_terms(post: Post, terms: Mapping[str, Any]) -> Post:
    return replace(
        post,
        model=str(terms.get("model") or post.model),
        wall_s=float(terms.get("timeout") or 0),
        idle_s=float(terms["idle"]) if "idle" in terms else None,
        max_steps=int(terms.get("max_steps") or 0),
    )
