"""What a turn used of money and tokens, also where an agent counts from a conversation's start."""

from dataclasses import dataclass, replace

from porch.runtime.roster import Post


@dataclass(frozen=True, slots=True)
class Usage:
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


def of_turn(post: Post, told: Usage, before: Usage) -> Usage:
    """What one turn used, out of what it told and what its conversation had used before it.

    Told again, by whoever reads the same transcript after a crash, it comes out the same.
    """
    mine = told.less(before) if post.agent.COUNTS_ALL else told
    return replace(mine, usd=post.cost(mine.usd, mine.tokens, mine.cached, mine.output))
