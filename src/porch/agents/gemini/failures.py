"""What went wrong in a turn of `gemini`, from the words it has for it: it seldom tells a number."""

import re
from typing import Any

from porch.agents.events import Failed
from porch.agents.outcomes import OutcomeKind
from porch.text.late_pattern import late_pattern

LOGIN_FIX = "set GEMINI_API_KEY, or run `gemini` once and log in with the account of a company"
_STATUS_NUMBER = late_pattern(r'"code":\s*(\d{3})\b')
_WAIT = late_pattern(r"retry (?:in|after) ([0-9]{1,6}(?:\.[0-9]{1,9})?) ?s")
_TURN_LIMIT_PATTERN = r"TurnLimited|[Mm]ax(imum)? session turns"
_KIND_BY_STOP_WORDS: tuple[tuple[str, OutcomeKind], ...] = (
    (r"response was blocked", "refused"),
    (_TURN_LIMIT_PATTERN, "max_turns"),
    (r"Loop detected", "crashed"),
)
# A wrong key is called a bad argument, so words come before most numbers. What the vendor answered
# and nobody can make out is the vendor's trouble.
_KIND_BY_WORDS: tuple[tuple[str, OutcomeKind], ...] = (
    (r"API.?key|FatalAuthentication|UNAUTHENTICATED|PERMISSION_DENIED|[Ll]og ?in\b", "auth"),
    (r"try again later|[Qq]uota|RESOURCE_EXHAUSTED|[Rr]ate.?limit", "rate_limit"),
    (_TURN_LIMIT_PATTERN, "max_turns"),
    (r"FatalCancellation", "interrupted"),
    (r"FatalInput|INVALID_ARGUMENT|NOT_FOUND|[Nn]ot found|\"code\":\s*4\d\d", "bad_request"),
    (r"API Error", "server"),
)
_NOT_LOGGED_IN_MESSAGE = f"gemini is not logged in; {LOGIN_FIX}"
_KNOWN_ERROR_OUTPUT: tuple[tuple[str, OutcomeKind, str], ...] = (
    ("set an Auth method", "auth", _NOT_LOGGED_IN_MESSAGE),
    ("GEMINI_API_KEY environment variable", "auth", _NOT_LOGGED_IN_MESSAGE),
    (
        "trusted directory",
        "bad_request",
        "gemini does not trust this directory; run `gemini` in it once and trust it",
    ),
    (
        "Error resuming session",
        "bad_request",
        "gemini no longer has the conversation that it should continue",
    ),
    (
        "Error importing session",
        "bad_request",
        "gemini no longer has the conversation that it should fork",
    ),
    ("No input provided", "bad_request", "gemini was given an empty prompt"),
)


def find_stop_failure(text: str) -> Failed | None:
    """What ends a turn although the end then may be called a success."""
    return next(
        (Failed(text, kind) for words, kind in _KIND_BY_STOP_WORDS if re.search(words, text)), None
    )


def parse_failure(error: dict[str, Any]) -> Failed:
    """The error of its last line."""
    text = str(error.get("message", ""))
    kind = _failure_kind(f"{error.get('type', '')} {text}")
    wait = _WAIT.search(text) if kind == "rate_limit" else None
    return Failed(
        f"{text}; {LOGIN_FIX}" if kind == "auth" else text, kind, float(wait[1]) if wait else 0
    )


def _failure_kind(text: str) -> OutcomeKind:
    number = _STATUS_NUMBER.search(text)
    numbered = _kind_by_number(int(number[1])) if number else None
    if numbered is not None:
        return numbered
    return next((kind for words, kind in _KIND_BY_WORDS if re.search(words, text)), "crashed")


def _kind_by_number(number: int) -> OutcomeKind | None:
    if number in (401, 403):
        return "auth"
    if number == 429:
        return "rate_limit"
    return "server" if number >= 500 else None


def parse_error_output(text: str) -> tuple[OutcomeKind, str] | None:
    """What its error output says where there is no stream of events at all."""
    return next(((kind, say) for words, kind, say in _KNOWN_ERROR_OUTPUT if words in text), None)
