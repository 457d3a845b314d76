"""The dialect of graphs: typed states, exits and edges, instances in a tree; see v3."""

from porch.dialects.graph.compiler import Compiler
from porch.dialects.graph.consumption import unconsumed
from porch.dialects.graph.flow import unsupplied
from porch.dialects.graph.notes import Notes
from porch.dialects.graph.samples import samples
from porch.dialects.nodes import MapNode, Node
from porch.dialects.reading import Reading, in_file_order
from porch.errors import errors_in
from porch.model.protocol import Agent, Protocol
from porch.model.validate import validate

__all__ = ["read", "recognises"]


def recognises(root: Node) -> bool:
    if root.place.file.lower().endswith((".graph.yaml", ".graph.yml")):
        return True
    return isinstance(root, MapNode) and None not in (root.get("states"), root.get("edges"))


def read(root: Node) -> Reading:
    notes = Notes()
    if not isinstance(root, MapNode):
        notes.report("wrong-type", "a graph is a mapping of blocks", root.place)
        return Reading(None, {}, in_file_order(notes.findings))
    compiler = Compiler(root, notes)
    protocol = compiler.protocol()
    if not errors_in(notes.findings):
        # Proofs about the whole would only repeat what is wrong with a part.
        notes.findings += validate(protocol, notes.places)
        notes.findings += unconsumed(protocol, compiler.meaning, compiler.unused)
    if not errors_in(notes.findings):
        notes.findings += unsupplied(protocol, notes.places)
    if errors_in(notes.findings):
        return Reading(None, notes.places, in_file_order(notes.findings))
    prompts = {n: (f"templates/{a}", a) for n, a in _templates(protocol)}
    return Reading(
        protocol,
        notes.places,
        in_file_order(notes.findings),
        prompts,
        samples(protocol, compiler.meaning),
    )


def _templates(protocol: Protocol) -> list[tuple[str, str]]:
    states = protocol.states.items()
    return [(name, s.actor.prompt) for name, s in states if isinstance(s.actor, Agent)]
