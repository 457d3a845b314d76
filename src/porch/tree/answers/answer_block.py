"""A typed answer at the end of a message: one fenced block, for agents that no form can hold.

In doubt it is none: to ask again is cheap, and a block may be a file that the agent only shows.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from porch.text.late_pattern import late_pattern
from porch.text.markdown import FencedBlock, MarkdownLine, fenced_blocks, parse_markdown_lines

_OPENS = late_pattern(r"`{3,}json(?: ([0-9a-f]+))?[ \t]*")
_CLOSES = late_pattern(r"`{3,}[ \t]*")
_KEYS = {"exit", "payload"}


class AnswerBlock(Struct, frozen=True):
    """`fault` says why a block that looks like an answer is none."""

    exit: str = ""
    payload: Any = None
    fault: str = ""


def read_answer_block(final: str, nonce: str = "") -> AnswerBlock | None:
    """The answer that ends a message; with a nonce only a block whose first line carries it."""
    lines = parse_markdown_lines(final.rstrip())
    opening = _last_block_opening(lines)
    if opening is None:
        return None
    *others, last = fenced_blocks(lines)
    said, fault = _parse_json(last.text)
    if fault:
        return AnswerBlock(fault=f"the block at its end is not valid JSON: {fault}")
    if not isinstance(said, dict) or "exit" not in said:
        return None
    return (
        AnswerBlock(fault=why)
        if (why := _answer_fault(said, opening, others, nonce))
        else _make_answer_block(said)
    )


def _last_block_opening(lines: tuple[MarkdownLine, ...]) -> re.Match[str] | None:
    """Of a block that is closed by the very last line, and that nothing is put around."""
    fences = [line for line in lines if line.kind == "fence"]
    if len(fences) % 2 or not fences or fences[-1] is not lines[-1]:
        return None
    return _OPENS.fullmatch(fences[-2].raw) if _CLOSES.fullmatch(fences[-1].raw) else None


def _answer_fault(
    said: dict[str, Any], opening: re.Match[str], others: Iterable[FencedBlock], nonce: str
) -> str:
    if (opening[1] or "") != nonce:
        return f"the block at its end must begin with ```json {nonce}".rstrip()
    if set(said) != _KEYS or not isinstance(said["exit"], str):
        return 'the block at its end must have "exit" and "payload", and nothing else'
    if not nonce and any(_is_answer(block) for block in others):
        return "it has more than one block that looks like an answer"
    return ""


def _make_answer_block(said: dict[str, Any]) -> AnswerBlock:
    return AnswerBlock(said["exit"].strip(), said["payload"])


def _is_answer(block: FencedBlock) -> bool:
    said, _ = _parse_json(block.text)
    return isinstance(said, dict) and "exit" in said


def _parse_json(text: str) -> tuple[Any, str]:
    try:
        return json.loads(
            text, object_pairs_hook=_require_unique_names, parse_constant=_refuse_constant
        ), ""
    except (ValueError, RecursionError) as error:
        return None, str(error)


def _require_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that stands there twice nobody knows which value was meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is written twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
