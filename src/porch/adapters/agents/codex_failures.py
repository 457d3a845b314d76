"""Why a turn of codex failed: it tells so in words for people, which are all there is to go by."""

import json
import re
from collections.abc import Mapping

from porch.adapters.agents.events import Failed
from porch.adapters.agents.kinds import Kind

_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_BY_STATUS: Mapping[int, Kind] = {401: "auth", 403: "auth", 429: "rate_limit"}
# The first that is found counts.
_WORDS: tuple[tuple[str, Kind], ...] = (
    (r"content_filter|usage policy|violates? .*polic|flagged", "refused"),
    (r"context window|context_length|ran out of room", "bad_request"),
    (r"quota exceeded|insufficient_quota|billing", "budget"),
    (r"rate.?limit|usage limit|too many requests", "rate_limit"),
    (r"missing environment variable|not logged in|log in again|sign in|api.key", "auth"),
    (r"high demand|overloaded|at capacity|server_error|internal server error", "server"),
    (r"stream disconnected|transport error|connection|timed? ?out|network", "server"),
    (r"\"error\"|does not exist|not supported|invalid.request|invalid_", "bad_request"),
)
_WAIT = re.compile(r"try again in ((?:\d+(?:\.\d+)? ?[a-z]+,? ?(?:and )?)+)", re.IGNORECASE)
_PIECE = re.compile(r"(\d+(?:\.\d+)?) ?(ms|[smhd])", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_ADVICE: Mapping[Kind, str] = {
    "auth": "sign in with `codex login`, or set CODEX_API_KEY",
    "budget": "look at the plan and billing of the account that codex uses",
}


def failed(message: str) -> Failed:
    kind = _kind(message)
    wait = _wait(message) if kind == "rate_limit" else 0
    return Failed(advised(_readable(message), kind), kind, wait)


def advised(text: str, kind: Kind) -> str:
    advice = _ADVICE.get(kind)
    return f"{text} ({advice})" if advice else text


def _kind(message: str) -> Kind:
    status = _STATUS.search(message)
    if status:
        code = int(status[1])
        return _BY_STATUS.get(code) or ("server" if code >= 500 else "bad_request")
    said = message.lower()
    return next((kind for words, kind in _WORDS if re.search(words, said)), "crashed")


def _wait(message: str) -> float:
    told = _WAIT.search(message)
    pieces = _PIECE.findall(told[1]) if told else []
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in pieces)


def _readable(message: str) -> str:
    """The vendor's answer is passed on as it came; people want the sentence in it."""
    try:
        return str(json.loads(message)["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return message
