"""One departure of a position: what it says, and what everything looks like once it is said."""

from dataclasses import dataclass, field, replace
from typing import Any

from porch.machine.facts import Payload
from porch.machine.paths import look, walk
from porch.machine.state import Key, Standing, State
from porch.model.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Leaving:
    """One departure: the exit and payload, and the visits it has handed out so far."""

    protocol: Protocol
    state: State
    standing: Standing
    exit: str
    payload: Payload
    fresh: dict[Key, int] = field(default_factory=dict)

    def recall(self, path: str) -> Payload | None:
        """Memory as it will be once this exit is remembered."""
        if path == f"{self.standing.state}.{self.exit}":
            return self.payload
        return self.state.recall(self.standing, path)

    def look(self, path: str) -> Any:
        """Whatever a path means, memory as it will be once this exit is remembered."""
        own = f"{self.standing.state}.{self.exit}"
        if path == own or path.startswith(f"{own}."):
            return walk(self.payload, path[len(own) + 1 :].split(".") if path != own else ())
        return look(self.protocol, self.state, self.standing, path)


def from_nowhere(protocol: Protocol, state: State) -> Leaving:
    """An arrival after everything that stood was left."""
    nobody = Standing("", "", "", "", 0, "")
    return Leaving(protocol, replace(state, positions={}), nobody, "", {})
