"""Who was asked in a turn and on what terms, written beside its transcript before it starts.

Whoever takes a run over reads them: by then the settings may say something else.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from porch.adapters import atomic
from porch.adapters.agents import AGENTS
from porch.adapters.redaction import NAMES, secrets_of
from porch.runtime import conversations
from porch.runtime.roster import Post, Roster
from porch.runtime.usage import Usage

KIND, FILE = "agent", "turn.json"


@dataclass(frozen=True, slots=True)
class Terms:
    """`before` is what the conversation had used; `hidden` names variables that hold secrets."""

    kind: str = ""
    name: str = ""
    model: str = ""
    place: str = ""
    fork: str = ""
    max_usd: float = 0
    prices: tuple[float, ...] = ()
    permissions: tuple[str, ...] = ()
    before: Usage = field(default_factory=Usage)
    hidden: tuple[str, ...] = ()

    def post(self, roster: Roster) -> Post:
        """The agent as it was employed, as far as reading what it said needs."""
        if self.kind not in AGENTS:
            return roster.worker("", "")
        return Post(self.name or self.kind, self.kind, AGENTS[self.kind], prices=self.prices)

    def secrets(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        return secrets_of({name: environ[name] for name in self.hidden if name in environ})


def secret_names(env: Iterable[str]) -> tuple[str, ...]:
    """Variables whose values count as secrets, by their names."""
    return tuple(sorted(name for name in env if secrets_of({name: "x" * 16}, NAMES)))


def write(directory: str, terms: Terms) -> None:
    for name, text in ((KIND, terms.kind), (FILE, json.dumps(asdict(terms)))):
        path = os.path.join(directory, name)
        atomic.replace(path, f"{text}\n".encode(), sync=False)


def read(directory: str) -> Terms:
    """What is left of them: a file that cannot be read takes nothing of the other with it."""
    kind, told = _text(os.path.join(directory, KIND)).strip(), _told(directory)
    before = told.get("before")
    return Terms(
        kind=kind or str(told.get("kind", "")),
        name=str(told.get("name") or ""),
        model=str(told.get("model") or ""),
        place=str(told.get("place") or ""),
        fork=str(told.get("fork") or ""),
        max_usd=_amount(told.get("max_usd")),
        prices=tuple(_amount(each) for each in _list(told.get("prices"))),
        permissions=tuple(map(str, _list(told.get("permissions")))),
        before=conversations.usage_of(before if isinstance(before, dict) else {}),
        hidden=tuple(map(str, _list(told.get("hidden")))),
    )


def _told(directory: str) -> Mapping[str, Any]:
    try:
        told = json.loads(_text(os.path.join(directory, FILE)) or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _amount(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
