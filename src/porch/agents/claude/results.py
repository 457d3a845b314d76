"""What the last line of a claude turn means; its own `success` is no evidence of any."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from porch.agents.events import Answered, Denied, Event, Failed, Final, Used, Warned
from porch.agents.outcomes import OutcomeKind

REMINDED_WARNING = "it had to be reminded of the structured answer"
CALL_SHOWN = 200
_EXACT = 1 << 53
_MAIN_ARGUMENTS = {
    "Bash": "command",
    "Edit": "file_path",
    "Write": "file_path",
    "Read": "file_path",
    "NotebookEdit": "notebook_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "Task": "description",
    "WebFetch": "url",
    "WebSearch": "query",
}
_KIND_BY_SUBTYPE: Mapping[str, OutcomeKind] = {
    "error_max_turns": "max_turns",
    "error_max_budget_usd": "budget",
    "error_max_structured_output_retries": "schema_missing",
}
_LOGIN_FIX = "log in with `claude` in a terminal, or set ANTHROPIC_API_KEY"
_SAME_PLACE_FIX = "claude continues a conversation only in the directory where it began"
# What it says without a status, and what a person can do about it; also on its error output.
_KNOWN_COMPLAINTS: tuple[tuple[str, OutcomeKind, str], ...] = (
    ("not logged in", "auth", _LOGIN_FIX),
    ("please run /login", "auth", _LOGIN_FIX),
    ("invalid api key", "auth", _LOGIN_FIX),
    ("oauth token", "auth", _LOGIN_FIX),
    ("no conversation found", "bad_request", _SAME_PLACE_FIX),
    ("is already in use", "bad_request", "another turn is using this conversation"),
    ("unknown option", "bad_request", "this version of claude is too old: update it"),
    ("cannot be used with root", "bad_request", "run as another user, or set permissions"),
    ("unable to connect", "server", "check the network and ANTHROPIC_BASE_URL"),
    ("connection error", "server", ""),
    ("overloaded", "server", ""),
)


def read_result_line(said: Mapping[str, Any]) -> Iterator[Event]:
    yield _parse_total_usage(said)
    for denial in _only_mappings(said.get("permission_denials")):
        yield Denied(describe_tool_call(str(denial.get("tool_name")), denial.get("tool_input")))
    if str(said.get("terminal_reason")).startswith("aborted"):
        # Whoever sent the signal knows whether this was a limit or a wish; claude does not.
        yield Warned("interrupted in the middle of its turn")
    elif _is_good_result(said):
        if said.get("structured_output") is not None:
            yield _parse_answer(said["structured_output"])
        yield Final(said["result"])
    else:
        yield replace(_parse_failure(said), is_last=True)


def _is_good_result(said: Mapping[str, Any]) -> bool:
    return (
        said.get("subtype") == "success"
        and said.get("is_error") is False
        and said.get("api_error_status") is None
        and said.get("stop_reason") != "refusal"
        and isinstance(said.get("result"), str)
    )


def _parse_total_usage(said: Mapping[str, Any]) -> Used:
    """By model: the plain `usage` leaves out helpers, and all that a repeated request cost.

    Each such line counts from the start of the process, hence a total.
    """
    models = _only_mappings(list((said.get("modelUsage") or {}).values()))
    fresh, written, read, output = (
        sum(_parse_count(each.get(name)) for each in models)
        for name in (
            "inputTokens",
            "cacheCreationInputTokens",
            "cacheReadInputTokens",
            "outputTokens",
        )
    )
    usd = _parse_amount(said.get("total_cost_usd"))
    return Used(usd, fresh + written + read + output, read, output, is_total=True)


def parse_message_usage(message: str, usage: Mapping[str, Any]) -> Used:
    """What one answer used, for turns that never come to a result: no money, and a lower bound."""
    fresh = _parse_count(usage.get("input_tokens"))
    written = _parse_count(usage.get("cache_creation_input_tokens"))
    read = _parse_count(usage.get("cache_read_input_tokens"))
    output = _parse_count(usage.get("output_tokens"))
    return Used(0, fresh + written + read + output, read, output, part=message)


def _only_mappings(found: object) -> list[Mapping[str, Any]]:
    """The outcome of a turn is not lost for an oddity in what surrounds it."""
    return [e for e in found if isinstance(e, Mapping)] if isinstance(found, list) else []


def _parse_amount(value: object) -> float:
    """Anything that is no amount is nothing: one NaN would make every sum of a run a NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if math.isfinite(value) and value > 0 else 0.0


def _parse_count(value: object) -> int:
    # Four of them in every message, and nearly all are such; more than this a float rounds.
    if type(value) is int and 0 <= value < _EXACT:
        return value
    return int(_parse_amount(value))


def _parse_answer(given: Any) -> Answered:
    """`{exit, payload}`, or the flat form, in which other exits' fields are null.

    The flat form's own word for the exit gives way to a field called so, by underscores.
    """
    if not isinstance(given, Mapping):
        return Answered("", given)
    names = [name for name in given if name.rstrip("_") == "exit"]
    key = max(names, key=len, default="exit")
    exit_ = given.get(key)
    name = exit_.strip() if isinstance(exit_, str) else ""
    if isinstance(given.get("payload"), Mapping):
        return Answered(name, given["payload"])
    return Answered(name, {k: v for k, v in given.items() if k != key and v is not None})


def _parse_failure(said: Mapping[str, Any]) -> Failed:
    errors = said.get("errors")
    told = errors if isinstance(errors, list) else []
    text = str(said.get("result") or "; ".join(map(str, told)) or said.get("subtype"))
    known = _KIND_BY_SUBTYPE.get(str(said.get("subtype")))
    if known is not None:
        return Failed(text, known)
    if said.get("stop_reason") == "refusal":
        return Failed(text, "refused")
    kind = _kind_by_status(said.get("api_error_status"))
    if kind is not None:
        return Failed(f"{text}; {_LOGIN_FIX}" if kind == "auth" else text, kind)
    found = find_known_complaint(text)
    return Failed(found[1], found[0]) if found else Failed(text)


def _kind_by_status(status: object) -> OutcomeKind | None:
    if not isinstance(status, int) or isinstance(status, bool):
        return None
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "rate_limit"
    return "server" if status >= 500 or status == 408 else "bad_request"


def find_known_complaint(text: str) -> tuple[OutcomeKind, str] | None:
    """The kind of a known complaint, with what to do about it behind it."""
    lower = text.lower()
    for words, kind, fix in _KNOWN_COMPLAINTS:
        if words in lower:
            return kind, f"{text}; {fix}" if fix else text
    return None


def describe_tool_call(tool: str, given: object) -> str:
    """The tool and the one argument by which a person recognises the call."""
    value = given.get(_MAIN_ARGUMENTS.get(tool, "")) if isinstance(given, dict) else None
    if not isinstance(value, str):
        return tool
    words = " ".join(value.split())
    return f"{tool}: {words}"[:CALL_SHOWN] if tool == "Bash" else f"{tool} {words}"[:CALL_SHOWN]


def join_output_texts(content: object) -> str:
    """A tool's output is a text, or a list of parts of which some are texts."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
