"""Every key of the settings, what it must be, and what there is to say about it."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from porch.adapters.agents.kinds import AGENT_KINDS
from porch.errors import Place
from porch.model import permissions

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value must be, in words and as a test."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: the attribute it sets, what it must be, and what there is to say about it."""

    attribute: str
    kind: Kind
    note: str = ""
    only_user: bool = False


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _are_names(values: list[str]) -> bool:
    """Reviewers name effects and files; two of one name would answer for each other."""
    return len(set(values)) == len(values) and all(NAME.fullmatch(value) for value in values)


def _is_price(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


TEXT = Kind("a text that is not empty", _is_text)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
COUNT = Kind(
    "a whole number of at least 1",
    lambda value: _is_number(value) and isinstance(value, int) and value >= 1,
)
SECONDS = Kind("a number of seconds above 0", lambda value: _is_number(value) and value > 0)
SECONDS_OR_OFF = Kind(
    "a number of seconds, or 0 for none", lambda value: _is_number(value) and value >= 0
)
TEXTS = Kind("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value)))
NAMES = Kind(
    "a list of different names out of letters, digits, '.', '_' and '-'",
    lambda value: TEXTS.fits(value) and _are_names(value),
)

AMOUNT = Kind("a number above 0", lambda value: _is_number(value) and value > 0)
PRICES = Kind(
    "three prices in dollars for a million tokens: read, read from a cache, written",
    lambda value: isinstance(value, list) and len(value) == 3 and all(map(_is_price, value)),
)
AGENT_KIND = Kind(
    f"one of {', '.join(AGENT_KINDS)}",
    lambda value: isinstance(value, str) and value in AGENT_KINDS,
)
PERMISSIONS = Kind(
    "a list of write:GLOB, bash:COMMAND and read:GLOB that is not empty",
    lambda value: TEXTS.fits(value) and value and not [*permissions.problems(value, Place(""))],
)

_LATER = "it is kept for the worktrees that `af` makes; `porch run` alone makes none"
VOUCH = "it counts only in your own settings: a project cannot vouch for itself"
KEYS: Mapping[str, Key] = {
    "timeouts.claude_timeout": Key("claude_timeout", SECONDS),
    "timeouts.consultation_timeout": Key("consultation_timeout", SECONDS),
    "timeouts.gate_poll_interval": Key("gate_poll_interval", SECONDS),
    "timeouts.max_gate_wait": Key("max_gate_wait", SECONDS),
    "timeouts.idle": Key("idle", SECONDS_OR_OFF),
    "timeouts.check": Key("check", SECONDS),
    "agent.name": Key("agent", TEXT),
    "agent.trusted": Key("trusted", FLAG, only_user=True),
    "agent.max_running": Key("max_running", COUNT),
    "agent.back_off": Key("back_off", SECONDS_OR_OFF),
    "agent.nonce": Key("nonce", FLAG),
    "budget.max_usd": Key("max_usd", AMOUNT),
    "budget.max_tokens": Key("max_tokens", AMOUNT),
    "budget.max_turns": Key("max_turns", AMOUNT),
    "budget.max_minutes": Key("max_minutes", AMOUNT),
    "panel.models": Key("models", NAMES),
    "knowledge.paths": Key("knowledge_paths", TEXTS),
    "review.agents": Key("review_agents", NAMES),
    "review.max_rounds": Key("review_rounds", COUNT),
    "worktree.setup": Key("setup", TEXTS, _LATER),
    "worktree.copy": Key("copy", TEXTS, _LATER),
    "worktree.link": Key("link", TEXTS, _LATER),
}
_POST: Mapping[str, Key] = {
    "agent": Key("", TEXT),
    "model": Key("", TEXT),
    "timeout": Key("", SECONDS),
    "idle": Key("", SECONDS_OR_OFF),
    "permissions": Key("", PERMISSIONS),
    "max_steps": Key("", COUNT),
}
# Tables of tables: what may stand below [agents.NAME], [roles.NAME] and [phases.NAME].
TABLES: Mapping[str, Mapping[str, Key]] = {
    "agents": {
        "kind": Key("", AGENT_KIND),
        "command": Key("", TEXTS),
        "model": Key("", TEXT),
        "env": Key("", TEXTS, only_user=True),
        "usd_per_million": Key("", PRICES),
    },
    "roles": _POST,
    "phases": {
        **_POST,
        **{key.partition(".")[2]: KEYS[key] for key in KEYS if key.startswith("budget.")},
    },
}
# Keys that would be read and not obeyed.
UNHEARD: Mapping[str, str] = {
    "roles.reviewer.agent": "a panel names its reviewers; see [panel] models",
    "roles.reviewer.permissions": "whoever reviews reads, and changes nothing",
}
SECTIONS = ("commands", *TABLES, *dict.fromkeys(key.partition(".")[0] for key in KEYS))
