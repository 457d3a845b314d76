"""Anthropic Messages as `claude` speaks it: /v1/messages, streamed or plain."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from tests.standin.request import Request, Result, Said
from tests.standin.steps import Action, Call, Edit, Failure, Read, Run, Step
from tests.standin.wire import Stream, fresh, named, pieces

STRUCTURED = "StructuredOutput"
_TYPES = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}


def read(path: str, body: Mapping[str, Any]) -> Request:
    tools = {tool.get("name", ""): tool for tool in body.get("tools", ())}
    return Request(
        vendor="anthropic",
        model=body.get("model", ""),
        history=tuple(_history(body.get("messages", ()))),
        system=_text(body.get("system", "")),
        body=body,
        streams=bool(body.get("stream")),
        tools=tuple(tools),
        schema=tools.get(STRUCTURED, {}).get("input_schema"),
        path=path,
    )


def _history(messages: Any) -> Iterator[Said | Result]:
    rounds = 0
    for message in messages:
        if message["role"] == "assistant":
            rounds += 1
        if message["role"] != "user":
            continue
        for block in _blocks(message["content"]):
            if block["type"] == "tool_result":
                yield Result(_text(block.get("content", "")), rounds)
            elif block["type"] == "text" and not block["text"].startswith("<system-reminder>"):
                yield Said(block["text"])


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: Any) -> str:
    return "\n".join(block.get("text", "") for block in _blocks(content))


def failure(failure: Failure) -> dict[str, Any]:
    kind = _TYPES.get(failure.code, "api_error")
    return {"type": "error", "error": {"type": kind, "message": failure.message}}


def plain(request: Request, step: Step) -> dict[str, Any]:
    content = _content(request, step)
    ends = {"stop_reason": _stop(step, content), "usage": _usage(step)}
    return {**_message(request, step), "content": content, **ends}


def stream(request: Request, step: Step) -> Stream:
    content = _content(request, step)
    delta = {"stop_reason": _stop(step, content), "stop_sequence": None}
    return Stream(
        head=(named({"type": "message_start", "message": _message(request, step)}),),
        body=tuple(_frames(step, content)),
        tail=(
            named({"type": "message_delta", "delta": delta, "usage": _usage(step)}),
            named({"type": "message_stop"}),
        ),
    )


def _frames(step: Step, content: list[dict[str, Any]]) -> Iterator[bytes]:
    for index, block in enumerate(content):
        empty: dict[str, Any] = {"text": ""} if block["type"] == "text" else {"input": {}}
        start = {"index": index, "content_block": {**block, **empty}}
        yield named({"type": "content_block_start", **start})
        for delta in _deltas(step, block):
            yield named({"type": "content_block_delta", "index": index, "delta": delta})
        yield named({"type": "content_block_stop", "index": index})


def _deltas(step: Step, block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"type": "text_delta", "text": piece} for piece in pieces(step)]
    return [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]


def _message(request: Request, step: Step) -> dict[str, Any]:
    return {
        "id": fresh("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_usage(step), "output_tokens": 1},
    }


def _usage(step: Step) -> dict[str, int]:
    cache = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": step.tokens[0], "output_tokens": step.tokens[1], **cache}


def _stop(step: Step, content: list[dict[str, Any]]) -> str:
    if step.refused:
        return "refusal"
    return "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"


def _content(request: Request, step: Step) -> list[dict[str, Any]]:
    if step.answer is not None and STRUCTURED in request.tools:
        return [_tool_use(STRUCTURED, step.answer)]
    text = [{"type": "text", "text": step.text}] if step.text else []
    return text + [_tool_use(*_tool(action)) for action in step.actions]


def _tool_use(name: str, input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": fresh("toolu_"), "name": name, "input": input}


def _tool(action: Action) -> tuple[str, Any]:
    match action:
        case Call(tool, input):
            return tool, input
        case Edit(path, text):
            return "Write", {"file_path": path, "content": text}
        case Read(path):
            return "Read", {"file_path": path}
        case Run(command):
            return "Bash", {"command": command, "description": "as scripted"}
        case _:
            assert_never(action)
