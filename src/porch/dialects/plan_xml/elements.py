"""Elements by the names people know, whatever namespace a file puts in front of them."""

from collections.abc import Iterator

from porch.errors import Finding, Place, Severity
from porch.text.nodes import ElementNode, Entry, ScalarNode


def local_name(name: str) -> str:
    return name.rpartition(":")[2]


def children_named(element: ElementNode, *names: str) -> Iterator[ElementNode]:
    """Direct children with one of these names, in the order of the file."""
    return (child for child in element.children if local_name(child.name) in names)


def first_child(element: ElementNode, name: str) -> ElementNode | None:
    return next(children_named(element, name), None)


def child_text(element: ElementNode, name: str) -> str:
    found = first_child(element, name)
    return found.text.strip() if found is not None else ""


def attribute_entry(element: ElementNode, name: str) -> Entry | None:
    return next((e for e in element.attributes if local_name(e.key.text) == name), None)


def attribute_text(element: ElementNode, name: str) -> str:
    found = attribute_entry(element, name)
    return found.value.text.strip() if found and isinstance(found.value, ScalarNode) else ""


def attribute_place(element: ElementNode, name: str) -> Place:
    """Where an attribute stands, else the element that lacks it."""
    found = attribute_entry(element, name)
    return found.key.place if found is not None else element.place


def wrapped_children(element: ElementNode, wrapper: str, name: str) -> Iterator[ElementNode]:
    """Children inside their wrapper, or without it: both are found in real files."""
    for child in children_named(element, wrapper, name):
        if local_name(child.name) == name:
            yield child
        else:
            yield from children_named(child, name)


def plain_text(element: ElementNode) -> str:
    """The text directly in an element, its lines stripped."""
    return "\n".join(line.strip() for line in element.text.strip().splitlines()).strip()


class PlanNotes:
    """What is noticed while a plan is read."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def add(
        self, code: str, message: str, place: Place, fix: str = "", severity: Severity = "error"
    ) -> None:
        self.findings.append(Finding(code, message, place, fix, severity))

    def warn(self, code: str, message: str, place: Place, fix: str = "") -> None:
        self.add(code, message, place, fix, "warning")


def read_ids(text: str) -> tuple[str, ...]:
    """Ids with commas between them, each once."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
