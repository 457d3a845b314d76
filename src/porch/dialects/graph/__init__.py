"""The dialect of graphs: typed states, exits and edges, instances in a tree; see v3."""

from porch.dialects.result import FetchTree, ProtocolReading
from porch.text.nodes import MapNode, Node

__all__ = ["read", "recognises"]


def recognises(root: Node) -> bool:
    if root.place.file.lower().endswith((".graph.yaml", ".graph.yml")):
        return True
    return isinstance(root, MapNode) and None not in (root.get("states"), root.get("edges"))


def read(root: Node, fetch: FetchTree = lambda _: None) -> ProtocolReading:
    # Whoever reads a file of another dialect asks only whether this is one of ours.
    from porch.dialects.graph.reader import GraphReader

    return GraphReader(fetch, recognises).read(root).reading
