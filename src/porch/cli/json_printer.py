"""What `json.dumps(value, ensure_ascii=False, indent=2)` writes, without loading `re` for it.

The json package compiles expressions for reading, which a command that only writes never needs;
loading them costs as much as the search that is being answered.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def dump_json(value: object) -> str:
    try:
        from _json import encode_basestring as quoted
    except ImportError:  # pragma: no cover - an interpreter without the C part
        import json

        return json.dumps(value, ensure_ascii=False, indent=2)

    def written(value: object, margin: str) -> str:
        inner = f"{margin}  "
        match value:
            case str():
                return quoted(value)
            case None | bool():
                return {None: "null", True: "true", False: "false"}[value]
            case int() | float():
                return repr(value)
            case list():
                return _render_block("[]", [written(item, inner) for item in value], margin)
            case dict():
                rows = [f"{quoted(key)}: {written(item, inner)}" for key, item in value.items()]
                return _render_block("{}", rows, margin)
            case _:
                raise TypeError(f"{type(value).__name__} is not a JSON value")

    return written(value, "")


def _render_block(brackets: str, rows: Sequence[str], margin: str) -> str:
    body = f",\n{margin}  ".join(rows)
    return f"{brackets[0]}\n{margin}  {body}\n{margin}{brackets[1]}" if rows else brackets
