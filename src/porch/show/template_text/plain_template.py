"""Templates of text and plain variables, filled in as jinja2 would, without loading it.

A variable may be quoted line by line, which is what prompts do with the words of other people.
Anything that might mean more to jinja2 than it does here is left to jinja2: the answer is None.
"""

from collections.abc import Mapping, Set
from typing import Any

from porch.text.late_pattern import late_pattern

_NAME = "[A-Za-z][A-Za-z0-9_]*"
_QUOTED = r'\| *indent\("([> ]*)", *first=true, *blank=true\) *'
_VARIABLE = late_pattern(rf"\{{\{{ *({_NAME}(?:\.{_NAME})*) *(?:{_QUOTED})?\}}\}}")
_OPENING = late_pattern(r"\{[{%#]")
_LINE_END = late_pattern(r"\r\n|\r|\n")
# In an expression these are no variables, or not the caller's.
_WORDS = {
    *("and", "caller", "else", "false", "if", "in", "is", "kwargs", "loop", "none", "not", "or"),
    *("self", "super", "true", "varargs", "False", "None", "True"),
}
_PRINTED = (str, int, float, bool)


def is_plain(template: str, known: Set[str]) -> bool:
    """Whether the template has only variables, and each of them is known."""
    parts = _split_template(template)
    return parts is not None and all(
        name in known or name.partition(".")[0] in known for name in parts[1::3]
    )


def fill_plain_template(template: str, values: Mapping[str, object]) -> str | None:
    """The template with its variables filled in; None if jinja2 has to look at it."""
    parts = _split_template(template)
    if parts is None:
        return None
    filled = parts[:1]
    for name, quote, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        found = _find_value(values, name)
        if found is None or (quote is not None and type(found) is not str):
            return None
        filled += (str(found) if quote is None else _quote_lines(str(found), quote), text)
    return "".join(filled)


def _split_template(template: str) -> list[Any] | None:
    """Text, name, and how its lines begin (None where they begin as they are), in turn.

    None if there is more than that in it.
    """
    parts = _VARIABLE.split(_LINE_END.sub("\n", template))
    texts, names = parts[0::3], parts[1::3]
    # A brace beside a variable may belong to it.
    beside = any(text.endswith("{") for text in texts[:-1])
    beside = beside or any(text.startswith("}") for text in texts[1:])
    more = any(_OPENING.search(text) for text in texts)
    words = any(part in _WORDS for name in names for part in name.split("."))
    return None if beside or more or words else parts


def _quote_lines(text: str, quote: str) -> str:
    """Every line, also the first and the empty ones, as jinja2 counts lines."""
    return quote + f"\n{quote}".join(f"{text}\n".splitlines())


def _find_value(values: Mapping[str, object], dotted: str) -> object:
    """What is printed for a name; None if it is missing, or no text and no number."""
    first, *fields = dotted.split(".")
    found = values.get(first)
    for field in fields:
        # A field that is called as a method of mappings is called is read differently.
        if type(found) is not dict or field not in found or hasattr(found, field):
            return None
        found = found[field]
    return found if type(found) in _PRINTED else None
