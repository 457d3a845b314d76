"""A run held under its lock: journal open, state folded, definition pinned, ready to move."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

from porch.adapters import lock, payloads
from porch.adapters.journal import Journal
from porch.adapters.where import Where
from porch.errors import PorchError, StateError
from porch.machine import facts as f
from porch.machine.budgets import governed
from porch.machine.evolve import fold
from porch.machine.records import decode_all
from porch.machine.state import State
from porch.model.definition import Definition, decoded
from porch.runtime.book import Book
from porch.runtime.clock import Clock
from porch.runtime.payloading import slim
from porch.runtime.pictures import Pictures
from porch.runtime.wishing import Wishes


@dataclass(frozen=True, slots=True)
class Held:
    """What the lock holder has of one run."""

    where: Where
    name: str
    directory: str
    book: Book
    pictures: Pictures
    wishes: Wishes
    raws: list[dict[str, Any]]

    def drain(self) -> int:
        """Answer what lies in the inbox without driving anything."""
        answered = self.wishes.drain(self.book.record)
        if self.pictures.late:
            self.pictures.picture(self.book.definition, self.book.state)
        return answered


def payload_directory(where: Where, name: str) -> str:
    return os.path.join(where.run_dir(name), "payloads")


def workspace_of(where: Where, state: State) -> str:
    """The directory in which a run's agents and checks work."""
    return os.path.normpath(os.path.join(where.base, state.run.worktree or "."))


def mark_of(where: Where, name: str) -> str:
    """What every process of a run carries; two projects may have runs of one name."""
    place = os.path.join(os.path.realpath(where.state_dir), name)
    return f"porch-{sha256(place.encode()).hexdigest()[:16]}"


def definition_of(where: Where, name: str, digest: str) -> Definition:
    definition = decoded(payloads.get(payload_directory(where, name), digest))
    return replace(definition, protocol=governed(definition.protocol))


@contextmanager
def held(where: Where, name: str, what: str, wait_s: float = 1.0) -> Iterator[Held]:
    """Hold an existing run; busy is said with who holds it and since when."""
    directory = where.run_dir(name)
    with locked(directory, name, what, wait_s):
        journal, found = Journal.open(os.path.join(directory, "journal.jsonl"))
        with journal:
            if not found.records:
                raise StateError(f"the journal of {name} is empty", fix="start the run again")
            yield _opened(where, name, journal, found.records, Clock())


@contextmanager
def locked(directory: str, name: str, what: str, wait_s: float) -> Iterator[None]:
    path = os.path.join(directory, "lock")
    guard = lock.RunLock(path)
    if not guard.acquire(what, wait_s):
        raise lock.busy(name, lock.holder(path))
    try:
        yield
    finally:
        guard.release()


def _opened(
    where: Where, name: str, journal: Journal, raws: list[dict[str, Any]], clock: Clock
) -> Held:
    state = fold(State(), decode_all(raws))
    definition = definition_of(where, name, state.run.digest)
    return joined(where, name, journal, state, definition, raws, clock)


def joined(
    where: Where,
    name: str,
    journal: Journal,
    state: State,
    definition: Definition,
    raws: list[dict[str, Any]],
    clock: Clock,
) -> Held:
    """Put the parts of a held run together and mend its pictures."""
    directory = where.run_dir(name)
    definition = replace(definition, protocol=governed(definition.protocol))
    pictures = Pictures(where.root, directory, journal, clock)
    book = Book(
        definition,
        state,
        journal,
        pictures,
        clock,
        partial(definition_of, where, name),
        partial(slim, payload_directory(where, name)),
    )
    pictures.on_edited = lambda aside: book.record(f.StatusEdited(aside))
    wishes = Wishes(book, directory, workspace_of(where, state))
    if state.seq:
        _mend_pictures(book, pictures)
    return Held(where, name, directory, book, pictures, wishes, raws)


def _mend_pictures(book: Book, pictures: Pictures) -> None:
    """What a person edited is kept aside and reported; what is old or missing is drawn again."""
    try:
        aside = pictures.keep_edits(book.state)
        if aside:
            book.record(f.StatusEdited(aside))
        elif not pictures.is_current(book.state):
            pictures.draw(book.definition, book.state)
    except (PorchError, OSError) as error:
        book.trouble = str(error)
