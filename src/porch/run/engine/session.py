"""A run held under its lock: journal open, state folded, wishes answered, ready to move."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import PorchError, StateError
from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.records import JournalRecord, RawRecord
from porch.machine.state import RunState
from porch.machine.wishes import Refusal, find_refusal, is_approval
from porch.model.definition import Definition
from porch.model.protocol import TRACK
from porch.run.engine.artifacts import (
    digest_hashes,
    hash_artifacts,
    list_unreadable_artifacts,
)
from porch.run.engine.book import Book
from porch.run.engine.caller import name_of_channel, name_of_sender
from porch.run.engine.folded_journal import FoldedJournal, JournalReader
from porch.run.engine.pictures import RunPictures
from porch.run.engine.pinned_definition import read_pinned_definition
from porch.run.engine.run_places import (
    mark_of,
    payload_directory,
    require_known_place,
    require_own_directory,
    require_own_places,
    workspace_of,
)
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
_TEXTS = ("id", "kind", "position", "exit", "text", "digest", "channel")
RecordFact = Callable[[f.Fact], JournalRecord]


class WishInbox:
    """The inbox of one run, drained by whoever holds its lock."""

    def __init__(self, book: Book, directory: str, find_workspace: Callable[[], str]):
        self._book = book
        self._inbox = os.path.join(directory, "inbox")
        self._payloads = os.path.join(directory, "payloads")
        self._find_workspace = find_workspace
        self._was_over = bool(book.state.outcome)

    @property
    def _workspace(self) -> str:
        """Where the run works; the first record of a run says it, so nobody knows it before."""
        return self._find_workspace()

    def drain(self, answer: RecordFact) -> int:
        """Answer every wish; one that the journal knows already is just removed."""
        answered = 0
        for found in inbox.collect_wishes(self._inbox):
            wish = self._whole(parse_wish(found.raw, found.owner))
            if wish.id not in self._book.state.wishes:
                answer(self._judged(wish))
                answered += 1
            inbox.remove_wish(found.path)
        self.tell_late_changes(answer)
        return answered

    def tell_late_changes(self, record: RecordFact) -> None:
        """Once, where a run ends: nothing begins behind its last step, so nobody was asked."""
        protocol, state = self._book.definition.protocol, self._book.state
        if self._was_over or state.outcome != "complete":
            return
        self._was_over = True
        from porch.run.engine.approved_artifacts import late_changes

        found = late_changes(self._workspace, self._payloads, protocol, state)
        for fact in list(found):
            record(fact)

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
        if wish.kind == "done":
            # The command looks at the work, keeps it, and knows whose agent calls it.
            return f.WishRefused(wish=wish, reason="work is reported with `porch done` only")
        protocol, state = self._book.definition.protocol, self._book.state
        known = self._artifacts(wish)
        digest = digest_hashes(known) if wish.position in state.decisions else ""
        refused = (
            find_refusal(protocol, state, wish, digest)
            or self._refuse_unreadable(wish, known)
            or self._unfit(wish)
        )
        if refused is None:
            from porch.run.engine import taken_wish  # most drives begin without a wish

            return taken_wish.take_wish(
                self._book, self._payloads, self._workspace, wish=wish, known=known
            )
        return f.WishRefused(wish=wish, reason=refused.reason, notice=refused.notice)

    def _unfit(self, wish: f.Wish) -> Refusal | None:
        """Another definition may govern a run only if it knows every place where that stands."""
        if wish.kind != "upgrade":
            return None
        fresh = self._book.pinned(str(wish.data["digest"])).protocol
        self._require_settings(wish)
        lost = [
            s.position for s in self._book.state.positions.values() if s.state not in fresh.states
        ]
        return Refusal(f"the new protocol has no {', '.join(lost)}") if lost else None

    def _require_settings(self, wish: f.Wish) -> None:
        """Settings that nobody can read later would end the run for good."""
        digest = wish.data.get("settings")
        if digest and not isinstance(
            json.loads(payloads.read_payload(self._payloads, str(digest))), dict
        ):
            raise ValueError("its settings cannot be read")

    def _refuse_unreadable(self, wish: f.Wish, known: Mapping[str, str]) -> Refusal | None:
        """Nobody approves what nobody can have read."""
        protocol, state = self._book.definition.protocol, self._book.state
        if not known or not is_approval(protocol, state, wish):
            return None
        asked = state.decisions[wish.position].artifacts
        odd = list_unreadable_artifacts(protocol.subject, asked, known)
        return Refusal(f"it cannot be approved: {'; '.join(odd)}") if odd else None

    def _artifacts(self, wish: f.Wish) -> dict[str, str]:
        """The named artifacts as they are at this instant, not as the question found them."""
        asked = self._book.state.decisions if wish.kind == "decide" else {}
        decision = asked.get(wish.position)
        return hash_artifacts(self._workspace, "", decision.artifacts) if decision else {}


def parse_wish(raw: Mapping[str, object], owner: int) -> f.Wish:
    """A wish as it lies in the inbox; what is not a field of the right kind is dropped.

    The name in a wish is a claim: it is kept beside who really owns the file, if it is another.
    So is the way by which it says it came; of that only what porch knows is believed.
    """
    texts = {key: str(raw[key]) for key in _TEXTS if isinstance(raw.get(key), str)}
    data, claimed = raw.get("data"), str(raw.get("who") or "")
    channel = name_of_channel(texts.get("channel", ""), texts.get("exit", ""))
    who = name_of_sender(owner, channel)
    return f.Wish(
        **{"id": "", "kind": "", **texts, "channel": channel},
        who=who,
        claimed=claimed if claimed != who else "",
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

    def records_after(self, seq: int) -> Sequence[RawRecord]:
        """The records behind number `seq`, as the journal has them now."""
        return self.folded.records_after(seq, self.book.state.seq) if self.folded else ()

    def drain(self) -> int:
        """Answer what lies in the inbox without driving anything."""
        answered = self.wishes.drain(self.book.record)
        # The last work of a track has its statuses in it: whoever draws them keeps it then.
        if self.book.definition.protocol.subject != TRACK:
            self.keep_last_work()
        return answered

    def keep_last_work(self) -> tuple[str, ...]:
        """Where a run has ended on a branch of its own; returns what could not be committed."""
        state = self.book.state
        if not state.outcome or not state.has_own_branch:
            return ()
        from porch.run.engine.run_commits import commit_last_work

        return commit_last_work(self.where, state).notes

    def draw_late(self) -> None:
        """Whoever leaves a run leaves its pictures up to date, and its snapshot."""
        self._draw(self.pictures.draw_now)
        self.pictures.keep_snapshot(self.book.state, is_left=True)
        self.pictures.close()

    def draw_due(self) -> None:
        """Whoever has nothing to do for now draws what was put off, if it is time for it."""
        self._draw(self.pictures.draw)

    def draw_left(self) -> str:
        """Whoever has moved a run for an instant draws what is not drawn, and says the same."""
        self.pictures.late |= bool(self.book.trouble)
        self._draw(self.pictures.draw_now)
        return self.book.trouble

    def draw_last(self) -> str:
        """Whoever has driven a run draws it, drawn or not; returns what prevented that."""
        self.pictures.late = True
        self._draw(self.pictures.draw_now)
        return self.book.trouble

    def _draw(self, draw: Callable[[Definition, RunState], None]) -> None:
        if not self.pictures.late:
            return
        try:
            draw(self.book.definition, self.book.state)
        except (PorchError, OSError) as error:
            self.book.trouble = str(error)


def _note_head(where: ProjectPaths, state: RunState) -> None:
    if state.has_own_branch:
        from porch.run.engine.run_commits import note_head

        note_head(where, state)


@contextmanager
def hold_run(
    where: ProjectPaths, name: str, what: str, wait_s: float = 1.0, *, is_whole: bool = False
) -> Iterator[HeldRun]:
    """Hold an existing run; busy is said with who holds it and since when.

    Who drives a run (`is_whole`) reads and checks all of its journal, others from a snapshot on.
    """
    require_known_place(where)
    directory = where.run_dir(name)
    with lock_run(directory, name, what, wait_s):
        reader = JournalReader(directory, name, is_whole)
        journal, found = Journal.open(os.path.join(directory, "journal.jsonl"), reader.scan)
        with journal:
            if not found.seq:
                raise StateError(f"the journal of {name} is empty", fix="start the run again")
            opened = _open_held_run(
                where, name, journal=journal, folded=reader.fold(found), clock=Clock()
            )
            if not is_whole:
                opened.pictures.put_off()
            try:
                yield opened
            finally:
                opened.draw_late()


@contextmanager
def lock_run(directory: str, name: str, what: str, wait_s: float) -> Iterator[None]:
    require_own_directory(directory)
    path = os.path.join(directory, "lock")
    guard = lock.RunLock(path)
    if not guard.acquire(what, wait_s):
        raise lock.run_busy_error(name, lock.read_lock_holder(path))
    try:
        yield
    finally:
        guard.release()


def _open_held_run(
    where: ProjectPaths, name: str, *, journal: Journal, folded: FoldedJournal, clock: Clock
) -> HeldRun:
    state = folded.state
    definition = read_pinned_definition(where, name, state.run.digest)
    return assemble_held_run(
        where,
        name,
        journal=journal,
        state=state,
        definition=definition,
        clock=clock,
        folded=folded,
    )


def assemble_held_run(
    where: ProjectPaths,
    name: str,
    *,
    journal: Journal,
    state: RunState,
    definition: Definition,
    clock: Clock,
    folded: FoldedJournal | None = None,
) -> HeldRun:
    """Put the parts of a held run together and mend its pictures."""
    directory = where.run_dir(name)
    require_own_places(where, state)
    definition = replace(definition, protocol=add_engine_states(definition.protocol))
    known = folded.began.seq if folded else 0
    pictures = RunPictures(
        where.root, directory, journal, clock, snapshot_seq=known, base=where.base
    )
    book = Book(
        definition,
        state,
        journal=journal,
        pictures=pictures,
        clock=clock,
        pinned=partial(read_pinned_definition, where, name),
        slim=partial(_prepare_fact, payload_directory(where, name)),
        note_end=partial(_note_head, where),
    )
    pictures.on_edited = lambda aside: book.record(f.StatusEdited(aside=aside))
    wishes = WishInbox(book, directory, lambda: workspace_of(where, book.state))
    if state.seq:
        _refresh_pictures(book, pictures)
    return HeldRun(where, name, directory, book, pictures, wishes, folded)


def _prepare_fact(payloads_: str, fact: f.Fact) -> f.Fact:
    """A fact as it may be kept: without secrets first, for half of one is not found."""
    from porch.run.engine.fact_redaction import redact_fact

    return slim_fact(payloads_, redact_fact(fact))


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
