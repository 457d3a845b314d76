"""Answering wishes: the lock holder judges each against the run as it is, then removes its file."""

import os
from collections.abc import Callable

from porch.adapters import inbox
from porch.machine import facts as f
from porch.machine.records import Record
from porch.machine.wishes import Refusal, refusal
from porch.runtime.artifacts import digest_of, sums
from porch.runtime.book import Book

Answer = Callable[[f.Fact], Record]


class Wishes:
    """The inbox of one run, drained by whoever holds its lock."""

    def __init__(self, book: Book, directory: str, workspace: str):
        self._book = book
        self._inbox = os.path.join(directory, "inbox")
        self._workspace = workspace

    def drain(self, answer: Answer) -> int:
        """Answer every wish; one that the journal knows already is just removed."""
        answered = 0
        for path, raw in inbox.waiting(self._inbox):
            wish = wish_of(raw)
            if wish.id not in self._book.state.wishes:
                answer(self._judge(wish))
                answered += 1
            inbox.remove(path)
        return answered

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


def wish_of(raw: dict[str, object]) -> f.Wish:
    """A wish as it lies in the inbox; what is not a known field is dropped."""
    known = {name: raw[name] for name in f.Wish.__dataclass_fields__ if name in raw}
    return f.Wish(**known)  # type: ignore[arg-type]
