"""A schema as `claude` takes it: one with a keyword it does not know is dropped whole, in silence.

The answer would then be prose, and the agent reminded in vain of a form that nobody gave it.
"""

from collections.abc import Mapping
from typing import Any

from porch.agents.schema_tuples import make_list_schema


def simplify_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The nearest schema without what it does not know; the answer is validated by us anyway."""
    told = {key: _simplify_part(key, value) for key, value in schema.items() if key != "$schema"}
    return make_list_schema(told) if "prefixItems" in told else told


def _simplify_part(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: simplify_schema(each) for name, each in value.items()}
    if key in ("oneOf", "anyOf", "prefixItems"):
        return [simplify_schema(each) for each in value]
    return simplify_schema(value) if isinstance(value, Mapping) else value
