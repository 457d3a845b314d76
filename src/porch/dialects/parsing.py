"""Reading a definition in whichever dialect it is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from porch.dialects import graph, phases, steps, tree
from porch.dialects.reading import Reading, refused
from porch.dialects.steps import Fetch
from porch.errors import Finding

__all__ = ["DIALECTS", "Dialect", "Reading", "parse"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to know a tree of this dialect, and how to read it."""

    recognises: Callable[[tree.Node], bool]
    read: Callable[[tree.Node, Fetch], Reading]


DIALECTS: Mapping[str, Dialect] = {
    "graph": Dialect(graph.recognises, lambda root, _: graph.read(root)),
    "phases": Dialect(phases.recognises, lambda root, _: phases.read(root)),
    "steps": Dialect(steps.recognises, steps.read),
}


def parse(text: str, file: str, fetch: Fetch = lambda _: None) -> Reading:
    """Read a definition; raises DefinitionError only where not even a tree comes out.

    `fetch` gives the trees of other definitions that this one builds on, by their names.
    """
    root = tree.read(text, file)
    for dialect in DIALECTS.values():
        if dialect.recognises(root):
            return dialect.read(root, fetch)
    message = "this is not a protocol in any form that is read here"
    fix = (
        "begin with a mapping that has 'name' and 'phases', 'name' and 'steps', "
        "or 'document', 'states' and 'edges'"
    )
    return refused([Finding("unknown-dialect", message, root.place, fix)])
