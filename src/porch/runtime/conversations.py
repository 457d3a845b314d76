"""What is known of a conversation with an agent: whose it is, where it was held, what it used."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from porch.adapters import atomic
from porch.runtime.roster import Post
from porch.runtime.usage import Usage

_DIRECTORY = "conversations"


def used(run_directory: str, session: str) -> Usage:
    """The total that it had told last; nothing where nobody knows it."""
    return usage_of(_read(run_directory, session))


def place_of(run_directory: str, session: str) -> str:
    """Where it was held; empty if nobody knows."""
    return str(_read(run_directory, session).get("place", ""))


def holder(post: Post) -> str:
    """Whose conversations they are: names for one command line share them."""
    return post.name if post.kind == "command" else post.kind


def is_of(run_directory: str, session: str, post: Post) -> bool:
    """Whether this agent can go on with it; one that nobody knows is worth trying."""
    return str(_read(run_directory, session).get("holder", "")) in ("", holder(post))


def keep(run_directory: str, session: str, post: Post, place: str, total: Usage) -> None:
    """A turn that told nothing takes nothing back of what was known."""
    if not session:
        return
    known = used(run_directory, session)
    most = total if total.tokens >= known.tokens else known
    atomic.ensure_directory(os.path.join(run_directory, _DIRECTORY))
    words = {**asdict(most), "place": place, "holder": holder(post)}
    atomic.replace(_path(run_directory, session), json.dumps(words).encode(), sync=False)


def usage_of(known: Mapping[str, Any]) -> Usage:
    """A usage that was written down; what makes no sense counts as nothing."""
    usd, *rest = (_number(known.get(name)) for name in ("usd", "tokens", "cached", "output"))
    return Usage(usd, *(int(each) for each in rest))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and value >= 0 else 0.0


def _path(run_directory: str, session: str) -> str:
    name = sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
    return os.path.join(run_directory, _DIRECTORY, f"{name}.json")


def _read(run_directory: str, session: str) -> Mapping[str, Any]:
    if not session:
        return {}
    try:
        with open(_path(run_directory, session), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
