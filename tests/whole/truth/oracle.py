"""What became of every phase of a run, read from the lines of its journal and from nothing else.

This is written to disagree: it takes plain JSON, imports nothing of porch, keeps the whole history
and looks everything up in it, while porch folds the records into a state that keeps the latest of
each. Where the two say something else, one of them is wrong.

A phase is a group of states in which an agent works or a check runs. It has passed if it was left
by an exit, nothing in front of it was entered since, and there is no gap: each required check was
good the last time, the last round of each panel approved, each gate was approved and not waived.
A gap after which a person let the run go on is a skip or a waiver; without that it is a failure.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Raw = Mapping[str, Any]
WORKERS = ("Agent", "Check", "Panel", "Git", "Children", "Human")
# States that porch puts beside a protocol, to ask again for an approval and for more money.
ASKED_AGAIN, OVER_BUDGET = "changed", "budget"
BAD_CHECKS = {"failed": "failed", "unmeasured": "could not measure"}
LETS_PASS = {"skip": "skipped", "waived": "waived", "approved": "waived"}
WORST_FIRST = (
    *("waiting", "working", "failed", "could not measure", "stopped", "stale"),
    *("not run", "skipped", "waived", "passed", "nothing to run"),
)


@dataclass
class Visit:
    """One stay at a state, from its `Entered` to its `Left`."""

    position: str
    state: str
    item: str
    instance: str
    entered: int
    left: int = 0
    exit: str = ""
    who: str = ""
    text: str = ""
    is_asked: bool = False
    ended: str = ""  # how the instance ended in the record in which this was left

    @property
    def place(self) -> tuple[str, str]:
        return (self.instance, self.item)


@dataclass
class Told:
    """A result of a check or the verdict of a reviewer."""

    seq: int
    visit: Visit
    name: str
    result: str


@dataclass
class Story:
    """Everything that happened, in order; `definition` is the one that is pinned at the end."""

    visits: list[Visit] = field(default_factory=list)
    checks: list[Told] = field(default_factory=list)
    verdicts: list[Told] = field(default_factory=list)
    items: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    finished: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    gates: dict[str, tuple[int, str]] = field(default_factory=dict)  # what was noted, and when
    ended: dict[str, str] = field(default_factory=dict)  # by instance; the run itself is empty
    is_paused: bool = False
    digest: str = ""
    is_dead: bool = False

    @property
    def outcome(self) -> str:
        return self.ended.get("", "")

    def open(self, position: str) -> Visit | None:
        return next((v for v in self.visits if v.position == position and not v.left), None)


@dataclass(frozen=True)
class Fate:
    """What became of a phase, by whom, and what is wrong with it."""

    outcome: str
    who: str = ""
    text: str = ""
    gaps: tuple[str, ...] = ()


def read_lines(journal: Path) -> list[Raw]:
    lines = journal.read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def tell(records: Iterable[Raw]) -> Story:
    story = Story()
    for record in records:
        add(story, record)
    return story


def add(story: Story, record: Raw) -> None:
    """One more record."""
    seq, moves = int(record["seq"]), record["moves"]
    _add_result(story, seq, record["fact"])
    for move in moves:
        if move["is"] in ("Entered", "Left", "Asked", "Closed"):
            _add_visit(story, seq, move, moves)
        else:
            _add_event(story, seq, move)


def _add_visit(story: Story, seq: int, move: Raw, moves: Sequence[Raw]) -> None:
    place = (move.get("item", ""), move.get("instance", ""))
    if move["is"] == "Entered":
        story.visits.append(Visit(move["position"], move["state"], *place, entered=seq))
        return
    visit = story.open(move["position"])
    if visit is None:
        return
    if move["is"] == "Left":
        visit.left = seq
        visit.exit = _find_exit(visit, moves)
        ends = [m for m in moves if m["is"] == "Ended" and m.get("instance", "") == visit.instance]
        visit.ended = ends[-1]["outcome"] if ends else ""
    elif move["is"] == "Closed":
        visit.who, visit.text = move.get("who", ""), str(move.get("text", ""))
    visit.is_asked = move["is"] == "Asked"


def _find_exit(visit: Visit, moves: Sequence[Raw]) -> str:
    """The exit that the same record remembers for this place, the last one."""
    exits = [
        move["path"].rpartition(".")[2]
        for move in moves
        if move["is"] == "Remembered"
        and move["path"].rpartition(".")[0] == visit.state
        and (move.get("instance", ""), move.get("item", "")) == visit.place
    ]
    return exits[-1] if exits else ""


def _add_event(story: Story, seq: int, move: Raw) -> None:
    key = (move.get("instance", ""), move.get("loop", ""))
    kind = move["is"]
    if kind in ("Began", "Pinned"):
        story.digest = move["digest"]
    elif kind == "Itemised":
        story.items[key] = [item["id"] for item in move["items"]]
        story.finished[key] = set(move.get("finished", ()))
    elif kind == "Finished":
        story.finished.setdefault(key, set()).add(move["item"])
    elif kind == "GateNoted":
        story.gates[move["name"]] = (seq, move["status"])
    elif kind in ("Ended", "Reopened"):
        story.ended[key[0]] = move.get("outcome", "")
    elif kind in ("Paused", "Resumed"):
        story.is_paused = kind == "Paused"


def _add_result(story: Story, seq: int, fact: Raw) -> None:
    if fact["is"] not in ("CheckEnded", "ReviewEnded"):
        return
    position, _, rest = fact["effect"].partition("/check/")
    if fact["is"] == "ReviewEnded":
        position, _, rest = fact["effect"].partition("/review/")
    visit = story.open(position)
    if visit is None:
        return
    name = rest.rpartition("/")[0]
    if fact["is"] == "CheckEnded":
        story.checks.append(Told(seq, visit, name, fact["result"]))
    else:
        story.verdicts.append(Told(seq, visit, name, fact.get("verdict", "")))


def phases(definition: Raw, story: Story, instance: str = "") -> dict[str, Fate]:
    """What became of each phase; of one in a loop, what is worst among its items."""
    fates: dict[str, Fate] = {}
    for group, kinds in _groups(definition).items():
        if not any(_actor(kind) in ("Agent", "Check") for kind in kinds):
            continue
        loop = next((kind["loop"] for kind in kinds if kind.get("loop")), "")
        if not loop:
            fates[group] = judge(definition, story, kinds, "", instance)
            continue
        key = (instance, loop)
        parts = {
            item: judge(definition, story, kinds, item, instance)
            for item in story.items.get(key, ())
        }
        fates[group] = _sum(parts, story.finished.get(key, set()))
        is_reading = any(
            v.state == kind["name"] and v.place == (instance, "") and not v.left
            for v in story.visits
            for kind in kinds
        )
        if is_reading and fates[group].outcome == "not run":
            fates[group] = Fate("working")
    return fates


def plan_phases(definition: Raw, story: Story, instance: str = "") -> dict[str, Fate]:
    """What became of each item of a plan, over all phases of its loop."""
    fates: dict[str, Fate] = {}
    for (owner, loop), items in story.items.items():
        if owner != instance:
            continue
        groups = [
            kinds
            for kinds in _groups(definition).values()
            if any(kind.get("loop") == loop for kind in kinds)
            and any(_actor(kind) in ("Agent", "Check") for kind in kinds)
        ]
        done = story.finished.get((owner, loop), set())
        for item in items:
            parts = {
                kinds[0]["group"]: judge(definition, story, kinds, item, instance)
                for kinds in groups
            }
            fates[item] = _sum(parts, set(parts) if item in done else set())
    return fates


def judge(
    definition: Raw, story: Story, kinds: Sequence[Raw], item: str, instance: str = ""
) -> Fate:
    """One phase for one item."""
    names = [kind["name"] for kind in kinds]
    mine = [v for v in story.visits if v.state in names and v.place == (instance, item)]
    open_ = [v for v in mine if not v.left]
    if open_:
        return Fate("waiting" if any(v.is_asked for v in open_) else "working")
    if not mine:
        return Fate("not run")
    last = max(mine, key=lambda v: (v.left, bool(v.exit)))
    if _is_behind(definition, story, kinds, last):
        return Fate("stale")
    gaps = [
        *_check_gaps(kinds, story, mine),
        *_review_gaps(kinds, mine),
        *_gate_gaps(definition, kinds, story, mine),
    ]
    gaps += _skips(kinds, mine)
    kind = next(each for each in kinds if each["name"] == last.state)
    if gaps:
        worst = min((each[0] for each in gaps), key=WORST_FIRST.index)
        by = next((each[2] for each in gaps if each[0] == worst and each[2]), None)
        by = by or next((v for v in reversed(mine) if v.who), None)
        told = tuple(dict.fromkeys(each[1] for each in gaps if each[1]))
        return Fate(worst, by.who if by else "", by.text if by else "", told)
    if any(_was_passed_over(each, story, mine) for each in kinds):
        return Fate("not run")
    if _is_person(kind) and kind["actor"]["kind"] != "gate" and last.exit not in LETS_PASS:
        return Fate("failed" if story.outcome else "stopped", last.who, last.text)
    if not last.exit:
        return Fate("stopped")
    if last.ended in ("failed", "abandoned"):
        return Fate("failed", last.who, last.text)
    return Fate("passed")


def _is_behind(definition: Raw, story: Story, kinds: Sequence[Raw], last: Visit) -> bool:
    """Whether somebody has begun in front of the phase after it was left.

    Of the same list, an earlier item is in front, and an earlier phase of the same item. Elsewhere
    a state is in front if its ways lead here without going back; a branch beside this one does not.
    What has come to its end did not need it again.
    """
    if story.ended.get(last.instance) == "complete":
        return False
    states = definition["protocol"]["states"]
    loop = next((kind.get("loop", "") for kind in kinds if kind.get("loop")), "")
    items = story.items.get((last.instance, loop), [])
    is_finished = last.item in story.finished.get((last.instance, loop), set())
    is_open = any(v.place == last.place and not v.left for v in story.visits)
    if loop and not (is_finished or is_open or story.outcome):
        return True  # it was left for something else, and its list still has it to be done
    for visit in story.visits:
        kind = states.get(visit.state)
        if kind is None or visit.instance != last.instance or visit.entered < last.left:
            continue
        if _actor(kind) not in WORKERS or visit.state in (ASKED_AGAIN, OVER_BUDGET):
            continue
        if loop and kind.get("loop") == loop and visit.item != last.item:
            behind = items[items.index(visit.item) + 1 :] if visit.item in items else ()
            if last.item in behind and not is_finished:
                return True
            continue
        if kind["group"] == kinds[0]["group"] or (loop and kind.get("loop", "") not in ("", loop)):
            continue
        if any(_leads_to(definition, visit.state, each["name"]) for each in kinds):
            return True
    return False


def _leads_to(definition: Raw, start: str, end: str) -> bool:
    """Whether one gets from the one to the other without going back, and not the other way."""
    ways = _ways_onward(definition)
    return end in _follow(ways, start) and start not in _follow(ways, end)


def _follow(ways: Mapping[str, set[str]], start: str) -> set[str]:
    found, ahead = set[str](), list(ways.get(start, ()))
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += ways.get(name, ())
    return found


def _ways_onward(definition: Raw) -> dict[str, set[str]]:
    """The ways of a protocol without those to a state that one must have passed before.

    One must have passed a state if one cannot get from the beginning to the other without it, or
    if somebody waits for it on the way.
    """
    protocol = definition["protocol"]
    known = _KNOWN.get(id(definition))
    if known is not None and known[0] is definition:
        return known[1]
    ways: dict[str, set[str]] = {}
    for edge in protocol["edges"]:
        for target in (*edge["targets"], *edge.get("spent", ())):
            loop = target.get("next_of", "")
            ahead = protocol["loops"][loop]["after"] if loop else target
            if ahead.get("state"):
                ways.setdefault(edge["state"], set()).add(ahead["state"])
    starts = [protocol["initial"]["state"]]
    starts += [part["initial"] for part in protocol.get("parts", {}).values()]
    waits = {
        name: {path.rpartition(".")[0] for path in kind.get("waits_for", ())}
        for name, kind in protocol["states"].items()
    }

    def avoid(state: str) -> set[str]:
        """Everything that one can come to if nobody passes a state; who waits for it waits."""
        found, more = set[str](), True
        while more:
            ahead = {start for start in starts if start != state}
            ahead |= {target for name in found for target in ways.get(name, ())}
            ahead = {name for name in ahead - found - {state} if waits[name] <= found}
            found |= ahead
            more = bool(ahead)
        return found

    reached = avoid("")
    onward = {
        source: {each for each in targets if source != each and source in avoid(each)}
        for source, targets in ways.items()
        if source in reached
    }
    _KNOWN[id(definition)] = (definition, onward)
    return onward


_KNOWN: dict[int, tuple[Raw, dict[str, set[str]]]] = {}


def _check_gaps(
    kinds: Sequence[Raw], story: Story, mine: Sequence[Visit]
) -> Iterator[tuple[str, str, Visit | None]]:
    required: dict[str, bool] = {}
    for kind in kinds:
        for command in kind["actor"].get("commands", ()) if _actor(kind) == "Check" else ():
            is_needed = not command.get("optional", False)
            required[command["name"]] = required.get(command["name"], False) or is_needed
    for name, is_required in required.items():
        told = [each for each in story.checks if each.name == name and each.visit in mine]
        if not is_required or not told or told[-1].result not in BAD_CHECKS:
            continue
        by = _let_pass(kinds, mine, told[-1].seq)
        yield (LETS_PASS[by.exit] if by else BAD_CHECKS[told[-1].result]), name, by


def _was_passed_over(kind: Raw, story: Story, mine: Sequence[Visit]) -> bool:
    """It was left as passed, and one of its required checks has never run."""
    commands = kind["actor"].get("commands", ()) if _actor(kind) == "Check" else ()
    visits = [v for v in mine if v.state == kind["name"]]
    ran = {each.name for each in story.checks if each.visit in visits}
    required = {each["name"] for each in commands if not each.get("optional", False)}
    return bool(visits) and visits[-1].exit == "passed" and not required <= ran


def _review_gaps(
    kinds: Sequence[Raw], mine: Sequence[Visit]
) -> Iterator[tuple[str, str, Visit | None]]:
    agents = [kind["name"] for kind in kinds if _actor(kind) == "Agent"]
    for kind in kinds:
        rounds = [v for v in mine if v.state == kind["name"] and _actor(kind) == "Panel"]
        if not rounds or rounds[-1].exit not in ("changes", "undecided"):
            continue
        if any(v.state in agents and v.entered >= rounds[-1].left and v.exit for v in mine):
            continue  # the author has answered the findings, and the protocol asks for no more
        by = _let_pass(kinds, mine, rounds[-1].left)
        yield (LETS_PASS[by.exit] if by else "failed"), kind["name"], by


def gates(definition: Raw, story: Story) -> dict[str, str]:
    """Each gate with its latest word: an answer, or what was noted since."""
    known: dict[str, tuple[int, str]] = {}
    for name, kind in definition["protocol"]["states"].items():
        if not _is_person(kind) or kind["actor"]["kind"] != "gate":
            continue
        gate = kind["actor"]["name"]
        mine = [v for v in story.visits if v.state == name]
        told = [(v.left, v.exit) for v in mine if v.exit in ("approved", "rejected", "waived")]
        if gate in story.gates:
            told.append(story.gates[gate])
        if any(v.is_asked and not v.left for v in mine):
            told.append((len(story.visits) + 10**9, "pending"))
        known[gate] = max([(0, "waiting"), *told, known.get(gate, (0, "waiting"))])
    return {
        gate: "waiting" if word == "pending" and seq < 10**9 else word
        for gate, (seq, word) in known.items()
    }


def _gate_gaps(
    definition: Raw, kinds: Sequence[Raw], story: Story, mine: Sequence[Visit]
) -> Iterator[tuple[str, str, Visit | None]]:
    for kind in kinds:
        if _is_person(kind) and kind["actor"]["kind"] == "gate":
            asked = [v for v in mine if v.state == kind["name"] and v.exit]
            if gates(definition, story).get(kind["actor"]["name"]) == "waived":
                yield "waived", kind["actor"]["name"], asked[-1] if asked else None


def _skips(kinds: Sequence[Raw], mine: Sequence[Visit]) -> Iterator[tuple[str, str, Visit | None]]:
    """A person went on although there was no result, and no agent began again."""
    people = [kind["name"] for kind in kinds if _is_person(kind)]
    agents = [kind["name"] for kind in kinds if _actor(kind) == "Agent"]
    for visit in mine:
        is_skip = visit.state in people and visit.exit == "skip"
        if is_skip and not any(v.state in agents and v.entered >= visit.left for v in mine):
            yield "skipped", "", visit


def _let_pass(kinds: Sequence[Raw], mine: Sequence[Visit], seq: int) -> Visit | None:
    """The first answer of a person after a record with which the run went on."""
    people = [kind["name"] for kind in kinds if _is_person(kind)]
    after = [v for v in mine if v.state in people and v.left > seq and v.exit in LETS_PASS]
    return min(after, key=lambda v: v.left, default=None)


def _sum(parts: Mapping[str, Fate], finished: set[str]) -> Fate:
    """An item that is finished need not have gone through every phase."""
    counted = [
        fate for name, fate in parts.items() if not (fate.outcome == "not run" and name in finished)
    ]
    if not counted:
        return Fate("nothing to run" if finished else "not run")
    gaps = tuple(dict.fromkeys(gap for fate in counted for gap in fate.gaps))
    worst = min(counted, key=lambda fate: WORST_FIRST.index(fate.outcome))
    return Fate(worst.outcome, worst.who, worst.text, gaps)


def _groups(definition: Raw) -> dict[str, list[Raw]]:
    groups: dict[str, list[Raw]] = {}
    for kind in definition["protocol"]["states"].values():
        groups.setdefault(kind["group"], []).append(kind)
    return groups


def _actor(kind: Raw) -> str:
    return str(kind["actor"]["is"])


def _is_person(kind: Raw) -> bool:
    return _actor(kind) == "Human"


def troubles(definition: Raw, story: Story, visit: Visit) -> list[str]:
    """Names of checks that were not good the last time in the phase of a question."""
    states = definition["protocol"]["states"]
    kind = states.get(visit.state)
    if kind is None:
        return []
    kinds = _groups(definition)[kind["group"]]
    names = [each["name"] for each in kinds]
    mine = [v for v in story.visits if v.state in names and v.place == visit.place]
    return [name for _, name, _ in _check_gaps(kinds, story, mine)]
