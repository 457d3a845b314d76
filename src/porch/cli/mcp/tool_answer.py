"""What a tool answers: the JSON object that its command prints, and whether it is a complaint."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class ToolAnswer(NamedTuple):
    """`data` is empty where the command printed text or nothing."""

    text: str
    data: Mapping[str, Any] | None
    is_error: bool
    exit_code: int


def read_answer(code: int, printed: bytes, complained: bytes) -> ToolAnswer:
    """A wait that is not over, or a claim that is not true, is an answer and no error."""
    text = printed.decode("utf-8", "replace").strip()
    data = _read_object(text)
    if data is not None:
        return ToolAnswer(json.dumps(data, ensure_ascii=False), data, "error" in data, code)
    said = complained.decode("utf-8", "replace").strip()
    return ToolAnswer(text or said or f"exit code {code}", None, bool(code) and not text, code)


def _read_object(text: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
