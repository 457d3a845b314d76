"""What the statuses of a file mean for a run that begins with it; doubt is never consent."""

from collections.abc import Iterator, Mapping
from typing import Any

from porch.dialects.plan_xml.track_plan import PlanConfirm, TrackPhase, TrackPlan, TrackTask
from porch.model.protocol import BLOCKED
from porch.model.track_names import DONE, blocked_state, gate_state, state_name

FROM_FILE = "file"
Settled = Mapping[str, Mapping[str, Any]]


def list_settled(plan: TrackPlan) -> Settled:
    """The states that a new run passes, each with its exit."""
    found: dict[str, Mapping[str, Any]] = {}
    for node in plan.nodes():
        found.update(_settled_gates(node))
        if isinstance(node, TrackTask):
            found.update(_settled_task(node))
    return found


def _settled_gates(node: TrackPhase | TrackTask) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for confirm in node.confirms:
        for moment in confirm.moments:
            payload = _gate_payload(confirm)
            if payload is not None:
                yield gate_state(node.id, moment, confirm.kind), payload


def _gate_payload(confirm: PlanConfirm) -> Mapping[str, Any] | None:
    """Anything but done and cancelled was never answered here, so it is asked."""
    if confirm.status == "DONE":
        return {"exit": "approved", "source": FROM_FILE}
    if confirm.status == "CANCELLED":
        exit_ = "waived" if confirm.kind == "human" else "approved"
        return {"exit": exit_, "source": FROM_FILE, "waived": True}
    return None


def _settled_task(task: TrackTask) -> Iterator[tuple[str, Mapping[str, Any]]]:
    state = state_name(task.id)
    if task.status == "DONE":
        yield state, {"exit": DONE, "source": FROM_FILE}
    elif task.status != "TODO":
        why = f": {task.blocker}" if task.blocker else ""
        told = f"the plan says {task.status}{why}, and porch does not know what was done"
        yield state, {"exit": BLOCKED, "status": task.status, "reason": told}
    if task.status == "CANCELLED":
        yield blocked_state(state), {"exit": "skip", "source": FROM_FILE}


def describe_settled(plan: TrackPlan) -> Iterator[str]:
    """What a person should know of consent that nobody here gave."""
    for node in plan.nodes():
        for confirm in node.confirms:
            if confirm.status in ("DONE", "CANCELLED"):
                yield (
                    f"{node.id}: the plan says that its confirm is {confirm.status}, so it is not "
                    "asked; to ask it all the same: porch reopen"
                )
