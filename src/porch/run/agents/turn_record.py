"""Who was asked in a turn and on what terms, written beside its transcript before it starts.

Whoever takes a run over reads them: by then the settings may say something else.
"""

import json
import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field, to_builtins

from porch.agents import AGENTS
from porch.agents.redaction import SECRET_NAMES, find_secrets
from porch.run.agents import usage
from porch.run.agents.roster import EmployedAgent, Roster
from porch.run.agents.usage import Usage
from porch.system import atomic

KIND, FILE = "agent", "turn.json"


class TurnTerms(Struct, frozen=True):
    """`before` is what the conversation had used; `hidden` names variables that hold secrets.

    `stamp` tells the worktree at `place` from one that is made there later. `trusted` are the
    digests of the settings that a person trusted then.
    """

    kind: str = ""
    name: str = ""
    model: str = ""
    place: str = ""
    stamp: str = ""
    fork: str = ""
    max_usd: float = 0
    prices: tuple[float, ...] = ()
    permissions: tuple[str, ...] = ()
    before: Usage = field(default_factory=Usage)
    hidden: tuple[str, ...] = ()
    trusted: tuple[str, ...] | None = None

    def post(self, roster: Roster) -> EmployedAgent:
        """The agent as it was employed, as far as reading what it said needs."""
        if self.kind not in AGENTS:
            return roster.worker("", "")
        return EmployedAgent(
            self.name or self.kind, self.kind, AGENTS[self.kind], prices=self.prices
        )

    def secrets(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        return find_secrets({name: environ[name] for name in self.hidden if name in environ})


def secret_names(env: Iterable[str]) -> tuple[str, ...]:
    """Variables whose values count as secrets, by their names."""
    return tuple(sorted(name for name in env if find_secrets({name: "x" * 16}, SECRET_NAMES)))


def write_terms(directory: str, terms: TurnTerms) -> None:
    for name, text in ((KIND, terms.kind), (FILE, json.dumps(to_builtins(terms)))):
        path = os.path.join(directory, name)
        atomic.replace_file(path, f"{text}\n".encode(), sync=False)


def read_terms(directory: str) -> TurnTerms:
    """What is left of them: a file that cannot be read takes nothing of the other with it."""
    kind, told = _read_text(os.path.join(directory, KIND)).strip(), _read_terms_json(directory)
    before = told.get("before")
    return TurnTerms(
        kind=kind or str(told.get("kind", "")),
        name=str(told.get("name") or ""),
        model=str(told.get("model") or ""),
        place=str(told.get("place") or ""),
        stamp=str(told.get("stamp") or ""),
        fork=str(told.get("fork") or ""),
        max_usd=_number_or_zero(told.get("max_usd")),
        prices=tuple(_number_or_zero(each) for each in _list_or_empty(told.get("prices"))),
        permissions=tuple(map(str, _list_or_empty(told.get("permissions")))),
        before=usage.parse_usage(before if isinstance(before, dict) else {}),
        hidden=tuple(map(str, _list_or_empty(told.get("hidden")))),
        trusted=None
        if told.get("trusted") is None
        else tuple(map(str, _list_or_empty(told["trusted"]))),
    )


def stamp_worktree(place: str) -> str:
    """Of the file that git writes when it makes a worktree; empty for a checkout of a person."""
    try:
        found = os.lstat(os.path.join(place, ".git"))
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_mtime_ns}" if stat.S_ISREG(found.st_mode) else ""


def has_lost_worktree(directory: str) -> bool:
    """Whether the worktree of a turn was deleted since it began; another may stand there now."""
    terms = read_terms(directory)
    return bool(terms.stamp) and terms.stamp != stamp_worktree(terms.place)


def _read_terms_json(directory: str) -> Mapping[str, Any]:
    try:
        told = json.loads(_read_text(os.path.join(directory, FILE)) or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _list_or_empty(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number_or_zero(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
