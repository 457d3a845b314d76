"""Stand-ins and tools for tests, ours and those of people who write protocols."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from porch.adapters import chain, where
from porch.adapters.git_command import ask
from porch.adapters.journal import Scan, scan
from porch.errors import StateError
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import AGENT_SLOT, Request, in_hand
from porch.machine.evolve import begin, evolve, fold
from porch.machine.records import Record, decode_all, encode
from porch.machine.route import route
from porch.machine.state import InHand, State
from porch.machine.wanted import touched, wanted
from porch.machine.wishes import refusal
from porch.model.protocol import Protocol
from porch.operations.session import mark_of

CheckResult = Literal["passed", "failed", "unmeasured"]
Verdict = Literal["APPROVE", "REQUEST_CHANGES", "ABSTAIN"]
Form = Mapping[str, Any]


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
        return self.record(fact, route(self.protocol, self.state, fact))

    def record(self, fact: f.Fact, moves: tuple[m.Move, ...]) -> Record:
        """A record whose moves the test itself decides."""
        seq = self.state.seq + 1
        hours, seconds = divmod(seq, 3600)
        at = f"2026-01-01T{hours:02}:{seconds // 60:02}:{seconds % 60:02}Z"
        moved = evolve(self.state, Record(seq, at, fact, moves))
        for position in sorted(touched(self.protocol, moved, moves)):
            self.index[position] = wanted(self.protocol, moved, position)
        record = Record(seq, at, fact, moves, tuple(self._beginning(moved)))
        self.state = begin(moved, record.begun)
        self.records.append(record)
        return record

    def _beginning(self, state: State) -> Iterator[InHand]:
        used = Counter(name for hand in state.in_hand.values() for name in hand.uses)
        for request in self.wanted():
            is_free = all(used[name] < self._room.get(name, 1) for name in request.uses)
            if request.id not in state.in_hand and is_free:
                used.update(request.uses)
                yield in_hand(request)

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

    def fires(self, kind: str = "timer") -> Record:
        return self.tell(f.TimerFired(self.held(kind)))

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


PATIENCE_S = 100
COMMAND = "from porch.surfaces.cli.dispatch import porch; raise SystemExit(porch())"
# Nothing of the caller may reach the command: an agent that runs the tests is not the agent meant.
_FOREIGN = ("COVERAGE_", "PORCH_", "CLAUDE", "GEMINI_", "CODEX_", "GIT_")


@dataclass(frozen=True, slots=True)
class Project:
    """A git repository with one protocol and one script; the real command runs in it."""

    base: str
    protocol: str
    id: str = "0001"
    title: str = "t"

    @classmethod
    def make(cls, base: str, protocol: Form, script: Form) -> "Project":
        """Lay it out and commit it; `templates` of the protocol are files beside it."""
        made = cls(base, str(protocol["name"]))
        own = {key: value for key, value in protocol.items() if key != "templates"}
        made.write(f"codev/protocols/{made.protocol}/protocol.json", json.dumps(own))
        for name, text in protocol.get("templates", {}).items():
            made.write(f"codev/protocols/{made.protocol}/templates/{name}", text)
        made.write("codev/config.toml", "[agent]\nback_off = 0.01\n")
        made.write("../script.yaml", json.dumps({**script, "witness": f"{base}/witness.txt"}))
        made.git("init", "-q")
        made.git("add", "-A")
        made.git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "begin")
        return made

    @property
    def root(self) -> str:
        return os.path.join(self.base, "repository")

    @property
    def directory(self) -> str:
        """Where the journal and everything beside it lies."""
        return os.path.join(self.root, ".git", "porch", "runs", f"{self.id}-{self.title}")

    @property
    def journal(self) -> str:
        return os.path.join(self.directory, "journal.jsonl")

    @property
    def mark(self) -> str:
        """What every process of this run carries."""
        return mark_of(where.find(self.root), f"{self.id}-{self.title}")

    def write(self, name: str, text: str) -> None:
        path = os.path.normpath(os.path.join(self.root, name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def git(self, *words: str) -> str:
        return ask(self.root, *words)

    def start(self, *words: str, **environ: str) -> "subprocess.Popen[str]":
        """Start a command here; it answers through pipes."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
        return subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-P", "-c", COMMAND, *words],
            cwd=self.root,
            env={**kept, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def porch(self, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """A command to its end."""
        with self.start(*words, **environ) as running:
            try:
                out, err = running.communicate(timeout=PATIENCE_S)
            except BaseException:
                running.kill()
                raise
        return subprocess.CompletedProcess(words, running.returncode, out, err)

    @property
    def run_words(self) -> tuple[str, ...]:
        """The command that starts this run, or goes on with it."""
        script = os.path.join(self.base, "script.yaml")
        subject = (self.protocol, self.id, "--title", self.title)
        return ("run", *subject, "--no-claude", "--script", script)

    def run(self, **environ: str) -> "subprocess.CompletedProcess[str]":
        return self.porch(*self.run_words, **environ)

    def records(self) -> list[Record]:
        return list(decode_all(scan(self.journal).records))

    def starts(self) -> "Counter[str]":
        """How often each effect really started, by the word of the agents themselves."""
        try:
            with open(f"{self.base}/witness.txt", encoding="utf-8") as file:
                return Counter(file.read().splitlines())
        except FileNotFoundError:
            return Counter()


_TOOK = re.compile(r"\n\*\*Took\*\*: .*")


@dataclass(frozen=True, slots=True)
class Result:
    """What must be the same however often a run was killed; times and tries are no part of it."""

    outcome: str
    exits: tuple[tuple[str, str], ...]
    positions: tuple[str, ...]
    spent: Mapping[str, int]
    charged: tuple[tuple[str, int], ...]
    gates: Mapping[str, str]
    files: Mapping[str, str]
    commits: tuple[str, ...]
    changes: tuple[str, ...]


def result(project: Project) -> Result:
    records = project.records()
    state = fold(State(), records)
    return Result(
        outcome=state.outcome,
        exits=tuple(exits(records)),
        positions=tuple(sorted(state.positions)),
        spent=dict(state.spent),
        charged=tuple(
            (move.budget, move.spent)
            for record in records
            for move in record.moves
            if isinstance(move, m.Charged)
        ),
        gates={name: gate.status for name, gate in state.gates.items()},
        files=dict(_files(project.root)),
        commits=tuple(project.git("log", "--format=%B%x00").split("\0")),
        changes=tuple(project.git("status", "--porcelain", "-uall").splitlines()),
    )


def exits(records: Sequence[Record]) -> Iterator[tuple[str, str]]:
    """Every accepted exit: the position that was left, and the word by which."""
    for record in records:
        word = ""
        for move in record.moves:
            if isinstance(move, m.Remembered):
                word = move.path.rpartition(".")[2]
            if isinstance(move, m.Left):
                yield move.position, word


def _files(root: str) -> Iterator[tuple[str, str]]:
    """What people have in the end; pictures of the journal are none of it."""
    for directory, inside, names in os.walk(root):
        inside[:] = [name for name in inside if name != ".git"]
        for name in names:
            path = os.path.join(directory, name)
            if not name.startswith("status."):
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, root), _TOOK.sub("", file.read())


def distrust(project: Project) -> list[str]:
    """What journal and witness say against each other; empty if they agree.

    An effect starts at most once under one id; it starts only if the journal had begun it; and
    what the journal has accepted from an agent has really started.
    """
    starts, records = project.starts(), project.records()
    begun = {hand.effect for record in records for hand in record.begun}
    answered = {
        record.fact.effect
        for record in records
        if isinstance(record.fact, f.ExitAccepted | f.TurnEndedSilent | f.ReviewEnded)
    }
    return [
        *(f"{effect} started {count} times" for effect, count in starts.items() if count > 1),
        *(f"{effect} started but never begun" for effect in sorted(starts.keys() - begun)),
        *(f"{effect} answered but never started" for effect in sorted(answered - starts.keys())),
    ]
