"""Starting, resuming and driving runs."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import porch
from porch.adapters import atomic, compiled, git, library, lock, payloads, settings
from porch.adapters.journal import Journal
from porch.adapters.where import Where
from porch.errors import UsageError
from porch.machine import facts as f
from porch.machine.effects import AGENT_SLOT
from porch.machine.records import Record
from porch.machine.state import State
from porch.operations import adopting, scripted
from porch.operations.defining import current
from porch.operations.matching import matching
from porch.operations.names import Subject, subject
from porch.operations.session import (
    Held,
    agent_called,
    held,
    joined,
    locked,
    payload_directory,
    world_of,
)
from porch.operations.wishing import who
from porch.runtime import takeover
from porch.runtime.clock import Clock
from porch.runtime.driver import Driver, Manner, Rest
from porch.runtime.handlers import performer
from porch.runtime.queue import PATIENT, Queue
from porch.runtime.world import World

OWN_FILES = ("/codev/projects/*/status*.yaml*", "/codev/executions/*/status*.yaml*", "/worktrees/")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller asks of `porch run`."""

    protocol: str
    subject: str = ""
    title: str = ""
    inputs: Mapping[str, str] | None = None
    agent: str = ""
    script: str = ""
    adopt: bool = False
    take_over: bool = False
    hands_off: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watch:
    """Who watches a drive: each record, each line of an agent, and each idle moment."""

    record: Callable[[Record, State], None] = lambda _record, _state: None
    output: Callable[[str, str], None] = lambda _effect, _text: None
    idle: Callable[[], None] = lambda: None
    started: Callable[[], None] = lambda: None
    notice: Callable[[str], None] = lambda _text: None


@dataclass(frozen=True, slots=True)
class Driven:
    """How a drive came to rest."""

    name: str
    rest: Rest
    state: State


def run(where: Where, wanted: Wanted, manner: Manner, watch: Watch) -> Driven:
    """Start a run, or go on with the one of this name; a finished one is left alone."""
    loaded = current(where, wanted.protocol)
    protocol = loaded.demand().protocol
    about = subject(where, protocol.name, protocol.subject, wanted.subject, wanted.title)
    known = _known_run(where, about, wanted)
    if known:
        return resume(where, known, wanted, manner, watch)
    if where.workspace == where.common_dir:
        raise UsageError(
            "a bare repository has no files to work on",
            fix="run it in a worktree: git worktree add ../work",
            code="bare-repository",
        )
    agent_called(wanted.agent or settings.load(where.root).agent)
    with _begun(where, about, loaded, wanted, watch) as started:
        return _drive(started, wanted, manner, watch, resumed=False)


def resume(where: Where, name: str, wanted: Wanted, manner: Manner, watch: Watch) -> Driven:
    """Take a run over and go on from the last record."""
    with held(where, name, "porch run") as found:
        state = found.book.state
        if wanted.protocol and state.run.protocol != wanted.protocol:
            raise UsageError(
                f"{name} runs {state.run.protocol}, not {wanted.protocol}",
                fix=f"`porch resume {state.run.id}`, or take another id",
                code="other-protocol",
            )
        if state.outcome:
            # A wish that was left too late is still answered, and one that is known goes.
            found.drain()
            watch.notice(f"{name} is already {state.outcome}; nothing was changed")
            return Driven(name, "ended", state)
        takeover.refuse_elsewhere(found.raws, state, wanted.take_over)
        return _drive(found, wanted, manner, watch, resumed=True)


def _known_run(where: Where, about: Subject, wanted: Wanted) -> str:
    """The run that is meant: by its name, or by an id alone, padded or not."""
    runs_ = where.runs()
    if about.run in runs_:
        return about.run
    fits = matching(runs_, wanted.subject) if wanted.subject and not wanted.title else []
    mine = [name for name in fits if _kind(name) == _kind(about.run)]
    return mine[0] if len(mine) == 1 else ""


def _kind(name: str) -> str:
    """`tick` of tick_0073_x; nothing for a project."""
    front = name.partition("-")[0]
    return front.partition("_")[0] if "_" in front else ""


