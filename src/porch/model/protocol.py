"""The one model that every dialect compiles to; frozen, plain data, free of places and paths."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

from msgspec import field

from porch.model.flow import find_states_in_front
from porch.model.memory_paths import evidence_path
from porch.model.protocol_parts import (
    Budget,
    Children,
    Epoch,
    Interrupt,
    Limits,
    Part,
    name_in_part,
    part_of_name,
)
from porch.model.tagged import Tagged
from porch.model.types import Record, Type

# Classes of a protocol that have modules of their own; all others are below.
__all__ = ["Budget", "Children", "Epoch", "Interrupt", "Limits", "Part"]
# Exits that the engine itself gives for any agent, whatever the protocol declares.
SILENT = "silent"
EXHAUSTED = "exhausted"
BLOCKED = "BLOCKED"
NO_PROGRESS = "no_progress"
TRACK = "track"  # the subject of a protocol that was read from the plan of a track
# As the item of a target: the last one of the list, whatever it is called.
LAST_ITEM = "*"

# A missing command of the settings: could not measure, no matter, or no matter in a dry run.
IfMissing = Literal["fail", "skip", "skip-scripted"]
CheckSubject = Literal["", "files", "form", "outside"]
Test = Literal[
    "present",
    "absent",
    "has",
    "filled",
    "empty",
    "equals",
    "within",
    "touches",
    "unfinished",
    "cause",
]
# The tests of files: all of several lie under these paths, or at least one.
FILE_TESTS: tuple[Test, ...] = ("within", "touches")
Outcome = Literal["complete", "failed", "abandoned"]
Finish = Literal["", "merge", "squash"]
AskKind = Literal["gate", "question", "failure", "undecided"]
ReviewForm = Literal["verdict", "issues"]
Workspace = Literal["main", "tests", "read"]
GitOp = Literal["commit", "integrate", "contract", "candidate", "publish", "update"]


class Exit(Tagged, frozen=True, tag="Exit"):
    """One way an agent may answer: the signals that say it and what must come with them."""

    name: str
    signals: tuple[str, ...] = ()
    needs_reason: bool = False
    description: str = ""
    record: Record = Record(())
    filled: Mapping[str, str] = field(default_factory=dict)  # field -> path that the engine reads
    advisory: tuple[str, ...] = ()
    measures: tuple["Measure", ...] = ()
    severity: str = ""
    hint: str = ""


class Measure(Tagged, frozen=True, tag="Measure"):
    """A claim that the engine checks itself before it accepts an exit; the paths it is about."""

    name: str
    of: tuple[str, ...] = ()
    by: tuple[str, ...] = ()


class Take(Tagged, frozen=True, tag="Take"):
    """One field of an actor's input: where it comes from, or the parts it is made of.

    Of several paths it is the latest remembered; `is_file` means the content of the file named.
    """

    name: str
    paths: tuple[str, ...] = ()
    optional: bool = False
    is_file: bool = False
    parts: tuple["Take", ...] = ()


class Ask(Tagged, frozen=True, tag="Ask"):
    """A typed question to an agent: what it gets to see, where it works, what it may write."""

    takes: tuple[Take, ...] = ()
    workspace: Workspace = "main"
    of_parent: bool = False  # it speaks with the voice, the role and the thread of the parent
    fork_of: str = ""  # the role whose conversation this one begins from
    allows: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    mechanical: bool = False
    memory: tuple[str, ...] = ()
    stalled: str = ""  # slot.field: retries that do not shorten it begin a fresh conversation
    at: str = ""  # the commit of a read-only workspace; the head of the branch if empty
    diff: tuple[str, str] = ("", "")  # from, to; own commits only where there is no to


class Agent(Tagged, frozen=True, tag="Agent"):
    """Work for an agent command line with a prompt, in the run's workspace."""

    role: str
    prompt: str = ""
    exits: tuple[Exit, ...] = ()
    artifacts: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    timeout_s: float = 0
    ask: Ask | None = None
    may_write: tuple[str, ...] = ()  # of what is protected


class Command(Tagged, frozen=True, tag="Command"):
    """One named check: a shell text, a command of the project's settings, or a measured limit."""

    name: str
    shell: str = ""
    setting: str = ""
    net_lines_below: int = 0
    description: str = ""
    cwd: str = ""
    optional: bool = False
    if_missing: IfMissing = "fail"
    timeout_s: float = 0
    once: bool = False  # true of its moment only, so it is not repeated before the end
    evidence: tuple[str, ...] = ()  # measured only if it passed under one of these paths
    protects: bool = False  # compares what is protected with how the phase found it
    runner: str = ""  # the test runner that it calls, where porch may look after its tests
    plugins: tuple[str, ...] = ()  # of the runner; all that are installed if empty
    changed: bool = False  # whether anything outside the run's own directory has changed
    rerun: int = 0  # how often it is tried again on the same files after a failure
    about: CheckSubject = ""  # only what is about files alone stays true while they do not change
    files: tuple[str, ...] = ()  # documents of the phase: passes if they are there and filled in

    @property
    def depends_on_files_alone(self) -> bool:
        """Whether a pass stays true while no file changes; of its own checks porch knows it."""
        is_own = self.protects or self.changed or bool(self.net_lines_below)
        return is_own or self.about in ("files", "form")

    def may_be_skipped(self, is_dry: bool) -> bool:
        """Whether it may have nothing to run; `is_dry` in a run of the scripted agent."""
        also = "skip-scripted" if is_dry else "skip"
        return self.optional or self.if_missing in ("skip", also)


