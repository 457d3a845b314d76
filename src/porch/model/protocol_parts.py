"""What a protocol says beside its states: limits, and of trees children, updates and plans.

A graph that children follow is a part of the protocol that spawns them: its states stand beside the
others under names of their own, so that one pinned definition holds all that a run needs.
"""

from collections.abc import Mapping

from msgspec import field

from porch.model.tagged import Tagged

# Between the name of a part and the names of its states, budgets and types; in no name of a file.
PART_MARK = "+"
# As the only inherited field: every field, as in definitions pinned by an older release.
EVERY_FIELD = "*"


class Budget(Tagged, frozen=True, tag="Budget"):
    """How often an edge may be taken until it is reset; counted per item inside a loop.

    `first` is what people see before the first charge: an attempt is under way then.
    """

    name: str
    limit: int
    first: int = 0


class Limits(Tagged, frozen=True, tag="Limits"):
    """Time given to processes and people, in seconds; the protocol's word over the settings'."""

    agent_s: float = 0
    review_s: float = 0
    gate_poll_s: float = 0
    gate_wait_s: float = 0


class Children(Tagged, frozen=True, tag="Children"):
    """Instances of this or another protocol inside the same run."""

    protocol: str  # the part that they follow; empty for the one that spawns them
    specs: str
    rework: str = ""  # where the ids of merged children lie that have to be done again
    depth: int = 2
    fan_out: int = 5
    instances: int = 25
    suite: str = ""  # the field of a spec that says where a child's own tests lie
    inherits: tuple[str, ...] = (EVERY_FIELD,)  # fields of a spec that are taken from the parent's
    from_parent: tuple[str, ...] = ()  # lists of a spec that hold only what the parent's list has
    after: str = ""  # the field of a planned child that names siblings to wait for


class Epoch(Tagged, frozen=True, tag="Epoch"):
    """Planning anew: the state it begins with, what that costs and which budgets it restores."""

    state: str
    charges: str = ""
    resets: tuple[str, ...] = ()


class Interrupt(Tagged, frozen=True, tag="Interrupt"):
    """A sibling's merge: taken before the next interruptible state, which is entered afterwards."""

    state: str
    on: str
    event: str
    adapted: Mapping[str, str] = field(default_factory=dict)  # due -> instead, if an agent adapted


class Part(Tagged, frozen=True, tag="Part"):
    """A graph that instances follow: where it begins, what it is about, how it takes updates."""

    initial: str
    spec: str = ""
    interrupt: Interrupt | None = None
    epoch: Epoch | None = None


def name_in_part(part: str, name: str) -> str:
    """A state, budget or type of a part, as the whole protocol calls it."""
    return f"{part}{PART_MARK}{name}" if part else name


def part_of_name(name: str) -> str:
    return name.rpartition(PART_MARK)[0]
