"""The lines of which a transcript of claude has most, read for what counts in them and no more.

Half of such a line tells the output of a tool again, in a form for programs. What is read here has
the usual form in all that counts; anything else is left to the general way.
"""

from typing import Annotated, Any

from msgspec import UNSET, Meta, MsgspecError, Struct, UnsetType
from msgspec.json import Decoder

from porch.agents.claude.results import describe_tool_call, join_output_texts
from porch.agents.events import Event, Said, ToolEnded, ToolStarted, Used

_Count = Annotated[int, Meta(ge=0, lt=1 << 53)]


class _Usage(Struct):
    input_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0
    output_tokens: _Count = 0


class _Block(Struct):
    type: str
    text: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    input: Any = None
    content: Any = None
    is_error: Any = None


class _Message(Struct):
    content: list[_Block]
    id: str = ""
    model: Any = None
    usage: _Usage | None = None


class _AssistantLine(Struct, tag_field="type", tag="assistant"):
    message: _Message
    error: Any = None
    parent_tool_use_id: Any = None


class _UserLine(Struct, tag_field="type", tag="user"):
    message: _Message


_MessageLine = _AssistantLine | _UserLine
_decode = Decoder(_MessageLine).decode


def read_message_line(line: str) -> tuple[Event, ...] | None:
    """The events of a usual message; None for anything else."""
    try:
        said: _MessageLine = _decode(line)
    except (MsgspecError, UnicodeEncodeError, RecursionError):
        return None
    if isinstance(said, _UserLine):
        return _read_tool_results(said.message.content)
    if said.error or said.message.model == "<synthetic>":
        return None
    return _read_message(said.message, said.parent_tool_use_id is not None)


def _read_tool_results(content: list[_Block]) -> tuple[Event, ...] | None:
    events: list[Event] = []
    for block in content:
        if block.type != "tool_result" or block.is_error:
            return None
        events.append(ToolEnded(join_output_texts(block.content)))
    return tuple(events)


def _read_message(message: _Message, is_helper: bool) -> tuple[Event, ...] | None:
    usage = message.usage
    events: list[Event] = [] if usage is None else [_count_tokens(message.id, usage)]
    for block in message.content:
        if block.type == "text":
            if type(block.text) is not str:
                return None
            if not is_helper:
                events.append(Said(block.text))
        elif block.type == "tool_use":
            if type(block.name) is not str:
                return None
            events.append(ToolStarted(describe_tool_call(block.name, block.input)))
    return tuple(events)


def _count_tokens(message: str, usage: _Usage) -> Used:
    read, output = usage.cache_read_input_tokens, usage.output_tokens
    tokens = usage.input_tokens + usage.cache_creation_input_tokens + read + output
    return Used(0, tokens, read, output, part=message)
