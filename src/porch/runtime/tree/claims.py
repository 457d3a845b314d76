"""An answer on trial: what was said, where it was worked, and what the engine saw of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from porch.machine.effects import AskAgent
from porch.machine.paths import look, walk
from porch.model.protocol import Exit
from porch.runtime.tree.places import Place
from porch.runtime.world import World


@dataclass(slots=True)
class Claim:
    """An answer on trial: what was said, where it was worked, what was seen so far."""

    world: World
    effect: AskAgent
    place: Place
    exit: Exit
    payload: dict[str, Any]
    evidence: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def values(self, paths: Iterable[str]) -> list[Any]:
        """What the paths of a measure lead to, as one flat list."""
        found: list[Any] = []
        for path in paths:
            value = self.value(path)
            found += value if isinstance(value, (list, tuple)) else [value]
        return [each for each in found if each is not None]

    def value(self, path: str) -> Any:
        own = f"{self.effect.state}.{self.exit.name}"
        if path == own or path.startswith(f"{own}."):
            return walk(self.payload, path[len(own) + 1 :].split("."))
        state = self.world.state()
        standing = state.positions[self.effect.position]
        return look(self.world.definition().protocol, state, standing, path)

    def saw(self, name: str, result: str, report: str) -> None:
        self.evidence.append({"name": name, "result": result, "report": report})
