"""An answer on trial: what was said, where it was worked, and what the engine saw of it.

Whoever is judged by the tests may not write what decides how they come out.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from porch.git.changed_paths import ChangedPath
from porch.machine.effects import AskAgent
from porch.machine.path_values import look_up_path, walk_fields
from porch.model.protection import WORDS, make_protected_paths
from porch.model.protocol import Exit
from porch.run.agents.world import World

_JUDGED = "green"


class InstancePlace(Struct, frozen=True):
    """A directory to work in; `entry` is the commit that was there when the work began."""

    path: str
    branch: str
    entry: str
    is_own: bool = True


class Claim(Struct):
    """An answer on trial: what was said, where it was worked, what was seen so far."""

    world: World
    effect: AskAgent
    place: InstancePlace
    exit: Exit
    payload: dict[str, Any]
    evidence: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # What lay there when it was asked who changed what, and what differed from where it began.
    tree: str = ""
    changed: tuple[str, ...] | None = None
    # Which rules refuse it: what is compared, for the words of a refusal name files.
    rules: list[str] = field(default_factory=list)

    def broke(self, rule: str, reasons: list[str]) -> list[str]:
        """The reasons of one rule, which is noted if there are any."""
        if reasons and rule not in self.rules:
            self.rules.append(rule)
        return reasons

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
            return walk_fields(self.payload, path[len(own) + 1 :].split("."))
        state = self.world.state()
        standing = state.positions[self.effect.position]
        return look_up_path(self.world.definition().protocol, state, standing, path)

    def saw(self, name: str, result: str, report: str) -> None:
        self.evidence.append({"name": name, "result": result, "report": report})


def find_judging_changes(claim: Claim, found: Iterable[ChangedPath]) -> Iterator[str]:
    """Tests, configuration of their runner, settings: refused unless the spec names the file."""
    measures = [each.name for known in claim.effect.exits for each in known.measures]
    if _JUDGED not in measures or claim.effect.ask.mechanical:
        return
    commands = [claim.world.settings.commands.get(name, "") for name in ("test", "build")]
    rules = make_protected_paths(WORDS, (), commands)
    named = claim.values(claim.effect.ask.allows)
    for change in found:
        if change.path not in named and rules.is_protected(change.path):
            yield (
                f"'{change.path}' decides how tests come out, so you may not change it "
                "unless the spec names this file"
            )
