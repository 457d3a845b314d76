"""What a reviewer decided: an approval only where it is unmistakable, else an abstention."""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from porch.claims.spoken_words import HAS_INVISIBLE, find_spoken_words
from porch.text.late_pattern import late_pattern
from porch.text.markdown import MarkdownLine, bullet_of, heading_of, parse_markdown_lines

Verdict = Literal["APPROVE", "REQUEST_CHANGES", "ABSTAIN"]

_LONGEST_SUMMARY = 300
# The reason of the one abstention that a reviewer has chosen.
_NO_DECISION = "the reviewer did not decide"

_LABEL = late_pattern(
    r"(?:(?:final|overall|my)\s+)?(verdict|summary)\s*(?:[:=\u2013\u2014-]\s*(.*))?",
    # ASCII: ignoring case would take a dotless i for an i.
    re.IGNORECASE | re.ASCII,
)
_ISSUES = late_pattern(
    r"(?:(?:(?:key|main|blocking|critical|remaining|open)[ _])?"
    r"(?:issues|findings|concerns|problems)(?:[ _]found)?"
    r"|(?:required|requested|necessary)[ _]changes"
    r"|changes[ _](?:required|requested))(?:\s*:\s*(.*))?",
    re.IGNORECASE,
)
_OTHER_LABEL = late_pattern(r"[A-Z][A-Z_]{2,}\s*:.*")
# Names of one or two words in front of a colon: forms have more fields than are read here.
_ANY_LABEL = late_pattern(r"[A-Z][A-Za-z_]{2,20}(?:[ _-][A-Za-z]{2,20})?:(?:\s.*)?")
_VERDICTS: dict[str, Verdict] = {
    "APPROVE": "APPROVE",
    "APPROVED": "APPROVE",
    "ABSTAIN": "ABSTAIN",
    "COMMENT": "ABSTAIN",
}
# What people put around a yes; anything else near it makes it doubtful.
_YES_SIGNS = " \t`\u2705\u2714\u2611\U0001f44d\U0001f7e2\ufe0f"
_DECORATION = late_pattern(rf"[{_YES_SIGNS}]*([A-Za-z]+)[.!]?[{_YES_SIGNS}]*[.!]?")
_REFUSAL = late_pattern(
    r"[\s`\u274c\u26d4\U0001f534\U0001f6ab\ufe0f]*"
    r"(?:requests?[\s_-]changes?|changes[\s_-]requested|reject(?:ed)?)\b(.*)",
    re.IGNORECASE,
)
_TAKEN_BACK = late_pattern(
    r"[\s`]*(?:[|/?]|or\b)|.*\bAPPROVE"
    r"|\s+(?:(?:is|are|was|were|seems?)\s+)?(?:not|no longer|un\w+|would|withdrawn)\b"
)
# A refusal beside the verdict line, whatever its label is called.
_REFUSED_ELSEWHERE = late_pattern(
    r"(?:[^:]{1,40}:)?[\s`\u274c\u26d4\U0001f534\U0001f6ab\ufe0f]*"
    r"(?:REQUESTS?[\s_-]CHANGES?|CHANGES[\s_-]REQUESTED|(?:NOT|DIS) ?APPROVED?|REJECT(?:ED)?)"
    r"[\s`.!]*"
)
_RETRACTED = late_pattern(
    r"\btake (?:it|that|this) back\b|\b(?:retract|withdraw)(?:ing)? (?:my|the|this) "
    r"(?:approval|verdict)\b",
    re.IGNORECASE,
)
_NAMES_APPROVAL = late_pattern(r"\bapprove", re.IGNORECASE)
_NAMES_REFUSAL = late_pattern(r"request.?changes|\breject", re.IGNORECASE)
_OFFERS = late_pattern(r"[|/,]|\bor\b", re.IGNORECASE)
_STRONG_CONDITION = (
    r"provided|providing|assuming|subject to|pending|contingent|conditional|conditionally"
    r"|on condition|as long as|only (?:if|after|once|when|with)"
)
_CONDITION = late_pattern(
    r"\W*(?:with|if|once|when|but|after|subject|unless|except|only|as long|however|though"
    rf"|although|and only|or|edit|correction|{_STRONG_CONDITION})\b"
    r"|\W*not(?: yet| really|\W*$)|\W*conditions?\s*:(?!\s*none\b)",
    re.IGNORECASE,
)
# Behind an empty line a new sentence may begin with `If`; what goes on in small letters, may not.
_LATE_CONDITION = late_pattern(
    rf"\W*(?:(?:with|if|once|when|but|after|unless|except)\b|(?i:{_STRONG_CONDITION})\b)"
    r"|\W*(?i:conditions?)\s*:(?!\s*(?i:none)\b)"
)
# Such a line before a verdict says that it is somebody else's, or nobody's.
_FOREIGN = late_pattern(
    r"\b(?:examples?|templates?|previous(?:ly)?|earlier|prior|last (?:round|time|review)|would"
    r"|could|if|unless|until|author|someone)\b|e\.g\."
    r"|(?:\b(?:not|never|cannot)|n['\u2019]t)\s+(?:\w+\s+){0,2}"
    r"(?:write|say|give|mean|approve|verdict|reply|answer|use)\b"
    r"|^(?!.*\bmy\b).*\b(?:format|form|instructions?|asked|told|once|when)\b",
    re.IGNORECASE,
)
_FOREIGN_SECTION = late_pattern(
    r"\b(?:examples?|templates?|(?:reply|output|response) format|instructions?|how to reply"
    r"|(?:previous|earlier|prior|last) (?:round|review|verdict|reply))\b",
    re.IGNORECASE,
)
_UNCHECKED = late_pattern(r"\s*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[ ?\]")
_ERROR = late_pattern(
    r"\b[45][0-9]{2}\b|error\b|rate.limit|quota|unauthori[sz]ed|timed? ?out|overloaded"
    r"|too many requests|connection",
    re.IGNORECASE,
)
# An entry that is this and nothing else names nothing to do; it is kept, and more is looked for.
_NOTHING = late_pattern(
    r"(?:none|nothing|n/?a|no(?: \w+)? (?:issues|findings|concerns|problems|changes))[.!]?",
    re.IGNORECASE,
)


