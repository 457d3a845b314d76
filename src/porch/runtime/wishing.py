"""Answering wishes: the lock holder judges each against the run as it is, then removes its file."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace

from porch.adapters import inbox, payloads
from porch.errors import PorchError, StateError
from porch.machine import facts as f
from porch.machine.records import Record
from porch.machine.wishes import Refusal, refusal
from porch.runtime.artifacts import digest_of, sums
from porch.runtime.book import Book

_TEXTS = ("id", "kind", "position", "exit", "text", "digest", "who", "channel")
Answer = Callable[[f.Fact], Record]


class Wishes:
    """The inbox of one run, drained by whoever holds its lock."""

    def __init__(self, book: Book, directory: str, workspace: str):
        self._book = book
        self._inbox = os.path.join(directory, "inbox")
        self._payloads = os.path.join(directory, "payloads")
        self._workspace = workspace

    def drain(self, answer: Answer) -> int:
        """Answer every wish; one that the journal knows already is just removed."""
        answered = 0
        for path, raw in inbox.waiting(self._inbox):
            wish = self._whole(wish_of(raw))
            if wish.id not in self._book.state.wishes:
                answer(self._judged(wish))
                answered += 1
            inbox.remove(path)
        return answered

    def _whole(self, wish: f.Wish) -> f.Wish:
        """What was too long for a wish lies beside it, named by its hash."""
        digest = wish.data.get("items_ref")
        if not isinstance(digest, str):
            return wish
        try:
            items = json.loads(payloads.get(self._payloads, digest))
        except (StateError, ValueError):
            items = []
        return replace(wish, data={**wish.data, "items": items})

    def _judged(self, wish: f.Wish) -> f.WishTaken | f.WishRefused:
        """A wish that cannot even be judged is refused; it must not stop everybody behind it."""
        try:
            return self._judge(wish)
        except (PorchError, OSError, KeyError, TypeError, ValueError) as error:
            return f.WishRefused(wish, f"it cannot be read: {type(error).__name__} {error}")

    def _judge(self, wish: f.Wish) -> f.WishTaken | f.WishRefused:
        protocol, state = self._book.definition.protocol, self._book.state
        refused = refusal(protocol, state, wish, self._digest(wish)) or self._unfit(wish)
        if refused is None:
            return f.WishTaken(wish)
        return f.WishRefused(wish, refused.reason, refused.notice)

    def _unfit(self, wish: f.Wish) -> Refusal | None:
        """Another definition may govern a run only if it knows every place where that stands."""
        if wish.kind != "upgrade":
            return None
        fresh = self._book.pinned(str(wish.data["digest"])).protocol
        lost = [
            s.position for s in self._book.state.positions.values() if s.state not in fresh.states
        ]
        return Refusal(f"the new definition has no {', '.join(lost)}") if lost else None

    def _digest(self, wish: f.Wish) -> str:
        """The named artifacts as they are at this instant, not as the question found them."""
        decision = self._book.state.decisions.get(wish.position)
        if decision is None:
            return ""
        return digest_of(sums(self._workspace, "", decision.artifacts))


def wish_of(raw: Mapping[str, object]) -> f.Wish:
    """A wish as it lies in the inbox; what is not a field of the right kind is dropped."""
    texts = {key: str(raw[key]) for key in _TEXTS if isinstance(raw.get(key), str)}
    data = raw.get("data")
    return f.Wish(
        **{"id": "", "kind": "", **texts},
        as_person=raw.get("as_person") is True,
        data=data if isinstance(data, dict) else {},
    )
