"""Parts of a plan as people confirm them: everything in them but what the engine writes itself."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from porch.dialects.plan_xml.elements import attribute_text, local_name
from porch.errors import DefinitionError
from porch.text.nodes import ElementNode, ScalarNode
from porch.text.xml_tree import read_xml

_OWNED = ("status", "blocker", "checked", "commit", "checkpoint")
_NODES = ("phase", "task", "TaskGroup", "Task")


def find_plan_part(data: bytes, id_: str) -> bytes | None:
    """A phase or a task by its id; None if the plan has none or cannot be read."""
    return _list_parts(data).get(id_)


@lru_cache(maxsize=4)
def _list_parts(data: bytes) -> dict[str, bytes]:
    """All parts at once: whoever asks for one of them asks for others of the same bytes."""
    try:
        root = read_xml(data.decode("utf-8-sig"), "plan.xml")
    except (DefinitionError, UnicodeDecodeError):
        return {}
    nodes = [node for node in _list_elements(root) if local_name(node.name) in _NODES]
    ids = [(attribute_text(node, "id"), node) for node in nodes]
    # Of an id that is used twice nothing is known.
    known = Counter(id_ for id_, _ in ids)
    return {
        id_: "\n".join(_render_lines(node, 0)).encode() + b"\n"
        for id_, node in ids
        if id_ and known[id_] == 1
    }


def _list_elements(root: ElementNode) -> Iterator[ElementNode]:
    open_ = [root]
    while open_:
        element = open_.pop()
        yield element
        open_.extend(reversed(element.children))


def _render_lines(element: ElementNode, depth: int) -> Iterator[str]:
    """Without blanks, order of attributes and statuses, which may change by themselves."""
    name, text = local_name(element.name), " ".join(element.text.split())
    if name == "status":
        return
    attributes = sorted(
        f"{local_name(entry.key.text)}={entry.value.text.strip()}"
        for entry in element.attributes
        if isinstance(entry.value, ScalarNode) and local_name(entry.key.text) not in _OWNED
    )
    indent = "  " * depth
    yield " ".join((f"{indent}{name}", *attributes))
    if text:
        yield f"{indent}  {text}"
    for child in element.children:
        yield from _render_lines(child, depth + 1)
