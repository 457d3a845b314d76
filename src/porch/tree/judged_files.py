"""Whoever is judged by the tests may not write what decides how they come out."""

from collections.abc import Iterable, Iterator

from porch.git.changes import ChangedPath
from porch.model.protection import WORDS, make_protected_paths
from porch.tree.claim import Claim

_JUDGED = "green"


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
