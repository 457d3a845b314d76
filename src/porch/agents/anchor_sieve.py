"""Which anchors a long text can have in it: most of the text is thrown away before it is searched.

Letters that are frequent in prose are deleted in one pass. What is left of an anchor stands in what
is left of the text wherever the anchor itself stood; so the little that is left is searched for all
of them, and the whole text only for the few that are found there.
"""

from collections.abc import Iterable

from porch.agents.secret_forms import SecretForm

_KEPT = b"ABCDEFGHIJKLMNOPQRSTUVWXYZghjkqvxyz-_:/"
_DELETED = bytes(set(range(256)).difference(_KEPT))
# What is left of a shorter one is everywhere.
_SHORTEST_MARK = 2


class AnchorSieve:
    """The anchors of some forms, each with what is left of it."""

    def __init__(self, forms: Iterable[SecretForm]) -> None:
        self._forms = [(form, *_mark_of(form.anchor)) for form in forms]

    def near_forms(self, *texts: str) -> tuple[SecretForm, ...]:
        """Those of the forms whose anchor stands in these texts, one behind the other."""
        whole = "".join(texts).encode("utf-8", "surrogateescape")
        left = whole.translate(None, _DELETED)
        return tuple(
            [
                form
                for form, anchor, mark in self._forms
                if (not mark or mark in left) and anchor in whole
            ]
        )


def _mark_of(anchor: str) -> tuple[bytes, bytes]:
    """The anchor, and what is left of it; nothing where that says nothing."""
    whole = anchor.encode()
    mark = whole.translate(None, _DELETED)
    return whole, mark if len(mark) >= _SHORTEST_MARK else b""
