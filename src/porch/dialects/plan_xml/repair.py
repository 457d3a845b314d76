"""Mending a plan that is no XML any more: text that was never escaped, tags that closed too early.

Nothing is guessed about structure: where this does not help, a person has to look.
"""

import re
from bisect import bisect_left
from itertools import pairwise

from porch.text.late_pattern import late_pattern

# Elements that hold a text and nothing else; whatever looks like a tag in them is text.
_TEXTS = (
    "description", "criterion", "goal", "ref", "item", "file", "check", "impact", "probability",
    "mitigation", "target_date", "deliverables", "track_name", "owner", "Goal", "Description",
    "Criterion",
)  # fmt: skip
_NAMES = "|".join(_TEXTS)
_OPENING = late_pattern(rf"<((?:\w+:)?(?:{_NAMES}))(?:\s[^<>]*)?(?<!/)>")
_CLOSING = late_pattern(rf"</((?:\w+:)?(?:{_NAMES}))\s*>")
_KEPT = late_pattern(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>", re.DOTALL)
_BARE = late_pattern(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
_TASK_TAG = late_pattern(r"</?(task|phase)(?=[\s/>])[^<>]*>")
# A sign before which no tag can begin: people write `a < b` and `<=`.
_LESS = late_pattern(r"<(?![A-Za-z_/!?])")


def repair_plan_text(text: str) -> str:
    """The same text with its prose escaped; a text that is fine stays as it is, byte by byte."""
    parts, at = [], 0
    for kept in _KEPT.finditer(text):
        parts += [_repair_piece(text[at : kept.start()]), kept[0]]
        at = kept.end()
    return "".join((*parts, _repair_piece(text[at:])))


def _repair_piece(text: str) -> str:
    text = _escape_texts(_BARE.sub("&amp;", text))
    return _open_tasks(_LESS.sub("&lt;", text))


def _escape_texts(text: str) -> str:
    """Up to the next end of the same name; one look at each sign, however many never end."""
    ends: dict[str, list[int]] = {}
    for closing in _CLOSING.finditer(text):
        ends.setdefault(closing[1], []).append(closing.start())
    parts, at = [], 0
    for opening in _OPENING.finditer(text):
        mine = ends.get(opening[1], [])
        number = bisect_left(mine, opening.end())
        if opening.start() >= at and number < len(mine):
            parts += [text[at : opening.end()], _escape_tags(text[opening.end() : mine[number]])]
            at = mine[number]
    return "".join((*parts, text[at:]))


def _escape_tags(text: str) -> str:
    return text.replace("<", "&lt;")


def _open_tasks(text: str) -> str:
    """A tag that closed itself, and is closed once more behind what belongs to it."""
    tags = list(_TASK_TAG.finditer(text))
    parts, at = [], 0
    for tag, following in pairwise(tags):
        is_closed_twice = tag[0].endswith("/>") and following[0].startswith(f"</{tag[1]}")
        if is_closed_twice:
            parts += [text[at : tag.start()], tag[0][:-2].rstrip() + ">"]
            at = tag.end()
    return "".join((*parts, text[at:]))
