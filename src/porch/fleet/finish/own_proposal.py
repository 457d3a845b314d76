"""A pull request at the end of a run without a person who types it, for protocols that have one.

Where `gh` or a remote is missing, or the run was a trial with the scripted agent, nothing happens:
the last words of the run say how to finish it.
"""

import os
import shutil
from collections.abc import Callable, Collection

from porch.errors import PorchError
from porch.fleet.finish.finish import finish_run
from porch.fleet.finish.run_work import own_branch
from porch.machine.state import RunState
from porch.plan.branches import github
from porch.run.engine.caller import find_agent_sign
from porch.store.where import ProjectPaths


def propose_when_complete(
    where: ProjectPaths, state: RunState, protocols: Collection[str], notice: Callable[[str], None]
) -> None:
    """What goes wrong is said, and changes nothing: the work is there, and can be finished."""
    if not _is_proposed(where, state, protocols):
        return
    word = state.run.id or state.run.name
    try:
        told = finish_run(where, state.run.name, "pr")
    except (PorchError, OSError) as error:
        notice(f"the pull request was not opened: {error}; try `porch finish {word} --pr`")
    else:
        notice(told.message)


def _is_proposed(where: ProjectPaths, state: RunState, protocols: Collection[str]) -> bool:
    if state.outcome != "complete" or state.run.protocol not in protocols:
        return False
    # An agent that starts a run cannot publish by it: finishing is for people.
    if not own_branch(state) or state.run.delivery or find_agent_sign(os.environ):
        return False
    return shutil.which("gh") is not None and _has_remote(where, own_branch(state))


def _has_remote(where: ProjectPaths, branch: str) -> bool:
    try:
        return bool(github.find_remote(where.base, branch))
    except PorchError:
        return False
