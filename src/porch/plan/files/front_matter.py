"""Markdown with fields on top: read whole, and changed field by field with all else as it was.

People write comments and blank lines into these files and keep them under version control, so a
change touches the lines of its own field and no others.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from porch.errors import DefinitionError, Finding, Place
from porch.plan.files import plain_yaml

_FENCE = "---"


class Page(NamedTuple):
    """The fields, and the text below them."""

    fields: Mapping[str, Any]
    body: str


def read_page(text: str, file: str) -> Page:
    """Raises DefinitionError where the fields cannot be read: what is written back then is lost."""
    front, body = _split_front_matter(text, file)
    has_fields = any(line.strip() and line.lstrip()[0] != "#" for line in front.splitlines())
    fields = _parse_fields(front, file) if has_fields else {}
    if not isinstance(fields, dict):
        message = "the front matter is not a list of fields"
        raise DefinitionError([Finding("bad-front-matter", message, Place(file, 2, 1), _FIX)])
    return Page(fields, body)


def _parse_fields(front: str, file: str) -> object:
    plain = plain_yaml.parse_plain_fields(front)
    if plain is not None:
        return plain
    from porch.text.nodes import plain_value
    from porch.text.yaml_tree import read_yaml

    return plain_value(read_yaml(front, file))


def render_new_page(fields: Mapping[str, Any], body: str) -> str:
    """A new file."""
    front = render_fields(fields) if fields else ""
    return f"{_FENCE}\n{front}{_FENCE}\n\n{body.strip(chr(10))}\n"


def render_fields(fields: Mapping[str, Any]) -> str:
    """YAML that no reader takes for something else."""
    plain = plain_yaml.render_plain_fields(fields)
    if plain is not None:
        return plain
    from porch.plan.files import yaml_edit

    return yaml_edit.dump_yaml(dict(fields))


def render_changed_page(
    text: str, file: str, changes: Mapping[str, Any], page: Page | None = None
) -> str:
    """The same file with these fields; what they say already is not written again.

    `page` is what the text says, from whoever has read it already.
    """
    known = (page or read_page(text, file)).fields
    wanted = {name: v for name, v in changes.items() if name not in known or known[name] != v}
    if not wanted:
        return text
    front, _ = _split_front_matter(text, file)
    start = text.index("\n") + 1
    return text[:start] + _render_changes(front, wanted) + text[start + len(front) :]


def _render_changes(front: str, changes: Mapping[str, Any]) -> str:
    plain = plain_yaml.render_plain_changes(front, changes)
    if plain is not None:
        return plain
    from porch.plan.files import yaml_edit

    return yaml_edit.render_with_fields(front, changes)


def render_with_body(text: str, file: str, body: str) -> str:
    """The same fields, byte for byte, above another text."""
    _, old = _split_front_matter(text, file)
    head = text[: len(text) - len(old)]
    return f"{head.rstrip(chr(10))}\n\n{body.strip(chr(10))}\n"


_FIX = f"begin the file with a line '{_FENCE}', then `name: value` lines, then '{_FENCE}'"


def _split_front_matter(text: str, file: str) -> tuple[str, str]:
    lines = text.splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines) if line.rstrip() == _FENCE]
    if len(ends) < 2 or ends[0] != 0:
        message = "the file does not begin with front matter"
        raise DefinitionError([Finding("bad-front-matter", message, Place(file, 1, 1), _FIX)])
    return "".join(lines[1 : ends[1]]), "".join(lines[ends[1] + 1 :])
