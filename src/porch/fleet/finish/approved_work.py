"""Before work is delivered: what people approved is still what is delivered, or a person says so.

After its end a run asks nobody. So a change of an approved file is refused here, or accepted by
whoever finishes the run.
"""

from collections.abc import Iterator, Sequence

from porch.errors import FailedError, OutsideError
from porch.fleet.finish.run_work import RunWork
from porch.git import repository
from porch.git.command import read_git_bytes
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.run.engine.artifacts import MISSING, changed_artifacts, hash_artifacts
from porch.text.sha256 import sha256


def list_changed_approvals(protocol: Protocol, state: RunState, work: RunWork) -> tuple[str, ...]:
    """What is delivered and differs from what was approved, one sentence for each gate."""
    return tuple(_describe_changes(protocol, state, work))


def refuse_changed_approvals(id_: str, way: str, changed: Sequence[str]) -> None:
    if changed:
        raise FailedError(
            "; ".join(changed),
            fix="put the files back as they were approved; or deliver them as they are: "
            f"porch finish {id_} --{way} --accept-changes",
            code="finish-changed-approval",
        )


def _describe_changes(protocol: Protocol, state: RunState, work: RunWork) -> Iterator[str]:
    # What a tree builds on is compared where its parts are merged.
    gates = {} if protocol.spec else state.approvals
    for gate, known in gates.items():
        now = {path: _hash_delivered(work, path) for path in known.artifacts}
        paths = changed_artifacts(known.artifacts, now)
        if gate in protocol.gates and paths:
            yield f"changed since {gate} was approved: {', '.join(paths)}"


def _hash_delivered(work: RunWork, path: str) -> str:
    """A file as it lies there; of a branch, as it is committed."""
    is_here = repository.read_head(work.workspace) == work.head and path not in work.uncommitted
    if not work.is_own or is_here:
        return hash_artifacts(work.workspace, "", (path,))[path]
    try:
        return sha256(
            read_git_bytes(work.repo, "cat-file", "blob", f"{work.head}:{path}")
        ).hexdigest()
    except OutsideError:
        return MISSING
