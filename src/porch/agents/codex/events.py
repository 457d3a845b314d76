"""What the lines of `codex exec --json` mean; each is read on its own."""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from porch.agents.codex import failures, schema
from porch.agents.events import (
    Answered,
    Denied,
    Done,
    Event,
    Failed,
    ProviderWait,
    Said,
    Session,
    ToolEnded,
    ToolStarted,
    Used,
    Warned,
)
from porch.agents.json_line import parse_json_line

NAME_KEPT = 200
Json = Mapping[str, Any]


def feed(line: str) -> tuple[Event, ...]:
    """The events of one line; what cannot be read is a warning, never a word of the agent."""
    if not line.strip():
        return ()
    try:
        said = parse_json_line(line)
        read = EVENT_READERS.get(said["type"])
        return read(said) if read else ()
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return (Warned(f"not an event: {line[:NAME_KEPT]}"),)


def _read_turn_completed(said: Json) -> tuple[Event, ...]:
    usage = said.get("usage") or {}
    cached, output = int(usage.get("cached_input_tokens", 0)), int(usage.get("output_tokens", 0))
    tokens = int(usage.get("input_tokens", 0)) + output
    return Used(0.0, tokens, cached, output, is_total=True), Done()


def _read_error(said: Json) -> tuple[Event, ...]:
    """It tells its own retries as errors; after the last one it says so again, without a count."""
    message = str(said["message"])
    is_retry = message.startswith("Reconnecting")
    return (Warned(message) if is_retry else failures.parse_failure(message),)


def _make_last_failure(message: str) -> Failed:
    return replace(failures.parse_failure(message), is_last=True)


def _read_item_started(said: Json) -> tuple[Event, ...]:
    name = TOOL_DESCRIPTIONS.get(said["item"]["type"])
    return (ToolStarted(" ".join(name(said["item"]).split())[:NAME_KEPT]),) if name else ()


def _read_item_completed(said: Json) -> tuple[Event, ...]:
    item = said["item"]
    if item["type"] == "agent_message":
        return _read_message(str(item["text"]))
    if item["type"] == "error":
        return (Warned(str(item["message"])),)
    return _read_tool_end(item) if item["type"] in TOOL_DESCRIPTIONS else ()


def _read_message(text: str) -> tuple[Event, ...]:
    # A message is whole; the next one must not begin in the middle of its last line.
    found = schema.parse_answer(text)
    said = Said(text, is_whole=True)
    return (said, Answered(*found)) if found else (said,)


def _read_tool_end(item: Json) -> tuple[Event, ...]:
    """A denial shows, if at all, as a command that failed on a file system that it cannot write.

    Most denied commands end so quickly that codex tells nothing of them.
    """
    output = str(item.get("aggregated_output") or item.get("status") or "")
    why = _describe_denial(item, output)
    ended = ToolEnded(output)
    return (
        (ended, Denied(f"{TOOL_DESCRIPTIONS[item['type']](item)[:NAME_KEPT]}: {why}"))
        if why
        else (ended,)
    )


def _describe_denial(item: Json, output: str) -> str:
    if item.get("status") == "declined":
        return "declined"
    is_denied = item.get("status") == "failed" and "Read-only file system" in output
    return "the sandbox does not let it write there" if is_denied else ""


def _describe_command(item: Json) -> str:
    """Without the shell that codex puts around every command."""
    command = str(item["command"])
    try:
        words = shlex.split(command)
    except ValueError:
        return f"$ {command}"
    is_wrapped = len(words) == 3 and words[1] in ("-lc", "-c")
    return f"$ {words[2] if is_wrapped else command}"


def _describe_changes(item: Json) -> str:
    return "edit " + ", ".join(str(change["path"]) for change in item["changes"])


TOOL_DESCRIPTIONS: Mapping[str, Callable[[Json], str]] = {
    "command_execution": _describe_command,
    "file_change": _describe_changes,
    "mcp_tool_call": lambda item: f"{item['server']}.{item['tool']}",
    "collab_tool_call": lambda item: f"agents: {item['tool']}",
    "web_search": lambda item: f"search {item.get('query', '')}",
}
EVENT_READERS: Mapping[str, Callable[[Json], tuple[Event, ...]]] = {
    "thread.started": lambda said: (Session(str(said["thread_id"])),),
    # It prints whole messages only, so from here on its silence says nothing.
    "turn.started": lambda _: (ProviderWait(),),
    "item.started": _read_item_started,
    "item.completed": _read_item_completed,
    "turn.completed": _read_turn_completed,
    "turn.failed": lambda said: (_make_last_failure(str(said["error"]["message"])),),
    "error": _read_error,
}
