"""The one model that every dialect compiles to; frozen, plain data, free of places and paths."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Exits that the engine itself gives for any agent, whatever the protocol declares.
SILENT = "silent"
EXHAUSTED = "exhausted"
BLOCKED = "BLOCKED"

# A missing command of the settings: could not measure, no matter, or no matter in a dry run.
IfMissing = Literal["fail", "skip", "skip-scripted"]
Test = Literal["present", "absent", "has"]
Outcome = Literal["complete", "failed", "abandoned"]
AskKind = Literal["gate", "question", "failure", "undecided"]


@dataclass(frozen=True, slots=True)
class Exit:
    """One way an agent may answer: the signals that say it and what must come with them."""

    name: str
    signals: tuple[str, ...] = ()
    needs_reason: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """Work for an agent command line with a prompt, in the run's workspace."""

    role: str
    prompt: str = ""
    exits: tuple[Exit, ...] = ()
    artifacts: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    timeout_s: float = 0


@dataclass(frozen=True, slots=True)
class Command:
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


@dataclass(frozen=True, slots=True)
class Check:
    """Commands that the engine runs; `reuse` lets fresh passing evidence stand for a run."""

    commands: tuple[Command, ...]
    reuse: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Several reviewers and a quorum of real verdicts."""

    reviewers: tuple[str, ...]
    review: str
    subject: str
    quorum: int
    parallel: bool = True
    artifacts: tuple[str, ...] = ()
    timeout_s: float = 0


@dataclass(frozen=True, slots=True)
class Option:
    """One answer a person may give, with what happens then in their words."""

    exit: str
    meaning: str
    needs_text: bool = False


@dataclass(frozen=True, slots=True)
class Human:
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


@dataclass(frozen=True, slots=True)
class Git:
    """The engine commits named paths of the project directory."""

    paths: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Children:
    """Instances of this or another protocol inside the same run."""

    protocol: str
    specs: str


@dataclass(frozen=True, slots=True)
class End:
    """How an instance ends."""

    outcome: Outcome


Actor = Agent | Check | Panel | Human | Git | Children | End


@dataclass(frozen=True, slots=True)
class Input:
    """A remembered exit that a state's actor gets to see, under a heading for people."""

    label: str
    path: str


@dataclass(frozen=True, slots=True)
class State:
    """One kind of work. `group` is the name people know it by; `loop` makes it one per item."""

    name: str
    group: str
    actor: Actor
    title: str = ""
    description: str = ""
    loop: str = ""
    inputs: tuple[Input, ...] = ()
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """A test on one remembered path; `has` looks for a value in a remembered list of names."""

    path: str
    test: Test = "present"
    value: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Where an edge leads: a state, a state at a named item, or the next item of a loop."""

    state: str = ""
    item: str = ""
    next_of: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
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


@dataclass(frozen=True, slots=True)
class Budget:
    """How often an edge may be taken until it is reset; counted per item inside a loop."""

    name: str
    limit: int


@dataclass(frozen=True, slots=True)
class Loop:
    """States repeated for each item of a finite list read from a document of the project."""

    name: str
    source: str
    first: str
    after: Target


@dataclass(frozen=True, slots=True)
class Limits:
    """Time given to processes and people, in seconds; the protocol's word over the settings'."""

    agent_s: float = 0
    review_s: float = 0
    gate_poll_s: float = 0
    gate_wait_s: float = 0


def evidence_path(group: str, check: str) -> str:
    """Where the content on which a check last passed is remembered."""
    return f"evidence.{group}:{check}"


def _reads(state: State) -> Iterator[str]:
    yield from state.waits_for
    yield from (given.path for given in state.inputs)
    if isinstance(state.actor, Check) and state.actor.reuse:
        yield from (evidence_path(state.group, command.name) for command in state.actor.commands)


def _derived() -> Any:
    return field(init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Protocol:
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
    _edges: Mapping[tuple[str, str], tuple[Edge, ...]] = _derived()
    _order: Mapping[str, int] = _derived()
    _readers: Mapping[str, tuple[str, ...]] = _derived()
    gates: tuple[str, ...] = _derived()

    def __post_init__(self) -> None:
        # Asked at every step of a run, so looked up rather than looked for.
        edges: dict[tuple[str, str], tuple[Edge, ...]] = {}
        for edge in self.edges:
            key = (edge.state, edge.exit)
            edges[key] = (*edges.get(key, ()), edge)
        readers: dict[str, tuple[str, ...]] = {}
        for name, state in self.states.items():
            for path in dict.fromkeys(_reads(state)):
                readers[path] = (*readers.get(path, ()), name)
        object.__setattr__(self, "_edges", edges)
        object.__setattr__(self, "_order", {name: i for i, name in enumerate(self.states)})
        object.__setattr__(self, "_readers", readers)
        actors = [state.actor for state in self.states.values()]
        gates = [a.name for a in actors if isinstance(a, Human) and a.kind == "gate"]
        object.__setattr__(self, "gates", tuple(gates))

    def edges_of(self, state: str, exit_: str) -> Iterator[Edge]:
        return iter(self._edges.get((state, exit_), ()))

    def order(self, state: str) -> int:
        """How far along a state stands; rollback goes to lower numbers only."""
        return self._order[state]

    def readers_of(self, path: str) -> tuple[str, ...]:
        """The states whose work looks different once something else is remembered under a path."""
        return self._readers.get(path, ())