class Check(Tagged, frozen=True, tag="Check"):
    """Commands that the engine runs; `reuse` carries over passes of what is about files alone."""

    commands: tuple[Command, ...]
    reuse: bool = False
    listed: str = ""  # where commands of the settings are remembered that are run as well


class Panel(Tagged, frozen=True, tag="Panel"):
    """Several reviewers and a quorum of real verdicts, or of reports that list issues first.

    The reviewers of the default panel are chosen when a run begins: a protocol names none.
    """

    reviewers: tuple[str, ...]
    review: str
    subject: str
    quorum: int
    parallel: bool = True
    artifacts: tuple[str, ...] = ()
    timeout_s: float = 0
    form: ReviewForm = "verdict"
    is_default: bool = False
    max_reviewers: int = 0  # of those who are there, or whom the settings name; all of them if 0


class Option(Tagged, frozen=True, tag="Option"):
    """One answer a person may give, with what happens then in their words."""

    exit: str
    meaning: str
    needs_text: bool = False
    needs_failure: bool = False  # offered only where something failed that the question shows


class Human(Tagged, frozen=True, tag="Human"):
    """A decision that only a person takes."""

    kind: AskKind
    name: str
    title: str
    options: tuple[Option, ...]
    description: str = ""
    artifacts: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    override: tuple[str, ...] = ()
    stale_after_s: float = 0
    files_of: tuple[str, ...] = ()  # remembered exits; the files that they name are asked about
    requires: Mapping[str, str] = field(default_factory=dict)  # name -> state, or state and check


class Git(Tagged, frozen=True, tag="Git"):
    """What the engine does with git itself: commit named paths, or move branches of instances."""

    paths: tuple[str, ...] = ()
    message: str = ""
    op: GitOp = "commit"
    reads: tuple[str, ...] = ()
    approved: str = ""  # where the hash lies of the patch that was approved
    own: tuple[str, ...] = ()  # where the paths lie of the tests that must be green
    candidate: str = ""  # where the candidate lies that is published

    @property
    def inputs(self) -> tuple[str, ...]:
        """Every path that it looks at."""
        named = (self.approved, *self.own, self.candidate)
        return (*self.reads, *(path for path in named if path))


class Join(Tagged, frozen=True, tag="Join"):
    """Nobody works; the instance waits until everything it waits for is remembered."""


class End(Tagged, frozen=True, tag="End"):
    """How an instance ends; `shows` are the paths of which the latest says why.

    `gives` is the exit that a parent is told of a child that ends here.
    """

    outcome: Outcome
    shows: tuple[str, ...] = ()
    gives: str = ""


Actor = Agent | Check | Panel | Human | Git | Children | Join | End


class Input(Tagged, frozen=True, tag="Input"):
    """A remembered exit that a state's actor gets to see, under a heading for people."""

    label: str
    path: str


class State(Tagged, frozen=True, tag="State"):
    """One kind of work. `group` is the name people know it by; `loop` makes it one per item."""

    name: str
    group: str
    actor: Actor
    title: str = ""
    description: str = ""
    loop: str = ""
    inputs: tuple[Input, ...] = ()
    waits_for: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()  # what stays this instance's while it goes on to a state that holds
    is_interruptible: bool = False
    beside: str = ""  # the state that sends several off at once; none of them lies behind another


class Guard(Tagged, frozen=True, tag="Guard"):
    """A test on one remembered path; `has` looks for a value in a remembered list of names.

    `filled` is present and not empty, also of a field inside, `empty` the opposite; `equals`
    compares with a literal; `within` asks whether a file lies at or under one of other paths;
    `unfinished` asks whether the loop that the path names has other items to be worked on;
    `cause` asks whether this very exit led to the state that is left.
    """

    path: str
    test: Test = "present"
    value: str = ""


class Target(Tagged, frozen=True, tag="Target"):
    """Where an edge leads: a state, one at an item, the next item of a loop, what was put off."""

    state: str = ""
    item: str = ""
    next_of: str = ""
    is_due: bool = False


class Keep(Tagged, frozen=True, tag="Keep"):
    """Something that an edge writes into the memory of a role, over or behind what is there."""

    slot: str
    path: str
    append: bool = False


class Edge(Tagged, frozen=True, tag="Edge"):
    """What an exit of a state leads to, and which budget that charges."""

    state: str
    exit: str
    targets: tuple[Target, ...]
    guards: tuple[Guard, ...] = ()
    charges: str = ""
    spent: tuple[Target, ...] = ()
    resets: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    delay_s: float = 0
    spent_as: str = ""  # the exit that this one becomes when its budget is spent
    is_alone: bool = False  # everything else that the instance does is left
    keeps: tuple[Keep, ...] = ()
    respecifies: Mapping[str, str] = field(default_factory=dict)  # field of the spec -> path


