"""What a worker tells about one iteration of a prompt, sorted into fields without losing a word.

Agents write the form that they were shown only more or less. So all that is recognised has its
field, and whatever is not goes, as it was written, into `approach`.
"""

import re
from collections.abc import Sequence
from textwrap import dedent
from typing import Any, cast

from msgspec import Struct

from porch.errors import DefinitionError, Finding
from porch.text.fields import Fields, describe_node
from porch.text.json_tree import read_json
from porch.text.late_pattern import late_pattern
from porch.text.markdown import (
    MarkdownLine,
    bullet_of,
    heading_of,
    mask_inline_code,
    parse_markdown_lines,
)
from porch.text.nodes import MapNode

FILE = "--walkthrough"
WALKTHROUGH_TYPES = ("initial", "review-refinement", "testing-refinement")

# Blanks are counted in all patterns: a line of nothing else must not take minutes.
_OBJECT = late_pattern(r'\s*\{\s*["}]')
_FENCE = late_pattern(r"(`{3,}|~{3,})[ \t]*(?:json)?[ \t]*\r?\n", re.IGNORECASE)
_SECTIONS = {
    "approach": "approach",
    "changes": "changes",
    "changes made": "changes",
    "files changed": "changes",
    "decisions": "decisions",
    "key decisions": "decisions",
    "refinement context": "reason",
    "refinement reason": "reason",
}
_ITERATION = late_pattern(r"iteration ([1-9][0-9]{0,5})")
_COLON = r"[ \t]?(?::[ \t]?\1|\1[ \t]?:)"
_BOLD_LABEL = late_pattern(rf" {{0,3}}(\*\*|__)([A-Za-z]+(?: [A-Za-z]+)?){_COLON}(.*)")
_HEAD_LABEL = late_pattern(
    rf"\s*(?:[-*+][ \t]+)?(\*\*|__|)(type|refinement (?:context|reason)){_COLON}(.*)", re.IGNORECASE
)
_MARKER = late_pattern(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]*")
_NAMED = r"\*{0,3}`([^`]+)`\*{0,3}"
_NAMES = late_pattern(
    rf"{_NAMED}(?:(?:\s?[,&]\s?(?:and\s)?|\sand\s){_NAMED})*(?=\s*$|:|\s[(:\u2013\u2014-])"
)
_BARE_NAME = late_pattern(r"\*{0,3}([^\s`*:]{1,400})\*{0,3}(?=:(?:\s|$))")
_BEHIND_NAME = late_pattern(r"\s*[:\u2013\u2014-]?\s*")
_COLON_INSIDE = late_pattern(r"\A(\*\*|__)((?:(?!\1).)+?)[ \t]?:[ \t]?\1")
_DIVIDES = (late_pattern(r":(?:\s+|$)"), late_pattern(r"\s[\u2013\u2014-]\s"))
_EMPHASISED = late_pattern(r"(\*\*|__)((?:(?!\1).)+)\1")


class WalkthroughChange(Struct, frozen=True):
    file: str
    description: str


class WalkthroughDecision(Struct, frozen=True):
    decision: str
    rationale: str


class Walkthrough(Struct, frozen=True):
    """`type` is empty, and `iteration` nothing, where the text does not say them."""

    type: str = ""
    refinement_reason: str = ""
    approach: str = ""
    changes: tuple[WalkthroughChange, ...] = ()
    decisions: tuple[WalkthroughDecision, ...] = ()
    iteration: int | None = None


def read_walkthrough_text(text: str) -> Walkthrough:
    """Raises DefinitionError for an object with keys or values that have no place here."""
    inside = _without_fence(text)
    if _OBJECT.match(inside):
        return _read_json(inside)
    return _WalkthroughSorter(parse_markdown_lines(text)).walkthrough()


def _without_fence(text: str) -> str:
    """Without the fence around all of it, whose line stays: places point to what was given."""
    bare = text.strip()
    fence = _FENCE.match(bare)
    if fence is None or not bare.endswith(f"\n{fence[1]}"):
        return text
    lines = text[: len(text) - len(text.lstrip())].count("\n") + 1
    return "\n" * lines + bare[fence.end() : -len(fence[1])]


