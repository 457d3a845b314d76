"""Dialects: files that people write, each read into the one model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from porch.dialects import graph, phases, tree
from porch.dialects.reading import Reading, refused
from porch.errors import Finding

__all__ = ["DIALECTS", "Dialect", "Reading", "parse"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to know a tree of this dialect, and how to read it."""

    recognises: Callable[[tree.Node], bool]
    read: Callable[[tree.Node], Reading]


DIALECTS: Mapping[str, Dialect] = {
    "graph": Dialect(graph.recognises, graph.read),
    "phases": Dialect(phases.recognises, phases.read),
}


def parse(text: str, file: str) -> Reading:
    """Read a definition; raises DefinitionError only where not even a tree comes out."""
    root = tree.read(text, file)
    for dialect in DIALECTS.values():
        if dialect.recognises(root):
            return dialect.read(root)
    message = "this is not a protocol in any form that is read here"
    fix = "begin with a mapping that has 'name' and 'phases', or 'document', 'states' and 'edges'"
    return refused([Finding("unknown-dialect", message, root.place, fix)])
