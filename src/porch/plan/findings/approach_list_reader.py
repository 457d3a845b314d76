"""The JSON list of `envoy plan write-finding`: every item that is wrong is told, by its index."""

from collections.abc import Callable

from msgspec.structs import replace

from porch.errors import DefinitionError, Finding, Place, PorchError
from porch.plan.findings.approaches import Approach, SpecialistQuestion, sort_approaches
from porch.plan.findings.findings_reader import (
    list_clashes,
    read_approach_number,
    read_variant_letter,
)
from porch.text.fields import Fields, describe_node
from porch.text.json_tree import read_json
from porch.text.nodes import ListNode, MapNode, Node, ScalarNode

NAME = "--approaches"
_FIX = 'write a JSON list: [{"number": 1, "description": "...", "context": "..."}]'
CleanPath = Callable[[str], str]


def read_approach_list(text: str, clean: CleanPath) -> tuple[Approach, ...]:
    """`clean` gives a path as it is stored, or raises why it cannot be."""
    nodes = _read_list_nodes(text)
    found: list[Finding] = []
    items: list[tuple[Approach, Place]] = []
    for index, node in enumerate(nodes):
        mine: list[Finding] = []
        approach = _read_approach(node, mine, clean)
        found += [_with_index(finding, index) for finding in mine]
        if not mine:
            items.append((approach, node.place))
    indexes = {node.place: index for index, node in enumerate(nodes)}
    found += [
        _with_index(problem, indexes[problem.place])
        for problem in list_clashes(items)
        if problem.place
    ]
    if found:
        raise DefinitionError(found)
    return sort_approaches(approach for approach, _ in items)


def _with_index(finding: Finding, index: int) -> Finding:
    return replace(finding, message=f"approaches[{index}]: {finding.message}")


def _read_list_nodes(text: str) -> tuple[Node, ...]:
    try:
        root = read_json(text, NAME)
    except DefinitionError as error:
        problems = [Finding("invalid-json", f.message, f.place, f.fix) for f in error.findings]
        raise DefinitionError(problems) from error
    if isinstance(root, ListNode):
        return root.items
    message = f"{NAME} must be a list, not {describe_node(root)}"
    raise DefinitionError([Finding("invalid-json", message, root.place, _FIX)])


def _read_approach(node: Node, found: list[Finding], clean: CleanPath) -> Approach:
    if not isinstance(node, MapNode):
        message = f"an approach must be a mapping, not {describe_node(node)}"
        found.append(Finding("wrong-type", message, node.place, _FIX))
        return Approach(0)
    fields = Fields(node, "this approach", found)
    approach = Approach(
        number=read_approach_number(fields),
        variant=read_variant_letter(fields, fields.text("variant").upper()),
        description=fields.required_text("description"),
        detail=fields.text("context"),
        relevant_files=_read_relevant_files(fields, clean),
        questions=tuple(_read_question(each, fields) for each in fields.list_of_nodes("questions")),
    )
    fields.done()
    return approach


def _read_relevant_files(fields: Fields, clean: CleanPath) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for path in fields.list_of_text("relevant_files"):
        try:
            kept[clean(path)] = None
        except PorchError as error:
            place = fields.place("relevant_files")
            fields.findings.extend(replace(each, place=place) for each in error.findings)
    return tuple(kept)


def _read_question(node: Node, fields: Fields) -> SpecialistQuestion:
    """A text; or the form that the file has, of which the answer is the user's business."""
    question = node.get("question") if isinstance(node, MapNode) else node
    if isinstance(question, ScalarNode) and question.kind == "text" and question.text.strip():
        return SpecialistQuestion(question.text)
    message = f"a question must be text, not {describe_node(node)}"
    fields.report("wrong-type", message, node.place, 'write "questions": ["What ...?"]')
    return SpecialistQuestion("")
