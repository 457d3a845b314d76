"""Names of prompts and approaches: a number, and a letter where there are variants of it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from porch.errors import UsageError

_WHOLE = re.compile(r"([0-9]+)(?:[_-]?([A-Za-z]))?")
_NUMBER = re.compile(r"[0-9]{1,6}")
_LETTER = re.compile(r"[A-Za-z]")
_SPECIALIST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class PromptId(NamedTuple):
    """Sorted by number, then letter; none comes first."""

    number: int
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.number}_{self.variant}" if self.variant else str(self.number)


def parse(words: Sequence[str]) -> PromptId:
    """`2`, `2 A`, `2_A`, `2A`, `2-a`: what people and agents write."""
    joined = [word for word in words if word]
    if len(joined) == 1 and (whole := _WHOLE.fullmatch(joined[0])):
        joined = [part for part in whole.groups() if part]
    number = joined[0] if joined else ""
    if not _NUMBER.fullmatch(number) or not int(number):
        raise UsageError(
            f"{number!r} is no number of a prompt or an approach",
            fix="give a whole number from 1 on, and a letter behind it for a variant: 2 A",
            code="invalid-number",
        )
    return PromptId(int(number), _variant(joined[1:]))


def _variant(words: Sequence[str]) -> str:
    if not words:
        return ""
    if len(words) > 1 or not _LETTER.fullmatch(words[0]):
        raise UsageError(
            f"{' '.join(words)!r} is no letter of a variant",
            fix="a variant is one letter from A to Z",
            code="invalid-variant",
        )
    return words[0].upper()


def specialist(text: str) -> str:
    """The name becomes that of a file."""
    if not _SPECIALIST.fullmatch(text):
        raise UsageError(
            f"{text!r} cannot be the name of a specialist",
            fix="use letters, digits, '-' and '_', at most 64, beginning with a letter or digit",
            code="invalid-specialist",
        )
    return text
