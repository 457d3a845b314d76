"""Phases out of a Markdown plan: what a person would call phases, and guesses said out loud."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import DefinitionError, Finding, Place, Severity
from porch.text.json_tree import read_json
from porch.text.late_pattern import late_pattern
from porch.text.markdown import (
    FencedBlock,
    MarkdownLine,
    bullet_of,
    fenced_blocks,
    heading_of,
    parse_markdown_lines,
)
from porch.text.nodes import ListNode, MapNode, Node, ScalarNode

_PHASE = late_pattern(
    r"phase[ \t]+([0-9]{1,6}(?:\.[0-9]{1,6}){0,2})"
    r"(?:[ \t]*:|\.(?=[ \t]|$)|[ \t]+[-–—]|[-–—](?=[ \t]|$))[ \t]*(.*)",  # noqa: RUF001
    re.IGNORECASE,
)
_PHASE_LEVELS = (2, 3)
_DEEPEST = 4
_UNDERLINE = late_pattern(r" {0,3}(=+|-+)[ \t]*")
_LOOKS_LIKE_PHASES = late_pattern(r"""["']?phases["']?\s*:""")
_JSON_INFOS = frozenset({"", "json", "jsonc", "json5"})
_SAFE_ID = late_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_UNSAFE = late_pattern(r"[^A-Za-z0-9_.-]+")


class PlanPhase(Struct, frozen=True):
    """One phase of a plan, as a person wrote it."""

    id: str
    title: str
    description: str
    text: str


class PlanReading(Struct, frozen=True):
    reading: Literal["json", "headings", "single"]
    phases: tuple[PlanPhase, ...]
    findings: tuple[Finding, ...]


class _Heading(Struct, frozen=True):
    """A heading and the lines it covers; `number` is that of a phase heading: `1`, `1.5`."""

    level: int
    title: str
    line: int
    body: int
    order: int
    number: str = ""


def read_plan(text: str, file: str) -> PlanReading:
    """Never raises: whatever cannot be read is a finding, and some phase always comes out."""
    plan = _PlanReader(text, file)
    phases = plan.json_phases()
    if phases:
        return PlanReading("json", phases, tuple(plan.findings))
    phases = plan.heading_phases()
    if phases:
        return PlanReading("headings", phases, tuple(plan.findings))
    whole = plan.whole()
    return PlanReading("single", (whole,), tuple(plan.findings))


class _PlanReader:
    def __init__(self, text: str, file: str):
        self.file = file
        self.lines = parse_markdown_lines(text)
        self.headings = _find_headings(self.lines)
        self.findings: list[Finding] = []
        self.taken: dict[str, int] = {}
        sections = [heading for heading in reversed(self.headings) if heading.level > 1]
        self._by_title = {_comparable_title(heading.title): heading for heading in sections}
        self._by_number = {f"phase_{heading.number}": heading for heading in sections}

    def report(
        self, code: str, message: str, line: int, fix: str = "", severity: Severity = "warning"
    ) -> None:
        self.findings.append(Finding(code, message, Place(self.file, line, 1), fix, severity))

    # Phases from a JSON block

    def json_phases(self) -> tuple[PlanPhase, ...]:
        for block in fenced_blocks(self.lines):
            if block.info.lower() in _JSON_INFOS and _LOOKS_LIKE_PHASES.search(block.text):
                phases = self._block_phases(block)
                if phases:
                    return phases
        return ()

    def _block_phases(self, block: FencedBlock) -> tuple[PlanPhase, ...]:
        try:
            node = read_json(block.text, self.file)
        except DefinitionError as error:
            self._report_invalid(block, error.findings)
            return ()
        listed = node.get("phases") if isinstance(node, MapNode) else None
        items = listed.items if isinstance(listed, ListNode) else ()
        named = [item for item in items if _has_id_and_title(item)]
        if not named:
            message = "this block has 'phases', but none with an 'id' and a 'title'"
            self.report("plan-json", message, block.line, severity="note")
            return ()
        for item in items:
            if not _has_id_and_title(item):
                line = block.line + item.place.line - 1
                self.report("plan-json", "a phase without 'id' and 'title' is skipped", line)
        return tuple(self._json_phase(item, block) for item in named)

    def _report_invalid(self, block: FencedBlock, problems: Iterable[Finding]) -> None:
        for problem in problems:
            where = problem.place or Place(self.file)
            place = replace(where, line=block.line + max(where.line, 1) - 1)
            message = f"this block of phases is not valid JSON: {problem.message}"
            self.findings.append(Finding("plan-json", message, place, problem.fix, "warning"))

    def _json_phase(self, item: MapNode, block: FencedBlock) -> PlanPhase:
        title = _node_text(item.get("title"))
        written = _node_text(item.get("id"))
        line = block.line + item.place.line - 1
        id_ = self._unique(self._safe(written, line), line)
        section = self._section_about(written, title)
        text = self._body(section) if section else ""
        description = _node_text(item.get("description")) or (
            self._described(section) if section else ""
        )
        return PlanPhase(id_, title, description, text or description or title)

    def _section_about(self, id_: str, title: str) -> _Heading | None:
        """The part of the plan that tells of a phase from a JSON block, by its title or its id."""
        by_title = self._by_title.get(_comparable_title(title)) or self._by_title.get(
            _comparable_title(id_)
        )
        return by_title or self._by_number.get(id_)

    def _safe(self, written: str, line: int) -> str:
        if _SAFE_ID.fullmatch(written):
            return written
        slug = _UNSAFE.sub("_", written).strip("_.-")[:64] or f"phase_{len(self.taken) + 1}"
        fix = "use letters, digits, '_', '.' and '-' only"
        self.report("plan-id", f"the phase id '{written}' is read as '{slug}'", line, fix)
        return slug

    def _unique(self, id_: str, line: int) -> str:
        unique = id_
        while unique in self.taken:
            self.taken[id_] += 1
            unique = f"{id_}_{self.taken[id_]}"
        self.taken[unique] = 1
        if unique != id_:
            message = f"the phase '{id_}' appears twice; this one is read as '{unique}'"
            self.report("plan-duplicate", message, line, "give each phase its own number or id")
        return unique

    # Phases from headings

    def heading_phases(self) -> tuple[PlanPhase, ...]:
        for heading in self.headings:
            if not heading.number and _read_number(heading.title) and heading.level == _DEEPEST:
                message = (
                    f"'{heading.title}' is deeper than the phase of this number; it is not a phase"
                )
                fix = "give it a number of its own if it is to be a phase"
                self.report("plan-depth", message, heading.line, fix)
        numbered = [heading for heading in self.headings if heading.number]
        ordered = sorted(numbered, key=lambda each: _sort_key(each.number))
        return tuple(self._heading_phase(heading) for heading in ordered)

    def _heading_phase(self, heading: _Heading) -> PlanPhase:
        number = heading.number
        id_ = self._unique(f"phase_{number}", heading.line)
        match = _PHASE.fullmatch(_strip_emphasis(heading.title))
        title = (match[2].strip() if match else "") or f"Phase {number}"
        return PlanPhase(id_, title, self._described(heading), self._body(heading))

    def whole(self) -> PlanPhase:
        first = next((heading for heading in self.headings if heading.level == 1), None)
        title = (_strip_emphasis(first.title) if first else "") or "Whole plan"
        message = "no phases found in this plan; the whole plan is one phase"
        fix = "write headings like '### Phase 1: title'"
        self.findings.append(Finding("single-phase", message, Place(self.file), fix, "note"))
        body = self.lines[first.body :] if first else self.lines
        text = "\n".join(line.raw for line in self.lines).strip("\n")
        return PlanPhase("phase_1", title, _section_description(body), text)

    def _covered(self, heading: _Heading) -> Sequence[MarkdownLine]:
        for index in range(heading.order + 1, len(self.headings)):
            later = self.headings[index]
            if later.level <= heading.level or later.number:
                return self.lines[heading.body : later.line - 1]
        return self.lines[heading.body :]

    def _body(self, heading: _Heading) -> str:
        return "\n".join(line.raw for line in self._covered(heading)).strip("\n")

    def _described(self, heading: _Heading) -> str:
        return _section_description(self._covered(heading))


def _find_headings(lines: Sequence[MarkdownLine]) -> list[_Heading]:
    found: list[_Heading] = []
    for index, line in enumerate(lines):
        heading = heading_of(line)
        if heading is not None:
            level, title = heading
            number = _read_number(title) if level in _PHASE_LEVELS else ""
            found.append(_Heading(level, title, line.number, index + 1, len(found), number))
        elif _is_underlined(lines, index):
            level = 1 if "=" in lines[index + 1].text else 2
            found.append(_Heading(level, line.text.strip(), line.number, index + 2, len(found)))
    return _with_deep_phases(found)


def _with_deep_phases(headings: list[_Heading]) -> list[_Heading]:
    """A heading one level deeper is a phase too, unless a phase has that number already."""
    taken = {heading.number for heading in headings}
    numbers = (_read_number(h.title) if h.level == _DEEPEST else "" for h in headings)
    pairs = zip(headings, numbers, strict=True)
    return [replace(h, number=n) if n and n not in taken else h for h, n in pairs]


def _read_number(title: str) -> str:
    """`1` or `1.5`, without leading zeros; empty if this is the heading of no phase."""
    match = _PHASE.fullmatch(_strip_emphasis(title))
    return ".".join(str(int(part)) for part in match[1].split(".")) if match else ""


def _sort_key(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def _is_underlined(lines: Sequence[MarkdownLine], index: int) -> bool:
    """A paragraph of one line above `===` or `---`; anything else is more likely a rule."""
    if lines[index].kind != "text" or bullet_of(lines[index]) or index + 1 >= len(lines):
        return False
    starts = index == 0 or lines[index - 1].kind == "blank" or heading_of(lines[index - 1])
    below = lines[index + 1]
    return bool(starts) and below.kind == "text" and bool(_UNDERLINE.fullmatch(below.text))


def _section_description(lines: Sequence[MarkdownLine]) -> str:
    bullets = [bullet for bullet in map(bullet_of, lines) if bullet and bullet.text]
    if not bullets:
        return _first_paragraph(lines)
    top = min(bullet.indent for bullet in bullets)
    return ", ".join(bullet.text for bullet in bullets if bullet.indent == top)


def _first_paragraph(lines: Iterable[MarkdownLine]) -> str:
    taken: list[str] = []
    for line in lines:
        if line.kind == "text" and heading_of(line) is None:
            taken.append(line.text)
        elif taken:
            break
    return " ".join(" ".join(taken).split())


def _strip_emphasis(title: str) -> str:
    return title.replace("**", "").strip("_ \t")


def _comparable_title(title: str) -> str:
    """A title as people compare it: without its number, in one case."""
    match = _PHASE.fullmatch(_strip_emphasis(title))
    return " ".join((match[2] if match and match[2] else title).casefold().split())


def _has_id_and_title(item: Node) -> TypeGuard[MapNode]:
    if not isinstance(item, MapNode):
        return False
    return bool(_node_text(item.get("id"))) and bool(_node_text(item.get("title")))


def _node_text(node: Node | None) -> str:
    is_text = isinstance(node, ScalarNode) and node.kind in ("text", "number")
    return node.text.strip() if is_text and isinstance(node, ScalarNode) else ""
