"""What a kept journal means, as plain data that depends on no class and no module of a release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from porch.machine.approvals import add_engine_states
from porch.machine.evolve import evolve_state, fold_records
from porch.machine.explain import explain_positions
from porch.machine.payload_equality import digest_payload as payload_digest
from porch.machine.records import JournalRecord, RawRecord, decode_record
from porch.machine.state import RunState
from porch.machine.wanted import wanted_effects
from porch.model.definition import Definition, parse_stored_definition
from porch.model.protocol import Protocol
from porch.show import run_picture, status_yaml
from porch.show.decision import list_decisions
from porch.show.records import timeline
from porch.show.shapes import PictureShape
from porch.show.status import make_status_document
from porch.store import chain, payloads

HERE = Path(__file__).parent
RUNS = HERE / "runs"
PAYLOADS = HERE / "payloads"
# Sentences for people: another release may say the same in other words.
_SENTENCES = (
    "measured",
    "asked_changes",
    "open_reviews",
    "question",
    "description",
    "reason",
    "reports",
    "evidence",
    "failure",
    "subject",
)

# What later releases say of a question besides.
_LATER_KEYS = ("missing", "unmet")

# Parts of a state that later releases work out from the same records; the dump is of the first.
_LATER = {
    ("RunState", name)
    for name in (
        *("approvals", "past_visits", "past_checks", "past_verdicts", "past_ways", "past_trees"),
        "past_turns",
        "past_answers",
    )
}
# Fields that the first release did not have; where they say nothing, they are left out.
LATER_FIELDS = {
    "RunStarted": (
        *("base_tree", "settings", "own_worktree", "heading", "request_from", "commits_nothing"),
        "trust",
    ),
    "Began": (
        *("base_tree", "settings", "own_worktree", "branch", "heading", "request_from", "into"),
        *("commits_nothing", "trust"),
    ),
    "Run": (
        *("base_tree", "settings", "own_worktree", "branch", "heading", "request_from"),
        *("into", "delivery", "commits_nothing", "trust"),
    ),
    "ExitAccepted": ("commit",),
    "CommitEnded": ("passed_over",),
    "CheckEnded": ("flaky",),
    "Command": ("changed", "rerun"),
    "Instance": ("part", "after"),
    "Spawned": ("part",),
}


def plain(value: Any) -> Any:
    """Values as mappings of their fields, whether they are dataclasses or structs.

    Fields are sorted, because their order means nothing; mappings keep the order they have.
    """
    names = field_names(type(value))
    if names is not None:
        later = LATER_FIELDS.get(type(value).__name__, ())
        shown = [name for name in names if name not in later or getattr(value, name)]
        known = [name for name in sorted(shown) if (type(value).__name__, name) not in _LATER]
        return {name: plain(getattr(value, name)) for name in known}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: plain(each) for key, each in value.items()}
        return {"pairs": [[plain(key), plain(each)] for key, each in value.items()]}
    return [plain(each) for each in value] if isinstance(value, (tuple, list)) else value


def field_names(kind: type) -> tuple[str, ...] | None:
    """What the values of a class are made of; None for what is no value of ours."""
    named: tuple[str, ...] | None = getattr(kind, "__struct_fields__", None)
    if named is not None:
        return named
    known = getattr(kind, "__dataclass_fields__", None)
    return None if known is None else tuple(name for name, field in known.items() if field.init)


def as_text(value: Any) -> str:
    """One form for the files and for comparing: `1`, `1.0` and `true` are three things."""
    return json.dumps(value, indent=0) + "\n"


class Step(NamedTuple):
    """One record, with the run before and after it."""

    record: JournalRecord
    protocol: Protocol
    before: RunState
    after: RunState
    effects: dict[str, dict[str, Any]]


class Kept:
    """One run of the corpus, read with the code of this release."""

    def __init__(self, name: str, runs: Path = RUNS):
        self.directory = runs / name
        self.data = (self.directory / "journal.jsonl").read_bytes()
        self.scan, self.trouble = chain.parse_records(self.data)
        self.records = [decode_record(raw) for raw in self.scan.records]
        self.state = fold_records(RunState(), self.records)
        self.pinned = list(_pinned(self.scan.records))

    @property
    def lines(self) -> list[bytes]:
        return self.data.splitlines(keepends=True)

    def steps(self) -> Iterator[Step]:
        """Record by record, each under the definition that governed the run then."""
        state = RunState()
        protocol = self.protocol(self.pinned[0])
        for record in self.records:
            before, ruled = state, protocol
            state = evolve_state(state, record)
            if state.run.digest != before.run.digest:
                protocol = self.protocol(state.run.digest)
            yield Step(record, ruled, before, state, dict(_effects(protocol, state)))

    def protocol(self, digest: str) -> Protocol:
        return add_engine_states(definition_of(digest).protocol)

    def _picture(self) -> PictureShape:
        protocol = self.protocol(self.state.run.digest)
        return run_picture.make_run_picture(protocol, self.state, self.scan.length, self.scan.sum)

    def dump(self) -> dict[str, Any]:
        """What every release must make of it."""
        steps, state, drawn = list(self.steps()), self.state, self._picture()
        protocol = self.protocol(state.run.digest)
        return {
            "journal": {"seq": self.scan.seq, "length": self.scan.length, "sum": self.scan.sum},
            "definitions": self.pinned,
            "state": plain(state),
            "positions": list(state.positions),
            "decisions": [_without_sentences(each) for each in drawn["decisions"]],
            "digests": _digests(state),
            "wanted": steps[-1].effects,
            "changes": list(_changes(steps)),
            "on_the_way": [self._seal(step) for step in steps],
            "picture": _without_text(drawn),
            "status_yaml": _status_text(protocol, state).splitlines(),
        }

    def _seal(self, step: Step) -> str:
        """What a record led to, in few letters: state, decisions and status file, all of them."""
        protocol = self.protocol(step.after.run.digest)
        asked = [_without_sentences(each) for each in list_decisions(protocol, step.after)]
        status = _status_text(protocol, step.after)
        told = json.dumps([plain(step.after), asked, status])
        return sha256(told.encode()).hexdigest()[:16]

    def words(self) -> dict[str, Any]:
        """What people read of it; a release that says it better draws these anew."""
        drawn, protocol = self._picture(), self.protocol(self.state.run.digest)
        return {
            "log": list(timeline.render_timeline(self.scan.records)),
            "picture": drawn["text"],
            "waits": drawn["row"]["waits"],
            "explain": list(explain_positions(protocol, self.state)),
            "decisions": drawn["decisions"],
        }


@cache
def definition_of(digest: str) -> Definition:
    return parse_stored_definition(payloads.read_payload(str(PAYLOADS), digest))


def names() -> list[str]:
    return sorted(path.name for path in RUNS.iterdir())


def _pinned(raws: list[RawRecord]) -> Iterator[str]:
    moves = (move for raw in raws for move in raw["moves"])
    yield from dict.fromkeys(m["digest"] for m in moves if m["is"] in ("Began", "Pinned"))


def _effects(protocol: Protocol, state: RunState) -> Iterator[tuple[str, dict[str, Any]]]:
    for position in state.positions:
        for each in wanted_effects(protocol, state, position):
            told = {"position": position, "kind": each.kind, "name": each.name}
            yield each.id, {**told, "uses": list(each.uses)}


def _changes(steps: list[Step]) -> Iterator[dict[str, Any]]:
    """Which effects became wanted with each record, and which no longer are."""
    known: dict[str, Any] = {}
    for step in steps:
        more = [effect for effect in step.effects if effect not in known]
        less = [effect for effect in known if effect not in step.effects]
        known = step.effects
        if more or less:
            yield {"seq": step.record.seq, "wanted": more, "unwanted": less}


def _digests(state: RunState) -> dict[str, Any]:
    """As they were recorded, and as this release computes them from what is remembered."""
    return {
        "definition": state.run.digest,
        "decisions": {place: each.digest for place, each in state.decisions.items()},
        "items": [[*scope, each.digest] for scope, each in state.items.items()],
        "instances": {name: each.digest for name, each in state.instances.items()},
        "specs": {name: payload_digest(each.spec) for name, each in state.instances.items()},
        "memory": [
            [*scope, path, payload_digest(payload)]
            for scope, known in state.memory.items()
            for path, payload in known.items()
        ],
    }


def _status_text(protocol: Protocol, state: RunState) -> str:
    document = make_status_document(protocol, state)
    for phase in document["phases"].values():
        phase.pop("outcome", None)  # later releases say it beside the three words of the first
    return status_yaml.render_status_file(document, state.seq)


def _without_sentences(decision: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: each for key, each in decision.items() if key not in (*_SENTENCES, *_LATER_KEYS)}
    options = [{k: o[k] for k in ("answer", "needs_text", "command")} for o in decision["options"]]
    for option in options:
        # Later releases take the words behind `porch answer` for a text, without this one.
        option["command"] = option["command"].replace(" --option ", " ")
    return {**kept, "options": options}


def _without_text(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of a picture without its form and what stands elsewhere in the dump."""
    gone = ("v", "text", "row", "decisions", "status", "outcomes")
    kept = {key: each for key, each in drawn.items() if key not in gone}
    phases = {name: _first_figures(each) for name, each in drawn["cost"]["phases"].items()}
    return {**kept, "cost": {**_first_figures(drawn["cost"]), "phases": phases}}


def _first_figures(cost: Mapping[str, Any]) -> dict[str, Any]:
    """Without the counts that later releases have beside them."""
    return {key: each for key, each in cost.items() if key not in ("reviews", "agent_turns")}
