"""Where a turn's transcript lies and how to read one, also while its agent is still writing."""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct, field

from porch.agents import AGENTS
from porch.agents.events import (
    LONGEST_TOLD_LINE,
    Event,
    GrowingSummary,
    ProviderWait,
    ToolEnded,
    ToolStarted,
    TurnSummary,
    Warned,
)
from porch.agents.port import AgentPort, Outcome, make_outcome
from porch.system.growing_file import FileFollower, OutputLine
from porch.text.sha256 import sha256

TRANSCRIPT_FILE = "transcript.jsonl"
# Beside a transcript, in one line: which kind of agent wrote it.
AGENT_FILE = "agent"
# Beside some, too: what people were told with the start of the turn.
NOTE_FILE = "note"
_LONGEST_KIND, _LONGEST_NOTE = 64, 1000
# The marks that every effect id has: these alone make no two names alike.
_USUAL_MARKS = str.maketrans(dict.fromkeys("/:#", "_"))


class TranscriptPart(Struct, frozen=True):
    """One conversation turn of an effect; a typed question may take several."""

    directory: str
    agent: str
    note: str = ""

    @property
    def path(self) -> str:
        return os.path.join(self.directory, TRANSCRIPT_FILE)


def turn_directory_name(effect: str) -> str:
    """The name of the directory of an effect: its own, made safe."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in effect)
    if safe == effect.translate(_USUAL_MARKS):
        return safe
    # Two names may look alike once they are made safe.
    return f"{safe[:100]}-{sha256(effect.encode()).hexdigest()[:12]}"


def list_transcript_parts(run_directory: str, effect: str) -> list[TranscriptPart]:
    """What an effect left, in order; nothing if it wrote no transcript."""
    home = os.path.join(run_directory, "turns", turn_directory_name(effect))
    inner = sorted(_list_turn_directories(home), key=lambda name: int(name.partition("-")[2]))
    places = [home, *(os.path.join(home, name) for name in inner)]
    found = [
        TranscriptPart(
            place,
            _read_line(place, AGENT_FILE, _LONGEST_KIND) or "scripted",
            _read_line(place, NOTE_FILE, _LONGEST_NOTE),
        )
        for place in places
    ]
    return [part for part in found if os.path.isfile(part.path)]


def _list_turn_directories(home: str) -> list[str]:
    names = os.listdir(home) if os.path.isdir(home) else ()
    return [n for n in names if n.startswith("turn-") and n.partition("-")[2].isdecimal()]


def _read_line(directory: str, name: str, longest: int) -> str:
    try:
        with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
            return file.readline(longest).strip()
    except OSError:
        return ""


def find_passing_lines(kind: str) -> str:
    """How lines of this agent begin that are of no use once its turn is over."""
    return AGENTS[kind].PASSING_LINES if kind in AGENTS else ""


def read_transcript_lines(part: TranscriptPart, is_ended: bool) -> Iterator[OutputLine]:
    """Its lines, a bounded number at a time; half a line counts only once nobody writes on."""
    waiting: list[OutputLine] = []
    follower = FileFollower(part.path, waiting.append)
    more = True
    while more:
        more = follower.poll()
        yield from waiting
        waiting.clear()
    if is_ended:
        follower.drain()
        yield from waiting


Feed = Callable[[str], tuple[Event, ...]]
_LEFT_OUT_WARNING = (Warned(f"a line over {LONGEST_TOLD_LINE >> 20} MiB was skipped"),)


class TranscriptListener(Struct):
    """Folds the lines of a transcript into a summary while they arrive.

    `on_event` sees each event, for whoever shows progress.
    """

    feed: Feed
    on_event: Callable[[Event], object] = lambda _event: None
    tools: int = 0
    is_waiting: bool = False
    _tally: GrowingSummary = field(default_factory=GrowingSummary)

    @property
    def summary(self) -> TurnSummary:
        return self._tally.summary

    def is_busy(self) -> bool:
        """Whether a tool runs or the provider is asked: the agent is silent as long as they are."""
        return self.tools > 0 or self.is_waiting

    def is_over(self) -> bool:
        """Whether nothing more is to come; some do not leave after their last word."""
        return self.summary.is_over

    def take(self, line: OutputLine) -> None:
        for event in _LEFT_OUT_WARNING if line.cut else self.feed(line.text):
            if type(event) is ProviderWait:
                self.is_waiting = event.is_on
                continue
            self._tally.add(event)
            if type(event) is ToolStarted:
                self.tools += 1
            elif type(event) is ToolEnded:
                self.tools = max(0, self.tools - 1)
            self.on_event(event)


def read_turn_summary(path: str, feed: Feed) -> TurnSummary:
    """All that a transcript says, also one that a dead runner left: its cost, and perhaps its end.

    Empty if there is none.
    """
    listener = TranscriptListener(feed)
    FileFollower(path, listener.take, LONGEST_TOLD_LINE).drain()
    return listener.summary


def read_finished_outcome(agent: AgentPort, path: str) -> Outcome | None:
    """The outcome, if the agent came to its end before the runner that asked died."""
    summary = read_turn_summary(path, agent.feed)
    judged = agent.judge(summary)
    if judged is None or judged[0] != "ok":
        return None
    return make_outcome(*judged, summary)
