"""The plan of a run on the disk: a picture of its journal, and nobody's to write but porch's.

While an agent works, the plan as porch left it is kept beside the journal: whatever the agent does
to it is put back, and what it had written is kept aside.
"""

import os

from msgspec import Struct

from porch.dialects.plan_xml.reader import read_track_plan
from porch.errors import PorchError, UsageError
from porch.machine.state import RunState
from porch.machine.track.track_status import find_track_states
from porch.model.protocol import Protocol
from porch.run.definitions.track_plans import find_plan_file
from porch.system import atomic
from porch.system.regular_file import read_whole_file, require_directory_inside
from porch.text.xml_edit import edit_xml
from porch.text.xml_tree import read_xml
from porch.track.plan_edits import list_plan_edits

_KEPT = "plan.kept"


class PlanFile(Struct, frozen=True):
    """Where the plan of one run lies, and the directory of the run."""

    path: str
    directory: str
    workspace: str

    @property
    def kept_path(self) -> str:
        return os.path.join(self.directory, _KEPT)


def find_plan_of_run(workspace: str, directory: str, state: RunState) -> PlanFile:
    """Where it is, or where it was until an agent took it away."""
    track = os.path.join(workspace, state.run.project_dir)
    require_directory_inside(workspace, track)
    if os.path.exists(os.path.join(directory, _KEPT)) and not os.path.isdir(track):
        os.makedirs(track, exist_ok=True)
    try:
        path = find_plan_file(track)
    except UsageError:
        path = os.path.join(track, "plan.xml")
        if not os.path.exists(os.path.join(directory, _KEPT)):
            raise
    return PlanFile(path, directory, workspace)


def keep_plan(plan: PlanFile) -> None:
    """Before an agent begins: what the plan is, whatever happens to it now."""
    if not os.path.exists(plan.kept_path):
        atomic.replace_file(plan.kept_path, read_whole_file(plan.path), sync=True)


def put_back_plan(plan: PlanFile) -> str:
    """Where the version was put that somebody wrote meanwhile; nothing if it is as it was left."""
    kept = _read_kept(plan)
    if kept is None:
        return ""
    # Agents can plant links: what is written is written inside the workspace.
    require_directory_inside(plan.workspace, os.path.dirname(plan.path))
    os.makedirs(os.path.dirname(plan.path), exist_ok=True)
    try:
        now = read_whole_file(plan.path)
    except OSError:
        now = None
    if now == kept:
        return ""
    aside = _free_name(plan) if now is not None else plan.path
    if now is not None:
        atomic.replace_file(aside, now, sync=False)
    elif os.path.isdir(plan.path) and not os.path.islink(plan.path):
        # No file takes the place of a directory; what is in it is somebody's work.
        aside = _free_name(plan, plan.path)
        os.rename(plan.path, aside)
    atomic.replace_file(plan.path, kept, sync=True)
    return aside


def release_plan(plan: PlanFile) -> None:
    """Nobody works any more; from here on people may edit the plan again."""
    if os.path.exists(plan.kept_path):
        os.unlink(plan.kept_path)


def draw_plan(plan: PlanFile, protocol: Protocol, state: RunState) -> str:
    """Write what is different, and nothing else; returns where a foreign version was put."""
    aside = put_back_plan(plan)
    data = read_whole_file(plan.path)
    text = data.decode("utf-8")
    reading = read_track_plan(read_xml(text, plan.path))
    edits = list(list_plan_edits(reading.plan, find_track_states(protocol, state)))
    if edits:
        fresh = edit_xml(text, edits).encode("utf-8")
        if os.path.exists(plan.kept_path):
            atomic.replace_file(plan.kept_path, fresh, sync=True)
        atomic.replace_file(plan.path, fresh, sync=True)
    if not any(hand.kind in ("agent", "review") for hand in state.in_hand.values()):
        release_plan(plan)
    return aside


def describe_trouble(error: PorchError | OSError | ValueError) -> str:
    return f"the statuses in the plan could not be written: {error}"


def _read_kept(plan: PlanFile) -> bytes | None:
    try:
        return read_whole_file(plan.kept_path)
    except FileNotFoundError:
        return None


def _free_name(plan: PlanFile, beside: str = "") -> str:
    """In the directory of the run, or beside a path from which nothing can be moved far."""
    front, number = beside or os.path.join(plan.directory, "plan"), 1
    while os.path.lexists(aside := f"{front}.edited-{number}{'' if beside else '.xml'}"):
        number += 1
    return aside
