"""What was used of money and tokens, as it is told and as it is written down."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Usage(Struct, frozen=True):
    """Tokens, of which some were read from a cache and some written; and money, if it is known."""

    usd: float = 0
    tokens: int = 0
    cached: int = 0
    output: int = 0

    def less(self, before: "Usage") -> "Usage":
        """Never below nothing: a vendor may start to count anew."""
        return Usage(
            max(0.0, self.usd - before.usd),
            max(0, self.tokens - before.tokens),
            max(0, self.cached - before.cached),
            max(0, self.output - before.output),
        )


def parse_usage(known: Mapping[str, Any]) -> Usage:
    """A usage that was written down; what makes no sense counts as nothing."""
    usd, *rest = (
        _positive_number(known.get(name)) for name in ("usd", "tokens", "cached", "output")
    )
    return Usage(usd, *(int(each) for each in rest))


def _positive_number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and value >= 0 else 0.0
