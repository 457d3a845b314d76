"""Before work is delivered: what people approved is still what is delivered, or a person says so.

After its end a run asks nobody. So a change of an approved file has to be accepted by whoever
finishes the run.
"""

from collections.abc import Iterator

from porch.errors import OutsideError
from porch.fleet.finish.run_work import RunWork
from porch.git.command import read_git_bytes
from porch.machine.state import RunState
from porch.model.artifact_names import MISSING, find_changes_base
from porch.model.protocol import Protocol
from porch.model.track_names import FILE, LINK
from porch.run.engine.approved_artifacts import make_scope
from porch.run.engine.artifacts import hash_artifacts, is_part, read_changes
from porch.text.sha256 import sha256


def list_changed_approvals(protocol: Protocol, state: RunState, work: RunWork) -> tuple[str, ...]:
    """What is delivered and differs from what was approved, one sentence for each gate."""
    return tuple(_describe_changes(protocol, state, work))


def _describe_changes(protocol: Protocol, state: RunState, work: RunWork) -> Iterator[str]:
    # What a tree builds on is compared where its parts are merged.
    gates = {} if protocol.spec else state.approvals
    find_changes = make_scope(protocol, state)
    for gate, known in gates.items():
        now = {
            path: _hash_changes(state, work, base)
            if (base := find_changes_base(path))
            else _hash_delivered(work, path, sum_)
            for path, sum_ in known.artifacts.items()
        }
        paths = find_changes(gate, now)
        if gate in protocol.gates and paths:
            yield f"changed since {gate} was approved: {', '.join(paths)}"


def _hash_changes(state: RunState, work: RunWork, base: str) -> str:
    """Of all changes of a run; where git keeps other bytes than lie in the files, of these."""
    commit = state.run.base_commit
    is_same = work.is_own and commit and read_changes(work.repo, base, commit) == b""
    if is_same:
        data = read_changes(work.repo, base, work.head)
    else:
        data = None if work.uncommitted else read_changes(work.workspace, base)
    return MISSING if data is None else sha256(data).hexdigest()


def _hash_delivered(work: RunWork, path: str, approved: str) -> str:
    """Of a branch its commit counts, whatever lies in the worktree or git was told of it."""
    if not work.is_own:
        return hash_artifacts(work.workspace, "", (path,))[path]
    try:
        versions = _list_versions(work, path)
    except OutsideError:
        return MISSING
    sums = [sha256(each).hexdigest() for each in versions]
    return approved if approved in sums else next(iter(sums), MISSING)


def _list_versions(work: RunWork, path: str) -> list[bytes]:
    """Git may keep other ends of lines than the file had that was read."""
    is_plan = is_part(path) and not path.endswith((LINK, FILE))
    plain = path.removesuffix(LINK).removesuffix(FILE)
    file, _, part = path.rpartition("#") if is_plan else (plain, "", "")
    data = read_git_bytes(work.repo, "cat-file", "blob", f"{work.head}:{file}")
    if not is_plan:
        return [data, data.replace(b"\n", b"\r\n")]
    from porch.dialects.plan_xml.plan_parts import find_plan_part

    found = find_plan_part(data, part)
    return [found] if found is not None else []
