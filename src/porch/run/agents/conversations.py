"""What is known of a conversation with an agent: whose it is, where it was held, what it used."""

import json
import os
from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict, replace

from porch.run.agents.roster import EmployedAgent
from porch.run.agents.usage import Usage, parse_usage
from porch.system import atomic
from porch.text.sha256 import sha256

_DIRECTORY = "conversations"


def read_usage(run_directory: str, session: str) -> Usage:
    """The total that it had told last; nothing where nobody knows it."""
    return parse_usage(_read_conversation(run_directory, session))


def read_place(run_directory: str, session: str) -> str:
    """Where it was held; empty if nobody knows."""
    return str(_read_conversation(run_directory, session).get("place", ""))


def conversation_holder(post: EmployedAgent) -> str:
    """Whose conversations they are: names for one command line share them."""
    return post.name if post.agent.NEEDS_COMMAND else post.kind


def belongs_to_agent(run_directory: str, session: str, post: EmployedAgent) -> bool:
    """Whether this agent can go on with it; one that nobody knows is worth trying."""
    return str(_read_conversation(run_directory, session).get("holder", "")) in (
        "",
        conversation_holder(post),
    )


def record_conversation(
    run_directory: str, session: str, post: EmployedAgent, *, place: str, total: Usage
) -> None:
    """A turn that told nothing takes nothing back of what was known."""
    if not session:
        return
    known = read_usage(run_directory, session)
    most = total if total.tokens >= known.tokens else known
    atomic.ensure_directory(os.path.join(run_directory, _DIRECTORY))
    words = {**asdict(most), "place": place, "holder": conversation_holder(post)}
    atomic.replace_file(
        _conversation_path(run_directory, session), json.dumps(words).encode(), sync=False
    )


def _conversation_path(run_directory: str, session: str) -> str:
    name = sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
    return os.path.join(run_directory, _DIRECTORY, f"{name}.json")


def _read_conversation(run_directory: str, session: str) -> Mapping[str, Any]:
    if not session:
        return {}
    try:
        with open(_conversation_path(run_directory, session), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def usage_of_turn(post: EmployedAgent, told: Usage, before: Usage) -> Usage:
    """What one turn used, out of what it told and what its conversation had used before it.

    Told again, by whoever reads the same transcript after a crash, it comes out the same.
    """
    mine = told.less(before) if post.agent.COUNTS_ALL else told
    return replace(mine, usd=post.cost(mine.usd, mine.tokens, mine.cached, mine.output))
