"""`findings/<specialist>.yaml`: what one specialist found, for people to read and to correct."""

import contextlib
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from porch.dialects.result import in_file_order
from porch.errors import DefinitionError, Finding, Place
from porch.plan.files import front_matter, plain_yaml
from porch.plan.findings.approaches import (
    Approach,
    Findings,
    SpecialistQuestion,
    find_number_clash,
    sort_approaches,
)
from porch.text.fields import Fields, describe_node
from porch.text.nodes import MapNode, Node, ScalarNode, make_node, plain_value

__all__ = [
    "Approach",
    "Findings",
    "SpecialistQuestion",
    "approach_fields",
    "list_clashes",
    "read_findings",
    "render_findings",
]

# As many digits as a command takes.
_MOST = 999_999


def read_findings(text: str, file: str) -> Findings:
    """Raises DefinitionError with all that is wrong: what is not understood is not written over."""
    plain = plain_yaml.parse_plain_fields(text)
    if plain is not None:
        with contextlib.suppress(DefinitionError):
            return _make_findings(make_node(plain, Place(file)), file)
    # Also what is plain and wrong: complaints have places.
    from porch.text.yaml_tree import read_yaml

    return _make_findings(read_yaml(text, file), file)


def _make_findings(root: Node, file: str) -> Findings:
    found: list[Finding] = []
    if not isinstance(root, MapNode):
        message = f"findings must be a mapping, not {describe_node(root)}"
        fix = "write specialist_name, notes and approaches"
        raise DefinitionError([Finding("wrong-type", message, root.place, fix)])
    fields = Fields(root, "the findings", found)
    notes = _read_text(fields, "notes")
    specialist = _read_specialist(fields, file)
    approaches = _read_approaches(fields)
    if found:
        raise DefinitionError(in_file_order(found))
    return Findings(specialist, notes, sort_approaches(approaches), _unknown_fields(fields))


def render_findings(findings: Findings) -> str:
    return front_matter.render_fields(
        {
            "specialist_name": findings.specialist,
            "notes": findings.notes,
            "approaches": [approach_fields(approach) for approach in findings.approaches],
            **findings.extra,
        }
    )


def approach_fields(approach: Approach) -> dict[str, Any]:
    """The keys of the file, always all of them."""
    return {
        "number": approach.number,
        "variant": approach.variant or None,
        "description": approach.description,
        "relevant_files": list(approach.relevant_files),
        "required_clarifying_questions": [_question_fields(each) for each in approach.questions],
        "user_addressed_questions": [_question_fields(each) for each in approach.answers],
        "user_requested_changes": approach.user_requested_changes,
        "approach_detail": approach.detail,
        **approach.extra,
    }


def _question_fields(asked: SpecialistQuestion) -> dict[str, str]:
    answer = {"answer": asked.answer} if asked.answer else {}
    return {"question": asked.question, **answer}


def list_clashes(items: Sequence[tuple[Approach, Place]]) -> list[Finding]:
    """Each approach that cannot stand beside those before it."""
    found = []
    for index, (approach, place) in enumerate(items):
        earlier = [each.id for each, _ in items[:index]]
        problem = find_number_clash(earlier, approach.id)
        if approach.id in earlier:
            message, fix = f"approach {approach.id} is written twice", "keep one of them"
            found.append(Finding("duplicate-approach", message, place, fix))
        elif problem is not None:
            fix = "give every approach with this number a letter, or change the number"
            found.append(replace(problem, place=place, fix=fix))
    return found


def _read_specialist(fields: Fields, file: str) -> str:
    """The file is found by this name, so the two cannot differ."""
    named = file.rpartition("/")[2].removesuffix(".yaml")
    name = _read_text(fields, "specialist_name") or named
    if name != named:
        message = f"the file belongs to '{named}', but the name in it is '{name}'"
        place = fields.place("specialist_name")
        fields.report("wrong-specialist", message, place, f"write '{named}', or rename the file")
    return named


def _read_approaches(fields: Fields) -> list[Approach]:
    read_: list[tuple[Approach, Place]] = []
    for node in fields.list_of_nodes("approaches"):
        if isinstance(node, MapNode):
            approach = _read_approach(Fields(node, "this approach", fields.findings))
            read_.append((approach, node.place))
        else:
            message = f"an approach must be a mapping, not {describe_node(node)}"
            fields.report("wrong-type", message, node.place, "write its number and description")
    if not fields.findings:
        fields.findings.extend(list_clashes(read_))
    return [approach for approach, _ in read_]


def _read_approach(fields: Fields) -> Approach:
    return Approach(
        number=read_approach_number(fields),
        variant=read_variant_letter(fields, _read_text(fields, "variant")),
        description=_read_text(fields, "description"),
        relevant_files=fields.list_of_text("relevant_files"),
        questions=_read_questions(fields, "required_clarifying_questions"),
        answers=_read_questions(fields, "user_addressed_questions"),
        user_requested_changes=_read_text(fields, "user_requested_changes"),
        detail=_read_text(fields, "approach_detail"),
        extra=_unknown_fields(fields),
    )


def read_approach_number(fields: Fields) -> int:
    before = len(fields.findings)
    number = fields.whole("number", least=1)
    if not 1 <= number <= _MOST and len(fields.findings) == before:
        message = f"'number' of {fields.what} must be a whole number from 1 to {_MOST}"
        fields.report("invalid-number", message, fields.place("number"), "give it one")
    return number


def read_variant_letter(fields: Fields, text: str) -> str:
    if text and not (len(text) == 1 and "A" <= text <= "Z"):
        message = f"'{text}' is not the letter of a variant"
        fix = "write one letter from A to Z, or null"
        fields.report("invalid-variant", message, fields.place("variant"), fix)
    return text


def _read_questions(fields: Fields, key: str) -> tuple[SpecialistQuestion, ...]:
    return tuple(_read_question(node, key, fields) for node in fields.list_of_nodes(key))


def _read_question(node: Node, key: str, fields: Fields) -> SpecialistQuestion:
    if isinstance(node, MapNode):
        inner = Fields(node, f"a question of '{key}'", fields.findings)
        asked = SpecialistQuestion(_read_text(inner, "question"), _read_text(inner, "answer"))
        inner.done()
        return asked
    if isinstance(node, ScalarNode):
        return SpecialistQuestion(node.text)
    message = f"'{key}' must be a list of questions; this one is {describe_node(node)}"
    fields.report("wrong-type", message, node.place, "write `- question: TEXT`")
    return SpecialistQuestion("")


def _read_text(fields: Fields, key: str) -> str:
    """People write `true` and mean the word; it has no other meaning where a text is wanted."""
    node = fields.child(key)
    if isinstance(node, ScalarNode) and node.kind == "bool":
        return node.text
    return fields.text(key)


def _unknown_fields(fields: Fields) -> dict[str, Any]:
    unknown = fields.unknown_keys()
    entries = fields.node.entries
    return {
        entry.key.text: plain_value(entry.value) for entry in entries if entry.key.text in unknown
    }
