"""The port behind which every agent stands: a turn goes in, neutral events and an outcome come out.

Return codes lie (a refusal may end with 0, an error may call itself success), so an outcome is
derived from what the agent's structured output said, and from how the process ended only where
that is silent.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, assert_never

from porch.adapters.agents.kinds import Kind
from porch.adapters.follow import LONGEST_LINE, Follower, Line

if TYPE_CHECKING:  # asyncio would make every start of the scripted agent slower
    from porch.adapters.process import Ended


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of an agent: what it is asked, where it works, where the files of the turn go."""

    effect: str
    prompt: str
    request: Mapping[str, Any]
    workspace: str
    directory: str
    model: str = ""
    resume: str | None = None
    script: str = ""
    fork: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """How to start the agent for a turn; the transcript is read from `output`."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin_file: str | None
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class Session:
    """The agent named the conversation, by which a later turn can go on."""

    id: str


@dataclass(frozen=True, slots=True)
class Said:
    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    name: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """Output of a tool; nothing in it is ever taken for the agent's own word."""

    output: str


@dataclass(frozen=True, slots=True)
class Used:
    """Cost since the last such event."""

    usd: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Final:
    """The final message: the only place where a signal counts."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A typed answer of the agent's structured output; the last one counts."""

    exit: str
    payload: Any


@dataclass(frozen=True, slots=True)
class Warned:
    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    text: str
    kind: Kind = "crashed"


Event = Session | Said | ToolStarted | ToolEnded | Used | Final | Answered | Warned | Failed


@dataclass(frozen=True, slots=True)
class Summary:
    """All that an outcome needs of the events, however many there were."""

    session: str = ""
    said: str = ""
    final: str | None = None
    usd: float = 0.0
    tokens: int = 0
    warning: str = ""
    failure: Failed | None = None
    answer: Answered | None = None

    def then(self, event: Event) -> "Summary":
        """The summary after one more event; `said` is what was said since the last tool."""
        match event:
            case Session():
                return replace(self, session=event.id)
            case Said():
                return replace(self, said=(self.said + event.text)[-LONGEST_LINE:])
            case ToolStarted() | ToolEnded():
                return replace(self, said="")
            case Used():
                return replace(self, usd=self.usd + event.usd, tokens=self.tokens + event.tokens)
            case Final() | Answered():
                return self._answered(event)
            case Warned():
                return replace(self, warning=event.text)
            case Failed():
                return replace(self, failure=event)
            case _:
                assert_never(event)

    def _answered(self, event: Final | Answered) -> "Summary":
        if isinstance(event, Final):
            return replace(self, final=event.text)
        return replace(self, answer=event)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn came out."""

    kind: Kind
    final: str = ""
    usd: float = 0.0
    tokens: int = 0
    session: str = ""
    detail: str = ""
    wait_s: float = 0
    answer: Answered | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    installed: bool
    version: str = ""


class Agent(Protocol):
    """What a module of this package offers; AGENTS holds one line for each."""

    def prepare(self, turn: Turn) -> Prepared: ...

    def feed(self, line: str) -> tuple[Event, ...]: ...

    def finish(self, summary: Summary, ended: "Ended") -> Outcome: ...

    def from_transcript(self, path: str) -> Outcome | None: ...

    def probe(self) -> Probe: ...


Feed = Callable[[str], tuple[Event, ...]]


@dataclass(slots=True)
class Listener:
    """Folds the lines of a transcript into a summary while they arrive.

    `on_event` sees each event, for whoever shows progress.
    """

    feed: Feed
    on_event: Callable[[Event], object] = lambda _event: None
    summary: Summary = field(default_factory=Summary)
    tools: int = 0

    def is_busy(self) -> bool:
        """Whether a tool runs: it may be silent for long, and the agent with it."""
        return self.tools > 0

    def take(self, line: Line) -> None:
        size = LONGEST_LINE // 1024
        events = (Warned(f"a line over {size} KiB was left out"),) if line.cut else ()
        for event in events or self.feed(line.text):
            self.summary = self.summary.then(event)
            self._count(event)
            self.on_event(event)

    def _count(self, event: Event) -> None:
        if isinstance(event, ToolStarted):
            self.tools += 1
        elif isinstance(event, ToolEnded):
            self.tools = max(0, self.tools - 1)


def summary_of(path: str, feed: Feed) -> Summary:
    """All that a transcript says, also one that a dead runner left: its cost, and perhaps its end.

    Empty if there is none.
    """
    listener = Listener(feed)
    Follower(path, listener.take).drain()
    return listener.summary


ALLOWED = ("PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "USER", "SHELL")

# What each agent needs to be itself; nothing else of the caller's environment reaches it.
CREDENTIALS: dict[str, tuple[str, ...]] = {
    "claude": ("ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"),
    "codex": ("OPENAI_*", "CODEX_HOME", "CODEX_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_*", "GEMINI_CLI_HOME"),
    # The interpreter must find porch in the same places as the one that runs now.
    "scripted": ("PYTHONPATH",),
}


def scrubbed(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """Only the allowed variables, and those that match `extra` (names or globs)."""
    patterns = (*ALLOWED, *extra)
    return {
        name: value
        for name, value in environ.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
