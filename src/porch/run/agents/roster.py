"""Who does which work, and on what terms: a run's agent, a role's, a phase's, a reviewer's."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.agents import AGENTS
from porch.agents.login_check import Login, find_login
from porch.agents.port import AgentPort
from porch.errors import OutsideError, UsageError, suggest_name
from porch.model.permissions import INSIDE, READ_ONLY, UNLIMITED, Permissions, parse_permissions
from porch.run.settings import Settings
from porch.system.variables import read_environment

SCRIPTED = "scripted"
# As the name of a reviewer: a new process of whoever does the work.
FRESH = "fresh"
# What a section of the settings means that has a command and no kind.
COMMAND = "command"
_MILLION = 1_000_000


class EmployedAgent(Struct, frozen=True):
    """One agent as it is employed for a piece of work; `prices` are of a million tokens."""

    name: str
    kind: str
    agent: AgentPort
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
        return self.agent.resumes(self.command)

    def cost(self, usd: float, tokens: int, cached: int, output: int) -> float:
        """What the agent says it cost, else what its tokens cost by the settings."""
        if usd or not self.prices:
            return usd
        read, from_cache, written = self.prices
        fresh = max(0, tokens - cached - output)
        return (fresh * read + cached * from_cache + output * written) / _MILLION

    @property
    def missing_login(self) -> str:
        """Why it cannot be logged in; nothing if it may be.

        Whoever is started by a command of the settings may have a login that nobody can see.
        """
        login = self.find_login()
        return login.because if login is not None and login.state == "out" else ""

    def find_login(self) -> Login | None:
        """Whether somebody is logged in; None where it has no logins, or nobody can see them."""
        if self.command or not self.is_installed:
            return None
        return find_login(self.kind, self.agent, read_environment(), self.env)

    @property
    def why_not_asked(self) -> str:
        """What keeps it from working at all, as far as can be seen before it is started."""
        if not self.is_installed:
            return "not installed"
        return "not logged in" if self.missing_login else ""

    def demand_installed(self, others: Sequence[str] = ()) -> None:
        """Said before a run is begun, not after; `others` could work instead."""
        if not self.is_installed:
            install = "" if self.command else self.agent.INSTALL
            raise OutsideError(
                f"the agent '{self.name}' is not installed: no `{self.executable}` on PATH",
                fix=f"{f'run `{install}`' if install else 'install it'}, "
                f"{choose_other(others)}or try the protocol with --no-claude; `codev doctor` shows "
                "what is installed",
                code="agent-missing",
            )

    @property
    def executable(self) -> str:
        return self.command[0] if self.command else self.agent.EXECUTABLE

    @property
    def is_installed(self) -> bool:
        if not self.executable:
            return True
        import shutil  # a scripted agent is no program

        return shutil.which(self.executable) is not None


class Roster(Struct, frozen=True):
    """The settings, read as answers to the question who works."""

    settings: Settings
    chosen: str

    @property
    def is_scripted(self) -> bool:
        return self.default == SCRIPTED

    @property
    def default(self) -> str:
        """Who works where neither a role nor a phase names anybody."""
        return self.chosen or self.settings.agent

    def worker(self, role: str, phase: str, asked: tuple[str, ...] = ()) -> EmployedAgent:
        """For a turn of this role in this phase; what was chosen for the run beats the settings.

        `asked` are the permissions that the protocol names.
        """
        tables = (self.settings.roles.get(role, {}), self.settings.phases.get(phase, {}))
        named = [str(table["agent"]) for table in tables if "agent" in table]
        name = self.chosen or next(reversed(named), self.default)
        terms = {key: value for table in tables for key, value in self._for(name, table).items()}
        post = replace(self._post(name), permissions=self._permissions(terms, asked))
        return _on_terms(post, terms)

    def _for(self, name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """A table's terms for this agent: the model of one is no model of another."""
        meant = table.get("agent", self.settings.agent)
        return table if meant == name else {k: v for k, v in table.items() if k != "model"}

    def reviewer(self, name: str) -> EmployedAgent:
        """Whoever reviews reads and changes nothing; with a scripted run all of it is scripted."""
        terms = self.settings.roles.get("reviewer", {})
        named = self.default if name == FRESH else name
        post = self._post(SCRIPTED if self.is_scripted else named)
        return replace(_on_terms(post, terms), permissions=READ_ONLY)

    def names(self) -> list[str]:
        return list(dict.fromkeys((*self.settings.agents, *AGENTS)))

    def of(self, name: str) -> EmployedAgent:
        return self._post(name)

    def _post(self, name: str) -> EmployedAgent:
        said = self.settings.agents.get(name, {})
        fallback = COMMAND if said.get("command") else name
        kind = str(said.get("kind") or fallback)
        if kind not in AGENTS or (AGENTS[kind].NEEDS_COMMAND and not said.get("command")):
            raise self._unknown(name)
        return EmployedAgent(
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
        said = parse_permissions(texts)
        # A protocol or a project cannot vouch for itself.
        return INSIDE if said.unlimited and not self.settings.trusted else said

    def _unknown(self, name: str) -> UsageError:
        known = [each for each in self.names() if not _is_nobody(each)]
        return UsageError(
            f"there is no agent '{name}'",
            fix=f"{suggest_name(name, known)}known agents: {', '.join(known)}; add"
            f" [agents.{name}] to"
            " codev/config.toml,"
            " or try the protocol without an agent: --no-claude",
            code="unknown-agent",
        )


def choose_other(others: Sequence[str]) -> str:
    """A part of an advice: the agents that could work instead, if there are any."""
    import shlex

    return f"use one that is there: --agent {shlex.quote(others[0])}, " if others else ""


def _is_nobody(name: str) -> bool:
    """A kind that is started by words of the settings is no agent of that name by itself."""
    return name in AGENTS and AGENTS[name].NEEDS_COMMAND


def _on_terms(post: EmployedAgent, terms: Mapping[str, Any]) -> EmployedAgent:
    return replace(
        post,
        model=str(terms.get("model") or post.model),
        wall_s=float(terms.get("timeout") or 0),
        idle_s=float(terms["idle"]) if "idle" in terms else None,
        max_steps=int(terms.get("max_steps") or 0),
    )
