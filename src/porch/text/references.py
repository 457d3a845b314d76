"""Texts of others on a page that acts on what it reads: they call nobody and close no issue.

A request is often the text of an issue, which anybody may have written. In the body of a pull
request `@team` sends mail, and `Closes #1` closes an issue once it is merged. A mark without width
behind the first letter takes the meaning and leaves the words. An HTML comment or `<details>` would
hide what stands below it, so it is taken from markup in the same way.
"""

import re

from porch.text.late_pattern import late_pattern

_MARK = "\u200b"
_MENTION = late_pattern(r"@(?=[A-Za-z0-9])")
_MARKUP = late_pattern(r"<(?=[A-Za-z/!?])")
_CLOSING = late_pattern(
    r"\b(c|f|r)(?=(?:lose[sd]?|ix(?:e[sd])?|esolve[sd]?)\b:?\s+(?:[^\s#]*#[0-9]|gh-[0-9]|https?://))",
    re.IGNORECASE,
)


def defuse_references(text: str) -> str:
    """The same words; nobody is called, and nothing is closed."""
    return _CLOSING.sub(rf"\1{_MARK}", _MENTION.sub(f"@{_MARK}", text))


def defuse_markup(text: str) -> str:
    """The same words; none of them hides what comes after them."""
    return _MARKUP.sub(f"<{_MARK}", text)
