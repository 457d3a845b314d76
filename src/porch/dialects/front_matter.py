"""Markdown with fields on top: read whole, and changed field by field with all else as it was.

People write comments and blank lines into these files and keep them under version control, so a
change touches the lines of its own field and no others.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from porch.dialects.tree import plain, read_yaml
from porch.errors import DefinitionError, Finding, Place

_FENCE = "---"


class Page(NamedTuple):
    """The fields, and the text below them."""

    fields: Mapping[str, Any]
    body: str


def read(text: str, file: str) -> Page:
    """Raises DefinitionError where the fields cannot be read: what is written back then is lost."""
    front, body = _split(text, file)
    has_fields = any(line.strip() and line.lstrip()[0] != "#" for line in front.splitlines())
    fields = plain(read_yaml(front, file)) if has_fields else {}
    if not isinstance(fields, dict):
        message = "the front matter is no list of fields"
        raise DefinitionError([Finding("bad-front-matter", message, Place(file, 2, 1), _FIX)])
    return Page(fields, body)


def fresh(fields: Mapping[str, Any], body: str) -> str:
    """A new file."""
    front = "".join(_lines(name, value) for name, value in fields.items())
    return f"{_FENCE}\n{front}{_FENCE}\n\n{body.strip(chr(10))}\n"


def changed(text: str, file: str, changes: Mapping[str, Any]) -> str:
    """The same file with these fields; what they say already is not written again."""
    known = read(text, file).fields
    wanted = {name: v for name, v in changes.items() if name not in known or known[name] != v}
    if not wanted:
        return text
    front, _ = _split(text, file)
    start = text.index("\n") + 1
    return text[:start] + _with(front, wanted) + text[start + len(front) :]


def with_body(text: str, file: str, body: str) -> str:
    """The same fields, byte for byte, above another text."""
    _, old = _split(text, file)
    head = text[: len(text) - len(old)]
    return f"{head.rstrip(chr(10))}\n\n{body.strip(chr(10))}\n"


_FIX = f"begin the file with a line '{_FENCE}', then `name: value` lines, then '{_FENCE}'"


def _split(text: str, file: str) -> tuple[str, str]:
    lines = text.splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines) if line.rstrip() == _FENCE]
    if len(ends) < 2 or ends[0] != 0:
        message = "the file does not begin with front matter"
        raise DefinitionError([Finding("bad-front-matter", message, Place(file, 1, 1), _FIX)])
    return "".join(lines[1 : ends[1]]), "".join(lines[ends[1] + 1 :])


def _with(front: str, changes: Mapping[str, Any]) -> str:
    spans = dict(_spans(front))
    for name in reversed([name for name in spans if name in changes]):
        start, end = spans[name]
        front = front[:start] + _lines(name, changes[name]) + front[end:]
    added = "".join(_lines(name, changes[name]) for name in changes if name not in spans)
    gap = "\n" if added and front and not front.endswith("\n") else ""
    return front + gap + added


def _spans(front: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """From the name of each field to the end of the last line of its value."""
    root = yaml.compose(front, Loader=yaml.SafeLoader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        last = _last(value)
        end = max(last.end_mark.index, key.end_mark.index)
        is_whole = end and front[end - 1] == "\n"
        line_end = end if is_whole else front.find("\n", end) + 1 or len(front)
        yield str(key.value), (key.start_mark.index, line_end)


def _last(node: yaml.Node) -> yaml.Node:
    """The mark of a block's end lies behind the comments that follow it; a leaf's does not."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _last(last[1] if isinstance(last, tuple) else last)
    return node


class _Writer(yaml.SafeDumper):
    """Quotes every text that some reader of YAML could take for something else."""


def _text(writer: _Writer, value: str) -> yaml.Node:
    style = None if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else '"'
    # Where the text does not allow it, the library quotes by itself.
    return writer.represent_scalar(_STRING, value, style="|" if "\n" in value else style)


_STRING = "tag:yaml.org,2002:str"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_Writer.add_representer(str, _text)


def _lines(name: str, value: Any) -> str:
    return yaml.dump(
        {name: value},
        Dumper=_Writer,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=False,
        width=10**6,
    )
