"""Driving a held run: take it over, perform what is wanted, and leave it drawn."""

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import porch
from porch.adapters import lock, settings
from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine.effects import AGENT_SLOT
from porch.machine.records import Record
from porch.machine.state import InHand, State
from porch.model.definition import Definition
from porch.model.protocol import Check
from porch.operations import scripted
from porch.operations.asking import Driven, Wanted, Watch
from porch.operations.employing import terms
from porch.operations.session import Held, payload_directory
from porch.operations.wishing import refuse_agents, who
from porch.operations.worlds import world_of
from porch.runtime import limits, takeover
from porch.runtime.book import Book
from porch.runtime.driver import Driver, Manner, Rest
from porch.runtime.handlers import performer
from porch.runtime.queue import PATIENT, Queue
from porch.runtime.world import World


def drive(found: Held, wanted: Wanted, manner: Manner, watch: Watch, resumed: bool) -> Driven:
    known = settings.load(found.where.root)
    book, run_ = found.book, found.book.state.run
    script = scripted.path(payload_directory(found.where, found.name), wanted.script, run_.script)
    answers = scripted.Answers(script, found.directory)
    if answers.decides:
        # A script that decides is a person's word; an agent may not write itself one.
        refuse_agents(os.environ, wanted.as_person)
    world = world_of(
        found.where,
        found.name,
        known,
        lambda: book.state,
        lambda: book.definition,
        watch.output,
        script,
        wanted.agent,
    )
    for note in (*map(str, known.notes), *_unset(known, book), *terms(world, wanted)):
        watch.notice(note)
    take_over(found, world, watch)
    if book.state.paused:
        book.record(f.WishTaken(f.Wish(id=resumption(book.state), kind="resume", who=who())))
    # A runner that does not wait for people has no use for the timers of their gates.
    hands_off = wanted.hands_off if manner.wait else (*wanted.hands_off, PATIENT)
    queue = Queue({AGENT_SLOT: known.max_running}, hands_off)
    manner = replace(manner, poll_s=_poll_s(known, book))
    on_record, on_idle = _watching(found, watch, answers)
    driver = Driver(
        book,
        queue,
        performer(world),
        found.wishes,
        manner,
        on_record,
        on_idle,
        partial(_may_begin, known),
    )
    answers.open(book.state)
    try:
        rest = asyncio.run(_guarded(driver, resumed, watch.started))
    except asyncio.CancelledError:
        # Asked to leave while leaving; what is still in hand is settled by the next runner.
        rest = "interrupted"
    tidy(found, watch)
    _draw_last(found, watch)
    return Driven(found.name, rest, book.state)


def _may_begin(
    known: settings.Settings, definition: Definition, state: State, hand: InHand
) -> f.BudgetReached | bool:
    return limits.may_begin(known, definition.protocol, state, hand)


def _unset(known: settings.Settings, book: Book) -> list[str]:
    """Checks that have no command here; nobody should learn that from a log afterwards."""
    states = book.definition.protocol.states.values()
    checks = [state.actor for state in states if isinstance(state.actor, Check)]
    wanted = {c.setting: c.name for check in checks for c in check.commands if c.setting}
    return [
        f"note: there is no [commands] {setting} in codev/config.toml, for the check '{name}'"
        for setting, name in wanted.items()
        if setting not in known.commands
    ]


def _poll_s(known: settings.Settings, book: Book) -> float:
    """How often the inbox is looked at: never more seldom than the file or the settings say."""
    limit = book.definition.protocol.limits.gate_poll_s or known.gate_poll_interval
    return min(Manner().poll_s, limit)


def tidy(found: Held, watch: Watch) -> None:
    """What is over needs no worktree; also for a runner that died before it came to this."""
    book = found.book
    if not book.definition.protocol.spec:
        return
    from porch.runtime.tree import branches

    world = world_of(
        found.where,
        found.name,
        settings.load(found.where.root),
        lambda: book.state,
        lambda: book.definition,
    )
    try:
        gone = branches.tidy(world)
    except PorchError as error:
        watch.notice(f"a worktree was left standing: {error}")
        return
    if gone:
        watch.notice(f"archived under refs/porch/archive: {', '.join(gone)}")


def _draw_last(found: Held, watch: Watch) -> None:
    try:
        found.pictures.picture(found.book.definition, found.book.state)
    except (PorchError, OSError) as error:
        found.book.trouble = str(error)
    if found.book.trouble:
        watch.notice(f"a picture of the run could not be drawn: {found.book.trouble}")


def take_over(found: Held, world: World, watch: Watch) -> None:
    """Answer the inbox, stop what a dead runner left, and say what became of it."""
    found.drain()
    left = takeover.settle(world, found.book.record)
    if left:
        watch.notice(f"{left} effects of a runner that died were settled; going on from there")


def resumption(state: State) -> str:
    """The id of the wish that a resuming runner grants itself; derived, so it never repeats."""
    return f"resume-{state.seq + 1}"


def _watching(
    found: Held, watch: Watch, answers: scripted.Answers
) -> tuple[Callable[[Record, State], None], Callable[[], None]]:
    def on_record(record: Record, state: State) -> None:
        watch.record(record, state)
        answers.after(record, state)

    def on_idle() -> None:
        if found.pictures.late:
            found.pictures.picture(found.book.definition, found.book.state)
        watch.idle()

    return on_record, on_idle


async def _guarded(driver: Driver, resumed: bool, started: Callable[[], None]) -> Rest:
    """Ctrl-C and a polite kill both stop the agents and journal that, then leave."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel if task else loop.stop)
    started()
    me = f.RunnerStarted(lock.host(), lock.boot_id(), os.getpid(), porch.__version__, resumed)
    return await driver.drive(me)
