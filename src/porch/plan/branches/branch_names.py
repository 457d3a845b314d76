"""The names of branches on which prompts are implemented.

A prompt of `feat/x` is worked on in `feat/x--implementation-2`, or `-2-A` for a variant. Not below
`feat/x/`: git has no room for a branch under the name of another one.
"""

from porch.text.late_pattern import late_pattern

_NAME = late_pattern(r"(.+)--implementation-([1-9][0-9]{0,5})(?:-([A-Z]))?")


def feature_of(branch: str) -> tuple[str, int, str] | None:
    """The feature branch, the number and the variant (or "") of an implementation branch."""
    told = _NAME.fullmatch(branch)
    return (told[1], int(told[2]), told[3] or "") if told else None


def branch_of(feature: str, number: int, variant: str = "") -> str:
    return f"{feature}--implementation-{number}{f'-{variant}' if variant else ''}"
