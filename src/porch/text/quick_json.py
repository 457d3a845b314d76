"""Reading JSON as `json` does, without loading what that needs to write it and to tell of faults.

For the commands that people and agents call most: `json` costs most of a bare Python. What does
the reading there is this same part of it, in C; where that is not to be had, `json` is loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Scan = Callable[[str, int], tuple[Any, int]]

_BLANKS = " \t\n\r"
_CONSTANTS = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}


class _Terms:
    """How values are read: as `json` reads them where nobody asks for anything else."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__


def _find_scanner() -> Scan:
    try:
        from _json import make_scanner

        return make_scanner(_Terms)  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):
        import json

        return json.JSONDecoder().raw_decode


_scan = _find_scanner()


def parse_first_value(text: str) -> Any:
    """The value with which a text begins; ValueError if it begins with none."""
    try:
        return _scan(text, 0)[0]
    except StopIteration as error:
        raise ValueError("no JSON") from error


def parse_value(text: str) -> Any:
    """The value of a whole text; ValueError if it is none."""
    told = text.strip(_BLANKS)
    try:
        value, end = _scan(told, 0)
    except StopIteration as error:
        raise ValueError("no JSON") from error
    if end != len(told):
        raise ValueError("more than one value of JSON")
    return value
