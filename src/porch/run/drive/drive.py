"""Driving a held run: take it over, perform what is wanted, and leave it drawn."""

import contextlib
import os
import signal
from collections.abc import Callable, Collection
from functools import partial

from msgspec.structs import replace

import porch
from porch.errors import PorchError
from porch.git import git_directory
from porch.machine import facts as f
from porch.machine import outside
from porch.machine.effects import AGENT_SLOT, PATIENT
from porch.machine.records import JournalRecord
from porch.machine.state import InHand, Run, RunState
from porch.model.definition import Definition
from porch.run import settings
from porch.run.agents import base_commands, budget_limits
from porch.run.agents.world import World
from porch.run.drive import script_answers, takeover
from porch.run.drive.agent_preflight import describe_terms, missing_reviewers
from porch.run.drive.governing_settings import govern_settings
from porch.run.drive.live_world import LiveWorld
from porch.run.drive.start_notes import (
    describe_people_at_work,
    list_setting_notes,
    tell_notes,
    tell_trouble,
)
from porch.run.drive.unattended import UnattendedPolicy
from porch.run.drive.world_setup import make_world
from porch.run.engine import approved_artifacts
from porch.run.engine.book import Book
from porch.run.engine.caller import find_user_name, refuse_agents
from porch.run.engine.drive_options import DriveResult, DriveWatch, RunRequest
from porch.run.engine.driver import DriveManner, Driver, Objection, RestReason
from porch.run.engine.queue import EffectQueue
from porch.run.engine.run_places import payload_directory
from porch.run.engine.session import HeldRun
from porch.run.handlers import make_performer
from porch.run.handlers.products import Products, WorktreeCleanup
from porch.run.pinned_settings import load_settings_of_run
from porch.run.worktrees.restore import restore_run_worktree
from porch.store import known_runs, lock
from porch.store.run_drivers import Pulse
from porch.system.late_asyncio import asyncio

_LEAVE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def drive_run(
    found: HeldRun,
    wanted: RunRequest,
    manner: DriveManner,
    watch: DriveWatch,
    *,
    products: Products,
    resumed: bool,
) -> DriveResult:
    book, run_ = found.book, found.book.state.run
    script = script_answers.script_path(
        payload_directory(found.where, found.name),
        wanted.script,
        run_.script,
        book.definition.protocol,
    )
    answers = script_answers.DecisionScript(script, found.directory, wanted.as_person)
    if answers.decides or book.state.paused:
        # A script that decides is a person's word; what a person stopped, a person continues.
        refuse_agents(os.environ, wanted.as_person)
    # Behind every refusal: whoever may not drive pins nothing either, and what is pinned is said.
    now = load_settings_of_run(found.where, book.state)
    known, pin_notes = govern_settings(found, now)
    make = partial(
        make_world,
        found.where,
        found.name,
        state=lambda: book.state,
        definition=lambda: book.definition,
        progress=watch.output,
        script=script,
        agent=wanted.agent,
    )
    live = LiveWorld(found, known, make)
    world = live.current()
    notes = [
        *(pin_notes if resumed else ()),
        *list_setting_notes(known, book.definition.protocol),
        *missing_reviewers(world, wanted),
    ]
    tell_notes(
        found.directory,
        run_.id or found.name,
        notes,
        list(describe_terms(world, wanted)),
        watch=watch,
        at_work=describe_people_at_work(world, wanted),
    )
    watch.protocol(book.definition.protocol)
    # Also of runs that an earlier release began.
    known_runs.note_run(found.where.state_dir, found.name)
    take_over(found, world, watch, products)
    if book.state.paused:
        book.record(
            f.WishTaken(
                wish=f.Wish(
                    id=resume_wish_id(book.state),
                    kind="resume",
                    who=find_user_name(),
                    as_person=wanted.as_person,
                )
            )
        )
    _tell_known_failures(world, book, watch)
    # A runner that does not wait for people has no use for the timers of their gates.
    hands_off = wanted.hands_off if manner.wait else (*wanted.hands_off, PATIENT)
    queue = EffectQueue({AGENT_SLOT: known.max_running}, hands_off)
    manner = replace(manner, poll_s=_polling_seconds(known, book))
    cleanup = products.make_cleanup(partial(products.remove_finished_worktrees, world))
    absent = UnattendedPolicy(lambda: live.current().settings, found.directory, answers.has_answer)
    on_record, on_idle = _make_watchers(
        found,
        watch,
        answers,
        absent,
        cleanup=cleanup,
        draw_pictures=partial(products.draw_pictures, world),
    )

    def look_around() -> None:
        on_idle()
        protocol = book.definition.protocol
        back = approved_artifacts.restored_approvals(world.workspace, protocol, driver.state)
        for fact in list(back):
            driver.record(fact)

    def restore(run: Run) -> None:
        restore_run_worktree(found.where, run, watch.notice)

    driver = Driver(
        book,
        queue,
        perform=cleanup.after_cleanup(make_performer(live.current, products.handlers)),
        wishes=found.wishes,
        manner=manner,
        on_record=on_record,
        on_idle=look_around,
        may_begin=partial(_find_objection, live, restore),
        place=manner.open_place(found.directory) if manner.open_place else None,
    )
    _review_questions(world, book)
    answers.open(book.state)
    absent.open(book.definition.protocol, book.state)
    try:
        me = _runner_started(resumed, wanted.as_person, manner.open_place is not None)
        rest = _drive_from_first_record(driver, me, watch.started)
    except asyncio.CancelledError:
        # Asked to leave while leaving; what is still in hand is settled by the next runner.
        rest = "interrupted"
    for note in found.keep_last_work():
        watch.notice(note)
    remove_finished_work(found, watch, products)
    tell_trouble(found.draw_last(), watch)
    return DriveResult(found.name, rest, book.state)


