"""Drawing what a track shows of its run: statuses in its plan, and the list of confirmations."""

import os

from porch.errors import BusyError, PorchError
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.model.track_names import CODUMENT
from porch.run.agents.world import World
from porch.run.engine.run_places import workspace_of
from porch.run.engine.session import hold_run
from porch.store.where import ProjectPaths
from porch.track.confirmations import write_confirmations
from porch.track.plan_file import describe_trouble, draw_plan, find_plan_of_run


def draw_track(world: World) -> list[str]:
    """After every record of a drive; a plan that cannot be written stops nobody."""
    state = world.state()
    return _draw(world.workspace, world.directory, world.definition().protocol, state)


def draw_track_of(where: ProjectPaths, run: str) -> list[str]:
    """After a short command, which may have ended the run; whoever drives it draws it anyway."""
    try:
        with hold_run(where, run, "porch", wait_s=0) as found:
            if found.book.state.run.protocol != CODUMENT:
                return []
            workspace, state = workspace_of(where, found.book.state), found.book.state
            told = _draw(workspace, found.directory, found.book.definition.protocol, state)
            return [*told, *found.keep_last_work()]
    except BusyError:
        return []
    except PorchError as error:
        return [describe_trouble(error)]


def _draw(workspace: str, directory: str, protocol: Protocol, state: RunState) -> list[str]:
    try:
        plan = find_plan_of_run(workspace, directory, state)
        aside = draw_plan(plan, protocol, state)
        if state.decisions or state.outcome or state.paused:
            write_confirmations(os.path.dirname(plan.path), directory, protocol)
    except (PorchError, OSError, ValueError) as error:
        return [describe_trouble(error)]
    told = "the plan was changed while an agent worked; it was put back, see"
    return [f"{told} {aside}"] if aside else []
