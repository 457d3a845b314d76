"""The door for every definition file: its ending says the format, and one tree comes out."""

from collections.abc import Callable

from porch.errors import DefinitionError, Finding, Place
from porch.text.json_tree import read_json
from porch.text.nodes import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    ElementNode,
    Entry,
    ListNode,
    MapNode,
    Node,
    ScalarKind,
    ScalarNode,
    plain_value,
)
from porch.text.xml_tree import read_xml
from porch.text.yaml_tree import read_yaml

__all__ = [
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "ElementNode",
    "Entry",
    "ListNode",
    "MapNode",
    "Node",
    "ScalarKind",
    "ScalarNode",
    "plain_value",
    "read_json",
    "read_tree",
    "read_xml",
    "read_yaml",
]

READERS: dict[str, Callable[[str, str], Node]] = {
    "json": read_json,
    "yaml": read_yaml,
    "yml": read_yaml,
    "xml": read_xml,
}


def read_tree(text: str, file: str) -> Node:
    """The tree of a definition; raises DefinitionError with everything that is wrong in it."""
    reader = READERS.get(file.rpartition(".")[2].lower())
    if reader is None:
        message = "the name of this file does not say which format it has"
        fix = "rename it so that it ends in .json, .yaml, .yml or .xml"
        raise DefinitionError([Finding("unknown-format", message, Place(file), fix)])
    return reader(text, file)
