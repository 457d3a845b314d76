"""What status files and lists of projects call a project that has ended."""

COMPLETE = frozenset(
    {"complete", "completed", "done", "verified", "committed", "integrated", "released"}
)
GIVEN_UP = frozenset({"failed", "abandoned", "cancelled", "canceled"})
ENDED = COMPLETE | GIVEN_UP
