"""`design/manifest.yaml`: the screenshots of a plan, each with what it shows."""

from typing import NamedTuple

from porch.dialects.fields import Fields, described
from porch.dialects.nodes import MapNode, Node
from porch.dialects.reading import in_file_order
from porch.dialects.yaml_tree import read_yaml
from porch.errors import DefinitionError, Finding


class Design(NamedTuple):
    """A picture, by its name in the directory of the manifest."""

    file: str
    description: str


def read(text: str, file: str) -> tuple[Design, ...]:
    root = read_yaml(text, file)
    found: list[Finding] = []
    if not isinstance(root, MapNode):
        message = f"a manifest is a mapping, not {described(root)}"
        fix = "write `designs:` and a list of screenshot_file_name and description"
        raise DefinitionError([Finding("wrong-type", message, root.place, fix)])
    nodes = Fields(root, "the manifest", found).list_of_nodes("designs")
    designs = tuple(_design(node, found) for node in nodes)
    if found:
        raise DefinitionError(in_file_order(found))
    return designs


def _design(node: Node, found: list[Finding]) -> Design:
    if not isinstance(node, MapNode):
        message = f"a design is a mapping, not {described(node)}"
        fix = "write `- screenshot_file_name: NAME`"
        found.append(Finding("wrong-type", message, node.place, fix))
        return Design("", "")
    fields = Fields(node, "this design", found)
    name = fields.required_text("screenshot_file_name")
    if _leaves(name):
        place = fields.place("screenshot_file_name")
        message = f"{name!r} leads out of the directory of the manifest"
        fields.report("bad-path", message, place, "put the picture there and write its name")
    return Design(name, fields.text("description"))


def _leaves(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    is_named = name.isprintable()
    return not is_named or name.startswith(("/", "~")) or ".." in parts or ":" in parts[0]
