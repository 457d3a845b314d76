"""YAML that is written: texts no reader takes for something else, changes that touch their lines.

People write comments and blank lines into these files, so a change is a list of edits to the text
and not a new text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from porch.dialects.nodes import plain
from porch.dialects.yaml_tree import read_yaml


def dumped(value: Any) -> str:
    text: str = yaml.dump(
        value,
        Dumper=_Writer,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=False,
        width=1 << 30,
    )
    return text


class Edit(NamedTuple):
    """Put this text in place of what stands from start to end."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """With all edits made; those for one place come in the order in which they are given."""
    ordered = sorted(edits, key=lambda each: each[:2])
    for edit in reversed(ordered):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def composed(text: str) -> yaml.Node | None:
    """The tree with its marks; for text that the reader of trees has admitted.

    Through the same loader as there: the two of the library do not admit the same.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    root: yaml.Node | None = yaml.compose(text, Loader=loader)
    return root


def with_fields(text: str, changes: Mapping[str, Any]) -> str:
    """The same top-level mapping with these fields; new ones are added below."""
    root = composed(text)
    if isinstance(root, yaml.MappingNode) and root.flow_style:
        # In braces the fields have no lines of their own.
        known: Any = plain(read_yaml(text, ""))
        return dumped({**known, **changes})
    return edited(text, field_edits(text, root, changes))


def field_edits(text: str, node: yaml.Node | None, changes: Mapping[str, Any]) -> list[Edit]:
    """What gives a mapping in block style these fields, and leaves its other lines alone."""
    spans = dict(spans_of(text, node))
    column = node.start_mark.column if node else 0
    edits = [
        Edit(start, end, indented(dumped({name: changes[name]}), column).lstrip(" "))
        for name, (start, end) in spans.items()
        if name in changes
    ]
    new = {name: value for name, value in changes.items() if name not in spans}
    # The document ends behind the comments that follow its last field.
    end = end_of(text, node) if node and column else len(text)
    return [*edits, _added(text, end, new, column)] if new else edits


def _added(text: str, at: int, fields: Mapping[str, Any], column: int) -> Edit:
    gap = "\n" if at and text[at - 1] != "\n" else ""
    return Edit(at, at, gap + indented(dumped(fields), column))


def spans_of(text: str, node: yaml.Node | None) -> Iterator[tuple[str, tuple[int, int]]]:
    """From the name of each field to the end of the last line of its value."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        end = max(end_of(text, value), end_of(text, key))
        yield str(key.value), (key.start_mark.index, end)


def end_of(text: str, node: yaml.Node) -> int:
    """Behind the line on which it ends."""
    end = _last(node).end_mark.index
    is_whole = end and text[end - 1] == "\n"
    return end if is_whole else text.find("\n", end) + 1 or len(text)


def _last(node: yaml.Node) -> yaml.Node:
    """The mark of a block's end lies behind the comments that follow it; a leaf's does not."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _last(last[1] if isinstance(last, tuple) else last)
    return node


def indented(lines: str, column: int) -> str:
    """Blank lines stay bare: they can only stand in a text, where they mean the same."""
    if not column:
        return lines
    return re.sub(r"(?m)^(?=.)", " " * column, lines)


class _Writer(yaml.SafeDumper):
    """Quotes every text that some reader of YAML could take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """One value in two places is written twice: our reader refuses anchors."""
        return True


def _text(writer: _Writer, value: str) -> yaml.Node:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        style = None
    else:
        style = "|" if "\n" in value and _is_block(value) else '"'
    return writer.represent_scalar(_STRING, value, style=style)


def _is_block(value: str) -> bool:
    """Whether every reader gets this text back out of lines.

    Not so where it begins with a blank, where several line ends close it, or where it has breaks
    other than the plain one: readers differ, and the library would close the document.
    """
    lines = value.removesuffix("\n").split("\n")
    is_framed = bool(lines[0][:1].strip()) and bool(lines[-1])
    return is_framed and all(line.isprintable() and line == line.rstrip() for line in lines)


_STRING = "tag:yaml.org,2002:str"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_Writer.add_representer(str, _text)
