"""Names of prompts and approaches: a number, and a letter where there are variants of it."""

from collections.abc import Sequence
from typing import NamedTuple

from porch.errors import UsageError
from porch.text.late_pattern import late_pattern

_WHOLE = late_pattern(r"([0-9]+)(?:[_-]?([A-Za-z]))?")
_NUMBER = late_pattern(r"[0-9]{1,6}")
_LETTER = late_pattern(r"[A-Za-z]")
_SPECIALIST = late_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class PromptId(NamedTuple):
    """Sorted by number, then letter; none comes first."""

    number: int
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.number}_{self.variant}" if self.variant else str(self.number)


def parse_prompt_id(words: Sequence[str]) -> PromptId:
    """`2`, `2 A`, `2_A`, `2A`, `2-a`: what people and agents write."""
    joined = [word for word in words if word]
    if len(joined) == 1 and (whole := _WHOLE.fullmatch(joined[0])):
        joined = [part for part in whole.groups() if part]
    number = joined[0] if joined else ""
    if not _NUMBER.fullmatch(number) or not int(number):
        raise UsageError(
            f"{number!r} is not a valid number",
            fix="give a whole number, 1 or more, then a letter for a variant: 2 A",
            code="invalid-number",
        )
    return PromptId(int(number), _parse_variant(joined[1:]))


def _parse_variant(words: Sequence[str]) -> str:
    if not words:
        return ""
    if len(words) > 1 or not _LETTER.fullmatch(words[0]):
        raise UsageError(
            f"{' '.join(words)!r} is not a variant letter",
            fix="a variant is one letter from A to Z",
            code="invalid-variant",
        )
    return words[0].upper()


def require_specialist_name(text: str) -> str:
    """The name becomes that of a file."""
    if not _SPECIALIST.fullmatch(text):
        raise UsageError(
            f"{text!r} is not a valid specialist name",
            fix="use at most 64 letters, digits, '-' and '_'; start with a letter or a digit",
            code="invalid-specialist",
        )
    return text
