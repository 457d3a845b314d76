"""A request to any vendor, seen the same way: who asks what, and what happened since."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Vendor = Literal["anthropic", "openai", "google"]


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the person, as it stands in the history."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gave back; `round` counts the answers of the model before it."""

    text: str
    round: int


@dataclass(frozen=True, slots=True)
class Request:
    """`tools` are the names on offer; `schema` is the form that the answer must have, if any."""

    vendor: Vendor
    model: str
    history: tuple[Said | Result, ...]
    system: str
    body: Mapping[str, Any]
    streams: bool
    tools: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    # Asked by the command line for itself, not for the person: routing, checks for loops.
    is_chore: bool = False
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def users(self) -> list[str]:
        return [each.text for each in self.history if isinstance(each, Said)]

    @property
    def results(self) -> list[str]:
        """The tool results since the last user text."""
        last = max((n for n, each in enumerate(self.history) if isinstance(each, Said)), default=-1)
        return [each.text for each in self.history[last + 1 :] if isinstance(each, Result)]

    @property
    def prompt(self) -> str:
        return self.users[-1] if self.users else ""

    def position(self, key: str) -> int | None:
        """How many answers were given since the last text that holds the key; None without one."""
        starts = [n for n, e in enumerate(self.history) if isinstance(e, Said) and key in e.text]
        if not starts:
            return None
        later = self.history[starts[-1] + 1 :]
        rounds = {each.round for each in later if isinstance(each, Result)}
        return len(rounds) + sum(isinstance(each, Said) for each in later)
