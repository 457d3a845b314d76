"""Opening a decision over its artifacts as they are; no world is needed for that."""

from porch.machine import facts as f
from porch.machine.effects import AskPerson
from porch.machine.state import RunState
from porch.run.engine.artifacts import digest_hashes, hash_artifacts, list_artifact_paths


def open_question(workspace: str, state: RunState, effect: AskPerson) -> f.DecisionAsked:
    standing = state.positions.get(effect.position)
    item = standing.item if standing else ""
    paths = list_artifact_paths(workspace, state.run, effect.artifacts, item)
    known = hash_artifacts(workspace, "", (*paths, *effect.files))
    return f.DecisionAsked(effect=effect.id, digest=digest_hashes(known), artifacts=known)