@contextmanager
def _begun(
    where: Where, about: Subject, loaded: library.Loaded, wanted: Wanted, watch: Watch
) -> Iterator[Held]:
    """The first record of a run, written under its lock before anything else happens."""
    definition = loaded.demand()
    foreign = adopting.foreign(where, about, wanted.adopt)
    script = scripted.chosen(wanted.script, loaded.files[0]) if _is_scripted(wanted) else ""
    directory = where.run_dir(about.run)
    atomic.ensure_directory(directory)
    with locked(directory, about.run, "porch run", 1.0):
        journal, scan = Journal.open(os.path.join(directory, "journal.jsonl"))
        with journal:
            if scan.records:
                raise lock.busy(about.run, None)
            store = payload_directory(where, about.run)
            digest = payloads.put(store, library.canonical(definition))
            started = joined(where, about.run, journal, State(), definition, [], Clock())
            _make_room(where, about)
            compiled.keep_stamps(directory, digest, loaded.files)
            started.book.record(_first(where, about, digest, wanted, store, script))
            if foreign is not None:
                watch.notice(adopting.adopt(started, foreign))
            for finding in loaded.findings:
                watch.notice(str(finding))
            watch.notice(_where_it_works(where))
            yield started


def _where_it_works(where: Where) -> str:
    """Nobody should learn afterwards that a run worked in their own checkout."""
    known = git.find(where.workspace) if where.common_dir else None
    if known is None:
        return f"working in {where.workspace}, which is no git repository: no evidence stays fresh"
    kind = "the worktree" if known.linked else "your checkout"
    return f"working in {kind} {where.workspace} on branch {known.branch or '(none)'}"


def _is_scripted(wanted: Wanted) -> bool:
    return wanted.agent == "scripted"


def _make_room(where: Where, about: Subject) -> None:
    os.makedirs(os.path.join(where.root, about.project_dir), exist_ok=True)
    os.makedirs(os.path.join(where.workspace, about.project_dir), exist_ok=True)
    if where.common_dir:
        git.exclude(where.common_dir, OWN_FILES)


def _first(
    where: Where, about: Subject, digest: str, wanted: Wanted, store: str, script: str
) -> f.RunStarted:
    return f.RunStarted(
        run=about.run,
        id=about.id,
        title=about.title,
        protocol=wanted.protocol,
        digest=digest,
        subject=payloads.put(store, about.text.encode()) if about.text else "",
        inputs=dict(wanted.inputs or {}),
        project_dir=about.project_dir,
        # Without a main checkout there is no one place for it but the run's own directory.
        status_file="" if where.is_bare else about.status_file,
        worktree=os.path.relpath(where.workspace, where.base),
        base_commit=(git.head(where.workspace) or "") if where.common_dir else "",
        by=os.environ.get("USER", ""),
        agent=wanted.agent,
        script=payloads.put(store, script.encode()) if script else "",
    )


def _drive(found: Held, wanted: Wanted, manner: Manner, watch: Watch, resumed: bool) -> Driven:
    known = settings.load(found.where.root)
    book, run_ = found.book, found.book.state.run
    script = scripted.path(payload_directory(found.where, found.name), wanted.script, run_.script)
    world = world_of(
        found.where,
        found.name,
        known,
        lambda: book.state,
        lambda: book.definition,
        watch.output,
        script,
    )
    take_over(found, world, watch)
    if book.state.paused:
        book.record(f.WishTaken(f.Wish(id=resumption(book.state), kind="resume", who=who())))
    answers = scripted.Answers(script, found.directory)
    # A runner that does not wait for people has no use for the timers of their gates.
    hands_off = wanted.hands_off if manner.wait else (*wanted.hands_off, PATIENT)
    queue = Queue({AGENT_SLOT: known.max_running}, hands_off)
    driver = Driver(
        book, queue, performer(world), found.wishes, manner, *_watching(found, watch, answers)
    )
    answers.open(book.state)
    try:
        rest = asyncio.run(_guarded(driver, resumed, watch.started))
    except asyncio.CancelledError:
        # Asked to leave while leaving; what is still in hand is settled by the next runner.
        rest = "interrupted"
    found.pictures.picture(book.definition, book.state)
    return Driven(found.name, rest, book.state)


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
