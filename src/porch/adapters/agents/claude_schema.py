"""A schema as `claude` takes it: one with a keyword it does not know is dropped whole, in silence.

The answer would then be prose, and the agent reminded in vain of a form that nobody gave it.
"""

from collections.abc import Mapping
from typing import Any

from porch.adapters.agents.tuples import as_list


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The nearest schema without what it does not know; the answer is validated by us anyway."""
    told = {key: _part(key, value) for key, value in schema.items() if key != "$schema"}
    return as_list(told) if "prefixItems" in told else told


def _part(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: plain(each) for name, each in value.items()}
    if key in ("oneOf", "anyOf", "prefixItems"):
        return [plain(each) for each in value]
    return plain(value) if isinstance(value, Mapping) else value