class Review(Struct, frozen=True):
    """`why` explains an abstention; `findings` are what the reviewer wants done."""

    verdict: Verdict
    summary: str = ""
    findings: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_unreadable(self) -> bool:
        """No verdict can be read; a reviewer that says that it abstains can be read well."""
        return self.verdict == "ABSTAIN" and self.why != _NO_DECISION


class _Claim(Struct, frozen=True):
    """What one verdict line says, or why nothing can be read from it."""

    verdict: Verdict
    why: str = ""
    is_echo: bool = False


def read_verdict(reply: str) -> Review:
    if not reply.strip():
        return Review("ABSTAIN", why="the reply is empty")
    lines = parse_markdown_lines(reply)
    summary = _read_summary(lines)
    verdict, why = _decide_verdict(_read_claims(lines, find_spoken_words(reply).lines), reply)
    if verdict == "APPROVE" and _is_refused_elsewhere(lines, summary):
        verdict, why = "ABSTAIN", "conflicting verdicts: both an approval and a refusal"
    return Review(verdict, summary, _read_findings(lines, verdict, summary), why)


def _decide_verdict(claims: Sequence[_Claim], reply: str) -> tuple[Verdict, str]:
    meant = [claim for claim in claims if not claim.is_echo] or claims
    if not meant:
        is_error = _ERROR.search(reply[:400])
        return "ABSTAIN", "an error text, not a review" if is_error else "no verdict line"
    if len({claim.verdict for claim in meant}) > 1:
        said = ", ".join(claim.why or claim.verdict for claim in meant[:3])
        return "ABSTAIN", f"conflicting verdicts: {said}"
    return meant[0].verdict, meant[0].why