def walkthrough_fields(walkthrough: Walkthrough, iteration: int) -> dict[str, Any]:
    """One entry of the field `walkthrough` of a prompt."""
    return {
        "iteration": iteration,
        "type": walkthrough.type or guess_type(iteration, walkthrough.refinement_reason),
        "refinement_reason": walkthrough.refinement_reason or None,
        "approach": walkthrough.approach,
        "changes": [{"file": c.file, "description": c.description} for c in walkthrough.changes],
        "decisions": [
            {"decision": d.decision, "rationale": d.rationale} for d in walkthrough.decisions
        ],
    }


def guess_type(iteration: int, reason: str) -> str:
    """For a text that names no type; the protocols begin the reason with what it came from."""
    if iteration == 1:
        return "initial"
    return "testing-refinement" if reason.lower().startswith("test") else "review-refinement"


def find_type_word(words: str) -> str:
    """The type that is meant, or nothing: people write `Review Refinement` and `(initial)` too."""
    bare = words.strip(" \t`*_\"'().")
    word = "-".join(re.split(r"[\s_-]+", bare.lower()))
    return word if word in WALKTHROUGH_TYPES else ""


def _read_json(text: str) -> Walkthrough:
    findings: list[Finding] = []
    node = cast("MapNode", read_json(text, FILE))  # it begins with a brace
    fields = Fields(node, "the walkthrough", findings)
    found = Walkthrough(
        _read_json_type(fields),
        fields.text("refinement_reason"),
        fields.text("approach"),
        tuple(
            WalkthroughChange(*pair)
            for pair in _read_pairs(fields, "changes", "file", "description")
        ),
        tuple(
            WalkthroughDecision(*pair)
            for pair in _read_pairs(fields, "decisions", "decision", "rationale")
        ),
        fields.whole("iteration", least=1) or None,
    )
    fields.done()
    if not (findings or found.approach.strip() or found.changes or found.decisions):
        fix = "write an approach, changes or decisions"
        fields.report("missing-key", "the walkthrough is empty", node.place, fix)
    if findings:
        raise DefinitionError(findings)
    return found


def _read_json_type(fields: Fields) -> str:
    words = fields.text("type")
    found = find_type_word(words)
    if words and not found:
        message = f"'{words}' is not a type of a walkthrough"
        fields.report(
            "wrong-value", message, fields.place("type"), f"use {', '.join(WALKTHROUGH_TYPES)}"
        )
    return found


def _read_pairs(fields: Fields, key: str, first: str, second: str) -> list[tuple[str, str]]:
    pairs = []
    for node in fields.list_of_nodes(key):
        if not isinstance(node, MapNode):
            message = f"an item of '{key}' must have '{first}' and '{second}', but it is "
            fields.report("wrong-type", message + describe_node(node), node.place)
            continue
        item = Fields(node, f"an item of '{key}'", fields.findings)
        pairs.append((item.required_text(first), item.text(second)))
        item.done()
    return pairs


