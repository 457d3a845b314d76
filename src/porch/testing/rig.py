"""A run without files, clock or processes."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import AGENT_SLOT, Request, as_in_hand
from porch.machine.evolve import apply_begun_effects, evolve_state, fold_records
from porch.machine.records import JournalRecord, decode_records, encode_record
from porch.machine.route import route_fact
from porch.machine.state import InHand, RunState
from porch.machine.wanted import touched_positions, wanted_effects
from porch.machine.wishes import find_refusal
from porch.model.protocol import Protocol

CheckResult = Literal["passed", "failed", "unmeasured"]
Verdict = Literal["APPROVE", "REQUEST_CHANGES", "ABSTAIN"]


class Rig:
    """A run without files, clock or processes: the test plays all actors and tells what they did.

    Effects start as a driver would start them: what is wanted, in the order in which it became
    wanted, once everything it uses is free.
    """

    def __init__(self, protocol: Protocol, slots: int = 3):
        self.protocol = protocol
        self.state = RunState()
        self.records: list[JournalRecord] = []
        self.index: dict[str, tuple[Request, ...]] = {}
        self._room = {AGENT_SLOT: slots}

    def start(self) -> "Rig":
        name = self.protocol.name
        self.tell(
            f.RunStarted(run=f"{name}/0073", id="0073", title="A title", protocol=name, digest="d0")
        )
        return self

    def tell(self, fact: f.Fact) -> JournalRecord:
        """One fact becomes one record, with what begins because of it."""
        return self.record(fact, route_fact(self.protocol, self.state, fact))

    def record(self, fact: f.Fact, moves: tuple[m.Move, ...]) -> JournalRecord:
        """A record whose moves the test itself decides."""
        seq = self.state.seq + 1
        hours, seconds = divmod(seq, 3600)
        at = f"2026-01-01T{hours:02}:{seconds // 60:02}:{seconds % 60:02}Z"
        moved = evolve_state(self.state, JournalRecord(seq, at, fact, moves))
        for position in sorted(touched_positions(self.protocol, moved, moves)):
            self.index[position] = wanted_effects(self.protocol, moved, position)
        record = JournalRecord(seq, at, fact, moves, tuple(self._beginning(moved)))
        self.state = apply_begun_effects(moved, record.begun)
        self.records.append(record)
        return record

    def _beginning(self, state: RunState) -> Iterator[InHand]:
        used = Counter(name for hand in state.in_hand.values() for name in hand.uses)
        for request in self.wanted():
            is_free = all(used[name] < self._room.get(name, 1) for name in request.uses)
            if request.id not in state.in_hand and is_free:
                used.update(request.uses)
                yield as_in_hand(request)

    def wanted(self) -> list[Request]:
        return [request for requests in self.index.values() for request in requests]

    def request(self, kind: str, name: str = "") -> Request:
        """What is wanted now, by its kind and name."""
        return next(r for r in self.wanted() if r.kind == kind and name in ("", r.name))

    def held(self, kind: str, name: str = "") -> str:
        """The id of an effect in hand, by its kind and name."""
        hands = self.state.in_hand.values()
        return next(h.effect for h in hands if h.kind == kind and name in ("", h.name))

    def unwanted(self) -> list[str]:
        """What a driver would stop: in hand, and wanted by nobody."""
        ids = {request.id for request in self.wanted()}
        return [effect for effect in self.state.in_hand if effect not in ids]

    def let_go(self) -> None:
        for effect in self.unwanted():
            self.tell(f.EffectStopped(effect=effect))

    def exit(self, name: str, **payload: object) -> JournalRecord:
        return self.tell(
            f.ExitAccepted(effect=self.held("agent"), exit=name, payload=payload, signal=name)
        )

    def check(self, name: str, result: CheckResult, tree: str = "") -> JournalRecord:
        report = f"{name} says {result}"
        return self.tell(
            f.CheckEnded(effect=self.held("check", name), result=result, report=report, tree=tree)
        )

    def review(self, name: str, verdict: Verdict, *findings: str) -> JournalRecord:
        said = f"{name} thinks"
        return self.tell(
            f.ReviewEnded(
                effect=self.held("review", name), verdict=verdict, summary=said, findings=findings
            )
        )

    def panel(self, **verdicts: Verdict) -> JournalRecord:
        """All reviewers answer, and their answers are kept in a file."""
        for name, verdict in verdicts.items():
            self.review(name, verdict, *(["fix it"] if verdict == "REQUEST_CHANGES" else []))
        return self.tell(f.FeedbackWritten(effect=self.held("feedback"), path="round.md"))

    def asked(self, digest: str = "") -> JournalRecord:
        return self.tell(f.DecisionAsked(effect=self.held("ask"), digest=digest))

    def commits(self, refused: str = "") -> JournalRecord:
        return self.tell(
            f.CommitEnded(
                effect=self.held("commit"), commit="" if refused else "c0ffee", refused=refused
            )
        )

    def fires(self, kind: str = "timer") -> JournalRecord:
        return self.tell(f.TimerFired(effect=self.held(kind)))

    def fails(self, kind: str, name: str = "", wait_s: float = 0) -> JournalRecord:
        return self.tell(
            f.EffectFailed(
                effect=self.held(kind, name), why="crashed", detail="code 1", wait_s=wait_s
            )
        )

    def reads(self, *items: str) -> JournalRecord:
        """A list was read; `id=text` gives an item a text of its own."""
        parts = [item.partition("=") for item in items]
        read = tuple(
            f.Item(id=key, title=key.title(), description="", digest=f"sum of {text}", text=text)
            for key, _, text in parts
        )
        return self.tell(
            f.ItemsRead(
                effect=self.held("items"), reading="json", items=read, digest=f"sum of {items}"
            )
        )

    def wish(self, wish: f.Wish, now: str = "") -> JournalRecord | None:
        """Granted or refused as by the holder of the lock; an id that was answered is dropped."""
        if wish.id in self.state.wishes:
            return None
        no = find_refusal(self.protocol, self.state, wish, now)
        if no is None:
            return self.tell(f.WishTaken(wish=wish))
        return self.tell(f.WishRefused(wish=wish, reason=no.reason, notice=no.notice))

    def decide(self, exit: str, text: str = "", position: str = "") -> JournalRecord | None:
        """Answer the open decision."""
        place = position or next(iter(self.state.decisions), "")
        return self.wish(
            f.Wish(
                id=f"w{self.state.seq}",
                kind="decide",
                position=place,
                exit=exit,
                text=text,
                who="ada",
            )
        )

    def ask(self, kind: str, position: str = "", **data: object) -> JournalRecord | None:
        """Any other wish."""
        return self.wish(
            f.Wish(id=f"w{self.state.seq}", kind=kind, position=position, who="ada", data=data)
        )

    def replayed(self) -> RunState:
        """The state that a reader of the journal's lines comes to."""
        lines = [json.dumps(encode_record(record)) for record in self.records]
        return fold_records(RunState(), decode_records([json.loads(line) for line in lines]))
