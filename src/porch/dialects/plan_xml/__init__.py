"""The dialect of plans: plan.xml and track.xml, walked task by task with confirmations between."""

from typing import cast

from porch.dialects.result import ProtocolReading, in_file_order
from porch.text.nodes import ElementNode, Node

__all__ = ["read", "recognises"]


def recognises(root: Node) -> bool:
    return isinstance(root, ElementNode) and root.name.rpartition(":")[2] in (
        "plan",
        "Track",
        "track",
    )


def read(root: Node) -> ProtocolReading:
    # Whoever reads a file of another dialect asks only whether this is one of ours.
    from porch.dialects.plan_xml.compiler import compile_plan, make_protocol
    from porch.dialects.plan_xml.reader import read_track_plan
    from porch.dialects.plan_xml.walk import FRESH
    from porch.errors import errors_in
    from porch.model.validate import validate_protocol

    reading = read_track_plan(cast(ElementNode, root))
    if errors_in(reading.findings):
        return ProtocolReading(None, findings=in_file_order(reading.findings))
    draft = compile_plan(reading.plan)
    protocol = make_protocol(draft)
    findings = in_file_order((*reading.findings, *validate_protocol(protocol, draft.places)))
    named = {name: place for name, place in draft.reviewers.items() if name != FRESH}
    return ProtocolReading(protocol, draft.places, findings, texts=draft.texts, reviewers=named)
