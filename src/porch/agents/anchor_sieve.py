"""Which anchors a long text can have in it: most of the text is thrown away before it is searched.

Letters that are frequent in prose are deleted in one pass. What is left of an anchor stands in what
is left of the text wherever the anchor itself stood; so the little that is left is searched for all
of them, and the whole text only for the few that are found there. One choice of letters leaves
little of the text, another something of anchors of which the first leaves nothing; what neither
knows is looked for in the whole text.

What stands twice between two quotes is looked at once: agents tell the output of a tool twice, and
read the same file again and again. No anchor has a quote in it.
"""

from collections import Counter
from collections.abc import Iterable

from porch.agents.secret_forms import SecretForm

_KEPT = (b"ABCDEFGHIJKLMNOPQRSTUVWXYZky-_:/=?&", b'ghxz_"v1')
# What is left of a shorter one is everywhere.
_SHORTEST_MARK = 2

_DELETED = [bytes(set(range(256)).difference(kept)) for kept in _KEPT]

_Anchors = dict[str, bytes]
_Stems = dict[str, tuple[str, ...]]
QUOTE = '"'
# Anchors that begin alike are looked for together.
_ALIKE = 4


class AnchorSieve:
    """The anchors of some forms, by what is left of them."""

    def __init__(self, forms: Iterable[SecretForm]) -> None:
        self._forms = tuple(forms)
        self._anywhere = self._forms_of({""})
        self._unmarked: dict[bytes, _Anchors] = {}
        self._marked: list[dict[str, _Anchors]] = [{} for _ in _DELETED]
        for anchor in dict.fromkeys(form.anchor for form in self._forms):
            self._place(anchor)
        self._stems: list[_Stems] = []  # found when a long text is first looked at

    def _place(self, anchor: str) -> None:
        """By the choice that leaves most of it."""
        spelled = anchor.encode()
        marks = [_left_of(spelled, deleted) for deleted in _DELETED]
        longest = max(marks, key=len)
        if len(longest) < _SHORTEST_MARK:
            self._unmarked.setdefault(spelled[:_ALIKE], {})[anchor] = spelled
        else:
            self._marked[marks.index(longest)].setdefault(longest, {})[anchor] = spelled

    def near_forms(self, *texts: str) -> tuple[SecretForm, ...]:
        """Those of the forms whose anchor stands in these texts, one behind the other."""
        whole = _without_repeats("".join(texts)).encode("utf-8", "surrogatepass")
        self._stems = self._stems or [_group_by_stems(list(each)) for each in self._marked]
        near = {""}  # what has no anchor may stand anywhere
        for alike, anchors in self._unmarked.items():
            if len(anchors) == 1 or whole.find(alike) >= 0:
                near.update(_list_present(anchors, whole))
        for deleted, stems, marked in zip(_DELETED, self._stems, self._marked, strict=True):
            left = _left_of(whole, deleted)
            for mark in _list_marks(stems, left):
                near.update(_list_present(marked[mark], whole))
        return self._anywhere if len(near) == 1 else self._forms_of(near)

    def _forms_of(self, anchors: set[str]) -> tuple[SecretForm, ...]:
        return tuple([form for form in self._forms if form.anchor in anchors])


def _group_by_stems(marks: list[str]) -> _Stems:
    """Marks by two characters that they share: where these are missing, so are all of them."""
    groups: _Stems = {}
    while marks:
        pairs = Counter(pair for mark in marks for pair in _list_pairs(mark))
        stem = max(pairs, key=lambda pair: (pairs[pair], pair))
        groups[stem] = tuple(mark for mark in marks if stem in mark)
        marks = [mark for mark in marks if stem not in mark]
    return groups


def _list_pairs(mark: str) -> set[str]:
    return {mark[at : at + _SHORTEST_MARK] for at in range(len(mark) - 1)}


def _list_marks(stems: _Stems, left: str) -> list[str]:
    return [m for stem, marks in stems.items() if stem in left for m in marks if m in left]


def _without_repeats(text: str) -> str:
    return QUOTE.join(dict.fromkeys(text.split(QUOTE)))


def _left_of(whole: bytes, deleted: bytes) -> str:
    return whole.translate(None, deleted).decode("ascii")


def _list_present(anchors: _Anchors, whole: bytes) -> list[str]:
    # Asking bytes with `in` is slow: they first see whether they were asked for a number.
    return [anchor for anchor, spelled in anchors.items() if whole.find(spelled) >= 0]
