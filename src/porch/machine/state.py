"""The state of a run: where it stands, what it remembers, what is in hand; a fold of records."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from msgspec import field

from porch.machine.facts import FinishKind, Item, Payload
from porch.model.tagged import Tagged
from porch.text.late_pattern import late_pattern

# What an effect uses under this prefix stays with its position, and with the next that holds it.
HOLD = "hold:"
# The state in which a person is asked again about what was approved and then changed.
CHANGED = "changed"

PositionKey = tuple[str, str, str]  # instance, state, item
Scope = tuple[str, str]  # instance, item
NamedPlace = tuple[str, str, str, str]  # instance, state, item, name of a check or a reviewer
PastWay = tuple[str, str, str, str, str]  # instance, state, exit, "charged" or "", next state
Memory = Mapping[str, Payload]
Found = TypeVar("Found", bound=tuple[Any, ...])


def position_text(instance: str, state: str, item: str, visit: int) -> str:
    """How a position prints; this text is its name in records, wishes and decisions."""
    front = f"{instance}/" if instance else ""
    back = f":{item}" if item else ""
    return f"{front}{state}{back}#{visit}"


_EFFECT = late_pattern(r"(.*?#[0-9]+)/([a-z]+)/(.*)/([0-9]+)", re.DOTALL)


def effect_parts(effect: str) -> tuple[str, str, str]:
    """Position, kind and name out of an effect's id; instances and names may hold slashes."""
    found = _EFFECT.fullmatch(effect)
    return (found[1], found[2], found[3]) if found else ("", "", effect)


def work_text(kind: str, name: str) -> str:
    """What failures and waits are counted by: a reminder is the same work as the turn before it."""
    return kind if kind == "agent" else f"{kind}-{name}"


class Standing(Tagged, frozen=True, tag="Standing"):
    """A position that stands: coordinates, since when, and why it was entered."""

    position: str
    instance: str
    state: str
    item: str
    visit: int
    entered_at: str
    delay_s: float = 0
    because: str = ""

    @property
    def label(self) -> str:
        """The position without its visit, as people and status files write it."""
        return self.position.rpartition("#")[0]


class Decision(Tagged, frozen=True, tag="Decision"):
    """An open question to a person."""

    position: str
    kind: str
    name: str
    asked_at: str
    digest: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)


class InHand(Tagged, frozen=True, tag="InHand"):
    """An effect that was begun and has not ended."""

    effect: str
    position: str
    kind: str
    name: str
    uses: tuple[str, ...] = ()
    state: str = ""  # of what is paid for: its cost counts even if its position is gone


class Cost(Tagged, frozen=True, tag="Cost"):
    """What agents and reviewers have used in one state of the protocol."""

    turns: int = 0
    usd: float = 0
    tokens: int = 0
    seconds: float = 0

    def plus(self, other: "Cost") -> "Cost":
        return Cost(
            self.turns + other.turns,
            self.usd + other.usd,
            self.tokens + other.tokens,
            self.seconds + other.seconds,
        )


class LoopItems(Tagged, frozen=True, tag="Items"):
    """The finite list of a loop and how much of it is done."""

    items: tuple[Item, ...]
    digest: str
    finished: tuple[str, ...] = ()


class GateStatus(Tagged, frozen=True, tag="Gate"):
    """What became of a named gate, for people to read."""

    status: str
    requested_at: str = ""
    decided_at: str = ""
    by: str = ""


class Approval(Tagged, frozen=True, tag="Approval"):
    """A gate that a person let pass, for exactly these contents of its files."""

    position: str
    artifacts: Mapping[str, str] = field(default_factory=dict)
    status: str = "approved"
    by: str = ""


class Delivery(Tagged, frozen=True, tag="Delivery"):
    """What became of the work of a run that has ended."""

    how: FinishKind
    branch: str = ""
    head: str = ""
    into: str = ""
    commit: str = ""
    url: str = ""


class Run(Tagged, frozen=True, tag="Run"):
    """The identity that the first fact gave a run."""

    name: str = ""
    id: str = ""
    title: str = ""
    heading: str = ""
    protocol: str = ""
    digest: str = ""
    subject: str = ""
    request_from: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    project_dir: str = ""
    status_file: str = ""
    worktree: str = ""
    base_commit: str = ""
    agent: str = ""
    script: str = ""
    started_at: str = ""
    base_tree: str = ""
    settings: str = ""
    own_worktree: bool = False
    branch: str = ""
    into: str = ""  # the branch on which the run began
    delivery: "Delivery | None" = None
    commits_nothing: bool = False  # it works in a person's own checkout, whose commits are theirs
    trust: tuple[str, ...] = ()  # digests of settings that a person trusts for this run

    @property
    def base(self) -> str:
        """What changes are measured against: all files at the start, else the commit then."""
        return self.base_tree or self.base_commit


class Instance(Tagged, frozen=True, tag="Instance"):
    """One member of the tree: what it is about, its branch, where that is merged, how it ended."""

    parent: str = ""
    key: str = ""
    spec: Payload = field(default_factory=dict)
    digest: str = ""
    branch: str = ""
    target: str = ""
    revision: Payload | None = None
    outcome: str = ""
    why: Payload = field(default_factory=dict)
    merged: Payload = field(default_factory=dict)
    part: str = ""  # of the protocol, which it follows
    after: tuple[str, ...] = ()  # siblings that merge before it begins

    @property
    def tests_branch(self) -> str:
        """Where its tests are written; porch makes it, and merges it into its own branch."""
        return f"{self.branch}--tests"


