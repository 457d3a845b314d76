"""The words of a phrase, made safe for an index: what is typed is never its query language.

Which of them a section has, and how much of the question that is.
"""

from __future__ import annotations

from porch.knowledge.unspaced_text import separate_characters, split_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.knowledge.index import Index


_MOST_WORDS = 64

# Words that hold sentences together and are in every document; alone they are searched even so.
_FILLER_TEXT = (
    "a about all also an and any are as at be been but by can could did do does for from had has"
    " have he her his how i if in into is it its me my no not of on or our she should so some such"
    " than that the their them then there these they this those to us was we were what when where"
    " which who why will with would you your"
)
_FILLER_WORDS = frozenset(_FILLER_TEXT.split())
_LONGEST_QUERY = 64


def quote_word(word: str) -> str:
    """The word as a term of a full-text query."""
    return f'"{separate_characters(word)}"'


def split_query_words(phrase: str) -> list[str]:
    """Runs of letters and digits, in lower case; what they are separated by means nothing."""
    runs = "".join(c if c.isalnum() else " " for c in phrase).lower().split()
    return [word for run in runs for word in split_run(run)]


def select_telling_words(phrase: str) -> list[str]:
    """The words that say something, in order; all of them if none does."""
    found = split_query_words(phrase)
    return [word for word in found if word not in _FILLER_WORDS] or found


def make_match_query(phrase: str) -> str:
    """A full-text query that asks for any of the words; empty if there are none."""
    unique = list(dict.fromkeys(select_telling_words(phrase)))[:_LONGEST_QUERY]
    return " OR ".join(map(quote_word, unique))


class QuestionWords:
    """The telling words of each phrasing; a word weighs by the share of sections without it."""

    __slots__ = ("_index", "_phrases", "_places", "_sections")

    def __init__(self, index: Index, phrases: list[str]):
        self._index = index
        self._phrases = [
            list(dict.fromkeys(select_telling_words(each)))[:_MOST_WORDS] for each in phrases
        ]
        self._sections = max(1, index.count_all_sections())
        self._places: dict[str, set[int]] = {}

    def find_in(self, section: int) -> list[str]:
        """In the order in which they were asked for."""
        asked = dict.fromkeys(word for words in self._phrases for word in words)
        return [word for word in asked if section in self._sections_with(word)]

    def score(self, section: int) -> float:
        """1: all of a phrasing, with a word that hardly any other section has; 0: nothing."""
        return max((self._score_phrase(words, section) for words in self._phrases), default=0.0)

    def _score_phrase(self, words: list[str], section: int) -> float:
        matched = [self._weigh(word) for word in words if section in self._sections_with(word)]
        if not matched:
            return 0.0
        return sum(matched) / sum(map(self._weigh, words)) * max(matched)

    def _weigh(self, word: str) -> float:
        return 1 - max(0, len(self._sections_with(word)) - 1) / self._sections

    def _sections_with(self, word: str) -> set[int]:
        if word not in self._places:
            self._places[word] = self._index.sections_with(quote_word(word))
        return self._places[word]