def _find_objection(
    live: LiveWorld,
    restore: Callable[[Run], None],
    definition: Definition,
    state: RunState,
    hand: InHand,
) -> Objection | bool:
    """Every guard is asked before an effect begins; the first that objects is enough."""
    with contextlib.suppress(PorchError):
        # Somebody may have deleted it while the run waited. If it cannot be made, the effect fails.
        restore(state.run)
    if not outside.may_begin(state, hand.position):
        return False
    world, protocol = live.current(), definition.protocol
    store = world.payload_directory
    changed = approved_artifacts.check_approvals(world.workspace, store, protocol, state, hand)
    if changed is not True:
        return changed
    within = budget_limits.check_budget_of_work(world.settings, protocol, state, hand)
    if within is not True:
        return within
    return base_commands.check_base_commands(world, protocol, state, hand)


def _tell_known_failures(world: World, book: Book, watch: DriveWatch) -> None:
    """With the scripted agent nothing is tried before the work, and nobody is asked."""
    if not base_commands.has_known_trials(world, book.state):
        return
    from porch.run.handlers.base_check import recall_failures

    results = recall_failures(world)
    if results:
        book.record(
            f.CommandsDue(commands=base_commands.digest_commands(world.settings), results=results)
        )
    for name, line in results.items():
        watch.notice(f"{name} did not pass before the work, on the same files: {line}")


def _review_questions(world: World, book: Book) -> None:
    """Files that were put back need no answer; of those that changed again the latest is shown."""
    args = (world.workspace, world.payload_directory, book.definition.protocol, book.state)
    for fact in list(approved_artifacts.review_questions(*args)):
        book.record(fact)


def _polling_seconds(known: settings.Settings, book: Book) -> float:
    """How often the inbox is looked at: never more seldom than the file or the settings say."""
    limit = book.definition.protocol.limits.gate_poll_s or known.gate_poll_interval
    return min(DriveManner().poll_s, limit)


