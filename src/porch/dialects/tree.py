"""The door for every definition file: its ending says the format, and one tree comes out."""

from collections.abc import Callable

from porch.dialects.json_tree import read_json
from porch.dialects.nodes import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    ElementNode,
    Entry,
    Kind,
    ListNode,
    MapNode,
    Node,
    Scalar,
    plain,
)
from porch.dialects.xml_tree import read_xml
from porch.dialects.yaml_tree import read_yaml
from porch.errors import DefinitionError, Finding, Place

__all__ = [
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "ElementNode",
    "Entry",
    "Kind",
    "ListNode",
    "MapNode",
    "Node",
    "Scalar",
    "plain",
    "read",
    "read_json",
    "read_xml",
    "read_yaml",
]

READERS: dict[str, Callable[[str, str], Node]] = {
    "json": read_json,
    "yaml": read_yaml,
    "yml": read_yaml,
    "xml": read_xml,
}


def read(text: str, file: str) -> Node:
    """The tree of a definition; raises DefinitionError with everything that is wrong in it."""
    reader = READERS.get(file.rpartition(".")[2].lower())
    if reader is None:
        message = "the ending of this file says no format that is read here"
        fix = "name it .json, .yaml, .yml or .xml"
        raise DefinitionError([Finding("unknown-format", message, Place(file), fix)])
    return reader(text, file)
