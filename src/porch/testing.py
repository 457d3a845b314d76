"""Stand-ins and tools for tests, ours and those of people who write protocols."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from porch.adapters import chain
from porch.adapters.journal import Scan
from porch.errors import StateError
from porch.machine import facts as f
from porch.machine.effects import AGENT_SLOT, Request
from porch.machine.evolve import begin, evolve, fold
from porch.machine.records import Record, decode_all, encode
from porch.machine.route import route
from porch.machine.state import InHand, State
from porch.machine.wanted import touched, wanted
from porch.machine.wishes import refusal
from porch.model.protocol import Protocol

CheckResult = Literal["passed", "failed", "unmeasured"]
Verdict = Literal["APPROVE", "REQUEST_CHANGES", "ABSTAIN"]


class MemoryJournal:
    """A journal in memory with the manners of the one on the disk, bytes and refusals alike."""

    def __init__(self) -> None:
        self.seq = 0
        self.sum = chain.START
        self.data = b""

    @property
    def length(self) -> int:
        return len(self.data)

    def append(self, expected_seq: int, body: Mapping[str, object]) -> None:
        if expected_seq != self.seq + 1:
            raise StateError(
                f"the journal is at record {self.seq}, so {expected_seq} is not the next",
                code="journal-moved",
            )
        line, self.sum = chain.line(expected_seq, self.sum, body)
        self.seq, self.data = expected_seq, self.data + line

    def scan(self) -> Scan:
        return chain.read(self.data)[0]

    def close(self) -> None:
        """Nothing to give back; here so that it fits where the other one does."""


def unmeasured() -> dict[str, str]:
    """The environment without coverage: a process that is killed, or may write no more, would
    leave half a measurement behind, and pays for it with a slow start."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def kill_at(
    point: str, command: Sequence[str], timeout_s: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run a command that kills itself at the crash point `name`, or `name:N` for its N-th hit."""
    return subprocess.run(  # noqa: S603 - the command is the test's own
        list(command),
        env={**unmeasured(), "PORCH_CRASH_AT": point},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )


def kill_python_at(point: str, script: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return kill_at(point, [sys.executable, "-c", script, *arguments])


class Rig:
    """A run without files, clock or processes: the test plays all actors and tells what they did.

    Effects start as a driver would start them: what is wanted, in the order in which it became
    wanted, once everything it uses is free.
    """

    def __init__(self, protocol: Protocol, slots: int = 3):
        self.protocol = protocol
        self.state = State()
        self.records: list[Record] = []
        self.index: dict[str, tuple[Request, ...]] = {}
        self._room = {AGENT_SLOT: slots}

    def start(self) -> "Rig":
        name = self.protocol.name
        self.tell(f.RunStarted(f"{name}/0073", "0073", "A title", name, digest="d0"))
        return self

    def tell(self, fact: f.Fact) -> Record:
        """One fact becomes one record, with what begins because of it."""
        seq = self.state.seq + 1
        hours, seconds = divmod(seq, 3600)
        at = f"2026-01-01T{hours:02}:{seconds // 60:02}:{seconds % 60:02}Z"
        moves = route(self.protocol, self.state, fact)
        moved = evolve(self.state, Record(seq, at, fact, moves))
        self._index(moved, sorted(touched(self.protocol, moved, moves)))
        record = Record(seq, at, fact, moves, tuple(self._beginning(moved)))
        self.state = begin(moved, record.begun)
        self.records.append(record)
        return record

    def _index(self, state: State, positions: list[str]) -> None:
        for position in positions:
            requests = wanted(self.protocol, state, position)
            if requests:
                self.index[position] = requests
            else:
                self.index.pop(position, None)

    def _beginning(self, state: State) -> Iterator[InHand]:
        used = Counter(name for hand in state.in_hand.values() for name in hand.uses)
        for request in self.wanted():
            is_free = all(used[name] < self._room.get(name, 1) for name in request.uses)
            if request.id not in state.in_hand and is_free:
                used.update(request.uses)
                yield InHand(request.id, request.position, request.kind, request.name, request.uses)

    def wanted(self) -> list[Request]:
        return [request for requests in self.index.values() for request in requests]

    def request(self, kind: str, name: str = "") -> Request:
        """The one request of a kind that is wanted now."""
        found = [r for r in self.wanted() if r.kind == kind and name in ("", r.name)]
        if not found:
            raise LookupError(f"no {kind} {name} among {[r.id for r in self.wanted()]}")
        return found[0]

    def held(self, kind: str, name: str = "") -> str:
        """The id of an effect in hand, by its kind and name."""
        hands = self.state.in_hand.values()
        found = [h.effect for h in hands if h.kind == kind and name in ("", h.name)]
        if not found:
            raise LookupError(f"no {kind} {name} among {list(self.state.in_hand)}")
        return found[0]

    def unwanted(self) -> list[str]:
        """What a driver would stop: in hand, and wanted by nobody."""
        ids = {request.id for request in self.wanted()}
        return [effect for effect in self.state.in_hand if effect not in ids]

    def let_go(self) -> None:
        for effect in self.unwanted():
            self.tell(f.EffectStopped(effect))

    def exit(self, name: str, **payload: object) -> Record:
        return self.tell(f.ExitAccepted(self.held("agent"), name, payload, signal=name))

    def check(self, name: str, result: CheckResult, tree: str = "") -> Record:
        report = f"{name} says {result}"
        return self.tell(f.CheckEnded(self.held("check", name), result, report, tree))

    def review(self, name: str, verdict: Verdict, *findings: str) -> Record:
        said = f"{name} thinks"
        return self.tell(f.ReviewEnded(self.held("review", name), verdict, said, findings))

    def panel(self, **verdicts: Verdict) -> Record:
        """All reviewers answer, and their answers are kept in a file."""
        for name, verdict in verdicts.items():
            self.review(name, verdict, *(["fix it"] if verdict == "REQUEST_CHANGES" else []))
        return self.tell(f.FeedbackWritten(self.held("feedback"), "round.md"))

    def asked(self, digest: str = "") -> Record:
        return self.tell(f.DecisionAsked(self.held("ask"), digest))

    def commits(self, refused: str = "") -> Record:
        return self.tell(f.CommitEnded(self.held("commit"), "" if refused else "c0ffee", refused))

    def fires(self) -> Record:
        return self.tell(f.TimerFired(self.held("timer")))

    def fails(self, kind: str, name: str = "", wait_s: float = 0) -> Record:
        return self.tell(f.EffectFailed(self.held(kind, name), "crashed", "code 1", wait_s))

    def reads(self, *items: str) -> Record:
        """A list was read; `id=text` gives an item a text of its own."""
        parts = [item.partition("=") for item in items]
        read = tuple(f.Item(key, key.title(), "", f"sum of {text}", text) for key, _, text in parts)
        return self.tell(f.ItemsRead(self.held("items"), "json", read, f"sum of {items}"))

    def wish(self, wish: f.Wish, now: str = "") -> Record | None:
        """Granted or refused as by the holder of the lock; an id that was answered is dropped."""
        if wish.id in self.state.wishes:
            return None
        no = refusal(self.protocol, self.state, wish, now)
        if no is None:
            return self.tell(f.WishTaken(wish))
        return self.tell(f.WishRefused(wish, no.reason, no.notice))

    def decide(self, exit: str, text: str = "", position: str = "") -> Record | None:
        """Answer the open decision."""
        place = position or next(iter(self.state.decisions), "")
        return self.wish(f.Wish(f"w{self.state.seq}", "decide", place, exit, text, who="ada"))

    def ask(self, kind: str, position: str = "", **data: object) -> Record | None:
        """Any other wish."""
        return self.wish(f.Wish(f"w{self.state.seq}", kind, position, who="ada", data=data))

    def replayed(self) -> State:
        """The state that a reader of the journal's lines comes to."""
        lines = [json.dumps(encode(record)) for record in self.records]
        return fold(State(), decode_all([json.loads(line) for line in lines]))
