"""The words of a phrase, made safe for an index: what is typed is never its query language."""

from __future__ import annotations

# Words that hold sentences together and are in every document; alone they are searched even so.
_FILLER_TEXT = (
    "a about all also an and any are as at be been but by can could did do does for from had has"
    " have he her his how i if in into is it its me my no not of on or our she should so some such"
    " than that the their them then there these they this those to us was we were what when where"
    " which who why will with would you your"
)
_FILLER_WORDS = frozenset(_FILLER_TEXT.split())
_LONGEST_QUERY = 64


def split_query_words(phrase: str) -> list[str]:
    """Runs of letters and digits, in lower case; what they are separated by means nothing."""
    return "".join(c if c.isalnum() else " " for c in phrase).lower().split()


def select_telling_words(phrase: str) -> list[str]:
    """The words that say something, in order; all of them if none does."""
    found = split_query_words(phrase)
    return [word for word in found if word not in _FILLER_WORDS] or found


def make_match_query(phrase: str) -> str:
    """A full-text query that asks for any of the words; empty if there are none."""
    unique = list(dict.fromkeys(select_telling_words(phrase)))[:_LONGEST_QUERY]
    return " OR ".join(f'"{word}"' for word in unique)
