"""`--input name=value`, as often as it is given."""

from collections.abc import Sequence


def parse_inputs(words: Sequence[str]) -> dict[str, str]:
    from porch.errors import UsageError

    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"'{word}' is not a valid input", fix="write --input name=value")
        if name in found:
            raise UsageError(f"the input '{name}' is given twice", fix="give it once")
        found[name] = value
    return found
