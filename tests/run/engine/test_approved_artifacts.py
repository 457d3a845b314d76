"""Whatever happens to approved files, nothing begins while one of them is not as approved."""

import asyncio
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.approvals import STATE, add_engine_states
from porch.machine.effects import Request
from porch.machine.records import JournalRecord
from porch.machine.state import InHand, RunState
from porch.model.definition import Definition
from porch.run.definitions import library
from porch.run.definitions.current_definition import with_default_panel
from porch.run.engine import approved_artifacts, taken_wish
from porch.run.engine.artifacts import digest_hashes, hash_artifacts
from porch.run.engine.book import Book
from porch.run.engine.driver import DriveManner, Driver, Objection
from porch.run.engine.plan_items import list_items
from porch.run.engine.queue import EffectQueue
from porch.system.clock import Clock
from porch.testing import MemoryJournal

PROJECT = "codev/projects/1-x"
PLAN = "### Phase 1: one\n- do one\n\n### Phase 2: two\n- do two\n"


@cache
def spider() -> Definition:
    file = Path(library.PACKAGED) / "spider" / "protocol.json"
    loaded = with_default_panel(library.load_protocol(str(file)), ("claude", "codex", "gemini"))
    definition = loaded.demand()
    return replace(definition, protocol=add_engine_states(definition.protocol))


class NoPictures:
    def announce(
        self, definition: Definition, state: RunState, length: int, total: str
    ) -> None: ...

    def draw(self, definition: Definition, state: RunState) -> None: ...


class MeddledRun:
    """A driver with its guard over real files; somebody edits them at every opportunity."""

    def __init__(self, root: str, seed: int):
        self.dice = random.Random(seed)
        self.root, self.store = root, f"{root}/payloads"
        self.files = [Path(root, PROJECT, name) for name in ("spec.md", "plan.md")]
        self.files[0].parent.mkdir(parents=True)
        self.book = Book(
            spider(),
            RunState(),
            journal=MemoryJournal(),
            pictures=NoPictures(),
            clock=Clock(),
            pinned=lambda _: spider(),
        )
        self.answers = 60
        self.outdated = 0
        self.driver = Driver(
            self.book,
            EffectQueue({"agent": 3}, ("stale",)),
            perform=self.perform,
            wishes=self,
            manner=DriveManner(poll_s=0.001),
            on_record=self.on_record,
            may_begin=self.guard,
        )

    def guard(self, definition: Definition, state: RunState, hand: InHand) -> Objection | bool:
        return approved_artifacts.check_approvals(
            self.root, self.store, definition.protocol, state, hand
        )

    def on_record(self, record: JournalRecord, state: RunState) -> None:
        self.outdated += isinstance(record.fact, f.ApprovalOutdated)
        for hand in record.begun:
            if hand.kind in approved_artifacts.UNGUARDED:
                continue
            for gate, known in state.approvals.items():
                now = hash_artifacts(self.root, "", known.artifacts)
                assert now == known.artifacts, f"{hand.effect} began, {gate} is outdated"
            assert not any(each.state == STATE for each in state.positions.values())

    def meddle(self) -> None:
        file = self.dice.choice(self.files)
        chance = self.dice.random()
        if chance < 0.15:
            file.write_text(f"{PLAN}{self.dice.randrange(3)}\n")
        elif chance < 0.2:
            file.unlink(missing_ok=True)
        elif chance < 0.4:
            self.restore()

    def restore(self) -> None:
        for known in self.book.state.approvals.values():
            for path in known.artifacts:
                data = approved_artifacts.read_approved_file(self.store, self.book.state, path)
                if data is not None:
                    Path(self.root, path).write_bytes(data)

    def write_own(self, position: str) -> None:
        """What an agent is there to write."""
        name = "plan.md" if position.startswith("plan") else "spec.md"
        if position.startswith(("specify", "plan")):
            Path(self.root, PROJECT, name).write_text(PLAN)

    async def perform(self, request: Request) -> f.EffectFact:
        self.meddle()
        await asyncio.sleep(0)
        if request.kind == "agent":
            self.write_own(request.position)
        return ENDS[request.kind](self, request)

    def drain(self, answer: Callable[[f.Fact], JournalRecord]) -> int:
        state = self.book.state
        protocol = self.book.definition.protocol
        asked = approved_artifacts.review_questions(self.root, self.store, protocol, state)
        for fact in list(asked):
            answer(fact)
        self.meddle()
        state = self.book.state
        decision = next(iter(state.decisions.values()), None)
        if decision is None or self.answers <= 0:
            return 0
        self.answers -= 1
        exit_ = self.dice.choice(["approved"] * 4 + ["rejected", "retry"])
        wish = f.Wish(
            id=f"w{self.answers}", kind="decide", position=decision.position, exit=exit_, text="x"
        )
        actor = spider().protocol.states[state.positions[decision.position].state].actor
        if exit_ not in [option.exit for option in getattr(actor, "options", ())]:
            return 0
        known = hash_artifacts(self.root, "", decision.artifacts)
        answer(taken_wish.take_wish(self.book, self.store, self.root, wish=wish, known=known))
        return 1


def asked(world: MeddledRun, request: Request) -> f.EffectFact:
    names = getattr(request, "artifacts", ())
    known = hash_artifacts(world.root, PROJECT, names)
    return f.DecisionAsked(effect=request.id, digest=digest_hashes(known), artifacts=known)


def turn(_: MeddledRun, request: Request) -> f.EffectFact:
    exits = [each.name for each in getattr(request, "exits", ())]
    return f.ExitAccepted(effect=request.id, exit=exits[0])


def checked(world: MeddledRun, request: Request) -> f.EffectFact:
    result = "failed" if world.dice.random() < 0.1 else "passed"
    tree = str(world.dice.randrange(3))
    return f.CheckEnded(effect=request.id, result=result, tree=tree)  # type: ignore[arg-type]


ENDS: dict[str, Callable[[MeddledRun, Request], f.EffectFact]] = {
    "agent": turn,
    "check": checked,
    "ask": asked,
    "review": lambda _, r: f.ReviewEnded(effect=r.id, verdict="APPROVE"),
    "feedback": lambda _, r: f.FeedbackWritten(effect=r.id, path="round.md"),
    "timer": lambda _, r: f.TimerFired(effect=r.id),
    "commit": lambda _, r: f.CommitEnded(effect=r.id, commit="c"),
    "items": lambda _, r: f.ItemsRead(
        effect=r.id,
        reading="headings",
        items=list_items(PLAN.encode(), "plan.md"),
        digest="d",
    ),
}


def drive(seed: int) -> MeddledRun:
    with TemporaryDirectory() as root:
        world = MeddledRun(root, seed)
        world.book.record(
            f.RunStarted(
                run="1-x", id="1", title="x", protocol="spider", digest="d", project_dir=PROJECT
            )
        )
        me = f.RunnerStarted(host="h", boot="b", pid=1, release="0")
        world.driver.begin(me)
        asyncio.run(world.driver.drive())
        return world


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_k1_no_effect_begins_while_an_approved_file_differs(seed: int) -> None:
    drive(seed)


def test_k1_that_property_sees_files_that_change() -> None:
    """It proves nothing where nobody ever edits an approved file, or nothing ever completes."""
    worlds = [drive(seed) for seed in range(8)]
    assert sum(world.outdated for world in worlds) >= 3
    assert any(world.book.state.approvals for world in worlds)