ROOT = Instance()


class PastVisit(Tagged, frozen=True, tag="PastVisit"):
    """The latest visit of a place: the records that entered and left it, and how it was left."""

    visit: int
    entered: int
    entered_at: str = ""
    left: int = 0
    left_at: str = ""
    exit: str = ""  # empty while it stands, and where it was cut short
    charged: bool = False
    by: str = ""  # the person who answered
    text: str = ""


class PastCheck(Tagged, frozen=True, tag="PastCheck"):
    """The latest result of one check at one place, and how often it was run there."""

    seq: int
    at: str
    result: str
    runs: int = 1
    tree: str = ""
    reused: bool = False
    flaky: bool = False


class PastVerdict(Tagged, frozen=True, tag="PastVerdict"):
    """The latest verdict of one reviewer at one place."""

    seq: int
    at: str
    visit: int
    verdict: str


class PastTurn(Tagged, frozen=True, tag="PastTurn"):
    """The latest turn of an agent at one place: how it ended, what it said last, what it asked."""

    seq: int
    at: str
    exit: str = ""  # empty if it ended without one
    said: str = ""
    denied: tuple[str, ...] = ()


class PastAnswer(Tagged, frozen=True, tag="PastAnswer"):
    """What a person answered to a question, as texts or as references to what is kept beside."""

    seq: int
    instance: str
    who: str
    question: Any
    text: Any


class RunState(Tagged, frozen=True, tag="State"):
    """Everything the machine knows of a run; the dictionaries are never changed in place."""

    run: Run = Run()
    seq: int = 0
    at: str = ""
    positions: Mapping[str, Standing] = field(default_factory=dict)
    marks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tries: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # of those that began
    visits: Mapping[PositionKey, int] = field(default_factory=dict)
    memory: Mapping[Scope, Mapping[str, Payload]] = field(default_factory=dict)
    spent: Mapping[str, int] = field(default_factory=dict)
    items: Mapping[Scope, LoopItems] = field(default_factory=dict)  # instance, loop
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    gates: Mapping[str, GateStatus] = field(default_factory=dict)
    in_hand: Mapping[str, InHand] = field(default_factory=dict)
    wishes: Mapping[str, int] = field(default_factory=dict)  # id -> seq of its answer
    log: tuple[Mapping[str, Any], ...] = ()
    turns: int = 0
    usd: float = 0
    tokens: int = 0
    paused: bool = False
    outcome: str = ""
    instances: Mapping[str, Instance] = field(default_factory=dict)  # of a tree, the root is ""
    held: Mapping[str, str] = field(default_factory=dict)  # resource -> position
    costs: Mapping[str, Cost] = field(default_factory=dict)  # by the names of states
    approvals: Mapping[str, Approval] = field(default_factory=dict)  # by gate
    # What the records have shown, for the account; see `past`.
    past_visits: Mapping[PositionKey, PastVisit] = field(default_factory=dict)
    past_checks: Mapping[NamedPlace, PastCheck] = field(default_factory=dict)
    past_verdicts: Mapping[NamedPlace, PastVerdict] = field(default_factory=dict)
    past_ways: Mapping[PastWay, int] = field(default_factory=dict)
    past_trees: Mapping[str, str] = field(default_factory=dict)  # instance -> latest content
    past_turns: Mapping[PositionKey, PastTurn] = field(default_factory=dict)
    past_answers: Mapping[str, PastAnswer] = field(default_factory=dict)  # by position

    @property
    def has_own_branch(self) -> bool:
        """Whether porch made a branch for the work, from which a person delivers it."""
        return bool(self.run.own_worktree or self.instances)

    def recall(self, standing: Standing, path: str) -> Payload | None:
        """What is remembered under `state.exit`, the item's own first, then the instance's."""
        for scope in ((standing.instance, standing.item), (standing.instance, "")):
            payload = self.memory.get(scope, {}).get(path)
            if payload is not None:
                return payload
        return None

    def marked(self, position: str, key: str) -> Any:
        return self.marks.get(position, {}).get(key)

    def items_of(self, standing: Standing, loop: str) -> LoopItems | None:
        return self.items.get((standing.instance, loop))

    def item_of(self, standing: Standing, loop: str) -> Item | None:
        known = self.items_of(standing, loop)
        found = (item for item in known.items if item.id == standing.item) if known else ()
        return next(iter(found), None)


class MemoryReader(Generic[Found]):
    """Reads each memory of a state once; which memory it is says enough, for none is changed.

    A tree remembers of each member what it did, and nothing of that changes once the member has
    ended. Of each scope the latest is kept, so there are never more than one run has.
    """

    def __init__(self, read: Callable[[Memory], Found]):
        self._read = read
        self._kept: dict[Scope, tuple[Memory, Found]] = {}

    def list_found(self, state: RunState) -> Iterator[tuple[Scope, Found]]:
        """Where something is found, in the order in which the run began to remember."""
        kept = self._kept
        for scope, memory in state.memory.items():
            known = kept.get(scope)
            if known is None or known[0] is not memory:
                known = kept[scope] = (memory, self._read(memory))
            if known[1]:
                yield scope, known[1]
