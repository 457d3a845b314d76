"""The words of a phrase, made safe for an index: what is typed is never its query language.

Which of them a section has, and how much of the question that is.

Chinese, Japanese, Thai and some others are written without spaces, and Korean joins particles to
its nouns. There each character is a word of the index, and a phrase is cut into overlapping pairs
of characters, as the CJK analyzer of Lucene does: what two texts call the same shares a pair.
"""

from __future__ import annotations

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

# Thai and Lao, Burmese, Khmer, kana, Han, Hangul, and the half-width forms of kana.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# SQLite splits words at it, and no document has it.
_SEPARATOR = "\x1f"


def separate_characters(text: str) -> str:
    """The text with each character of such a script as a word of its own, for the index."""
    if text.isascii():
        return text
    # Imported late: a search for plain words must not pay for it.
    import re

    return re.sub(f"[{_UNSPACED}]", f"{_SEPARATOR}\\g<0>{_SEPARATOR}", text)


def join_characters(text: str) -> str:
    """The text as it was before `separate_characters`."""
    return text.replace(_SEPARATOR, "")


def quote_word(word: str) -> str:
    """The word as a term of a full-text query."""
    return f'"{separate_characters(word)}"'


def split_query_words(phrase: str) -> list[str]:
    """Runs of letters and digits, in lower case; what they are separated by means nothing."""
    runs = "".join(c if c.isalnum() else " " for c in phrase).lower().split()
    return [word for run in runs for word in _split_run(run)]


def _split_run(run: str) -> list[str]:
    """A run is one word, or pairs of characters where the script has no spaces."""
    if run.isascii():
        return [run]
    import re

    words = []
    for unspaced, spaced in re.findall(f"([{_UNSPACED}]+)|([^{_UNSPACED}]+)", run):
        pairs = [unspaced[at : at + 2] for at in range(len(unspaced) - 1)]
        words += [spaced] if spaced else pairs or [unspaced]
    return words


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
