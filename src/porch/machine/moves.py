"""What a fact moved: the only thing replay needs, so it depends on no protocol and no release."""

from collections.abc import Mapping
from typing import Any

from msgspec import field

from porch.machine.facts import FinishKind, Item, Payload
from porch.model.protocol import Outcome
from porch.model.tagged import Tagged


class Began(Tagged, frozen=True, tag="Began"):
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
    heading: str = ""
    request_from: str = ""
    base_tree: str = ""
    settings: str = ""
    own_worktree: bool = False
    branch: str = ""
    into: str = ""
    commits_nothing: bool = False
    trust: tuple[str, ...] = ()


class Entered(Tagged, frozen=True, tag="Entered"):
    """A position began to stand; its text is its name everywhere else."""

    position: str
    state: str
    visit: int
    item: str = ""
    instance: str = ""
    delay_s: float = 0
    because: str = ""


class Left(Tagged, frozen=True, tag="Left"):
    """A position stands no more."""

    position: str


class Remembered(Tagged, frozen=True, tag="Remembered"):
    """The payload of an accepted exit, under `state.exit`, for one instance and item."""

    path: str
    payload: Payload
    item: str = ""
    instance: str = ""


class Forgot(Tagged, frozen=True, tag="Forgot"):
    """A remembered payload stands no more."""

    path: str
    item: str = ""
    instance: str = ""


class Charged(Tagged, frozen=True, tag="Charged"):
    """A budget's count, after charging or resetting it."""

    budget: str
    spent: int


class Marked(Tagged, frozen=True, tag="Marked"):
    """Something noted about a standing position: a partial result, a reminder, a fired timer."""

    position: str
    key: str
    value: Any = True


class Postponed(Tagged, frozen=True, tag="Postponed"):
    """Some work of a position begins again only after a wait; others of it go on meanwhile."""

    position: str
    work: str
    name: str
    seconds: float
    is_instant: bool = False


class Settled(Tagged, frozen=True, tag="Settled"):
    """An effect is in nobody's hands any more; its next try gets a new number."""

    effect: str
    usd: float = 0
    tokens: int = 0
    seconds: float = 0  # of agents and reviewers only


class Asked(Tagged, frozen=True, tag="Asked"):
    """A decision is open."""

    position: str
    kind: str
    name: str
    digest: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)


class Closed(Tagged, frozen=True, tag="Closed"):
    """A decision was taken, or went away with the position it belonged to."""

    position: str
    exit: str = ""
    text: str = ""
    who: str = ""
    channel: str = ""
    digest: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)


class Itemised(Tagged, frozen=True, tag="Itemised"):
    """The finite list of a loop, with the items that stay finished."""

    loop: str
    items: tuple[Item, ...]
    digest: str
    finished: tuple[str, ...] = ()
    instance: str = ""


class Finished(Tagged, frozen=True, tag="Finished"):
    """One item of a loop is done."""

    loop: str
    item: str
    instance: str = ""


class Paused(Tagged, frozen=True, tag="Paused"):
    """Nothing is wanted until the run is resumed."""


class Resumed(Tagged, frozen=True, tag="Resumed"):
    """What is wanted is wanted again."""


class Pinned(Tagged, frozen=True, tag="Pinned"):
    """Another definition governs the run from here on."""

    digest: str


class Based(Tagged, frozen=True, tag="Based"):
    """What the run changes is measured against this, and goes back to this branch."""

    base_tree: str
    base_commit: str
    into: str


class PinnedSettings(Tagged, frozen=True, tag="PinnedSettings"):
    """Other settings govern the run from its next drive on; `trust` is added to what it trusts."""

    digest: str
    trust: tuple[str, ...] = ()


class GateNoted(Tagged, frozen=True, tag="GateNoted"):
    """What is known about a named gate; one that waits to be asked has no approval any more."""

    name: str
    status: str
    by: str = ""


class Ended(Tagged, frozen=True, tag="Ended"):
    """The instance is over: why, and what its siblings get to know of what it merged."""

    outcome: Outcome
    instance: str = ""
    why: Payload = field(default_factory=dict)
    merged: Payload = field(default_factory=dict)


class Reopened(Tagged, frozen=True, tag="Reopened"):
    """A run that was over goes on: somebody took back that something is done."""


class Delivered(Tagged, frozen=True, tag="Delivered"):
    """The work of the run was given away; the last time counts."""

    how: FinishKind
    branch: str = ""
    head: str = ""
    into: str = ""
    commit: str = ""
    url: str = ""


class Spawned(Tagged, frozen=True, tag="Spawned"):
    """A member of the tree exists; its branch begins at the head of the one it will merge into."""

    instance: str
    parent: str
    key: str
    spec: Payload
    digest: str = ""
    branch: str = ""
    target: str = ""
    revision: Payload | None = None
    part: str = ""


class Awaited(Tagged, frozen=True, tag="Awaited"):
    """A member of the tree begins once these siblings have merged; nobody: it begins now."""

    instance: str
    after: tuple[str, ...] = ()


class Told(Tagged, frozen=True, tag="Told"):
    """A living instance was told of a change of its spec, or of an answer."""

    instance: str
    spec: Payload = field(default_factory=dict)
    digest: str = ""
    revision: Payload | None = None


class Held(Tagged, frozen=True, tag="Held"):
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
    | PinnedSettings
    | Based
    | GateNoted
    | Ended
    | Reopened
    | Delivered
    | Spawned
    | Awaited
    | Told
    | Held
)
