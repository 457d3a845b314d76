"""A file of findings changed line by line: comments stay where their approach is not touched.

Comments above an approach belong to it and go with it; so do those inside it, except on the lines
of a field that is changed. Where the lines cannot be told apart (braces, a dash alone on its
line), or the result would say something else, the file is written anew.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from porch.dialects import findings as dialect
from porch.dialects.yaml_text import (
    Edit,
    composed,
    dumped,
    edited,
    end_of,
    field_edits,
    indented,
)
from porch.errors import DefinitionError
from porch.model.findings import Approach, Findings
from porch.model.prompt_ids import PromptId

_DASH = re.compile(r" *- +")


class _Item(NamedTuple):
    """An approach of the file: its comments begin at `above`, its dash stands at `start`."""

    node: yaml.MappingNode
    above: int
    start: int
    end: int
    column: int


def changed(text: str, file: str, new: Findings) -> str:
    """The same file, saying this; raises where the file as it is cannot be read."""
    old = dialect.read(text, file)
    if old == new:
        return text
    result = _edited(text, old, new)
    return result if _says(result, file, new) else dialect.write(new)


def _says(text: str, file: str, wanted: Findings) -> bool:
    try:
        return dialect.read(text, file) == wanted
    except DefinitionError:
        return False


def _edited(text: str, old: Findings, new: Findings) -> str:
    root = composed(text)
    changes: dict[str, Any] = {} if old.notes == new.notes else {"notes": new.notes}
    edits: list[Edit] = []
    if old.approaches != new.approaches:
        items = _items(text, root) if new.approaches else []
        if items:
            edits += _of_items(text, items, old, new)
        else:
            changes["approaches"] = [dialect.fields_of(each) for each in new.approaches]
    return edited(text, [*edits, *field_edits(text, root, changes)])


def _items(text: str, root: yaml.Node | None) -> list[_Item]:
    """The approaches in the order of the file; none if they are not written line by line."""
    fields = root.value if isinstance(root, yaml.MappingNode) and not root.flow_style else ()
    key, value = next((each for each in fields if each[0].value == "approaches"), (None, None))
    if key is None or not isinstance(value, yaml.SequenceNode) or value.flow_style:
        return []
    items = list(_each(text, value, end_of(text, key)))
    return items if len(items) == len(value.value) else []


def _each(text: str, value: yaml.SequenceNode, above: int) -> Iterator[_Item]:
    for node in value.value:
        first = node.start_mark.index
        start = text.rfind("\n", 0, first) + 1
        dash = _DASH.fullmatch(text, start, first)
        if dash is None or node.flow_style:
            return
        column = dash[0].index("-")
        # What is indented deeper than the dash and still a comment was said about this one.
        below = re.compile(rf"(?: {{{column + 1},}}#[^\n]*(?:\n|\Z))*")
        last = below.match(text, end_of(text, node))
        end = last.end() if last else end_of(text, node)
        yield _Item(node, above, start, end, column)
        above = end


def _of_items(text: str, items: list[_Item], old: Findings, new: Findings) -> Iterator[Edit]:
    there = {_id(item): item for item in items}
    was = {each.id: each for each in old.approaches}
    wanted = {each.id for each in new.approaches}
    yield from (Edit(it.above, it.end, "") for id_, it in there.items() if id_ not in wanted)
    for approach in new.approaches:
        item = there.get(approach.id)
        if item is None:
            yield _inserted(text, approach, there)
        elif approach != was[approach.id]:
            before = dialect.fields_of(was[approach.id])
            after = dialect.fields_of(approach)
            changes = {name: v for name, v in after.items() if before.get(name) != v}
            yield from field_edits(text, item.node, changes)


def _id(item: _Item) -> PromptId:
    """As its fields say; the reading before has made sure of them."""
    said = {key.value: value.value for key, value in item.node.value}
    variant = said.get("variant", "")
    return PromptId(int(said["number"]), variant if variant.isupper() else "")


def _inserted(text: str, approach: Approach, there: dict[PromptId, _Item]) -> Edit:
    """Before the first that comes after it, above its comments; else at the end."""
    later = [item for id_, item in there.items() if id_ > approach.id]
    column = next(iter(there.values())).column
    lines = indented(dumped([dialect.fields_of(approach)]), column)
    if later:
        at = min(item.above for item in later)
        return Edit(at, at, lines)
    end = max(item.end for item in there.values())
    gap = "" if text[end - 1] == "\n" else "\n"
    return Edit(end, end, gap + lines)
