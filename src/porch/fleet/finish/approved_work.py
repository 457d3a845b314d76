"""Before work is delivered: what people approved is still what is delivered, or a person says so.

After its end a run asks nobody. So a change of an approved file is refused here, or accepted by
whoever finishes the run.
"""

from collections.abc import Iterator, Sequence

from porch.errors import FailedError, OutsideError
from porch.fleet.finish.run_work import RunWork
from porch.git.command import read_git_bytes
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.run.engine.artifacts import MISSING, hash_artifacts
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
        then = known.artifacts
        paths = sorted(path for path in then if not _is_delivered(work, path, then[path]))
        if gate in protocol.gates and paths:
            yield f"changed since {gate} was approved: {', '.join(paths)}"


def _is_delivered(work: RunWork, path: str, approved: str) -> bool:
    """Of a branch its commit counts, whatever lies in the worktree or git was told of it."""
    if not work.is_own:
        return hash_artifacts(work.workspace, "", (path,))[path] == approved
    try:
        data = read_git_bytes(work.repo, "cat-file", "blob", f"{work.head}:{path}")
    except OutsideError:
        return approved == MISSING
    # Git may keep other ends of lines than the file had that was read.
    return approved in (sha256(each).hexdigest() for each in (data, data.replace(b"\n", b"\r\n")))
