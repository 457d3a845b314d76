"""The port behind which every agent stands: a turn goes in, neutral events and an outcome come out.

Return codes lie (a refusal may end with 0, an error may call itself success), so an outcome is
derived from what the agent's structured output said, and from how the process ended only where
that is silent.
"""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from porch.adapters.agents.events import Answered, Event, Summary, summary_of
from porch.adapters.agents.kinds import Kind, Way
from porch.model.permissions import INSIDE, Permissions

if TYPE_CHECKING:  # asyncio would make every start of the scripted agent slower
    from porch.adapters.process import Ended


@dataclass(frozen=True, slots=True)
class Turn:
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

    def file(self, name: str) -> str:
        """A file of this turn, beside its transcript."""
        return os.path.join(self.directory, name)


@dataclass(frozen=True, slots=True)
class Prepared:
    """How to start the agent for a turn; the transcript is read from `output`."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin_file: str | None
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn came out; `cached` and `output` are parts of `tokens`."""

    kind: Kind
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


@dataclass(frozen=True, slots=True)
class Probe:
    """What is known of an agent's command line without asking its vendor anything."""

    installed: bool
    version: str = ""
    note: str = ""


class Agent(Protocol):
    """What a module of this package offers; AGENTS holds one line for each.

    Everything in here is about one command line. What a turn means, what is repeated and what is
    recorded is nobody's business in this package.
    """

    # The word on PATH; empty for an agent that needs none.
    EXECUTABLE: str
    # Whether a conversation can be continued twice, and whether it can be continued at all.
    FORKS: bool
    RESUMES: bool
    # Whether a conversation can be found again only in the directory where it began.
    BOUND_TO_PLACE: bool
    # Whether it says what a turn cost in money; tokens alone cannot hold a budget of dollars.
    TELLS_USD: bool
    # Whether its count of tokens is that of the whole conversation, not of the turn.
    COUNTS_ALL: bool
    # By which ways it can give a typed answer, whatever it may write.
    ANSWERS: tuple[Way, ...]

    def prepare(self, turn: Turn) -> Prepared: ...

    def feed(self, line: str) -> tuple[Event, ...]: ...

    def judge(self, summary: Summary) -> tuple[Kind, str] | None:
        """The outcome by the structured output alone; None where that came to no end."""
        ...

    def stderr(self, text: str) -> tuple[Kind, str] | None:
        """What the last error output says where the structured output is silent."""
        ...

    def unenforced(self, permissions: Permissions) -> tuple[str, ...]:
        """What of these permissions this command line cannot be held to, one sentence each."""
        ...

    def probe(self) -> Probe: ...


def finish(agent: Agent, summary: Summary, ended: "Ended", errors: str) -> Outcome:
    """By what the agent said; by how its process ended only where that is silent."""
    kind, detail = agent.judge(summary) or _by_its_end(agent, summary, ended, errors)
    return _outcome(kind, detail, summary)


def from_transcript(agent: Agent, path: str) -> Outcome | None:
    """The outcome, if the agent came to its end before the runner that asked died."""
    summary = summary_of(path, agent.feed)
    judged = agent.judge(summary)
    if judged is None or judged[0] != "ok":
        return None
    return _outcome(*judged, summary)


def _by_its_end(agent: Agent, summary: Summary, ended: "Ended", errors: str) -> tuple[Kind, str]:
    if ended.why != "exited":
        return "timeout", _out_of_time(ended)
    told = agent.stderr(errors)
    if told is not None:
        return told
    if ended.signal == signal.SIGINT:
        return "interrupted", "interrupted before its final message"
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.code}"
    last = errors.strip().rpartition("\n")[2] or summary.warning
    more = f": {last}" if last else ""
    return "crashed", f"ended without a final message ({how}){more}"


def _out_of_time(ended: "Ended") -> str:
    if ended.why == "idle":
        said, key = f"it said nothing for too long ({ended.seconds:.1f} s in all)", "idle"
    else:
        said, key = f"it was still at work after {ended.seconds:.1f} s", "timeout"
    return f"{said} and was ended; the settings ({key}) or the protocol can allow more"


def _outcome(kind: Kind, detail: str, summary: Summary) -> Outcome:
    return Outcome(
        kind=kind,
        final=summary.final or "",
        usd=summary.usd,
        tokens=summary.tokens,
        session=summary.session,
        detail=detail,
        wait_s=summary.failure.wait_s if summary.failure else 0,
        answer=summary.answer,
        cached=summary.cached,
        output=summary.output,
        denied=summary.denied,
    )