class Loop(Tagged, frozen=True, tag="Loop"):
    """States repeated for each item of a finite list read from a document of the project."""

    name: str
    source: str
    first: str
    after: Target


def _paths_read_by(state: State) -> Iterator[str]:
    yield from state.waits_for
    yield from (given.path for given in state.inputs)
    if isinstance(state.actor, Check) and state.actor.reuse:
        yield from (evidence_path(state.group, command.name) for command in state.actor.commands)
        yield from (path for command in state.actor.commands for path in command.evidence)


class Protocol(Tagged, frozen=True, dict=True, tag="Protocol"):
    """A graph of states, each work for one actor, every answer exactly one typed exit."""

    name: str
    initial: Target
    states: Mapping[str, State]
    edges: tuple[Edge, ...]
    version: str = ""
    description: str = ""
    subject: str = "project"
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    loops: Mapping[str, Loop] = field(default_factory=dict)
    limits: Limits = Limits()
    types: Mapping[str, Type] = field(default_factory=dict)
    spec: str = ""  # the type of what an instance is about; empty where there are no instances
    interrupt: Interrupt | None = None
    epoch: Epoch | None = None
    silence_s: float = 0
    nudges: int = 3
    protected: tuple[str, ...] = ()  # globs
    is_protecting: bool = False  # it says what is protected, or who may write it
    parts: Mapping[str, Part] = field(default_factory=dict)  # other graphs that children follow
    finish: Finish = ""  # what porch does with the work once the run is complete

    # Asked at every step of a run, so looked up; of a few values only, so when first asked.

    @cached_property
    def _edges(self) -> Mapping[tuple[str, str], tuple[Edge, ...]]:
        edges: dict[tuple[str, str], tuple[Edge, ...]] = {}
        for edge in self.edges:
            key = (edge.state, edge.exit)
            edges[key] = (*edges.get(key, ()), edge)
        return edges

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.states)}

    @cached_property
    def _readers(self) -> Mapping[str, tuple[str, ...]]:
        readers: dict[str, tuple[str, ...]] = {}
        for name, state in self.states.items():
            for path in dict.fromkeys(_paths_read_by(state)):
                readers[path] = (*readers.get(path, ()), name)
        return readers

    @cached_property
    def _in_front(self) -> Mapping[str, frozenset[str]]:
        return find_states_in_front(self.starts, self._list_ways(), self.awaited)

    @property
    def starts(self) -> tuple[str, ...]:
        """Where the instances of a run begin."""
        return (self.initial.state, *(part.initial for part in self.parts.values()))

    @property
    def awaited(self) -> Mapping[str, tuple[str, ...]]:
        """For each state those that it waits for."""
        return {
            name: tuple(path.rpartition(".")[0] for path in state.waits_for)
            for name, state in self.states.items()
        }

    def _list_ways(self) -> Iterator[tuple[str, str]]:
        for edge in self.edges:
            for target in (*edge.targets, *edge.spent):
                ahead = self.loops[target.next_of].after if target.next_of else target
                yield edge.state, ahead.state

    @cached_property
    def gates(self) -> tuple[str, ...]:
        actors = [state.actor for state in self.states.values()]
        return tuple(a.name for a in actors if isinstance(a, Human) and a.kind == "gate")

    @cached_property
    def _spawns(self) -> Mapping[str, Children]:
        found: dict[str, Children] = {}
        for name, state in self.states.items():
            if isinstance(state.actor, Children):
                found.setdefault(part_of_name(name), state.actor)
        return found

    @property
    def spawn(self) -> Children | None:
        return self.spawn_of("")

    def spawn_of(self, part: str) -> Children | None:
        """How instances of a part spawn children; None if they have none."""
        return self._spawns.get(part)

    def part(self, name: str) -> Part:
        """One of the graphs that instances follow; the empty name is the protocol itself."""
        own = Part(self.initial.state, self.spec, self.interrupt, self.epoch)
        return self.parts.get(name, own)

    def part_of(self, state: str) -> Part:
        return self.part(part_of_name(state))

    def budgets_of(self, part: str) -> Mapping[str, str]:
        """The budgets of a part by the names that its file gives them."""
        if not self.parts:
            return {name: name for name in self.budgets}
        front = len(name_in_part(part, ""))
        return {name[front:]: name for name in self.budgets if part_of_name(name) == part}

    def edges_of(self, state: str, exit_: str) -> Iterator[Edge]:
        return iter(self._edges.get((state, exit_), ()))

    def group_of(self, state: str) -> str:
        """The phase of a state; of one that another definition had, its own name."""
        known = self.states.get(state)
        return known.group if known else state

    def order(self, state: str) -> int:
        """How far along a state stands; rollback goes to lower numbers only."""
        return self._order[state]

    def states_in_front(self, state: str) -> frozenset[str]:
        """The states from which a run comes here without going back."""
        return self._in_front[state]

    def readers_of(self, path: str) -> tuple[str, ...]:
        """The states whose work looks different once something else is remembered under a path."""
        return self._readers.get(path, ())
