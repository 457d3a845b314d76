"""What a reviewer reported, issues first; a report that names no blocking issues must say so."""

import re
from collections.abc import Iterable, Iterator, Sequence

from porch.claims.verdicts import Review
from porch.errors import DefinitionError
from porch.text.json_tree import read_json
from porch.text.late_pattern import late_pattern
from porch.text.markdown import MarkdownLine, fenced_blocks, parse_markdown_lines
from porch.text.nodes import ListNode, MapNode, Node, ScalarNode

MINOR = "(not blocking) "
_MALFORMED = "the report does not say which issues are blocking"
_PARTS = ("title", "where", "why", "fix")
_BRACES = late_pattern(r"\{.*\}", re.DOTALL)
_SIGNS = " \t#*_`-+>.:\uff1a\u3001"
_SECTIONS = {
    "blocking": "blocking", "blocking issues": "blocking", "\u963b\u585e": "blocking",
    "\u963b\u585e\u95ee\u9898": "blocking",
    "non-blocking": "minor", "non-blocking issues": "minor", "nonblocking issues": "minor",
    "\u975e\u963b\u585e": "minor", "\u975e\u963b\u585e\u95ee\u9898": "minor",
    "summary": "summary", "\u6458\u8981": "summary",
}  # fmt: skip
_NOTHING = (
    "", "none", "nothing", "n/a", "no issues", "no blocking issues", "no non-blocking issues",
    "\u65e0", "\u6ca1\u6709",
)  # fmt: skip


def read_issue_report(reply: str) -> Review:
    """Blocking issues ask for changes, none approves; what cannot be read is an abstention."""
    if not reply.strip():
        return Review("ABSTAIN", why="the reply is empty")
    found = _find_json_reports(reply)
    if len(found) > 1:
        return Review("ABSTAIN", why="there is more than one report")
    return _read_json_report(found[0]) if found else _read_text_report(reply)


def _find_json_reports(reply: str) -> list[MapNode]:
    """The reply itself, else its blocks of JSON, else what stands between its outer braces."""
    braces = _BRACES.search(reply)
    blocks = [block.text for block in fenced_blocks(parse_markdown_lines(reply))]
    for texts in ([reply], blocks, [braces[0]] if braces else []):
        found = [root for text in texts if (root := _read_object(text)) is not None]
        if found:
            return found
    return []


def _read_object(text: str) -> MapNode | None:
    """JSON with a list of blocking issues; a key that is written twice hides something."""
    try:
        root = read_json(text.strip(), "report.json")
    except DefinitionError:
        return None
    is_report = isinstance(root, MapNode) and isinstance(root.get("blocking"), ListNode)
    return root if is_report and isinstance(root, MapNode) else None


def _read_json_report(root: MapNode) -> Review:
    blocking = tuple(_list_issues(root.get("blocking")))
    minor = tuple(_list_issues(root.get("non_blocking")))
    summary = root.get("summary")
    return _make_review(blocking, minor, summary.text if isinstance(summary, ScalarNode) else "")


def _list_issues(node: Node | None) -> Iterator[str]:
    for item in node.items if isinstance(node, ListNode) else ():
        if isinstance(item, MapNode):
            known = (item.get(part) for part in _PARTS)
            words = [each.text for each in known if isinstance(each, ScalarNode) and each.text]
            yield " - ".join(words) or "an issue without a title"
        else:
            yield item.text if isinstance(item, ScalarNode) else "an issue that cannot be read"


def _make_review(blocking: Sequence[str], minor: Sequence[str], summary: str) -> Review:
    findings = (*blocking, *(f"{MINOR}{issue}" for issue in minor))
    return Review("REQUEST_CHANGES" if blocking else "APPROVE", summary, findings)


def _read_text_report(reply: str) -> Review:
    lines = [line for line in parse_markdown_lines(reply) if line.kind == "text"]
    has_blocking = any(_plain(line.text) == "no blocking issues" for line in lines)
    issues: dict[str, list[str]] = {"blocking": [], "minor": [], "summary": []}
    for section, text in _list_section_lines(lines):
        has_blocking = has_blocking or section == "blocking"
        if _plain(text) not in _NOTHING:
            issues[section].append(text.strip(" \t-*+"))
    if not has_blocking:
        return Review("ABSTAIN", " ".join(issues["summary"]), tuple(issues["minor"]), _MALFORMED)
    return _make_review(issues["blocking"], issues["minor"], " ".join(issues["summary"]))


def _list_section_lines(lines: Iterable[MarkdownLine]) -> Iterator[tuple[str, str]]:
    """Each line with the section that it stands in; the line of a title may go on behind it."""
    section = ""
    for line in lines:
        front, sign, rest = _split_title(line.text)
        named = _SECTIONS.get(_plain(front))
        if named is not None:
            section = named
            yield section, rest if sign else ""
        elif section:
            yield section, line.text


def _split_title(text: str) -> tuple[str, str, str]:
    return text.replace("\uff1a", ":").partition(":")


def _plain(text: str) -> str:
    return " ".join(text.strip(_SIGNS).casefold().split())
