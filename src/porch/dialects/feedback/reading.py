"""What a person wrote into a gate's file: nothing yet, an answer, or all that is wrong with it.

A file in which `done` does not say true is never complained about: its writer is still at it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, assert_never

from porch.dialects.feedback.forms import (
    DONE,
    FALSE,
    MAX_BYTES,
    TRUE,
    Choice,
    Field,
    Flag,
    Form,
    Part,
    Parts,
    Questions,
    Text,
    values,
)
from porch.dialects.feedback.marks import BOM, Marks, is_too_large, marks
from porch.dialects.nodes import ListNode, MapNode, Node, Scalar
from porch.dialects.reading import in_file_order
from porch.dialects.yaml_tree import read_yaml
from porch.errors import DefinitionError, Finding, Place

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """`done` does not say true."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The values by field, and the place of every value that stands in the file by its path."""

    values: Mapping[str, Any]
    places: Mapping[Path, Place]


@dataclass(frozen=True, slots=True)
class Wrong:
    """The person is finished, and this cannot be taken as an answer."""

    findings: tuple[Finding, ...]


Reading = Waiting | Filled | Wrong

_SAFE_TEXT = "write the text on the lines below `|-`, each indented by two more spaces than its key"


def read(text: str, form: Form, file: str, *, is_finished: bool = False) -> Reading:
    """What `text` says; who hands it over has finished it, whatever its `done` says."""
    bare = text.removeprefix(BOM)
    marked = marks(bare)
    if not marked.done and not is_finished:
        return Waiting()
    if is_too_large(bare):
        message = f"the file has more than {MAX_BYTES // 1024} KB"
        fix = "put long texts into files of their own and name them here"
        return Wrong((Finding("too-large", message, Place(file), fix),))
    try:
        tree = read_yaml(text, file)
    except DefinitionError as error:
        return Wrong(tuple(_for_people(finding) for finding in error.findings))
    reader = _Reader(marked)
    found = reader.fields(tree, form.fields, (), (DONE,))
    return (
        Wrong(in_file_order(reader.findings)) if reader.findings else Filled(found, reader.places)
    )


def _for_people(finding: Finding) -> Finding:
    """Without line numbers in words, which are wrong as soon as something is written above."""
    message = finding.message.partition("; the first is on line")[0]
    return replace(finding, message=message, fix=finding.fix or _SAFE_TEXT)


