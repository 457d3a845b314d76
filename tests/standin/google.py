"""Gemini as its command line speaks it: :generateContent and :streamGenerateContent."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from tests.standin.request import Request, Result, Said
from tests.standin.steps import Action, Call, Edit, Failure, Read, Run, Step
from tests.standin.wire import Stream, fresh, pieces, unnamed

_STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}


def read(path: str, body: Mapping[str, Any]) -> Request:
    model = re.search(r"/models/([^:]+):", path)
    config = body.get("generationConfig", {})
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    return Request(
        vendor="google",
        model=model[1] if model else "",
        history=tuple(_history(body.get("contents", ()))),
        system=_text(body.get("systemInstruction", {}).get("parts", ())),
        body=body,
        streams=":streamGenerateContent" in path,
        tools=tuple(_tools(body)),
        schema=schema,
        # The command line has no way for a person to ask for a schema: only it asks itself.
        is_chore=schema is not None,
        path=path,
    )


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in body.get("tools", ()):
        for function in tool.get("functionDeclarations", ()):
            yield function["name"]


def _history(contents: Any) -> Iterator[Said | Result]:
    rounds = 0
    for content in contents:
        rounds += content.get("role") == "model"
        for part in content.get("parts", ()):
            if "functionResponse" in part:
                yield Result(json.dumps(part["functionResponse"].get("response")), rounds)
            elif content.get("role") == "user" and _is_said(part.get("text", "")):
                yield Said(part["text"])


def _is_said(text: str) -> bool:
    return bool(text) and not text.startswith("<session_context>")


def _text(parts: Any) -> str:
    return "\n".join(part.get("text", "") for part in parts)


def failure(failure: Failure) -> dict[str, Any]:
    word = _STATUSES.get(failure.code, "INTERNAL")
    error: dict[str, Any] = {"code": failure.code, "message": failure.message, "status": word}
    if failure.retry_after:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error["details"] = [{"@type": kind, "retryDelay": f"{failure.retry_after}s"}]
    return {"error": error}


def plain(request: Request, step: Step) -> dict[str, Any]:
    parts = [{"text": step.text}] if step.text else []
    return _answer(request, step, parts + _calls(step), _finish(step))


def stream(request: Request, step: Step) -> Stream:
    texts = [unnamed(_answer(request, step, [{"text": piece}])) for piece in pieces(step)]
    last = _answer(request, step, _calls(step) or [{"text": ""}], _finish(step))
    return Stream(head=(), body=tuple(texts), tail=(unnamed(last),))


def _finish(step: Step) -> str:
    return "SAFETY" if step.refused else "STOP"


def _answer(
    request: Request, step: Step, parts: list[dict[str, Any]], finish: str = ""
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {
        "promptTokenCount": step.tokens[0],
        "candidatesTokenCount": step.tokens[1],
        "totalTokenCount": sum(step.tokens),
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": request.model,
        "responseId": fresh("gen-"),
    }


def _calls(step: Step) -> list[dict[str, Any]]:
    tools = [_tool(action) for action in step.actions]
    return [{"functionCall": {"name": name, "args": args}} for name, args in tools]


def _tool(action: Action) -> tuple[str, Any]:
    match action:
        case Call(tool, input):
            return tool, input
        case Edit(path, text):
            return "write_file", {"file_path": path, "content": text}
        case Read(path):
            return "read_file", {"file_path": path}
        case Run(command):
            return "run_shell_command", {"command": command}
        case _:
            assert_never(action)
