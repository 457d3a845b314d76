"""Tuples in a schema as lists of a fixed length: no vendor's command line knows `prefixItems`."""

from typing import Any


def make_list_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The nearest list; which part is which is seen when the answer is validated by us."""
    parts = schema["prefixItems"]
    kinds = [kind for at, kind in enumerate(parts) if kind not in parts[:at]]
    items = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {"type": "array", "items": items, "minItems": len(parts), "maxItems": len(parts)}
