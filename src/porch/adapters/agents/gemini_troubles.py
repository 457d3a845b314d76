"""What went wrong in a turn of `gemini`, from the words it has for it: it seldom tells a number."""

import re
from typing import Any

from porch.adapters.agents.events import Failed
from porch.adapters.agents.kinds import Kind

LOGIN = "run `gemini` once and log in, or set GEMINI_API_KEY"
_NUMBER = re.compile(r'"code":\s*(\d{3})\b')
_WAIT = re.compile(r"retry (?:in|after) ([0-9]{1,6}(?:\.[0-9]{1,9})?) ?s")
_TURNS = r"TurnLimited|[Mm]ax(imum)? session turns"
_STOPPED: tuple[tuple[str, Kind], ...] = (
    (r"response was blocked", "refused"),
    (_TURNS, "max_turns"),
    (r"Loop detected", "crashed"),
)
# A wrong key is called a bad argument, so words come before most numbers. What the vendor answered
# and nobody can make out is the vendor's trouble.
_WORDS: tuple[tuple[str, Kind], ...] = (
    (r"API.?key|FatalAuthentication|UNAUTHENTICATED|PERMISSION_DENIED|[Ll]og ?in\b", "auth"),
    (r"try again later|[Qq]uota|RESOURCE_EXHAUSTED|[Rr]ate.?limit", "rate_limit"),
    (_TURNS, "max_turns"),
    (r"FatalCancellation", "interrupted"),
    (r"FatalInput|INVALID_ARGUMENT|NOT_FOUND|[Nn]ot found|\"code\":\s*4\d\d", "bad_request"),
    (r"API Error", "server"),
)
_NOT_LOGGED_IN = f"gemini is not logged in; {LOGIN}"
_LAST_WORDS: tuple[tuple[str, Kind, str], ...] = (
    ("set an Auth method", "auth", _NOT_LOGGED_IN),
    ("GEMINI_API_KEY environment variable", "auth", _NOT_LOGGED_IN),
    (
        "trusted directory",
        "bad_request",
        "gemini does not trust this directory; run `gemini` in it once and trust it",
    ),
    (
        "Error resuming session",
        "bad_request",
        "gemini does not know the conversation any more that it should go on with",
    ),
    (
        "Error importing session",
        "bad_request",
        "gemini does not know the conversation any more that it should fork",
    ),
    ("No input provided", "bad_request", "gemini was given an empty prompt"),
)


def stopped(text: str) -> Failed | None:
    """What ends a turn although the end then may be called a success."""
    return next((Failed(text, kind) for words, kind in _STOPPED if re.search(words, text)), None)


def failed(error: dict[str, Any]) -> Failed:
    """The error of its last line."""
    text = str(error.get("message", ""))
    kind = _kind(f"{error.get('type', '')} {text}")
    wait = _WAIT.search(text) if kind == "rate_limit" else None
    return Failed(
        f"{text}; {LOGIN}" if kind == "auth" else text, kind, float(wait[1]) if wait else 0
    )


def _kind(text: str) -> Kind:
    number = _NUMBER.search(text)
    numbered = _by_number(int(number[1])) if number else None
    if numbered is not None:
        return numbered
    return next((kind for words, kind in _WORDS if re.search(words, text)), "crashed")


def _by_number(number: int) -> Kind | None:
    if number in (401, 403):
        return "auth"
    if number == 429:
        return "rate_limit"
    return "server" if number >= 500 else None


def last_words(text: str) -> tuple[Kind, str] | None:
    """What its error output says where there is no stream of events at all."""
    return next(((kind, say) for words, kind, say in _LAST_WORDS if words in text), None)
