"""`findings/<specialist>.yaml`: what one specialist found, for people to read and to correct."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from porch.dialects import yaml_text
from porch.dialects.fields import Fields, described
from porch.dialects.nodes import MapNode, Node, Scalar, plain
from porch.dialects.reading import in_file_order
from porch.dialects.yaml_tree import read_yaml
from porch.errors import DefinitionError, Finding, Place
from porch.model.findings import Approach, Asked, Findings, clash, in_order

__all__ = ["Approach", "Asked", "Findings", "clashes", "fields_of", "read", "write"]

# As many digits as a command takes.
_MOST = 999_999


def read(text: str, file: str) -> Findings:
    """Raises DefinitionError with all that is wrong: what is not understood is not written over."""
    root = read_yaml(text, file)
    found: list[Finding] = []
    if not isinstance(root, MapNode):
        message = f"findings are a mapping, not {described(root)}"
        fix = "write specialist_name, notes and approaches"
        raise DefinitionError([Finding("wrong-type", message, root.place, fix)])
    fields = Fields(root, "the findings", found)
    notes = _text(fields, "notes")
    specialist = _specialist(fields, file)
    approaches = _approaches(fields)
    if found:
        raise DefinitionError(in_file_order(found))
    return Findings(specialist, notes, in_order(approaches), _extra(fields))


def write(findings: Findings) -> str:
    return yaml_text.dumped(
        {
            "specialist_name": findings.specialist,
            "notes": findings.notes,
            "approaches": [fields_of(approach) for approach in findings.approaches],
            **findings.extra,
        }
    )


def fields_of(approach: Approach) -> dict[str, Any]:
    """The keys of the file, always all of them."""
    return {
        "number": approach.number,
        "variant": approach.variant or None,
        "description": approach.description,
        "relevant_files": list(approach.relevant_files),
        "required_clarifying_questions": [_pair(each) for each in approach.questions],
        "user_addressed_questions": [_pair(each) for each in approach.answers],
        "user_requested_changes": approach.user_requested_changes,
        "approach_detail": approach.detail,
        **approach.extra,
    }


def _pair(asked: Asked) -> dict[str, str]:
    answer = {"answer": asked.answer} if asked.answer else {}
    return {"question": asked.question, **answer}


def clashes(items: Sequence[tuple[Approach, Place]]) -> list[Finding]:
    """Each approach that cannot stand beside those before it."""
    found = []
    for index, (approach, place) in enumerate(items):
        earlier = [each.id for each, _ in items[:index]]
        problem = clash(earlier, approach.id)
        if approach.id in earlier:
            message, fix = f"approach {approach.id} is there twice", "keep one of them"
            found.append(Finding("duplicate-approach", message, place, fix))
        elif problem is not None:
            fix = "give all approaches of one number letters, or another number"
            found.append(replace(problem, place=place, fix=fix))
    return found


def _specialist(fields: Fields, file: str) -> str:
    """The file is found by this name, so the two cannot differ."""
    named = file.rpartition("/")[2].removesuffix(".yaml")
    name = _text(fields, "specialist_name") or named
    if name != named:
        message = f"the file is that of '{named}', and the name in it is '{name}'"
        place = fields.place("specialist_name")
        fields.report("wrong-specialist", message, place, f"write '{named}', or rename the file")
    return named


def _approaches(fields: Fields) -> list[Approach]:
    read_: list[tuple[Approach, Place]] = []
    for node in fields.list_of_nodes("approaches"):
        if isinstance(node, MapNode):
            approach = _approach(Fields(node, "this approach", fields.findings))
            read_.append((approach, node.place))
        else:
            message = f"an approach is a mapping, not {described(node)}"
            fields.report("wrong-type", message, node.place, "write its number and description")
    if not fields.findings:
        fields.findings.extend(clashes(read_))
    return [approach for approach, _ in read_]


def _approach(fields: Fields) -> Approach:
    return Approach(
        number=number_of(fields),
        variant=letter_of(fields, _text(fields, "variant")),
        description=_text(fields, "description"),
        relevant_files=fields.list_of_text("relevant_files"),
        questions=_asked(fields, "required_clarifying_questions"),
        answers=_asked(fields, "user_addressed_questions"),
        user_requested_changes=_text(fields, "user_requested_changes"),
        detail=_text(fields, "approach_detail"),
        extra=_extra(fields),
    )


def number_of(fields: Fields) -> int:
    before = len(fields.findings)
    number = fields.whole("number", least=1)
    if not 1 <= number <= _MOST and len(fields.findings) == before:
        message = f"'number' of {fields.what} must be a whole number from 1 to {_MOST}"
        fields.report("invalid-number", message, fields.place("number"), "give it one")
    return number


def letter_of(fields: Fields, text: str) -> str:
    if text and not (len(text) == 1 and "A" <= text <= "Z"):
        message = f"'{text}' is no letter of a variant"
        fix = "write one letter from A to Z, or null"
        fields.report("invalid-variant", message, fields.place("variant"), fix)
    return text


def _asked(fields: Fields, key: str) -> tuple[Asked, ...]:
    return tuple(_one(node, key, fields) for node in fields.list_of_nodes(key))


def _one(node: Node, key: str, fields: Fields) -> Asked:
    if isinstance(node, MapNode):
        inner = Fields(node, f"a question of '{key}'", fields.findings)
        asked = Asked(_text(inner, "question"), _text(inner, "answer"))
        inner.done()
        return asked
    if isinstance(node, Scalar):
        return Asked(node.text)
    message = f"'{key}' must be a list of questions; this one is {described(node)}"
    fields.report("wrong-type", message, node.place, "write `- question: TEXT`")
    return Asked("")


def _text(fields: Fields, key: str) -> str:
    """People write `true` and mean the word; it has no other meaning where a text is wanted."""
    node = fields.child(key)
    if isinstance(node, Scalar) and node.kind == "bool":
        return node.text
    return fields.text(key)


def _extra(fields: Fields) -> dict[str, Any]:
    unknown = fields.unknown_keys()
    entries = fields.node.entries
    return {entry.key.text: plain(entry.value) for entry in entries if entry.key.text in unknown}
