"""Every key of the settings, and what it must be."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from porch.errors import Place
from porch.model import permissions
from porch.text.late_pattern import late_pattern

NAME = late_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class ValueKind(Struct, frozen=True):
    """What a value must be, in words, as a test and as an example."""

    words: str
    fits: Callable[[Any], bool]
    example: Any


class SettingKey(Struct, frozen=True):
    """One key: the attribute it sets, what it must be, and whether only a person's own file may.

    One that starts programs or lets them see more counts only if a person trusts its value.
    """

    attribute: str
    kind: ValueKind
    only_user: bool = False
    needs_trust: bool = False


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _are_names(values: list[str]) -> bool:
    """Reviewers name effects and files; two of one name would answer for each other."""
    return len(set(values)) == len(values) and all(NAME.fullmatch(value) for value in values)


def _is_price(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


TEXT = ValueKind("a text, not empty", _is_text, "text")
FLAG = ValueKind("true or false", lambda value: isinstance(value, bool), True)
COUNT = ValueKind(
    "a whole number of at least 1",
    lambda value: _is_number(value) and isinstance(value, int) and value >= 1,
    4,
)
SECONDS = ValueKind(
    "a number of seconds, more than 0", lambda value: _is_number(value) and value > 0, 600
)
SECONDS_OR_OFF = ValueKind(
    "a number of seconds, or 0 for none", lambda value: _is_number(value) and value >= 0, 600
)
TEXTS = ValueKind(
    "a list of texts",
    lambda value: isinstance(value, list) and all(map(_is_text, value)),
    ["text"],
)
NAMES = ValueKind(
    "a list of different names made of letters, digits, '.', '_' and '-'",
    lambda value: TEXTS.fits(value) and _are_names(value),
    ["claude"],
)
AMOUNT = ValueKind("a number, more than 0", lambda value: _is_number(value) and value > 0, 5)
TOGETHER = ValueKind('"off" or "last-task"', lambda value: value in ("off", "last-task"), "off")
UNATTENDED = ValueKind('"park" or "deny"', lambda value: value in ("park", "deny"), "park")
PRICES = ValueKind(
    "three prices in dollars per million tokens: input, cached input, output",
    lambda value: isinstance(value, list) and len(value) == 3 and all(map(_is_price, value)),
    [1, 0.5, 5],
)
PERMISSIONS = ValueKind(
    "a list of write:GLOB, bash:COMMAND and read:GLOB, not empty",
    lambda value: (
        TEXTS.fits(value) and value and not [*permissions.check_permissions(value, Place(""))]
    ),
    ["read:**"],
)
VOUCH = "it works only in your own settings, not in the settings of a project"
KEYS: Mapping[str, SettingKey] = {
    "timeouts.claude_timeout": SettingKey("claude_timeout", SECONDS),
    "timeouts.consultation_timeout": SettingKey("consultation_timeout", SECONDS),
    "timeouts.gate_poll_interval": SettingKey("gate_poll_interval", SECONDS),
    "timeouts.max_gate_wait": SettingKey("max_gate_wait", SECONDS),
    "timeouts.idle": SettingKey("idle", SECONDS_OR_OFF),
    "timeouts.check": SettingKey("check", SECONDS),
    "timeouts.first_check": SettingKey("first_check", SECONDS),
    "checks.env": SettingKey("check_env", TEXTS, needs_trust=True),
    "run.protocol": SettingKey("protocol", TEXT),
    "agent.name": SettingKey("agent", TEXT),
    "agent.trusted": SettingKey("trusted", FLAG, only_user=True, needs_trust=True),
    "agent.max_running": SettingKey("max_running", COUNT),
    "agent.back_off": SettingKey("back_off", SECONDS_OR_OFF),
    "agent.nonce": SettingKey("nonce", FLAG),
    "budget.max_usd": SettingKey("max_usd", AMOUNT),
    "budget.max_tokens": SettingKey("max_tokens", AMOUNT),
    "budget.max_turns": SettingKey("max_turns", AMOUNT),
    "budget.max_minutes": SettingKey("max_minutes", AMOUNT),
    "panel.models": SettingKey("models", NAMES),
    "knowledge.paths": SettingKey("knowledge_paths", TEXTS),
    "review.agents": SettingKey("review_agents", NAMES),
    "review.max_rounds": SettingKey("review_rounds", COUNT),
    "notify.desktop": SettingKey("notify_desktop", FLAG, only_user=True),
    "notify.webhook": SettingKey("notify_webhook", TEXT, only_user=True),
    "notify.command": SettingKey("notify_command", TEXTS, only_user=True, needs_trust=True),
    "finish.pull_request": SettingKey("pull_request_protocols", NAMES, only_user=True),
    "af.max_runs": SettingKey("max_runs", COUNT),
    "af.repositories": SettingKey("repositories", TEXTS, only_user=True),
    "track.fix_issues": SettingKey("fix_issues", FLAG),
    "track.coalesce": SettingKey("coalesce", TOGETHER),
    "track.unattended": SettingKey("unattended", UNATTENDED),
    "worktree.setup": SettingKey("setup", TEXTS, needs_trust=True),
    "worktree.copy": SettingKey("copy", TEXTS, needs_trust=True),
    "worktree.link": SettingKey("link", TEXTS, needs_trust=True),
    "worktree.share_readers": SettingKey("share_readers", FLAG),
}
# What the packaged protocols ask for under [commands].
COMMANDS_USED = ("build", "test", "lint")
