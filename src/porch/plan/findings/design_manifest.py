"""`design/manifest.yaml`: the screenshots of a plan, each with what it shows."""

from msgspec import Struct

from porch.dialects.result import in_file_order
from porch.errors import DefinitionError, Finding
from porch.text.fields import Fields, describe_node
from porch.text.nodes import MapNode, Node


class DesignPicture(Struct, frozen=True):
    """A picture, by its name in the directory of the manifest."""

    file: str
    description: str


def read_manifest(text: str, file: str) -> tuple[DesignPicture, ...]:
    from porch.text.yaml_tree import read_yaml

    root = read_yaml(text, file)
    found: list[Finding] = []
    if not isinstance(root, MapNode):
        message = f"a manifest must be a mapping, not {describe_node(root)}"
        fix = "write `designs:` and a list of screenshot_file_name and description"
        raise DefinitionError([Finding("wrong-type", message, root.place, fix)])
    nodes = Fields(root, "the manifest", found).list_of_nodes("designs")
    designs = tuple(_read_design(node, found) for node in nodes)
    if found:
        raise DefinitionError(in_file_order(found))
    return designs


def _read_design(node: Node, found: list[Finding]) -> DesignPicture:
    if not isinstance(node, MapNode):
        message = f"a design must be a mapping, not {describe_node(node)}"
        fix = "write `- screenshot_file_name: NAME`"
        found.append(Finding("wrong-type", message, node.place, fix))
        return DesignPicture("", "")
    fields = Fields(node, "this design", found)
    name = fields.required_text("screenshot_file_name")
    if _leads_outside(name):
        place = fields.place("screenshot_file_name")
        message = f"{name!r} is outside the directory of the manifest"
        fields.report("bad-path", message, place, "put the picture there and write its name")
    return DesignPicture(name, fields.text("description"))


def _leads_outside(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    is_named = name.isprintable()
    return not is_named or name.startswith(("/", "~")) or ".." in parts or ":" in parts[0]
