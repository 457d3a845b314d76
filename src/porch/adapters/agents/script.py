"""What a script says: who answers what, the how-manieth time. Matching only; nothing is read here.

Kept free of the YAML reader, because the scripted agent also runs without any script.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

Verb = Literal["approve", "reject", "answer", "override", "retry", "skip", "stop", "wait"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the scripted agent does in one turn, in the order of these fields.

    `signals` is None where the script leaves the signal to the state: its first legal one.
    """

    ignore_sigint: bool = False
    sleep_s: float = 0.0
    default: bool = False
    write: Mapping[str, str] = field(default_factory=dict)
    append: Mapping[str, str] = field(default_factory=dict)
    delete: tuple[str, ...] = ()
    run: tuple[tuple[str, ...], ...] = ()
    orphan_s: float = 0.0
    tool: str = ""
    print_bytes: int = 0
    usd: float = 0.0
    tokens: int = 0
    hang: bool = False
    kill: int = 0
    crash: int | None = None
    fail: str = ""
    say: str = ""
    signals: tuple[str, ...] | None = None
    reason: str = ""
    final: str | None = None
    reminder: "Answer | None" = None
    exit: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    refused: "Answer | None" = None

    def again(self) -> "Answer":
        """What is said after a refusal: as the script says, else the same once more."""
        return self.refused or self.reminded()

    def reminded(self) -> "Answer":
        """A reminder repeats the last words, never the work."""
        again = Answer(
            say=self.say,
            signals=self.signals,
            reason=self.reason,
            final=self.final,
            exit=self.exit,
            payload=self.payload,
        )
        return self.reminder or again


@dataclass(frozen=True, slots=True)
class Decided:
    """What the script's person does when asked; `wait` leaves the decision open."""

    verb: Verb
    text: str = ""


# By visit or round, then by try; the last of each repeats.
Answers = tuple[tuple[Answer, ...], ...]


@dataclass(frozen=True, slots=True)
class Script:
    agents: Mapping[str, Answers] = field(default_factory=dict)
    reviews: Mapping[str, Mapping[str, Answers]] = field(default_factory=dict)
    decisions: Mapping[str, tuple[Decided, ...]] = field(default_factory=dict)
    witness: str = ""

    def agent(
        self, state: str, item: str, visit: int, try_: int, instance: str = ""
    ) -> Answer | None:
        names = (f"{instance or '.'}/{state}", *_names(state, item))
        answers = best(self.agents, names)
        return nth(nth(answers, visit), try_) if answers else None

    def review(self, state: str, item: str, reviewer: str, round_: int, try_: int) -> Answer | None:
        reviewers = best(self.reviews, _names(state, item))
        answers = best(reviewers, (reviewer,)) if reviewers else None
        return nth(nth(answers, round_), try_) if answers else None

    def decision(self, name: str, time: int) -> Decided | None:
        """The answer to the n-th asking of a decision; None leaves it to people."""
        answers = best(self.decisions, (name,))
        return nth(answers, time) if answers else None


def _names(state: str, item: str) -> tuple[str, ...]:
    return (f"{state}:{item}", state) if item else (state,)


def nth(answers: Sequence[T], number: int) -> T:
    """Counted from 1; the last one answers for all that follow."""
    return answers[max(0, min(number, len(answers)) - 1)]


def best(table: Mapping[str, T], names: Sequence[str]) -> T | None:
    """The most exact key: a whole name, else the glob with the most plain characters."""
    for name in names:
        if name in table:
            return table[name]
    globs = [key for key in table if any(fnmatchcase(name, key) for name in names)]
    return table[max(globs, key=_plainness)] if globs else None


def _plainness(glob: str) -> int:
    return sum(char not in "*?[]" for char in glob)
