"""Where a step stands: numbers with dots as they are written, so that 6.10 comes after 6.9."""

from msgspec import Struct

from porch.text.late_pattern import late_pattern

StepNumbers = tuple[int, ...]

_KEY = late_pattern(r"([0-9]+(?:\.[0-9]+)*)(\+?)")
# Nobody counts that far, and Python refuses to read numbers of thousands of digits.
_MOST_DIGITS = 9


class InvalidStepKey(Exception):
    """A key that names no step; the text says why, the fix what to write."""

    def __init__(self, message: str, fix: str):
        super().__init__(message)
        self.message = message
        self.fix = fix


class StepKey(Struct, frozen=True, order=True):
    """A step, and whether the text goes behind the one that is there."""

    numbers: StepNumbers
    is_append: bool = False

    def __str__(self) -> str:
        return format_numbers(self.numbers) + ("+" if self.is_append else "")


def format_numbers(numbers: StepNumbers) -> str:
    return ".".join(map(str, numbers))


def parse_step_key(text: str) -> StepKey:
    """Only the source text counts: a YAML reader would make 6.1 of 6.10, and 8 of 010."""
    found = _KEY.fullmatch(text)
    if found is None:
        fix = "write a number (7), one with dots (6.1), or one to append to (6+)"
        raise InvalidStepKey(f"'{text}' is not a step number", fix)
    parts = found[1].split(".")
    if any(len(part) > _MOST_DIGITS for part in parts):
        raise InvalidStepKey(f"the number '{text}' is too large", "number the steps from 1")
    if any(part.startswith("0") for part in parts):
        fix = f"did you mean '{_suggest_key(parts)}{found[2]}'?"
        raise InvalidStepKey(f"'{text}' has a leading zero or a step 0; steps count from 1", fix)
    return StepKey(tuple(map(int, parts)), bool(found[2]))


def parse_step_numbers(text: str) -> StepNumbers | None:
    """The step that a number in a text means; none if no step can be called that."""
    try:
        return parse_step_key(text).numbers
    except InvalidStepKey:
        return None


def _suggest_key(parts: list[str]) -> str:
    kept = [part.lstrip("0") for part in parts]
    return ".".join(part for part in kept if part) or "1"
