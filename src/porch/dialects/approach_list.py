"""The JSON list of `envoy plan write-finding`: every item that is wrong is told, by its index."""

from collections.abc import Callable
from dataclasses import replace

from porch.dialects.fields import Fields, described
from porch.dialects.findings import clashes, letter_of, number_of
from porch.dialects.json_tree import read_json
from porch.dialects.nodes import ListNode, MapNode, Node, Scalar
from porch.errors import DefinitionError, Finding, Place, PorchError
from porch.model.findings import Approach, Asked, in_order

NAME = "--approaches"
_FIX = 'write a JSON list: [{"number": 1, "description": "...", "context": "..."}]'
Cleaned = Callable[[str], str]


def read(text: str, clean: Cleaned) -> tuple[Approach, ...]:
    """`clean` gives a path as it is stored, or raises why it cannot be."""
    nodes = _nodes(text)
    found: list[Finding] = []
    items: list[tuple[Approach, Place]] = []
    for index, node in enumerate(nodes):
        mine: list[Finding] = []
        approach = _approach(node, mine, clean)
        found += [_indexed(finding, index) for finding in mine]
        if not mine:
            items.append((approach, node.place))
    indexes = {node.place: index for index, node in enumerate(nodes)}
    found += [
        _indexed(problem, indexes[problem.place]) for problem in clashes(items) if problem.place
    ]
    if found:
        raise DefinitionError(found)
    return in_order(approach for approach, _ in items)


def _indexed(finding: Finding, index: int) -> Finding:
    return replace(finding, message=f"approaches[{index}]: {finding.message}")


def _nodes(text: str) -> tuple[Node, ...]:
    try:
        root = read_json(text, NAME)
    except DefinitionError as error:
        problems = [Finding("invalid-json", f.message, f.place, f.fix) for f in error.findings]
        raise DefinitionError(problems) from error
    if isinstance(root, ListNode):
        return root.items
    message = f"{NAME} must be a list, not {described(root)}"
    raise DefinitionError([Finding("invalid-json", message, root.place, _FIX)])


def _approach(node: Node, found: list[Finding], clean: Cleaned) -> Approach:
    if not isinstance(node, MapNode):
        message = f"an approach is a mapping, not {described(node)}"
        found.append(Finding("wrong-type", message, node.place, _FIX))
        return Approach(0)
    fields = Fields(node, "this approach", found)
    approach = Approach(
        number=number_of(fields),
        variant=letter_of(fields, fields.text("variant").upper()),
        description=fields.required_text("description"),
        detail=fields.text("context"),
        relevant_files=_files(fields, clean),
        questions=tuple(_asked(each, fields) for each in fields.list_of_nodes("questions")),
    )
    fields.done()
    return approach


def _files(fields: Fields, clean: Cleaned) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for path in fields.list_of_text("relevant_files"):
        try:
            kept[clean(path)] = None
        except PorchError as error:
            place = fields.place("relevant_files")
            fields.findings.extend(replace(each, place=place) for each in error.findings)
    return tuple(kept)


def _asked(node: Node, fields: Fields) -> Asked:
    """A text; or the form that the file has, of which the answer is the user's business."""
    question = node.get("question") if isinstance(node, MapNode) else node
    if isinstance(question, Scalar) and question.kind == "text" and question.text.strip():
        return Asked(question.text)
    message = f"a question must be a text, not {described(node)}"
    fields.report("wrong-type", message, node.place, 'write "questions": ["What ...?"]')
    return Asked("")
