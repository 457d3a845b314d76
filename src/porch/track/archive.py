"""Putting a finished track away; what is open is refused, or waived with a reason that is kept."""

import json
import os
from collections.abc import Iterator

from msgspec import Struct

from porch.errors import FailedError, UsageError
from porch.machine.track.track_status import CLOSED
from porch.model.track_names import gate_name
from porch.run.engine.caller import find_user_name
from porch.run.engine.session import lock_run
from porch.store.where import ProjectPaths
from porch.system import atomic
from porch.system.clock import Clock
from porch.track.plan_view import TrackLook, gate_status, look_at_track, task_status

FILE = "archive.json"


class ArchivedTrack(Struct, frozen=True):
    """Where a track lies now, and what was open or waived when it was put there."""

    path: str
    still_open: tuple[str, ...]
    waived: tuple[str, ...]


def archive_track(where: ProjectPaths, word: str, *, force: bool, reason: str) -> ArchivedTrack:
    look = look_at_track(where, word)
    still_open, waived = tuple(list_open_parts(look)), tuple(_list_waived(look))
    if still_open and not force:
        raise FailedError(
            f"this track is not finished: {'; '.join(still_open)}",
            fix="finish it, cancel what is not needed, or add --force --reason TEXT",
            code="track-open",
        )
    if force and not reason.strip():
        raise UsageError("--force needs a reason", fix="add --reason TEXT", code="no-reason")
    if not look.run:
        return _move_track(look, still_open, waived, reason)
    with lock_run(where.run_dir(look.run), look.run, "porch plan archive", 1.0):
        return _move_track(look, still_open, waived, reason)


def list_open_parts(look: TrackLook) -> Iterator[str]:
    """Everything that keeps a track from being finished, in words."""
    plan = look.reading.plan
    for node in plan.nodes():
        for confirm in node.confirms:
            for moment in confirm.moments:
                status = gate_status(look, node.id, confirm, moment)
                if status not in CLOSED:
                    yield f"{gate_name(node.id, moment, confirm.kind)} is {status}"
    for task in plan.tasks():
        status = task_status(look, task)
        if status not in CLOSED:
            yield f"{task.id} is {status}"
        unchecked = sum(not each.is_checked for each in task.criteria)
        if unchecked and status == "DONE":
            yield f"{task.id} has {unchecked} unchecked criteria"


def _list_waived(look: TrackLook) -> Iterator[str]:
    for node in look.reading.plan.nodes():
        for confirm in node.confirms:
            for moment in confirm.moments:
                if gate_status(look, node.id, confirm, moment) == "CANCELLED":
                    yield gate_name(node.id, moment, confirm.kind)


def _move_track(
    look: TrackLook, still_open: tuple[str, ...], waived: tuple[str, ...], reason: str
) -> ArchivedTrack:
    directory = os.path.dirname(look.file)
    at = Clock().now()
    stamp = at.replace(":", "").replace("-", "").partition(".")[0]
    name = f"{stamp}-{os.path.basename(directory)}"
    target = os.path.join(os.path.dirname(directory), "archive", at[:7], name)
    told = {"at": at, "by": find_user_name(), "open": still_open, "waived": waived}
    told |= {"reason": reason} if reason else {}
    data = json.dumps(told, indent=2, ensure_ascii=False).encode() + b"\n"
    atomic.replace_file(os.path.join(directory, FILE), data, sync=True)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(directory, target)
    return ArchivedTrack(target, still_open, waived)