def _is_refused_elsewhere(lines: Sequence[MarkdownLine], summary: str) -> bool:
    told = [summary, *(_strip_markup(line) for line in lines if line.kind == "text")]
    seen = [HAS_INVISIBLE.sub("", text) for text in told]
    return any(_REFUSED_ELSEWHERE.fullmatch(text) or _RETRACTED.search(text) for text in seen)


def _read_claims(lines: Sequence[MarkdownLine], strict: Sequence[MarkdownLine]) -> list[_Claim]:
    """What the verdict lines say; one that is only shown can spoil an approval, never be one."""
    claims = []
    foreign = _find_foreign_lines(strict)
    for index, line in enumerate(lines):
        label, value = _split_label(line)
        if label != "verdict":
            continue
        at = index if value else _next_spoken_line(lines, index + 1)
        if at is None:
            claims.append(_Claim("ABSTAIN", "a verdict line without a verdict"))
        elif at == index or _split_label(lines[at])[0] != "verdict":
            claim = _read_claim(value or _strip_markup(lines[at]), lines, at)
            is_own = strict[index].kind == strict[at].kind == "text" and index not in foreign
            claims.append(claim if is_own else _demote_shown_claim(claim))
    return claims


def _demote_shown_claim(claim: _Claim) -> _Claim:
    is_harmless = claim.verdict != "REQUEST_CHANGES"
    return _Claim("ABSTAIN", claim.why or "the verdict is only quoted", is_harmless)


def _find_foreign_lines(lines: Sequence[MarkdownLine]) -> set[int]:
    """The lines that another line introduces as an example, a condition or an old review."""
    found = set()
    section = intro = ""
    for index, line in enumerate(lines):
        is_introduced = intro.endswith(":") and _FOREIGN.search(intro)
        if is_introduced or _FOREIGN_SECTION.search(section):
            found.add(index)
        heading = heading_of(line)
        section = heading[1] if heading else section
        intro = intro if line.kind in ("blank", "fence", "code") else _strip_markup(line)
    return found


def _next_spoken_line(lines: Sequence[MarkdownLine], start: int) -> int | None:
    for index in range(start, len(lines)):
        if lines[index].kind != "blank":
            return index if lines[index].kind == "text" else None
    return None


def _read_claim(value: str, lines: Sequence[MarkdownLine], at: int) -> _Claim:
    refusal = _REFUSAL.match(value)
    if _is_echo(value):
        return _Claim(
            "ABSTAIN", "the reply repeats the instructions and gives no verdict", is_echo=True
        )
    if refusal and not _TAKEN_BACK.match(refusal[1]):
        return _Claim("REQUEST_CHANGES")
    decorated = _DECORATION.fullmatch(value)
    verdict = _VERDICTS.get(decorated[1].upper()) if decorated else None
    if verdict == "APPROVE" and (
        _UNCHECKED.match(lines[at].text) or _is_qualified_after(lines, at)
    ):
        verdict = None
    if verdict == "ABSTAIN":
        return _Claim(verdict, _NO_DECISION)
    if verdict is None:
        return _Claim("ABSTAIN", f"not a clear verdict: '{value[:60]}'")
    return _Claim(verdict)


def _is_qualified_after(lines: Sequence[MarkdownLine], at: int) -> bool:
    """Whether what follows an approval limits it, or is one more choice of a list."""
    rest = range(at + 1, len(lines))
    after = next((n for n in rest if lines[n].text.strip("-*_= \t")), None)
    if after is None:
        return False
    text = _strip_markup(lines[after])
    choice = _DECORATION.fullmatch(text)
    is_choice = choice is not None and choice[1].upper() in _VERDICTS
    limit = _CONDITION if after == at + 1 else _LATE_CONDITION
    return bool(is_choice or _REFUSAL.match(text) or limit.match(text))


def _is_echo(value: str) -> bool:
    names_both = _NAMES_APPROVAL.search(value) and _NAMES_REFUSAL.search(value)
    return bool(names_both and _OFFERS.search(value))


