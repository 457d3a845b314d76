"""OpenAI Responses as `codex` speaks it: /v1/responses, streamed or plain."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from tests.standin.request import Request, Result, Said
from tests.standin.steps import Action, Call, Edit, Failure, Read, Run, Step
from tests.standin.wire import Stream, fresh, named, pieces

_TYPES = {400: "invalid_request_error", 401: "invalid_api_key", 429: "rate_limit_exceeded"}
# What codex puts before the person's own text, as texts of the same role.
_CONTEXT = ("<environment_context>", "# AGENTS.md", "<user_instructions>", "<permissions")


def read(path: str, body: Mapping[str, Any]) -> Request:
    form = body.get("text", {}).get("format", {})
    items = _items(body.get("input", ()))
    return Request(
        vendor="openai",
        model=body.get("model", ""),
        history=tuple(_history(items)),
        system=_system(body, items),
        body=body,
        streams=bool(body.get("stream")),
        tools=tuple(str(tool.get("name", tool["type"])) for tool in body.get("tools") or ()),
        schema=form.get("schema"),
        path=path,
    )


def _system(body: Mapping[str, Any], items: list[dict[str, Any]]) -> str:
    """Codex gives its instructions as texts of a developer, others by the field for them."""
    said = [_text(item["content"]) for item in items if item.get("role") == "developer"]
    return "\n".join((body.get("instructions") or "", *said))


def _items(given: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _history(items: list[dict[str, Any]]) -> Iterator[Said | Result]:
    rounds, was_answer = 0, False
    for item in items:
        kind = item.get("type", "message")
        is_result = kind.endswith("_output")
        is_answer = not is_result and item.get("role") in (None, "assistant")
        rounds += is_answer and not was_answer
        was_answer = is_answer
        if is_result:
            yield Result(_text(item.get("output", "")), rounds)
        elif item.get("role") == "user":
            text = _text(item["content"])
            if not text.lstrip().startswith(_CONTEXT):
                yield Said(text)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(block.get("text", "") for block in content)
    return json.dumps(content)


def failure(failure: Failure) -> dict[str, Any]:
    kind = _TYPES.get(failure.code, "server_error")
    return {"error": {"type": kind, "code": kind, "message": failure.message}}


def plain(request: Request, step: Step) -> dict[str, Any]:
    return _completed(_response(request), step, _output(request, step))


def stream(request: Request, step: Step) -> Stream:
    response = _response(request)
    output = _output(request, step)
    done = _completed(response, step, output)
    return Stream(
        head=(named({"type": "response.created", "response": response}),),
        body=tuple(_frames(step, output)),
        tail=(named({"type": "response.completed", "response": done}),),
    )


def _frames(step: Step, output: list[dict[str, Any]]) -> Iterator[bytes]:
    for index, item in enumerate(output):
        begun = {**item, "status": "in_progress"}
        at = {"output_index": index}
        if item["type"] == "message":
            begun["content"] = []
        yield named({"type": "response.output_item.added", **at, "item": begun})
        if item["type"] == "message":
            where = {**at, "item_id": item["id"], "content_index": 0}
            for piece in pieces(step):
                yield named({"type": "response.output_text.delta", **where, "delta": piece})
        yield named({"type": "response.output_item.done", **at, "item": item})


def _response(request: Request) -> dict[str, Any]:
    return {
        "id": fresh("resp_"),
        "object": "response",
        "status": "in_progress",
        "model": request.model,
        "output": [],
    }


def _completed(
    response: dict[str, Any], step: Step, output: list[dict[str, Any]]
) -> dict[str, Any]:
    usage = {
        "input_tokens": step.tokens[0],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": step.tokens[1],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sum(step.tokens),
    }
    return {**response, "status": "completed", "output": output, "usage": usage}


def _output(request: Request, step: Step) -> list[dict[str, Any]]:
    text = [_message(step)] if step.text or step.refused else []
    return text + [_call_item(*_tool(request, action)) for action in step.actions]


def _message(step: Step) -> dict[str, Any]:
    said: dict[str, Any] = {"type": "output_text", "text": step.text, "annotations": []}
    if step.refused:
        said = {"type": "refusal", "refusal": step.text or "I cannot help with that"}
    return {
        "type": "message",
        "id": fresh("msg_"),
        "role": "assistant",
        "status": "completed",
        "content": [said],
    }


def _call_item(name: str, input: Any) -> dict[str, Any]:
    # A tool of a server has two names, which stand here as one: `server/tool`.
    space, _, own = name.rpartition("/")
    call = {"call_id": fresh("call_"), "name": own, "status": "completed"}
    call |= {"namespace": space} if space else {}
    if isinstance(input, str):
        return {"type": "custom_tool_call", "id": fresh("ctc_"), **call, "input": input}
    return {"type": "function_call", "id": fresh("fc_"), **call, "arguments": json.dumps(input)}


def _tool(request: Request, action: Action) -> tuple[str, Any]:
    match action:
        case Call(tool, input):
            return tool, input
        case Edit(path, text):
            return _edit(request, path, text)
        case Read(path):
            return _run(request, shlex.join(["cat", path]))
        case Run(command):
            return _run(request, command)
        case _:
            assert_never(action)


def _edit(request: Request, path: str, text: str) -> tuple[str, Any]:
    """A patch by its own tool if there is one; it adds the file, or replaces what was there."""
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch"
    if "apply_patch" in request.tools:
        return "apply_patch", patch
    return _run(request, f"apply_patch <<'PATCH'\n{patch}\nPATCH")


# On a busy machine a command takes long; whoever is impatient would be told half of what it said.
_PATIENCE_MS = 30_000


def _run(request: Request, command: str) -> tuple[str, Any]:
    """The name of the shell depends on the model and the version; what is offered is used."""
    if "exec_command" in request.tools:
        return "exec_command", {"cmd": command, "yield_time_ms": _PATIENCE_MS}
    if "shell_command" in request.tools:
        return "shell_command", {"command": command, "timeout_ms": _PATIENCE_MS}
    return "shell", {"command": ["bash", "-c", command]}
