"""Why a turn of codex failed: it tells so in words for people, which are all there is to go by."""

import json
import re
from collections.abc import Mapping

from porch.agents.events import Failed
from porch.agents.outcomes import OutcomeKind
from porch.text.late_pattern import late_pattern

_STATUS = late_pattern(r"\bstatus:? (\d{3})\b")
_KIND_BY_STATUS: Mapping[int, OutcomeKind] = {401: "auth", 403: "auth", 429: "rate_limit"}
# The first that is found counts.
_KIND_BY_WORDS: tuple[tuple[str, OutcomeKind], ...] = (
    (r"content_filter|usage policy|violates? .*polic|flagged", "refused"),
    (r"context window|context_length|ran out of room", "bad_request"),
    (r"quota exceeded|insufficient_quota|billing", "budget"),
    (r"rate.?limit|usage limit|too many requests", "rate_limit"),
    (r"missing environment variable|not logged in|log in again|sign in|api.key", "auth"),
    (r"high demand|overloaded|at capacity|server_error|internal server error", "server"),
    (r"stream disconnected|transport error|connection|timed? ?out|network", "server"),
    (r"\"error\"|does not exist|not supported|invalid.request|invalid_", "bad_request"),
)
_WAIT = late_pattern(r"try again in ((?:\d+(?:\.\d+)? ?[a-z]+,? ?(?:and )?)+)", re.IGNORECASE)
_WAIT_PIECE = late_pattern(r"(\d+(?:\.\d+)?) ?(ms|[smhd])", re.IGNORECASE)
_UNIT_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_ADVICE_BY_KIND: Mapping[OutcomeKind, str] = {
    "auth": "sign in with `codex login`, or set CODEX_API_KEY",
    "budget": "check the plan and the billing of the account that codex uses",
}


def parse_failure(message: str) -> Failed:
    kind = _failure_kind(message)
    wait = _parse_wait_seconds(message) if kind == "rate_limit" else 0
    return Failed(add_advice(_extract_vendor_message(message), kind), kind, wait)


def add_advice(text: str, kind: OutcomeKind) -> str:
    advice = _ADVICE_BY_KIND.get(kind)
    return f"{text} ({advice})" if advice else text


def _failure_kind(message: str) -> OutcomeKind:
    status = _STATUS.search(message)
    if status:
        code = int(status[1])
        return _KIND_BY_STATUS.get(code) or ("server" if code >= 500 else "bad_request")
    said = message.lower()
    return next((kind for words, kind in _KIND_BY_WORDS if re.search(words, said)), "crashed")


def _parse_wait_seconds(message: str) -> float:
    told = _WAIT.search(message)
    pieces = _WAIT_PIECE.findall(told[1]) if told else []
    return sum(float(number) * _UNIT_SECONDS[unit.lower()] for number, unit in pieces)


def _extract_vendor_message(message: str) -> str:
    """The vendor's answer is passed on as it came; people want the sentence in it."""
    try:
        return str(json.loads(message)["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return message