class _WalkthroughSorter:
    """Goes through the lines once; each of them ends in exactly one list, or is a heading."""

    def __init__(self, lines: Sequence[MarkdownLine]):
        self.type = ""
        self.iteration: int | None = None
        self.approach: list[str] = []
        self.reason: list[str] = []
        self.changes: list[tuple[tuple[str, ...], list[str]]] = []
        self.decisions: list[tuple[str, list[str]]] = []
        self._section = ""
        self._level = 0
        # Where the lines of the item go on, and how deep its bullet stands; None outside of items.
        self._item: list[str] | None = None
        self._indent = 0
        self._sink = self.approach
        self._in_fence = False
        self._after_blank = True
        for line in lines:
            self._take(line)

    def walkthrough(self) -> Walkthrough:
        return Walkthrough(
            self.type,
            _join_lines(self.reason),
            _join_lines(self.approach),
            tuple(
                WalkthroughChange(file, _join_item(text))
                for files, text in self.changes
                for file in files
            ),
            tuple(
                WalkthroughDecision(decision, _join_item(text)) for decision, text in self.decisions
            ),
            self.iteration,
        )

    def _take(self, line: MarkdownLine) -> None:
        is_shown = self._in_fence or line.kind in ("blank", "code", "fence", "quote")
        # A line with a comment in it is no form that somebody filled in.
        if is_shown or line.raw != line.text or not self._is_structure(line):
            self._keep(line)
        if line.kind == "fence":
            self._in_fence = not self._in_fence
        self._after_blank = line.kind == "blank"

    def _is_structure(self, line: MarkdownLine) -> bool:
        heading = heading_of(line)
        if heading is not None:
            return self._is_heading(*heading)
        return self._is_label(line.raw) or self._is_item(line)

    def _is_heading(self, level: int, title: str) -> bool:
        name = _heading_name(title)
        iteration = _ITERATION.fullmatch(name)
        is_first = iteration is not None and self.iteration is None
        if name in _SECTIONS:
            self._open(_SECTIONS[name], level)
        elif level <= self._level or is_first:
            self._open("", 0)
        if iteration is not None and is_first:
            self.iteration = int(iteration[1])
        elif name not in _SECTIONS:
            self._end_item()
            return False
        return True

    def _is_label(self, text: str) -> bool:
        label = _BOLD_LABEL.fullmatch(text)
        if label is None and not self._section:
            label = _HEAD_LABEL.fullmatch(text)
        if label is None:
            return False
        name, value = _heading_name(label[2]), label[3].strip()
        if name == "type" and not self.type:
            self.type = find_type_word(value)
            return bool(self.type)
        if name not in _SECTIONS:
            return False
        self._open(_SECTIONS[name], 7)
        if value:
            self._sink.append(value)
        return True

    def _is_item(self, line: MarkdownLine) -> bool:
        bullet = bullet_of(line)
        is_listed = self._section in ("changes", "decisions")
        if bullet is None or not is_listed or self._is_nested(bullet.indent):
            return False
        self._indent = bullet.indent
        item = self._new_item(_MARKER.sub("", line.raw, count=1).rstrip())
        if item is None and self._sink is not self.approach:
            self._end_item()
        self._item = self._sink = self.approach if item is None else item
        return item is not None

    def _is_nested(self, indent: int) -> bool:
        return self._item is not None and indent > self._indent

    def _new_item(self, text: str) -> list[str] | None:
        if self._section == "changes":
            files, rest = _split_files(text)
            if not files:
                return None
            self.changes.append((files, [rest]))
            return self.changes[-1][1]
        decision, rest = _split_decision(text)
        if not decision:
            return None
        self.decisions.append((decision, [rest]))
        return self.decisions[-1][1]

    def _open(self, section: str, level: int) -> None:
        self._section, self._level = section, level
        self._end_item()

    def _end_item(self) -> None:
        self._item = None
        self._sink = self.reason if self._section == "reason" else self.approach
        if self._sink and self._sink[-1].strip():
            self._sink.append("")

    def _keep(self, line: MarkdownLine) -> None:
        if line.kind == "blank" and self._section == "reason" and self._level == 7 and self.reason:
            self._open("", 0)  # a label is about one paragraph
        if not self._in_fence and line.raw.strip():
            self._choose(line)
        self._sink.append(line.raw)

    def _choose(self, line: MarkdownLine) -> None:
        if self._item is None:
            return
        depth = len(line.raw.expandtabs(4)) - len(line.raw.expandtabs(4).lstrip())
        if depth > self._indent or not self._after_blank:
            self._sink = self._item
        else:
            self._end_item()


def _heading_name(title: str) -> str:
    return " ".join(title.strip("*_: \t").lower().split())


def _move_colon_outside(text: str) -> str:
    """`**name:** text` means the same as `**name**: text`."""
    return _COLON_INSIDE.sub(r"\1\2\1: ", text)


def _split_files(text: str) -> tuple[tuple[str, ...], str]:
    """The files that an item begins with, and what it says about them."""
    text = _move_colon_outside(text)
    names = _NAMES.match(text)
    bare = None if names else _BARE_NAME.match(text)
    found = names or bare
    if found is None or (bare and not {*bare[1]} & {*"./"}):
        return (), text
    files = tuple(re.findall("`([^`]+)`", found[0])) if names else (found[1],)
    return files, _BEHIND_NAME.sub("", text[found.end() :], count=1)


def _split_decision(text: str) -> tuple[str, str]:
    """A decision and its reason, parted where the first colon stands outside of code."""
    text = _move_colon_outside(text)
    covered = mask_inline_code(text)
    divides = next((found for each in _DIVIDES if (found := each.search(covered))), None)
    decision, rest = (text[: divides.start()], text[divides.end() :]) if divides else (text, "")
    whole = _EMPHASISED.fullmatch(decision.strip())
    return (whole[2] if whole else decision).strip(), rest


def _join_item(lines: Sequence[str]) -> str:
    return f"{lines[0]}\n{dedent(chr(10).join(lines[1:]))}".strip()


def _join_lines(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n").rstrip()
