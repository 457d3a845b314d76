"""What a person wrote into a gate's file: nothing yet, an answer, or all that is wrong with it.

A file in which `done` says false is never complained about: its writer is still at it. One that
nobody can finish by saving it, because it is empty or `done` says something else, is explained.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, assert_never

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.result import in_file_order
from porch.errors import DefinitionError, Finding, Place
from porch.plan.forms.form_fields import (
    DONE,
    FALSE,
    MAX_BYTES,
    TRUE,
    ChoiceKind,
    FlagKind,
    FormField,
    FormPart,
    FormParts,
    GateForm,
    QuestionList,
    TextKind,
    field_values,
)
from porch.plan.forms.form_lines import BOM, DONE_KEY, FormMarks, find_marks, is_too_large
from porch.text.nodes import SURROGATE, ListNode, MapNode, Node, ScalarNode
from porch.text.yaml_tree import read_yaml

FieldPath = tuple[str, ...]


class UnfinishedForm(Struct, frozen=True):
    """`done` says false, or nothing yet."""


class EmptiedForm(Struct, frozen=True):
    """Nothing is left of the form, so nobody can answer in it."""


class FilledForm(Struct, frozen=True):
    """The values by field, and the place of every value that stands in the file by its path."""

    values: Mapping[str, Any]
    places: Mapping[FieldPath, Place]


class WrongForm(Struct, frozen=True):
    """This cannot be taken as an answer; `is_finished` if the person says that it is one."""

    findings: tuple[Finding, ...]
    is_finished: bool = True


FormReading = UnfinishedForm | EmptiedForm | FilledForm | WrongForm

_SAFE_TEXT = "write the text on the lines below `|-`, each indented by two more spaces than its key"


def read_form(text: str, form: GateForm, file: str, *, is_finished: bool = False) -> FormReading:
    """What `text` says; who hands it over has finished it, whatever its `done` says."""
    bare = text.removeprefix(BOM)
    marked = find_marks(bare)
    if not marked.done and not is_finished:
        return _read_unfinished_form(bare, marked, file)
    if is_too_large(bare):
        message = f"the file has more than {MAX_BYTES // 1024} KB"
        fix = "put long texts into separate files and write their names here"
        return WrongForm((Finding("too-large", message, Place(file), fix),))
    try:
        tree = read_yaml(text, file)
    except DefinitionError as error:
        return WrongForm(tuple(_reword_finding(finding) for finding in error.findings))
    reader = _FormReader(marked)
    found = reader.fields(tree, form.fields, (), (DONE,))
    return (
        WrongForm(in_file_order(reader.findings))
        if reader.findings
        else FilledForm(found, reader.places)
    )


def _read_unfinished_form(
    text: str, marked: FormMarks, file: str
) -> UnfinishedForm | EmptiedForm | WrongForm:
    if not text.strip():
        return EmptiedForm()
    if marked.odd:
        start, end = marked.odd[0]
        return _make_odd_done(text[start:end], text, start, file)
    if not marked.has_done and (other := DONE_KEY.search(text)):
        return _make_odd_done(other[1], text, other.start(), file)
    if not marked.has_done and _is_text(text):
        fix = f"write '{DONE}: true' at its end; to get a new form, delete this file"
        finding = Finding("missing-key", f"there is no '{DONE}' in this file", Place(file), fix)
        return WrongForm((finding,), is_finished=False)
    return UnfinishedForm()


def _make_odd_done(word: str, text: str, at: int, file: str) -> WrongForm:
    place = Place(file, text.count("\n", 0, at) + 1)
    message = f"'{DONE}' says '{word}', which is neither true nor false"
    finding = Finding("wrong-value", message, place, f"write '{DONE}: true'")
    return WrongForm((finding,), is_finished=False)


def _is_text(text: str) -> bool:
    """In another encoding nobody sees what is in it; half characters are bytes of one."""
    return "\0" not in text and not SURROGATE.search(text)


def _reword_finding(finding: Finding) -> Finding:
    """Without line numbers in words, which are wrong as soon as something is written above."""
    message = finding.message.partition("; the first is on line")[0]
    return replace(finding, message=message, fix=finding.fix or _SAFE_TEXT)


class _FormReader:
    def __init__(self, marked: FormMarks):
        self.findings: list[Finding] = []
        self.places: dict[FieldPath, Place] = {}
        self._marks = marked

    def fields(
        self, node: Node, fields: tuple[FormField, ...], path: FieldPath, also: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        entries = self._entries(node, path, (*(field.name for field in fields), *also))
        if entries is None:
            return field_values(fields)
        return {field.name: self._field(entries, node, field, path) for field in fields}

    def _entries(
        self, node: Node, path: FieldPath, known: tuple[str, ...]
    ) -> dict[str, Node] | None:
        """The values by key; nothing, and a finding, where there are no keys at all."""
        if not isinstance(node, MapNode):
            self._wrong_type(node, path, "a list of fields, one on each line")
            return None
        for key in (entry.key for entry in node.entries):
            if key.text not in known:
                near = get_close_matches(key.text, known, 1)
                fix = f"did you mean '{near[0]}'?" if near else f"fields here: {', '.join(known)}"
                self._report("unknown-key", f"'{key.text}' is not a field here", key.place, fix)
        return {entry.key.text: entry.value for entry in node.entries}

    def _field(
        self, entries: Mapping[str, Node], within: Node, field: FormField, path: FieldPath
    ) -> Any:
        node, here = entries.get(field.name), (*path, field.name)
        if node is not None:
            self.places[here] = node.place
            return self._value(node, field, here)
        self._left_out(field, within.place, here)
        return field.given()

    def _left_out(self, field: FormField, place: Place, path: FieldPath) -> None:
        """What is left out has the value of the template; only decisions have none there."""
        if isinstance(field.kind, ChoiceKind) and not field.value:
            self._undecided(field.kind, place, path)
        if isinstance(field.kind, FlagKind) and field.given() is None:
            self._unmarked(place, path)
        if isinstance(field.kind, FormParts):
            for part in field.kind.parts:
                for each in part.fields:
                    self._left_out(each, place, (*path, part.name, each.name))

    def _value(self, node: Node, field: FormField, path: FieldPath) -> Any:
        match field.kind:
            case FlagKind():
                return self._flag(node, path)
            case TextKind():
                return self._text(node, path)
            case ChoiceKind():
                return self._choice(node, field.kind, path)
            case FormParts(parts):
                return self._parts(node, parts, path)
            case QuestionList():
                return self._questions(node, path)
            case _:
                assert_never(field.kind)

    def _flag(self, node: Node, path: FieldPath) -> bool:
        word = self._text(node, path, may_be_cut=True).strip().lower()
        if isinstance(node, ScalarNode) and not word:
            self._unmarked(node.place, path)
        elif isinstance(node, ScalarNode) and word not in TRUE | FALSE:
            message = f"{_quote_path(path)} must be true or false"
            self._report("wrong-value", message, node.place, "write true or false")
        return word in TRUE

    def _unmarked(self, place: Place, path: FieldPath) -> None:
        message = f"{_quote_path(path)} has no answer"
        self._report("wrong-value", message, place, "write true or false")

    def _choice(self, node: Node, choice: ChoiceKind, path: FieldPath) -> str:
        said = self._text(node, path, may_be_cut=True).strip()
        meanings = {word.lower(): meant for word, meant in choice.words.items()}
        if isinstance(node, ScalarNode) and not said:
            self._undecided(choice, node.place, path)
        elif said and said.lower() not in meanings:
            message = f"'{said}' is not an answer for {_quote_path(path)}"
            self._report("wrong-value", message, node.place, _describe_choices(choice))
        return meanings.get(said.lower(), "")

    def _undecided(self, choice: ChoiceKind, place: Place, path: FieldPath) -> None:
        if not choice.optional:
            message = f"{_quote_path(path)} has no decision"
            self._report("wrong-value", message, place, _describe_choices(choice))

    def _text(self, node: Node, path: FieldPath, may_be_cut: bool = False) -> str:
        if not isinstance(node, ScalarNode):
            self._wrong_type(node, path, "text")
            return ""
        at = (node.place.line, node.place.column)
        if at in self._marks.cut and not may_be_cut:
            message = f"the text of {_quote_path(path)} ends at a `#`, and the rest is lost"
            self._report("cut-text", message, node.place, f"{_SAFE_TEXT}, or put it in quotes")
        # The tree writes booleans small; a person's word stays as it was typed.
        text = self._marks.plain.get(at, node.text)
        return "" if node.kind == "null" and text == "~" else text

    def _parts(self, node: Node, parts: tuple[FormPart, ...], path: FieldPath) -> dict[str, Any]:
        entries = self._entries(node, path, tuple(part.name for part in parts))
        if entries is None:
            return {}
        return {part.name: self._part(entries, node, part, path) for part in parts}

    def _part(
        self, entries: Mapping[str, Node], within: Node, part: FormPart, path: FieldPath
    ) -> Any:
        node, here = entries.get(part.name), (*path, part.name)
        if node is None:
            message, fix = f"{_quote_path(path)} has no '{part.name}'", f"write '{part.name}' again"
            self._report("missing-key", message, within.place, fix)
            return {}
        self.places[here] = node.place
        return self.fields(node, part.fields, here)

    def _questions(self, node: Node, path: FieldPath) -> list[dict[str, str]]:
        if not isinstance(node, ListNode):
            self._wrong_type(node, path, "a list of questions and answers")
            return []
        return [
            self._question(item, (*path, str(number))) for number, item in enumerate(node.items, 1)
        ]

    def _question(self, node: Node, path: FieldPath) -> dict[str, str]:
        self.places[path] = node.place
        found = self.fields(node, _QUESTION, path)
        if isinstance(node, MapNode) and node.get("question") is None:
            fix = "write the question above its answer again"
            self._report("missing-key", f"{_quote_path(path)} has no 'question'", node.place, fix)
        return found

    def _wrong_type(self, node: Node, path: FieldPath, wanted: str) -> None:
        fix = _SAFE_TEXT if wanted == "text" else "write it as it was at the start"
        self._report("wrong-type", f"{_quote_path(path)} must be {wanted}", node.place, fix)

    def _report(self, code: str, message: str, place: Place, fix: str) -> None:
        self.findings.append(Finding(code, message, place, fix))


_QUESTION = (FormField("question", TextKind()), FormField("answer", TextKind()))


def _quote_path(path: FieldPath) -> str:
    return f"'{'.'.join(path)}'" if path else "the file"


def _describe_choices(choice: ChoiceKind) -> str:
    return f"write one of: {', '.join(choice.words)}"
