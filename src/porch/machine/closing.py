"""A typed answer at the end of a message: one fenced block, for agents that no form can hold.

In doubt it is none: to ask again is cheap, and a block may be a file that the agent only shows.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from porch.model.markdown import Fenced, Line, fenced_blocks, lines_of

_OPENS = re.compile(r"`{3,}json(?: ([0-9a-f]+))?[ \t]*")
_CLOSES = re.compile(r"`{3,}[ \t]*")
_KEYS = {"exit", "payload"}


@dataclass(frozen=True, slots=True)
class Closing:
    """`fault` says why a block that looks like an answer is none."""

    exit: str = ""
    payload: Any = None
    fault: str = ""


def read_closing(final: str, nonce: str = "") -> Closing | None:
    """The answer that ends a message; with a nonce only a block whose first line carries it."""
    lines = lines_of(final.rstrip())
    opening = _opening_of_last(lines)
    if opening is None:
        return None
    *others, last = fenced_blocks(lines)
    said, fault = _parsed(last.text)
    if fault:
        return Closing(fault=f"the block at its end is no JSON: {fault}")
    if not isinstance(said, dict) or "exit" not in said:
        return None
    return Closing(fault=why) if (why := _wrong(said, opening, others, nonce)) else _closing(said)


def _opening_of_last(lines: tuple[Line, ...]) -> re.Match[str] | None:
    """Of a block that is closed by the very last line, and that nothing is put around."""
    fences = [line for line in lines if line.kind == "fence"]
    if len(fences) % 2 or not fences or fences[-1] is not lines[-1]:
        return None
    return _OPENS.fullmatch(fences[-2].raw) if _CLOSES.fullmatch(fences[-1].raw) else None


def _wrong(
    said: dict[str, Any], opening: re.Match[str], others: Iterable[Fenced], nonce: str
) -> str:
    if (opening[1] or "") != nonce:
        return f"the block at its end must begin with ```json {nonce}".rstrip()
    if set(said) != _KEYS or not isinstance(said["exit"], str):
        return 'the block at its end must hold "exit" and "payload", and nothing else'
    if not nonce and any(_is_answer(block) for block in others):
        return "it holds more than one block that looks like an answer"
    return ""


def _closing(said: dict[str, Any]) -> Closing:
    return Closing(said["exit"].strip(), said["payload"])


def _is_answer(block: Fenced) -> bool:
    said, _ = _parsed(block.text)
    return isinstance(said, dict) and "exit" in said


def _parsed(text: str) -> tuple[Any, str]:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_unknown), ""
    except (ValueError, RecursionError) as error:
        return None, str(error)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that stands there twice nobody knows which value was meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _unknown(name: str) -> Any:
    raise ValueError(f"{name} is no value")
