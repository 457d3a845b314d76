"""Which anchors a long text can have in it: most of the text is thrown away before it is searched.

Letters that are frequent in prose are deleted in one pass. What is left of an anchor stands in what
is left of the text wherever the anchor itself stood; so the little that is left is searched for all
of them, and the whole text only for the few that are found there. Each anchor is looked for once,
however many forms have it.
"""

from collections.abc import Iterable

from porch.agents.secret_forms import SecretForm

_KEPT = b"ABCDEFGHIJKLMNOPQRSTUVWXYZkxy-_:/=?&"
_DELETED = bytes(set(range(256)).difference(_KEPT))
# What is left of a shorter one is everywhere.
_SHORTEST_MARK = 2


class AnchorSieve:
    """The anchors of some forms, each with what is left of it."""

    def __init__(self, forms: Iterable[SecretForm]) -> None:
        self._forms = tuple(forms)
        self._anywhere = self._forms_of({""})
        # Shorter ones first: what holds one that is not there is not there either.
        anchors = sorted({form.anchor for form in self._forms}, key=len)
        self._anchors = [
            (
                anchor,
                *_mark_of(anchor),
                next((a for a in anchors if a != anchor and a in anchor), ""),
            )
            for anchor in anchors
        ]

    def near_forms(self, *texts: str) -> tuple[SecretForm, ...]:
        """Those of the forms whose anchor stands in these texts, one behind the other."""
        whole = "".join(texts).encode("utf-8", "surrogatepass")
        # Asking bytes with `in` is slow: they first see whether they were asked for a number.
        left, find = whole.translate(None, _DELETED).decode("ascii"), whole.find
        near = {""}  # what has no anchor may stand anywhere
        for anchor, spelled, mark, part in self._anchors:
            if mark in left and part in near and find(spelled) >= 0:
                near.add(anchor)
        return self._anywhere if len(near) == 1 else self._forms_of(near)

    def _forms_of(self, anchors: set[str]) -> tuple[SecretForm, ...]:
        return tuple([form for form in self._forms if form.anchor in anchors])


def _mark_of(anchor: str) -> tuple[bytes, str]:
    """The anchor, and what is left of it; nothing where that says nothing."""
    whole = anchor.encode()
    mark = whole.translate(None, _DELETED).decode("ascii")
    return whole, mark if len(mark) >= _SHORTEST_MARK else ""
