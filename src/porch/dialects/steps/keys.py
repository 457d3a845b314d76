"""Where a step stands: numbers with dots as they are written, so that 6.10 comes after 6.9."""

import re
from dataclasses import dataclass

Numbers = tuple[int, ...]

_KEY = re.compile(r"([0-9]+(?:\.[0-9]+)*)(\+?)")
# Nobody counts that far, and Python refuses to read numbers of thousands of digits.
_MOST_DIGITS = 9


class KeySyntax(Exception):
    """A key that names no step; the text says why, the fix what to write."""

    def __init__(self, message: str, fix: str):
        super().__init__(message)
        self.message = message
        self.fix = fix


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """A step, and whether the text goes behind the one that is there."""

    numbers: Numbers
    is_append: bool = False

    def __str__(self) -> str:
        return written(self.numbers) + ("+" if self.is_append else "")


def written(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))


def parse(text: str) -> Key:
    """Only the source text counts: a YAML reader would make 6.1 of 6.10, and 8 of 010."""
    found = _KEY.fullmatch(text)
    if found is None:
        fix = "write a number (7), one with dots (6.1), or one to append to (6+)"
        raise KeySyntax(f"'{text}' is not the number of a step", fix)
    parts = found[1].split(".")
    if any(len(part) > _MOST_DIGITS for part in parts):
        raise KeySyntax(f"the number '{text}' is too large", "number the steps from 1")
    if any(part.startswith("0") for part in parts):
        fix = f"did you mean '{_mended(parts)}{found[2]}'?"
        raise KeySyntax(f"'{text}' has a zero in front or a step 0; steps count from 1", fix)
    return Key(tuple(map(int, parts)), bool(found[2]))


def numbers(text: str) -> Numbers | None:
    """The step that a number in a text means; none if no step can be called that."""
    try:
        return parse(text).numbers
    except KeySyntax:
        return None


def _mended(parts: list[str]) -> str:
    kept = [part.lstrip("0") for part in parts]
    return ".".join(part for part in kept if part) or "1"