class _Reader:
    def __init__(self, marked: Marks):
        self.findings: list[Finding] = []
        self.places: dict[Path, Place] = {}
        self._marks = marked

    def fields(
        self, node: Node, fields: tuple[Field, ...], path: Path, also: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        entries = self._entries(node, path, (*(field.name for field in fields), *also))
        if entries is None:
            return values(fields)
        return {field.name: self._field(entries, node, field, path) for field in fields}

    def _entries(self, node: Node, path: Path, known: tuple[str, ...]) -> dict[str, Node] | None:
        """The values by key; nothing, and a finding, where there are no keys at all."""
        if not isinstance(node, MapNode):
            self._wrong_type(node, path, "fields of its own, one on each line")
            return None
        for key in (entry.key for entry in node.entries):
            if key.text not in known:
                near = get_close_matches(key.text, known, 1)
                fix = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known)}"
                self._report("unknown-key", f"'{key.text}' is not asked here", key.place, fix)
        return {entry.key.text: entry.value for entry in node.entries}

    def _field(self, entries: Mapping[str, Node], within: Node, field: Field, path: Path) -> Any:
        node, here = entries.get(field.name), (*path, field.name)
        if node is not None:
            self.places[here] = node.place
            return self._value(node, field, here)
        self._left_out(field, within.place, here)
        return field.given()

    def _left_out(self, field: Field, place: Place, path: Path) -> None:
        """What is left out has the value of the template; only decisions have none there."""
        if isinstance(field.kind, Choice) and not field.value:
            self._undecided(field.kind, place, path)
        if isinstance(field.kind, Parts):
            for part in field.kind.parts:
                for each in part.fields:
                    self._left_out(each, place, (*path, part.name, each.name))

    def _value(self, node: Node, field: Field, path: Path) -> Any:
        match field.kind:
            case Flag():
                return self._flag(node, path)
            case Text():
                return self._text(node, path)
            case Choice():
                return self._choice(node, field.kind, path)
            case Parts(parts):
                return self._parts(node, parts, path)
            case Questions():
                return self._questions(node, path)
            case _:
                assert_never(field.kind)

    def _flag(self, node: Node, path: Path) -> bool:
        word = self._text(node, path, may_be_cut=True).strip().lower()
        if isinstance(node, Scalar) and word not in TRUE | FALSE:
            message = f"{_named(path)} says neither true nor false"
            self._report("wrong-value", message, node.place, "write true or false")
        return word in TRUE

    def _choice(self, node: Node, choice: Choice, path: Path) -> str:
        said = self._text(node, path, may_be_cut=True).strip()
        meanings = {word.lower(): meant for word, meant in choice.words.items()}
        if isinstance(node, Scalar) and not said:
            self._undecided(choice, node.place, path)
        elif said and said.lower() not in meanings:
            message = f"'{said}' is none of the words of {_named(path)}"
            self._report("wrong-value", message, node.place, _one_of(choice))
        return meanings.get(said.lower(), "")

    def _undecided(self, choice: Choice, place: Place, path: Path) -> None:
        if not choice.optional:
            message = f"{_named(path)} is not decided"
            self._report("wrong-value", message, place, _one_of(choice))

    def _text(self, node: Node, path: Path, may_be_cut: bool = False) -> str:
        if not isinstance(node, Scalar):
            self._wrong_type(node, path, "a text")
            return ""
        at = (node.place.line, node.place.column)
        if at in self._marks.cut and not may_be_cut:
            message = f"behind a `#` the rest of the line of {_named(path)} is no text"
            self._report("cut-text", message, node.place, f"{_SAFE_TEXT}, or put it in quotes")
        # The tree writes booleans small; a person's word stays as it was typed.
        text = self._marks.plain.get(at, node.text)
        return "" if node.kind == "null" and text == "~" else text

    def _parts(self, node: Node, parts: tuple[Part, ...], path: Path) -> dict[str, Any]:
        entries = self._entries(node, path, tuple(part.name for part in parts))
        if entries is None:
            return {}
        return {part.name: self._part(entries, node, part, path) for part in parts}

    def _part(self, entries: Mapping[str, Node], within: Node, part: Part, path: Path) -> Any:
        node, here = entries.get(part.name), (*path, part.name)
        if node is None:
            message, fix = f"{_named(path)} has no '{part.name}'", f"write '{part.name}' again"
            self._report("missing-key", message, within.place, fix)
            return {}
        self.places[here] = node.place
        return self.fields(node, part.fields, here)

    def _questions(self, node: Node, path: Path) -> list[dict[str, str]]:
        if not isinstance(node, ListNode):
            self._wrong_type(node, path, "a list of questions and answers")
            return []
        return [
            self._question(item, (*path, str(number))) for number, item in enumerate(node.items, 1)
        ]

    def _question(self, node: Node, path: Path) -> dict[str, str]:
        self.places[path] = node.place
        found = self.fields(node, _QUESTION, path)
        if isinstance(node, MapNode) and node.get("question") is None:
            fix = "write the question above its answer again"
            self._report("missing-key", f"{_named(path)} has no 'question'", node.place, fix)
        return found

    def _wrong_type(self, node: Node, path: Path, wanted: str) -> None:
        fix = _SAFE_TEXT if wanted == "a text" else "write it as it was in the beginning"
        self._report("wrong-type", f"{_named(path)} must be {wanted}", node.place, fix)

    def _report(self, code: str, message: str, place: Place, fix: str) -> None:
        self.findings.append(Finding(code, message, place, fix))


_QUESTION = (Field("question", Text()), Field("answer", Text()))


def _named(path: Path) -> str:
    return f"'{'.'.join(path)}'" if path else "the file"


def _one_of(choice: Choice) -> str:
    return f"write one of: {', '.join(choice.words)}"
