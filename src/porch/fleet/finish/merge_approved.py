"""The merge that a protocol promises: once a run is complete, in the name of who approved its work.

It is `porch finish`, called by whoever drives the run. What it refuses stays as it is: the run is
complete, its branch is there, and the reason lies beside the journal for everybody who looks.
"""

from collections.abc import Callable

from porch.account.consequences import find_merge_target
from porch.errors import PorchError
from porch.fleet.finish.acceptance import FinishRequest, UnacceptedError
from porch.fleet.finish.finish import finish_run
from porch.machine.state import RunState
from porch.run.verbs.read_run import read_run
from porch.store.uncommitted_work import note_unmerged_work
from porch.store.where import ProjectPaths


def merge_when_complete(
    where: ProjectPaths, state: RunState, notice: Callable[[str], None]
) -> RunState:
    """Merge the work if the protocol says so and a person let it pass; the run as it is then."""
    if state.outcome != "complete" or state.run.delivery is not None:
        return state
    name = state.run.name
    protocol = read_run(where, name).definition.protocol
    into, by = find_merge_target(protocol, state), find_last_approver(state)
    if not (protocol.finish and into and by):
        return state
    why = ""
    try:
        notice(finish_run(where, name, FinishRequest(protocol.finish, by=by)).message)
    except (PorchError, OSError) as error:
        why = _explain(error, f"porch finish {state.run.id or name} --{protocol.finish}")
        notice(f"{name} is ready to merge, and was not merged into {into}: {why}")
    note_unmerged_work(where.run_dir(name), why)
    return read_run(where, name).state


def _explain(error: PorchError | OSError, command: str) -> str:
    """What was refused and what to type; who has to accept something is told that by the fix."""
    if not isinstance(error, PorchError):
        return f"{error}; try again: {command}"
    messages, fix = "; ".join(each.message for each in error.findings), error.findings[-1].fix
    again = "" if isinstance(error, UnacceptedError) else f"; then: {command}"
    return f"{messages}. {fix[:1].upper()}{fix[1:]}{again}"


def find_last_approver(state: RunState) -> str:
    """Who let the last gate pass; nobody if that is only known from a file."""
    passed = [each for each in state.gates.values() if each.status == "approved"]
    return max(((each.decided_at, each.by) for each in passed), default=("", ""))[1]
