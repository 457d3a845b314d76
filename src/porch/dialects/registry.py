"""Reading a definition in whichever dialect it is written."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from porch.dialects import graph, phases, plan_xml, steps
from porch.dialects.result import FetchTree, ProtocolReading, refused_reading
from porch.errors import Finding
from porch.text import formats

__all__ = ["DIALECTS", "Dialect", "ProtocolReading", "parse_definition"]


class Dialect(Struct, frozen=True):
    """How to know a tree of this dialect, and how to read it."""

    recognises: Callable[[formats.Node], bool]
    read: Callable[[formats.Node, FetchTree], ProtocolReading]


DIALECTS: Mapping[str, Dialect] = {
    "graph": Dialect(graph.recognises, graph.read),
    "phases": Dialect(phases.recognises, lambda root, _: phases.read(root)),
    "plan_xml": Dialect(plan_xml.recognises, lambda root, _: plan_xml.read(root)),
    "steps": Dialect(steps.recognises, steps.read),
}


def parse_definition(text: str, file: str, fetch: FetchTree = lambda _: None) -> ProtocolReading:
    """Read a definition; raises DefinitionError only where not even a tree comes out.

    `fetch` gives the trees of other definitions that this one builds on, by their names.
    """
    root = formats.read_tree(text, file)
    for dialect in DIALECTS.values():
        if dialect.recognises(root):
            return dialect.read(root, fetch)
    message = "this is not a protocol that porch can read"
    fix = (
        "write a mapping with 'name' and 'phases', 'name' and 'steps', "
        "or 'document', 'states' and 'edges'"
    )
    return refused_reading([Finding("unknown-dialect", message, root.place, fix)])
