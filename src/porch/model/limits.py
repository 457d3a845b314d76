"""What a run may use up: how often an edge is taken, and how long people and processes take."""

from porch.model.tagged import Tagged


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
