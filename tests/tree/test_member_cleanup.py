"""Members that settle lose their worktrees before anything else begins."""

import asyncio
from typing import Any

from porch.errors import OutsideError
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import JournalRecord
from porch.machine.state import InHand, RunState
from porch.tree.member_cleanup import MemberCleanup

EFFECT = "a/impl#1/agent/impl/0"


def record(*moves: m.Move) -> JournalRecord:
    return JournalRecord(1, "", f.EffectStopped(effect=""), moves)


def in_hand(*effects: str) -> RunState:
    hands = {e: InHand(e, e.partition("#")[0] + "#1", "agent", "impl") for e in effects}
    return RunState(in_hand=hands)


class Removal:
    def __init__(self, fails: str = "") -> None:
        self.told: list[str] = []
        self.fails = fails

    def __call__(self, names: list[str]) -> None:
        self.told += names
        if self.fails in names:
            raise OutsideError("no", fix="none")

    async def perform(self, request: Any) -> Any:
        self.told.append(request)


def drive(removal: Removal, *heard: tuple[JournalRecord, RunState]) -> list[str]:
    async def run() -> None:
        cleanup = MemberCleanup(removal)
        perform: Any = cleanup.after_cleanup(removal.perform)
        await perform("before")
        for each in heard:
            cleanup.hear(*each)
        await perform("after")

    asyncio.run(run())
    return removal.told


def test_t6_a_member_that_ended_is_gone_before_the_next_effect_begins() -> None:
    heard = (record(m.Ended("complete", "a"), m.Ended("failed", "b")), RunState())
    assert drive(Removal(), heard) == ["before", "a", "b", "after"]


def test_t6_a_member_goes_only_when_nothing_of_it_is_in_hand() -> None:
    stopped = (record(m.Settled(EFFECT)), in_hand("a.x/impl#1/agent/impl/0"))
    ended = (record(m.Ended("abandoned", "a")), in_hand(EFFECT))
    assert drive(Removal(), ended) == ["before", "after"]
    assert drive(Removal(), ended, stopped) == ["before", "a", "after"]


def test_t6_the_root_stays_where_it_is_and_one_that_cannot_go_holds_up_nobody() -> None:
    first = (record(m.Ended("complete", "a")), RunState())
    last = (record(m.Ended("complete", "b"), m.Ended("complete")), RunState())
    assert drive(Removal("a"), first, last) == ["before", "a", "b", "after"]
