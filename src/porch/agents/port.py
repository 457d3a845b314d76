"""The port behind which every agent stands: a turn goes in, neutral events and an outcome come out.

Return codes lie (a refusal may end with 0, an error may call itself success), so an outcome is
derived from what the agent's structured output said, and from how the process ended only where
that is silent.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from porch.agents.events import TOO_LONG, Answered, Event, TurnSummary
from porch.agents.outcomes import AnswerWay, OutcomeKind
from porch.model.permissions import INSIDE, Permissions

if TYPE_CHECKING:  # asyncio would make every start of the scripted agent slower
    from porch.system.process import CommandResult


class Turn(Struct, frozen=True):
    """One turn of an agent: what it is asked, where it works, where the files of the turn go.

    `schema` is a hint for agents that can be held to a form; the answer is validated anyway. `env`
    names more variables that may pass, and `command` is what a command of one's own is started by.
    """

    effect: str
    prompt: str
    request: Mapping[str, Any]
    workspace: str
    directory: str
    model: str = ""
    resume: str | None = None
    script: str = ""
    fork: str = ""
    permissions: Permissions = INSIDE
    schema: Mapping[str, Any] | None = None
    max_usd: float = 0
    max_steps: int = 0
    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    note: str = ""  # what people are told with its start
    git_directory: str = ""  # what all worktrees of the repository share; not the agent's to write

    def file(self, name: str) -> str:
        """A file of this turn, beside its transcript."""
        return os.path.join(self.directory, name)


class PreparedTurn(Struct, frozen=True):
    """How to start the agent for a turn; the transcript is read from `output`."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin_file: str | None
    output: str
    errors: str


class Outcome(Struct, frozen=True):
    """How a turn came out; `cached` and `output` are parts of `tokens`."""

    kind: OutcomeKind
    final: str = ""
    usd: float = 0.0
    tokens: int = 0
    session: str = ""
    detail: str = ""
    wait_s: float = 0
    answer: Answered | None = None
    cached: int = 0
    output: int = 0
    denied: tuple[str, ...] = ()


class Probe(Struct, frozen=True):
    """What is known of an agent's command line without asking its vendor anything."""

    installed: bool
    version: str = ""
    note: str = ""


class AgentPort(Protocol):
    """What a module of this package offers; AGENTS holds one line for each.

    Everything in here is about one command line. What a turn means, what is repeated and what is
    recorded is nobody's business in this package.
    """

    # The word on PATH; empty for an agent that needs none.
    EXECUTABLE: str
    # Variables that it needs to be itself, by names or globs, and what a person does to log in.
    CREDENTIALS: tuple[str, ...]
    INSTALL: str  # the command that installs it; empty where there is none
    NOTICE: str  # what a person should know before they install it; mostly nothing
    LOGIN: str
    # The words with which it says whether somebody is logged in, without a turn; empty if none do.
    LOGIN_STATUS: tuple[str, ...]
    # Whether it is nobody until the settings say by which words it is started.
    NEEDS_COMMAND: bool
    # Whether anything at all holds it to permissions.
    HOLDS_PERMISSIONS: bool
    # Whether a conversation can be continued twice.
    FORKS: bool
    # Whether it says what a turn cost in money; tokens alone cannot hold a budget of dollars.
    TELLS_USD: bool
    # Whether its count of tokens is that of the whole conversation, not of the turn.
    COUNTS_ALL: bool
    # How lines begin that are of no use once the turn is over, and not kept; empty if all are kept.
    PASSING_LINES: str
    # By which ways it can give a typed answer, whatever it may write.
    ANSWERS: tuple[AnswerWay, ...]

    def prepare(self, turn: Turn) -> PreparedTurn:
        """Write the files of a turn, and say how the command line is started for it."""
        ...

    def feed(self, line: str) -> tuple[Event, ...]:
        """What one line of its output means; a line of no meaning raises nothing."""
        ...

    def judge(self, summary: TurnSummary) -> tuple[OutcomeKind, str] | None:
        """The outcome by the structured output alone; None where that came to no end."""
        ...

    def stderr(self, text: str) -> tuple[OutcomeKind, str] | None:
        """What the last error output says where the structured output is silent."""
        ...

    def unenforced(self, permissions: Permissions) -> tuple[str, ...]:
        """What of these permissions this command line cannot be held to, one sentence each."""
        ...

    def resumes(self, command: tuple[str, ...]) -> bool:
        """Whether a conversation can be continued at all, when it is started by these words."""
        ...

    def can_carry(self, session: str) -> bool:
        """Whether a conversation can be continued in another directory than the one it was in."""
        ...

    def probe(self) -> Probe: ...

    def read_login_status(self, output: str, code: int) -> bool | None:
        """What it said to these words; None where that is no answer."""
        ...


def derive_outcome(
    agent: AgentPort, summary: TurnSummary, ended: "CommandResult", errors: str
) -> Outcome:
    """By what the agent said; by how its process ended only where that is silent."""
    kind, detail = agent.judge(summary) or _judge_by_process_end(agent, summary, ended, errors)
    return make_outcome(kind, detail, summary)


def _judge_by_process_end(
    agent: AgentPort, summary: TurnSummary, ended: "CommandResult", errors: str
) -> tuple[OutcomeKind, str]:
    if ended.why != "exited":
        return "timeout", _describe_timeout(ended)
    told = agent.stderr(errors)
    if told is not None:
        return told
    import signal

    if ended.signal == signal.SIGINT:
        return "interrupted", "interrupted before its final message"
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.code}"
    last = errors.strip().rpartition("\n")[2] or summary.warning
    more = f": {last}" if last else ""
    return "crashed", f"ended without a final message ({how}){more}"


def _describe_timeout(ended: "CommandResult") -> str:
    if ended.why == "idle":
        silence = "it printed nothing for too long, and its processes did nothing"
        said, key = f"{silence} ({ended.seconds:.1f} s in all)", "idle"
    else:
        said, key = f"it was still working after {ended.seconds:.1f} s", "timeout"
    return f"{said} and was stopped; the settings ({key}) or the protocol can allow more time"


def make_outcome(kind: OutcomeKind, detail: str, summary: TurnSummary) -> Outcome:
    return Outcome(
        kind=kind,
        final=summary.final or "",
        usd=summary.usd,
        tokens=summary.tokens,
        session=summary.session,
        detail=detail or (TOO_LONG if summary.is_cut and not summary.final else ""),
        wait_s=summary.failure.wait_s if summary.failure else 0,
        answer=summary.answer,
        cached=summary.cached,
        output=summary.output,
        denied=summary.denied,
    )
