"""Opening a decision over its artifacts as they are; no world is needed for that."""

from porch.machine import facts as f
from porch.machine.effects import AskPerson
from porch.machine.state import RunState
from porch.run.engine.artifacts import digest_hashes, hash_artifacts, list_artifact_paths

# Others are not about letting files pass, so nobody is ever shown what changed in theirs.
_ABOUT_FILES = ("gate", "undecided")


def open_question(
    workspace: str, store: str, state: RunState, effect: AskPerson
) -> f.DecisionAsked:
    """The files are kept as they are asked about, so that a later difference can be shown."""
    standing = state.positions.get(effect.position)
    item = standing.item if standing else ""
    paths = list_artifact_paths(workspace, state.run, effect.artifacts, item)
    known = hash_artifacts(workspace, "", (*paths, *effect.files))
    if known and effect.ask in _ABOUT_FILES:
        from porch.run.engine.approved_artifacts import keep_artifacts

        keep_artifacts(workspace, store, known)
    return f.DecisionAsked(effect=effect.id, digest=digest_hashes(known), artifacts=known)
