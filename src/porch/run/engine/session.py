"""A run held under its lock: journal open, state folded, wishes answered, ready to move."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import PorchError, StateError
from porch.machine import facts as f
from porch.machine.budgets import add_budget_state
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.machine.wishes import Refusal, find_refusal
from porch.model.definition import Definition
from porch.run.engine.artifacts import digest_hashes, hash_artifacts
from porch.run.engine.book import Book
from porch.run.engine.folded_journal import FoldedJournal, JournalReader
from porch.run.engine.pictures import RunPictures
from porch.run.engine.pinned_definition import read_pinned_definition
from porch.run.engine.run_places import mark_of, payload_directory, workspace_of
from porch.store import inbox, lock, payloads
from porch.store.journal import Journal
from porch.store.large_payloads import slim_fact
from porch.store.where import ProjectPaths
from porch.system.clock import Clock

__all__ = [
    "HeldRun",
    "assemble_held_run",
    "hold_run",
    "lock_run",
    "mark_of",
    "payload_directory",
    "read_pinned_definition",
    "workspace_of",
]
_TEXTS = ("id", "kind", "position", "exit", "text", "digest", "who", "channel")
RecordFact = Callable[[f.Fact], JournalRecord]


class WishInbox:
    """The inbox of one run, drained by whoever holds its lock."""

    def __init__(self, book: Book, directory: str, workspace: str):
        self._book = book
        self._inbox = os.path.join(directory, "inbox")
        self._payloads = os.path.join(directory, "payloads")
        self._workspace = workspace

    def drain(self, answer: RecordFact) -> int:
        """Answer every wish; one that the journal knows already is just removed."""
        answered = 0
        for path, raw in inbox.collect_wishes(self._inbox):
            wish = self._whole(parse_wish(raw))
            if wish.id not in self._book.state.wishes:
                answer(self._judged(wish))
                answered += 1
            inbox.remove_wish(path)
        return answered

    def _whole(self, wish: f.Wish) -> f.Wish:
        """What was too long for a wish lies beside it, named by its hash."""
        digest = wish.data.get("items_ref")
        if not isinstance(digest, str):
            return wish
        try:
            items = json.loads(payloads.read_payload(self._payloads, digest))
        except (StateError, ValueError):
            items = []
        return replace(wish, data={**wish.data, "items": items})

    def _judged(self, wish: f.Wish) -> f.WishTaken | f.WishRefused:
        """A wish that cannot even be judged is refused; it must not stop everybody behind it."""
        try:
            return self._judge(wish)
        except (PorchError, OSError, KeyError, TypeError, ValueError) as error:
            return f.WishRefused(
                wish=wish, reason=f"it cannot be read: {type(error).__name__} {error}"
            )

    def _judge(self, wish: f.Wish) -> f.WishTaken | f.WishRefused:
        protocol, state = self._book.definition.protocol, self._book.state
        refused = find_refusal(protocol, state, wish, self._digest(wish)) or self._unfit(wish)
        if refused is None:
            return f.WishTaken(wish=wish)
        return f.WishRefused(wish=wish, reason=refused.reason, notice=refused.notice)

    def _unfit(self, wish: f.Wish) -> Refusal | None:
        """Another definition may govern a run only if it knows every place where that stands."""
        if wish.kind != "upgrade":
            return None
        fresh = self._book.pinned(str(wish.data["digest"])).protocol
        lost = [
            s.position for s in self._book.state.positions.values() if s.state not in fresh.states
        ]
        return Refusal(f"the new protocol has no {', '.join(lost)}") if lost else None

    def _digest(self, wish: f.Wish) -> str:
        """The named artifacts as they are at this instant, not as the question found them."""
        decision = self._book.state.decisions.get(wish.position)
        if decision is None:
            return ""
        return digest_hashes(hash_artifacts(self._workspace, "", decision.artifacts))


def parse_wish(raw: Mapping[str, object]) -> f.Wish:
    """A wish as it lies in the inbox; what is not a field of the right kind is dropped."""
    texts = {key: str(raw[key]) for key in _TEXTS if isinstance(raw.get(key), str)}
    data = raw.get("data")
    return f.Wish(
        **{"id": "", "kind": "", **texts},
        as_person=raw.get("as_person") is True,
        data=data if isinstance(data, dict) else {},
    )


class HeldRun(Struct, frozen=True):
    """What the lock holder has of one run."""

    where: ProjectPaths
    name: str
    directory: str
    book: Book
    pictures: RunPictures
    wishes: WishInbox
    folded: FoldedJournal | None = None  # nothing of a run that begins

    def records_after(self, seq: int) -> Sequence[dict[str, Any]]:
        """The records behind number `seq`, as the journal has them now."""
        return self.folded.records_after(seq, self.book.state.seq) if self.folded else ()

    def drain(self) -> int:
        """Answer what lies in the inbox without driving anything."""
        return self.wishes.drain(self.book.record)

    def draw_late(self) -> None:
        """Whoever leaves a run leaves its pictures up to date, and its snapshot."""
        self._draw(self.pictures.draw_now)
        self.pictures.keep_snapshot(self.book.state, is_left=True)

    def draw_due(self) -> None:
        """Whoever has nothing to do for now draws what was put off, if it is time for it."""
        self._draw(self.pictures.draw)

    def _draw(self, draw: Callable[[Definition, RunState], None]) -> None:
        if not self.pictures.late:
            return
        try:
            draw(self.book.definition, self.book.state)
        except (PorchError, OSError) as error:
            self.book.trouble = str(error)


@contextmanager
def hold_run(
    where: ProjectPaths, name: str, what: str, wait_s: float = 1.0, *, is_whole: bool = False
) -> Iterator[HeldRun]:
    """Hold an existing run; busy is said with who holds it and since when.

    Who drives a run (`is_whole`) reads and checks all of its journal, others from a snapshot on.
    """
    directory = where.run_dir(name)
    with lock_run(directory, name, what, wait_s):
        reader = JournalReader(directory, name, is_whole)
        journal, found = Journal.open(os.path.join(directory, "journal.jsonl"), reader.scan)
        with journal:
            if not found.seq:
                raise StateError(f"the journal of {name} is empty", fix="start the run again")
            opened = _open_held_run(where, name, journal, reader.fold(found), Clock())
            try:
                yield opened
            finally:
                opened.draw_late()


@contextmanager
def lock_run(directory: str, name: str, what: str, wait_s: float) -> Iterator[None]:
    path = os.path.join(directory, "lock")
    guard = lock.RunLock(path)
    if not guard.acquire(what, wait_s):
        raise lock.run_busy_error(name, lock.read_lock_holder(path))
    try:
        yield
    finally:
        guard.release()


def _open_held_run(
    where: ProjectPaths, name: str, journal: Journal, folded: FoldedJournal, clock: Clock
) -> HeldRun:
    state = folded.state
    definition = read_pinned_definition(where, name, state.run.digest)
    return assemble_held_run(where, name, journal, state, definition, clock, folded)


def assemble_held_run(
    where: ProjectPaths,
    name: str,
    journal: Journal,
    state: RunState,
    definition: Definition,
    clock: Clock,
    folded: FoldedJournal | None = None,
) -> HeldRun:
    """Put the parts of a held run together and mend its pictures."""
    directory = where.run_dir(name)
    definition = replace(definition, protocol=add_budget_state(definition.protocol))
    known = folded.began.seq if folded else 0
    pictures = RunPictures(where.root, directory, journal, clock, snapshot_seq=known)
    book = Book(
        definition,
        state,
        journal,
        pictures,
        clock,
        partial(read_pinned_definition, where, name),
        partial(slim_fact, payload_directory(where, name)),
    )
    pictures.on_edited = lambda aside: book.record(f.StatusEdited(aside=aside))
    wishes = WishInbox(book, directory, workspace_of(where, state))
    if state.seq:
        _refresh_pictures(book, pictures)
    return HeldRun(where, name, directory, book, pictures, wishes, folded)


def _refresh_pictures(book: Book, pictures: RunPictures) -> None:
    """What a person edited is kept aside and reported; what is old or missing is drawn again."""
    try:
        aside = pictures.keep_edits(book.state)
        if aside:
            book.record(f.StatusEdited(aside=aside))
        elif not pictures.is_current(book.state):
            pictures.draw(book.definition, book.state)
        else:
            pictures.keep_snapshot(book.state)
    except (PorchError, OSError) as error:
        book.trouble = str(error)
