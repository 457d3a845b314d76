"""The dialect of graphs: typed states, exits and edges, instances in a tree; see v3."""

from typing import TYPE_CHECKING

from porch.dialects.result import ProtocolReading, in_file_order
from porch.errors import errors_in
from porch.text.nodes import MapNode, Node

if TYPE_CHECKING:
    from porch.model.protocol import Protocol

__all__ = ["read", "recognises"]


def recognises(root: Node) -> bool:
    if root.place.file.lower().endswith((".graph.yaml", ".graph.yml")):
        return True
    return isinstance(root, MapNode) and None not in (root.get("states"), root.get("edges"))


def read(root: Node) -> ProtocolReading:
    # Whoever reads a file of another dialect asks only whether this is one of ours.
    from porch.dialects.graph.compiler import GraphCompiler
    from porch.dialects.graph.findings import ReadingNotes
    from porch.dialects.graph.missing_inputs import find_missing_inputs
    from porch.dialects.graph.template_samples import make_template_samples
    from porch.dialects.graph.unread_fields import find_unread_fields, find_unread_texts
    from porch.model.validate import validate_protocol

    notes = ReadingNotes()
    if not isinstance(root, MapNode):
        notes.report("wrong-type", "a graph is a mapping of blocks", root.place)
        return ProtocolReading(None, {}, in_file_order(notes.findings))
    compiler = GraphCompiler(root, notes)
    protocol = compiler.protocol()
    if not errors_in(notes.findings):
        # Proofs about the whole would only repeat what is wrong with a part.
        notes.findings += validate_protocol(protocol, notes.places)
        notes.findings += find_unread_fields(protocol, compiler.meaning, compiler.unused)
        notes.findings += find_unread_texts(protocol, notes.places)
    if not errors_in(notes.findings):
        notes.findings += find_missing_inputs(protocol, notes.places)
    if errors_in(notes.findings):
        return ProtocolReading(None, notes.places, in_file_order(notes.findings))
    prompts = {n: (f"templates/{a}", a) for n, a in _list_agent_prompts(protocol)}
    return ProtocolReading(
        protocol,
        notes.places,
        in_file_order(notes.findings),
        prompts,
        make_template_samples(protocol, compiler.meaning),
    )


def _list_agent_prompts(protocol: "Protocol") -> list[tuple[str, str]]:
    from porch.model.protocol import Agent

    states = protocol.states.items()
    return [(name, s.actor.prompt) for name, s in states if isinstance(s.actor, Agent)]
