"""A drive that begins questions to people and nothing else, so that it needs no event loop."""

import os
from collections.abc import Iterable

import porch
from porch.machine import facts as f
from porch.machine.effects import AGENT_SLOT, PATIENT, AskPerson
from porch.machine.records import JournalRecord
from porch.machine.state import InHand, RunState
from porch.model.definition import Definition
from porch.run.drive.governing_settings import govern_settings
from porch.run.drive.start_notes import list_setting_notes, tell_notes, tell_trouble
from porch.run.engine.book import Moves
from porch.run.engine.drive_options import DriveResult, DriveWatch
from porch.run.engine.effect_failures import make_failure_fact
from porch.run.engine.person_question import open_question
from porch.run.engine.queue import EffectQueue
from porch.run.engine.run_places import mark_of, payload_directory, workspace_of
from porch.run.engine.session import HeldRun
from porch.run.pinned_settings import load_settings_of_run
from porch.store import lock
from porch.system import process_marks

# What others do: the agent that calls, and whoever waits for a decision to become stale.
_OF_OTHERS = ("agent", PATIENT)


class QuestionDrive:
    """One drive of a held run; it begins questions to people and nothing else."""

    def __init__(self, found: HeldRun, watch: DriveWatch):
        self._found = found
        self._watch = watch
        self._now = load_settings_of_run(found.where, found.book.state)
        self._queue = EffectQueue({AGENT_SLOT: self._now.max_running}, _OF_OTHERS)
        self._queue.load(found.book.definition.protocol, found.book.state)
        self._asked: list[AskPerson] = []

    def has_only_questions(self) -> bool:
        wanted = (self._queue.waiting[hand.effect] for hand in self._queue.choose())
        return all(isinstance(request, AskPerson) for request in wanted)

    def run(self) -> DriveResult | None:
        """None if an answer or a wish has brought about work of the engine."""
        book, directory = self._found.book, self._found.directory
        protocol = book.definition.protocol
        known, pin_notes = govern_settings(self._found, self._now)
        notes = [*pin_notes, *list_setting_notes(known, protocol)]
        tell_notes(directory, book.state.run.id or self._found.name, notes, [], watch=self._watch)
        self._watch.protocol(protocol)
        self._reap_processes()
        self._record(_runner_started())
        self._watch.started()
        self._found.wishes.drain(self._record)
        while self._asked:
            self._record(self._ask(self._asked.pop(0)))
            self._found.wishes.drain(self._record)
        if not self.has_only_questions():
            return None
        for note in self._found.keep_last_work():
            self._watch.notice(note)
        tell_trouble(self._found.draw_left(), self._watch)
        return self._rest()

    def _reap_processes(self) -> None:
        """With one look: nothing is in hand, so whoever is left had been ended once already."""
        mark = mark_of(self._found.where, self._found.name)
        process_marks.kill_all_matching(lambda found: found.startswith(f"{mark}:"), looks=1)

    def _record(self, fact: f.Fact) -> JournalRecord:
        book = self._found.book
        record = book.record(fact, self._choose)
        self._watch.record(record, book.state)
        begun = map(self._queue.take, record.begun)
        self._asked += [request for request in begun if isinstance(request, AskPerson)]
        return record

    def _ask(self, request: AskPerson) -> f.EffectFact:
        state = self._found.book.state
        if request.id in self._queue.unwanted:
            return f.EffectStopped(effect=request.id)
        try:
            where = self._found.where
            place, store = workspace_of(where, state), payload_directory(where, state.run.name)
            return open_question(place, store, state, request)
        except Exception as error:  # noqa: BLE001 - as in a drive: a question must not be left open
            return make_failure_fact(request.id, error)

    def _choose(self, definition: Definition, moved: RunState, moves: Moves) -> Iterable[InHand]:
        self._queue.refresh(definition.protocol, moved, moves)
        chosen = self._queue.choose()
        return [h for h in chosen if isinstance(self._queue.waiting[h.effect], AskPerson)]

    def _rest(self) -> DriveResult:
        state = self._found.book.state
        if state.outcome:
            return DriveResult(self._found.name, "ended", state)
        if state.paused:
            return DriveResult(self._found.name, "stopped", state)
        return DriveResult(self._found.name, "waiting" if state.decisions else "idle", state)


def _runner_started() -> f.RunnerStarted:
    return f.RunnerStarted(
        host=lock.host_name(),
        boot=lock.read_boot_id(),
        pid=os.getpid(),
        release=porch.__version__,
        resumed=True,
    )
