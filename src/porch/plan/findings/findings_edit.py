"""A file of findings changed line by line: comments stay where their approach is not touched.

Comments above an approach belong to it and go with it; so do those inside it, except on the lines
of a field that is changed. Where the lines cannot be told apart (braces, a dash alone on its
line), or the result would say something else, the file is written anew.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from porch.errors import DefinitionError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.files.yaml_edit import (
    TextEdit,
    apply_edits,
    compose_yaml,
    dump_yaml,
    find_node_end,
    indent_lines,
    list_field_edits,
)
from porch.plan.findings import findings_reader as dialect
from porch.plan.findings.approaches import Approach, Findings
from porch.text.late_pattern import late_pattern

_DASH = late_pattern(r" *- +")


class _ApproachLines(NamedTuple):
    """An approach of the file: its comments begin at `above`, its dash stands at `start`."""

    node: yaml.MappingNode
    above: int
    start: int
    end: int
    column: int


def render_changed_findings(text: str, file: str, new: Findings) -> str:
    """The same file, saying this; raises where the file as it is cannot be read."""
    old = dialect.read_findings(text, file)
    if old == new:
        return text
    result = _edit_text(text, old, new)
    return result if _has_findings(result, file, new) else dialect.render_findings(new)


def _has_findings(text: str, file: str, wanted: Findings) -> bool:
    try:
        return dialect.read_findings(text, file) == wanted
    except DefinitionError:
        return False


def _edit_text(text: str, old: Findings, new: Findings) -> str:
    root = compose_yaml(text)
    changes: dict[str, Any] = {} if old.notes == new.notes else {"notes": new.notes}
    edits: list[TextEdit] = []
    if old.approaches != new.approaches:
        items = _find_approach_lines(text, root) if new.approaches else []
        if items:
            edits += _list_item_edits(text, items, old, new)
        else:
            changes["approaches"] = [dialect.approach_fields(each) for each in new.approaches]
    return apply_edits(text, [*edits, *list_field_edits(text, root, changes)])


def _find_approach_lines(text: str, root: yaml.Node | None) -> list[_ApproachLines]:
    """The approaches in the order of the file; none if they are not written line by line."""
    fields = root.value if isinstance(root, yaml.MappingNode) and not root.flow_style else ()
    key, value = next((each for each in fields if each[0].value == "approaches"), (None, None))
    if key is None or not isinstance(value, yaml.SequenceNode) or value.flow_style:
        return []
    items = list(_iterate_approach_lines(text, value, find_node_end(text, key)))
    return items if len(items) == len(value.value) else []


def _iterate_approach_lines(
    text: str, value: yaml.SequenceNode, above: int
) -> Iterator[_ApproachLines]:
    for node in value.value:
        first = node.start_mark.index
        start = text.rfind("\n", 0, first) + 1
        dash = _DASH.fullmatch(text, start, first)
        if dash is None or node.flow_style:
            return
        column = dash[0].index("-")
        # What is indented deeper than the dash and still a comment was said about this one.
        below = re.compile(rf"(?: {{{column + 1},}}#[^\n]*(?:\n|\Z))*")
        last = below.match(text, find_node_end(text, node))
        end = last.end() if last else find_node_end(text, node)
        yield _ApproachLines(node, above, start, end, column)
        above = end


def _list_item_edits(
    text: str, items: list[_ApproachLines], old: Findings, new: Findings
) -> Iterator[TextEdit]:
    there = {_approach_id(item): item for item in items}
    was = {each.id: each for each in old.approaches}
    wanted = {each.id for each in new.approaches}
    yield from (TextEdit(it.above, it.end, "") for id_, it in there.items() if id_ not in wanted)
    for approach in new.approaches:
        item = there.get(approach.id)
        if item is None:
            yield _insertion_edit(text, approach, there)
        elif approach != was[approach.id]:
            before = dialect.approach_fields(was[approach.id])
            after = dialect.approach_fields(approach)
            changes = {name: v for name, v in after.items() if before.get(name) != v}
            yield from list_field_edits(text, item.node, changes)


def _approach_id(item: _ApproachLines) -> PromptId:
    """As its fields say; the reading before has made sure of them."""
    said = {key.value: value.value for key, value in item.node.value}
    variant = said.get("variant", "")
    return PromptId(int(said["number"]), variant if variant.isupper() else "")


def _insertion_edit(
    text: str, approach: Approach, there: dict[PromptId, _ApproachLines]
) -> TextEdit:
    """Before the first that comes after it, above its comments; else at the end."""
    later = [item for id_, item in there.items() if id_ > approach.id]
    column = next(iter(there.values())).column
    lines = indent_lines(dump_yaml([dialect.approach_fields(approach)]), column)
    if later:
        at = min(item.above for item in later)
        return TextEdit(at, at, lines)
    end = max(item.end for item in there.values())
    gap = "" if text[end - 1] == "\n" else "\n"
    return TextEdit(end, end, gap + lines)
