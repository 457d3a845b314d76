"""What a fact moved: the only thing replay needs, so it depends on no protocol and no release."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from porch.machine.facts import Item, Payload
from porch.model.protocol import Outcome


@dataclass(frozen=True, slots=True)
class Began:
    """The run exists, with the identity that its first fact gave it."""

    run: str
    id: str
    title: str
    protocol: str
    digest: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    subject: str = ""
    project_dir: str = ""
    status_file: str = ""
    worktree: str = ""
    base_commit: str = ""
    agent: str = ""
    script: str = ""


@dataclass(frozen=True, slots=True)
class Entered:
    """A position began to stand; its text is its name everywhere else."""

    position: str
    state: str
    visit: int
    item: str = ""
    instance: str = ""
    delay_s: float = 0
    because: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """A position stands no more."""

    position: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """The payload of an accepted exit, under `state.exit`, for one instance and item."""

    path: str
    payload: Payload
    item: str = ""
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Forgot:
    """A remembered payload stands no more."""

    path: str
    item: str = ""
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Charged:
    """A budget's count, after charging or resetting it."""

    budget: str
    spent: int


@dataclass(frozen=True, slots=True)
class Marked:
    """Something noted about a standing position: a partial result, a reminder, a fired timer."""

    position: str
    key: str
    value: Any = True


@dataclass(frozen=True, slots=True)
class Postponed:
    """Some work of a position begins again only after a wait; others of it go on meanwhile."""

    position: str
    work: str
    name: str
    seconds: float
    is_instant: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """An effect is in nobody's hands any more; its next try gets a new number."""

    effect: str
    usd: float = 0
    tokens: int = 0
    seconds: float = 0  # of agents and reviewers only


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision is open."""

    position: str
    kind: str
    name: str
    digest: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Closed:
    """A decision was taken, or went away with the position it belonged to."""

    position: str
    exit: str = ""
    text: str = ""
    who: str = ""
    channel: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Itemised:
    """The finite list of a loop, with the items that stay finished."""

    loop: str
    items: tuple[Item, ...]
    digest: str
    finished: tuple[str, ...] = ()
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """One item of a loop is done."""

    loop: str
    item: str
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing is wanted until the run is resumed."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """What is wanted is wanted again."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """Another definition governs the run from here on."""

    digest: str


@dataclass(frozen=True, slots=True)
class GateNoted:
    """What is known about a named gate, for people; nothing is decided from it."""

    name: str
    status: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The instance is over: why, and what its siblings get to know of what it merged."""

    outcome: Outcome
    instance: str = ""
    why: Payload = field(default_factory=dict)
    merged: Payload = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spawned:
    """A member of the tree exists; its branch begins at the head of the one it will merge into."""

    instance: str
    parent: str
    key: str
    spec: Payload
    digest: str = ""
    branch: str = ""
    target: str = ""
    revision: Payload | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A living instance was told of a change of its spec, or of an answer."""

    instance: str
    spec: Payload = field(default_factory=dict)
    digest: str = ""
    revision: Payload | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """What a position held went on to the next one of the same instance."""

    resource: str
    position: str


Move = (
    Began
    | Entered
    | Left
    | Remembered
    | Forgot
    | Charged
    | Marked
    | Postponed
    | Settled
    | Asked
    | Closed
    | Itemised
    | Finished
    | Paused
    | Resumed
    | Pinned
    | GateNoted
    | Ended
    | Spawned
    | Told
    | Held
)
