"""Which anchors stand in a long text, by the letters of them that are rare.

To look for one letter costs half of looking for a word, and most anchors share a few letters. So
there is one search for each of these letters, which reads on only where the letter stands. What it
finds is certain: frequent words that merely look like an anchor cost nothing more.
"""

import re
from collections.abc import Iterable, Iterator

from porch.agents.secret_forms import SecretForm

# How much of a hundred letters of prose, code and JSON are these; of all others there are fewer.
_SHARES = {
    letter: share
    for share, letters in (
        *((18, " "), (8, "e"), (6, "t"), (5, "rno"), (4.5, "s"), (4, "ai"), (2.5, "dl")),
        *((2, 'phcf"'), (1.5, "mu.,_"), (1, "gw:"), (0.6, "ybk=-v")),
    )
    for letter in letters
}
_RARE_SHARE = 0.2
# What a search costs besides, measured in such shares; and where that of a whole word is cheaper.
_SEARCH_COST = 0.8
_WORD_COST = 1.5
# Making the searches takes as long as looking for each anchor in so much text.
_SHORT_TEXT = 1 << 16

_MOST_MADE = 8
# So many places are looked at one by one before a pattern looks for all of them.
_FEW = 12
_made: "dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[_KeySearch, ...]]" = {}


class AnchorSieve:
    """The anchors of some forms, and the searches for them."""

    def __init__(self, forms: Iterable[SecretForm]) -> None:
        self._forms = tuple(forms)
        self._words = tuple(dict.fromkeys(form.anchor for form in self._forms if form.anchor))
        loose = {form.anchor for form in self._forms if not form.is_word_end}
        self._ended = tuple(word for word in self._words if word not in loose)
        self._longest = max(map(len, self._words), default=1)
        self._searched = 0

    @property
    def overlap(self) -> int:
        """How much of a block has to be looked at again with the next: an anchor may be cut."""
        return self._longest

    def near_forms(self, blocks: Iterable[bytes]) -> tuple[SecretForm, ...]:
        """Those of the forms whose anchor stands in one of these blocks."""
        near = {""}  # what has no anchor may stand anywhere
        for block in blocks:
            self._searched += len(block)
            near |= self._list_all(block) if self._is_worth_searches() else self._try_each(block)
        return tuple([form for form in self._forms if form.anchor in near])

    def _is_worth_searches(self) -> bool:
        return self._searched > _SHORT_TEXT or (self._words, self._ended) in _made

    def _try_each(self, block: bytes) -> set[str]:
        return {word for word in self._words if block.find(word.encode()) >= 0}

    def _list_all(self, block: bytes) -> set[str]:
        near: set[str] = set()
        for search in _make_searches(self._words, self._ended):
            near.update(*search.iterate_words(block))
        return near


def _make_searches(words: tuple[str, ...], ended: tuple[str, ...]) -> "tuple[_KeySearch, ...]":
    """Made once: every turn of a run has the same secrets."""
    found = _made.get((words, ended))
    if found is None:
        found = tuple(_KeySearch(*each, frozenset(ended)) for each in _share_letters(words))
        if len(_made) >= _MOST_MADE:
            _made.clear()
        _made[words, ended] = found
    return found


def _share_letters(words: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """A few letters, each with words that have it; one by itself for a word that has none."""
    left = list(words)
    while left:
        letters = sorted({letter for word in left for letter in word})
        costs = {each: _cost(each) / sum(each in word for word in left) for each in letters}
        letter = min(letters, key=costs.__getitem__)
        if costs[letter] > _WORD_COST:
            yield from ((word, [word]) for word in left)
            return
        yield letter, [word for word in left if letter in word]
        left = [word for word in left if letter not in word]


def _cost(letter: str) -> float:
    return _SEARCH_COST + _SHARES.get(letter, _RARE_SHARE)


class _KeySearch:
    """Words that share a key, and how they are found by it."""

    def __init__(self, key: str, words: list[str], ended: frozenset[str]) -> None:
        """Nothing but the key is taken, for another may stand in what follows.

        A group that is empty tells which of the words it was; others may stand at the same place.
        """
        ways = [_way(word, word.index(key) + len(key), word in ended) for word in words]
        front = re.escape(key) + _neighbours(key, words)
        self._key = key.encode()
        self._pattern = re.compile(f"{front}(?={'|'.join(ways)})".encode())
        self._words = tuple([o for o in words if _can_both_stand(w, o, key)] for w in words)

    def iterate_words(self, block: bytes) -> Iterator[list[str]]:
        """The words at each place; one letter is found in no time where there are few of it."""
        at = block.find(self._key)
        for _ in range(_FEW):
            if at < 0:
                return
            match = self._pattern.match(block, at)
            if match:
                yield self._words[(match.lastindex or 1) - 1]
            at = block.find(self._key, at + 1)
        if at >= 0:
            for match in self._pattern.finditer(block, at):
                yield self._words[(match.lastindex or 1) - 1]


def _neighbours(key: str, words: list[str]) -> str:
    """One look at the letter behind the key, or before it: nearly always that is enough."""
    parts = [word.partition(key) for word in words]
    if all(behind for _, _, behind in parts):
        return f"(?=[{re.escape(''.join({behind[0] for _, _, behind in parts}))}])"
    if all(before for before, _, _ in parts):
        return (
            f"(?<=[{re.escape(''.join({before[-1] for before, _, _ in parts}))}]{re.escape(key)})"
        )
    return ""


def _way(word: str, behind: int, is_ended: bool) -> str:
    end = "(?![A-Za-z_])" if is_ended else ""
    return f"{re.escape(word[behind:])}(?<={re.escape(word)}){end}()"


def _can_both_stand(word: str, other: str, key: str) -> bool:
    """Whether they agree wherever they overlap, if both have the key at the same place."""
    at, there = word.index(key), other.index(key)
    back = min(at, there)
    front, theirs = word[at - back :], other[there - back :]
    size = min(len(front), len(theirs))
    return front[:size] == theirs[:size]