def remove_finished_work(found: HeldRun, watch: DriveWatch, products: Products) -> None:
    """What is over needs no worktree; also for a runner that died before it came to this."""
    book = found.book
    if not book.definition.protocol.spec:
        return
    world = make_world(
        found.where,
        found.name,
        settings.load_settings(found.where.root),
        state=lambda: book.state,
        definition=lambda: book.definition,
    )
    try:
        gone = products.remove_finished_worktrees(world)
    except PorchError as error:
        watch.notice(f"a worktree was not removed: {error}")
        return
    if gone:
        watch.notice(f"removed; the commits are kept under refs/porch/archive: {', '.join(gone)}")


def take_over(found: HeldRun, world: World, watch: DriveWatch, products: Products) -> None:
    """Answer the inbox, stop what a dead runner left, and say what became of it."""
    found.drain()
    if world.in_git:
        _put_checkouts_right(world, watch)
    left = takeover.settle_left_effects(world, found.book.record, products.question_turns)
    if left:
        watch.notice(
            f"the last porch process died; {left} unfinished steps were cleaned up, continuing"
        )
    if found.book.state.seq > 1:
        remove_finished_work(found, watch, products)
    # Before anybody compares files: what a dead runner's agent did to them is put right.
    for note in products.draw_pictures(world):
        watch.notice(note)


def _put_checkouts_right(world: World, watch: DriveWatch) -> None:
    """Where a move of a branch was cut short, by whatever run of this repository."""
    if git_directory.list_own_refs(world.workspace, "refs/porch/moving/") == []:
        return
    from porch.git import merge

    try:
        found = merge.finish_all_moves(world.workspace)
    except PorchError as error:
        watch.notice(f"a checkout could not be repaired: {error}")
        return
    if found:
        watch.notice(f"repaired after an interrupted move: {', '.join(found)}")


def resume_wish_id(state: RunState) -> str:
    """The id of the wish that a resuming runner grants itself; derived, so it never repeats."""
    return f"resume-{state.seq + 1}"


def _make_watchers(
    found: HeldRun,
    watch: DriveWatch,
    answers: script_answers.DecisionScript,
    absent: UnattendedPolicy,
    *,
    cleanup: WorktreeCleanup,
    draw_pictures: Callable[[], list[str]],
) -> tuple[Callable[[JournalRecord, RunState], None], Callable[[], None]]:
    said: list[str] = []

    def on_record(record: JournalRecord, state: RunState) -> None:
        watch.record(record, state)
        for note in draw_pictures():
            if note not in said:
                said.append(note)
                watch.notice(note)
        answers.after(record, state)
        absent.after(found.book.definition.protocol, record, state)
        cleanup.hear(record, state)

    pulse = Pulse(found.directory)

    def on_idle() -> None:
        pulse.beat()
        found.draw_due()
        watch.idle()

    return on_record, on_idle


def _runner_started(resumed: bool, as_person: bool, detached: bool) -> f.RunnerStarted:
    return f.RunnerStarted(
        host=lock.host_name(),
        boot=lock.read_boot_id(),
        pid=os.getpid(),
        release=porch.__version__,
        resumed=resumed,
        as_person=as_person,
        detached=detached,
    )


def _drive_from_first_record(
    driver: Driver, me: f.RunnerStarted, started: Callable[[], None]
) -> RestReason:
    """The first record needs no loop; whoever asks us to leave meanwhile is heard by the loop."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _LEAVE)
    try:
        driver.begin(me)
        return asyncio.run(_drive_with_signals(driver, started, before))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def _drive_with_signals(
    driver: Driver, started: Callable[[], None], mask: Collection[int]
) -> RestReason:
    """Ctrl-C and a polite kill both stop the agents and journal that, then leave."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    for number in _LEAVE:
        loop.add_signal_handler(number, task.cancel if task else loop.stop)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    started()
    return await driver.drive()
