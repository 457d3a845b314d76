"""What a script says: who answers what, at which attempt. Matching only; nothing is read here.

The runner chooses before it starts the process: it has read the YAML, which costs more than all
that the process does. Kept free of that reader, for the scripted agent also runs without a script.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

from msgspec import Struct, field, to_builtins

from porch.agents.scripted.asked import ScriptedRequest

# What a reviewer says whom the script does not mention.
_APPROVALS = {
    "verdict": "VERDICT: APPROVE\nSUMMARY: Nothing to add.",
    "issues": '{"blocking": [], "non_blocking": [], "summary": "Nothing to add.", "checked": []}',
}

DecisionVerb = Literal[
    "approve", "reject", "decline", "answer", "override", "retry", "skip", "stop", "wait"
]
T = TypeVar("T")


class ScriptedAnswer(Struct, frozen=True):
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
    reminder: "ScriptedAnswer | None" = None
    exit: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    refused: "ScriptedAnswer | None" = None

    def again(self) -> "ScriptedAnswer":
        """What is said after a refusal: as the script says, else the same once more."""
        return self.refused or self.reminded()

    def reminded(self) -> "ScriptedAnswer":
        """A reminder repeats the last words, never the work."""
        again = ScriptedAnswer(
            say=self.say,
            signals=self.signals,
            reason=self.reason,
            final=self.final,
            exit=self.exit,
            payload=self.payload,
        )
        return self.reminder or again


class ScriptedDecision(Struct, frozen=True):
    """What the script's person does when asked; `wait` leaves the decision open."""

    verb: DecisionVerb
    text: str = ""


# By visit or round, then by try; the last of each repeats.
ScriptedAnswers = tuple[tuple[ScriptedAnswer, ...], ...]


class Script(Struct, frozen=True):
    """A script for the scripted agent: who answers what, and the decisions it takes."""

    agents: Mapping[str, ScriptedAnswers] = field(default_factory=dict)
    reviews: Mapping[str, Mapping[str, ScriptedAnswers]] = field(default_factory=dict)
    decisions: Mapping[str, tuple[ScriptedDecision, ...]] = field(default_factory=dict)
    witness: str = ""

    def agent(
        self, state: str, item: str, visit: int, try_: int, instance: str = ""
    ) -> ScriptedAnswer | None:
        names = (f"{instance or '.'}/{state}", *_entry_names(state, item))
        answers = find_best_entry(self.agents, names)
        return nth_or_last(nth_or_last(answers, visit), try_) if answers else None

    def review(
        self, state: str, item: str, reviewer: str, round_: int, try_: int
    ) -> ScriptedAnswer | None:
        reviewers = find_best_entry(self.reviews, _entry_names(state, item))
        answers = find_best_entry(reviewers, (reviewer,)) if reviewers else None
        return nth_or_last(nth_or_last(answers, round_), try_) if answers else None

    def decision(self, name: str, time: int) -> ScriptedDecision | None:
        """The answer to the n-th asking of a decision; None leaves it to people."""
        answers = find_best_entry(self.decisions, (name,))
        return nth_or_last(answers, time) if answers else None


def _entry_names(state: str, item: str) -> tuple[str, ...]:
    return (f"{state}:{item}", state) if item else (state,)


def nth_or_last(answers: Sequence[T], number: int) -> T:
    """Counted from 1; the last one answers for all that follow."""
    return answers[max(0, min(number, len(answers)) - 1)]


def find_best_entry(table: Mapping[str, T], names: Sequence[str]) -> T | None:
    """The most exact key: a whole name, else the glob with the most plain characters."""
    for name in names:
        if name in table:
            return table[name]
    globs = [key for key in table if any(fnmatchcase(name, key) for name in names)]
    return table[max(globs, key=_count_plain_characters)] if globs else None


def _count_plain_characters(glob: str) -> int:
    return sum(char not in "*?[]" for char in glob)


def choose_answer(script: Script, request: ScriptedRequest) -> dict[str, Any]:
    """What to do, as it can travel in a request."""
    answer = to_builtins(_find_answer(script, request))
    return {"answer": answer, "witness": script.witness}


def _find_answer(script: Script, request: ScriptedRequest) -> ScriptedAnswer:
    if request.kind == "review":
        found = script.review(
            request.state, request.item, request.name, request.round, request.try_
        )
        return found or ScriptedAnswer(final=_APPROVALS[request.form])
    found = script.agent(request.state, request.item, request.visit, request.try_, request.instance)
    if request.kind == "reminder":
        return found.reminded() if found else ScriptedAnswer(say="Done as asked.")
    if request.kind == "refused" and found:
        for _ in range(request.turn - 1):
            found = found.again()
        return found
    return found or ScriptedAnswer(default=True, say="Done as asked.")
