"""The phases of a plan as the items of a loop, from its bytes."""

from porch.dialects.plan_headings import PlanPhase, read_plan
from porch.machine import facts as f
from porch.text.sha256 import sha256

DESCRIPTION_KEPT = 500


def make_item(phase: PlanPhase) -> f.Item:
    digest = sha256(phase.text.encode()).hexdigest()
    description = phase.description[:DESCRIPTION_KEPT]
    return f.Item(
        id=phase.id,
        title=phase.title[:DESCRIPTION_KEPT],
        description=description,
        digest=digest,
        text=phase.text,
    )


def decode_plan(data: bytes) -> str:
    """As a file that is opened for reading text."""
    return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def list_items(data: bytes, source: str) -> tuple[f.Item, ...]:
    return tuple(map(make_item, read_plan(decode_plan(data), source).phases))
