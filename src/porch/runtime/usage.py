"""What a turn used of money and tokens, also where an agent counts from a conversation's start."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from porch.adapters import atomic
from porch.runtime.roster import Post

_FILE = "conversations"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, of which some were read from a cache and some written; and money, if it is known."""

    usd: float = 0
    tokens: int = 0
    cached: int = 0
    output: int = 0

    def less(self, before: "Usage") -> "Usage":
        """Never below nothing: a vendor may start to count anew."""
        return Usage(
            max(0.0, self.usd - before.usd),
            max(0, self.tokens - before.tokens),
            max(0, self.cached - before.cached),
            max(0, self.output - before.output),
        )


def of_turn(
    post: Post, run_directory: str, session: str, origin: str, told: Usage, place: str
) -> Usage:
    """What this turn used; the same turn told twice is counted once where totals are told."""
    if session:
        known, total = _read(run_directory, session) or _read(run_directory, origin), told
        if post.agent.COUNTS_ALL:
            told = told.less(_usage(known))
        _keep(run_directory, session, total, place, holder(post))
    return replace(told, usd=post.cost(told.usd, told.tokens, told.cached, told.output))


def place_of(run_directory: str, session: str) -> str:
    """Where a conversation was held; empty if nobody knows."""
    return str(_read(run_directory, session).get("place", ""))


def holder(post: Post) -> str:
    """Whose conversations they are: names for one command line share them."""
    return post.name if post.kind == "command" else post.kind


def holder_of(run_directory: str, session: str) -> str:
    return str(_read(run_directory, session).get("holder", ""))


def _path(run_directory: str, session: str) -> str:
    name = sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
    return os.path.join(run_directory, _FILE, f"{name}.json")


def _read(run_directory: str, session: str) -> Mapping[str, Any]:
    if not session:
        return {}
    try:
        with open(_path(run_directory, session), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _usage(known: Mapping[str, Any]) -> Usage:
    tokens, cached, output = (int(known.get(name, 0)) for name in ("tokens", "cached", "output"))
    return Usage(float(known.get("usd", 0)), tokens, cached, output)


def _keep(run_directory: str, session: str, told: Usage, place: str, holder: str) -> None:
    atomic.ensure_directory(os.path.join(run_directory, _FILE))
    words = {**asdict(told), "place": place, "holder": holder}
    atomic.replace(_path(run_directory, session), json.dumps(words).encode(), sync=False)
