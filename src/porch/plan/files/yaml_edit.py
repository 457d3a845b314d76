"""YAML that is written: texts no reader takes for something else, changes that touch their lines.

People write comments and blank lines into these files, so a change is a list of edits to the text
and not a new text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from porch.plan.files.plain_yaml import is_block
from porch.text.late_pattern import late_pattern
from porch.text.nodes import plain_value
from porch.text.yaml_tree import read_yaml


def dump_yaml(value: Any) -> str:
    text: str = yaml.dump(
        value,
        Dumper=_YamlWriter,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=False,
        width=1 << 30,
    )
    return text


class TextEdit(NamedTuple):
    """Put this text in place of what stands from start to end."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """With all edits made; those for one place come in the order in which they are given."""
    ordered = sorted(edits, key=lambda each: each[:2])
    for edit in reversed(ordered):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def compose_yaml(text: str) -> yaml.Node | None:
    """The tree with its marks; for text that the reader of trees has admitted.

    Through the same loader as there: the two of the library do not admit the same.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    root: yaml.Node | None = yaml.compose(text, Loader=loader)
    return root


def render_with_fields(text: str, changes: Mapping[str, Any]) -> str:
    """The same top-level mapping with these fields; new ones are added below."""
    root = compose_yaml(text)
    if isinstance(root, yaml.MappingNode) and root.flow_style:
        # In braces the fields have no lines of their own.
        known: Any = plain_value(read_yaml(text, ""))
        return dump_yaml({**known, **changes})
    return apply_edits(text, list_field_edits(text, root, changes))


def list_field_edits(
    text: str, node: yaml.Node | None, changes: Mapping[str, Any]
) -> list[TextEdit]:
    """What gives a mapping in block style these fields, and leaves its other lines alone."""
    spans = dict(iterate_field_spans(text, node))
    column = node.start_mark.column if node else 0
    edits = [
        TextEdit(start, end, indent_lines(dump_yaml({name: changes[name]}), column).lstrip(" "))
        for name, (start, end) in spans.items()
        if name in changes
    ]
    new = {name: value for name, value in changes.items() if name not in spans}
    # The document ends behind the comments that follow its last field.
    end = find_node_end(text, node) if node and column else len(text)
    return [*edits, _addition_edit(text, end, new, column)] if new else edits


def _addition_edit(text: str, at: int, fields: Mapping[str, Any], column: int) -> TextEdit:
    gap = "\n" if at and text[at - 1] != "\n" else ""
    return TextEdit(at, at, gap + indent_lines(dump_yaml(fields), column))


def iterate_field_spans(text: str, node: yaml.Node | None) -> Iterator[tuple[str, tuple[int, int]]]:
    """From the name of each field to the end of the last line of its value."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        end = max(find_node_end(text, value), find_node_end(text, key))
        yield str(key.value), (key.start_mark.index, end)


def find_node_end(text: str, node: yaml.Node) -> int:
    """Behind the line on which it ends."""
    end = _last_node(node).end_mark.index
    is_whole = end and text[end - 1] == "\n"
    return end if is_whole else text.find("\n", end) + 1 or len(text)


def _last_node(node: yaml.Node) -> yaml.Node:
    """The mark of a block's end lies behind the comments that follow it; a leaf's does not."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _last_node(last[1] if isinstance(last, tuple) else last)
    return node


def indent_lines(lines: str, column: int) -> str:
    """Blank lines stay bare: they can only stand in a text, where they mean the same."""
    if not column:
        return lines
    return re.sub(r"(?m)^(?=.)", " " * column, lines)


class _YamlWriter(yaml.SafeDumper):
    """Quotes every text that some reader of YAML could take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """One value in two places is written twice: our reader refuses anchors."""
        return True


def _represent_text(writer: _YamlWriter, value: str) -> yaml.Node:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        style = None
    else:
        style = "|" if "\n" in value and is_block(value) else '"'
    return writer.represent_scalar(_STRING, value, style=style)


_STRING = "tag:yaml.org,2002:str"
_PLAIN = late_pattern(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_YamlWriter.add_representer(str, _represent_text)
