"""Opening a decision over its artifacts as they are; no world is needed for that."""

from porch.machine import facts as f
from porch.machine.effects import AskPerson
from porch.run.engine.artifacts import digest_hashes, hash_artifacts


def open_question(workspace: str, project_dir: str, effect: AskPerson) -> f.DecisionAsked:
    known = hash_artifacts(workspace, project_dir, effect.artifacts)
    known |= hash_artifacts(workspace, "", effect.files)
    return f.DecisionAsked(effect=effect.id, digest=digest_hashes(known), artifacts=known)