def _split_label(line: MarkdownLine) -> tuple[str, str]:
    """The label of a line, 'verdict', 'summary', 'issues' or nothing, and what follows it."""
    if line.kind != "text":
        return "", ""
    plain = _strip_markup(line)
    # A label is seen through invisible characters; its value keeps them, and is not clear then.
    label = _LABEL.fullmatch(plain) or _LABEL.fullmatch(HAS_INVISIBLE.sub("", plain))
    if label:
        is_clean = label.string == plain
        return label[1].lower(), (label[2] or "").strip() if is_clean else plain
    issues = _ISSUES.fullmatch(plain)
    return ("issues", (issues[1] or "").strip()) if issues else ("", "")


def _strip_markup(line: MarkdownLine) -> str:
    """A line without its heading signs, list marker and emphasis."""
    heading, bullet = heading_of(line), bullet_of(line)
    text = heading[1] if heading else bullet.text if bullet else line.text
    # A star without its partner refers to a footnote.
    without = text.replace("*", "") if text.count("*") % 2 == 0 else text
    return without.replace("__", "").strip()


def _read_summary(lines: Sequence[MarkdownLine]) -> str:
    labelled = [index for index, line in enumerate(lines) if _split_label(line)[0] == "summary"]
    if labelled:
        value = _split_label(lines[labelled[0]])[1]
        words = [value, *_read_paragraph(lines, labelled[0] + 1, may_skip=not value)]
    else:
        words = _read_paragraph(lines, 0, may_skip=True)
    text = " ".join(" ".join(words).split())
    return text if len(text) <= _LONGEST_SUMMARY else text[: _LONGEST_SUMMARY - 1] + "\u2026"


def _read_paragraph(lines: Sequence[MarkdownLine], start: int, may_skip: bool) -> list[str]:
    taken: list[str] = []
    for line in lines[start:]:
        if line.kind == "text" and not _begins_new_part(line):
            taken.append(line.text)
        elif taken or not may_skip:
            break
    return taken


def _begins_new_part(line: MarkdownLine) -> bool:
    is_label = _split_label(line)[0] or _ANY_LABEL.fullmatch(_strip_markup(line))
    return bool(heading_of(line) or bullet_of(line) or is_label)


def _read_findings(
    lines: Sequence[MarkdownLine], verdict: Verdict, summary: str
) -> tuple[str, ...]:
    found = [
        finding
        for index, line in enumerate(lines)
        if _split_label(line)[0] == "issues"
        for finding in _section_items(lines, index)
    ]
    if verdict == "REQUEST_CHANGES" and all(_NOTHING.fullmatch(each) for each in found):
        found += _read_items(lines) or [summary or "changes were requested without a reason"]
    return tuple(dict.fromkeys(found))


def _section_items(lines: Sequence[MarkdownLine], index: int) -> list[str]:
    value = _split_label(lines[index])[1]
    section = lines[index + 1 : _section_end(lines, index)]
    items = _read_items(section) or [" ".join(_read_paragraph(section, 0, may_skip=True))]
    return [item for item in (value, *items) if item]


def _section_end(lines: Sequence[MarkdownLine], index: int) -> int:
    own = heading_of(lines[index])
    for end in range(index + 1, len(lines)):
        heading = heading_of(lines[end])
        is_outer = heading is not None and (own is None or heading[0] <= own[0])
        is_label = lines[end].kind == "text" and _OTHER_LABEL.fullmatch(_strip_markup(lines[end]))
        if is_outer or _split_label(lines[end])[0] or (is_label and not bullet_of(lines[end])):
            return end
    return len(lines)


def _read_items(lines: Sequence[MarkdownLine]) -> list[str]:
    """List items of the first one's depth, each with the lines that belong to it."""
    items: list[list[str]] = []
    depth = 0
    follows = False
    for line in lines:
        bullet = bullet_of(line)
        if line.kind != "text" or heading_of(line) or _split_label(line)[0]:
            follows = False
        elif bullet and (not items or bullet.indent <= depth):
            depth = depth if items else bullet.indent
            items.append([bullet.text])
            follows = True
        elif follows:
            items[-1].append(bullet.text if bullet else line.text)
    joined = [" ".join(" ".join(item).split()) for item in items]
    return [item for item in joined if item]
