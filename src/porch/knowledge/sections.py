"""A document as searching sees it: what its front matter says, and its sections by heading.

Headings are found by a light hand of our own: the careful reader of `model.markdown` keeps offsets,
quotes and comments apart, which costs ten times as much, and here two thousand files wait in a row.
"""

from __future__ import annotations

from porch.knowledge.document_files import MARKDOWN_ENDINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_FRONT_MATTER_MAX = 64 * 1024
_DEEPEST_HEADING = 6
_FENCE_MARKS = ("```", "~~~")


class Section:
    """A heading with all above it, the line where it stands, and the text up to the next one."""

    __slots__ = ("body", "headings", "line")

    def __init__(self, headings: str, line: int, body: str):
        self.headings = headings
        self.line = line
        self.body = body


class Document:
    """A text with what it says about itself; `problem` is what could not be read of that."""

    __slots__ = ("description", "problem", "relevant_files", "sections", "tags", "title")

    def __init__(self, title: str, told: dict[str, Any], sections: list[Section], problem: str):
        self.title = title
        self.description = _squeeze_text(told.get("description"))
        self.relevant_files = _parse_text_list(told.get("relevant_files"))
        self.tags = _parse_text_list(told.get("tags"))
        self.sections = sections
        self.problem = problem


def parse_document(path: str, text: str) -> Document:
    """Every text is a document; what is odd in it is told, never refused."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    told, begin, problem = _parse_front_matter(lines)
    is_markdown = path.lower().endswith(MARKDOWN_ENDINGS)
    headings = list(_find_headings(lines, begin)) if is_markdown else []
    title = _squeeze_text(told.get("title")) or next((h[2] for h in headings if h[1] == 1), "")
    return Document(
        title or _title_from_path(path), told, _split_sections(lines, begin, headings), problem
    )


def _title_from_path(path: str) -> str:
    """What a file is called, as words."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return stem.replace("-", " ").replace("_", " ")


def _parse_front_matter(lines: Sequence[str]) -> tuple[dict[str, Any], int, str]:
    """What stands between two lines of dashes at the top, and the first line behind it."""
    if lines[0].rstrip() != "---":
        return {}, 0, ""
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    text = "\n".join(lines[1:end])
    if not end or len(text) > _FRONT_MATTER_MAX:
        return {}, 0, "" if not end else "its front matter is too long"
    told, problem = _parse_yaml(text)
    return told, end + 1, problem


def _parse_yaml(text: str) -> tuple[dict[str, Any], str]:
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        # All scalars stay texts, and nothing but lists and mappings is ever made.
        told = yaml.load(text, Loader=loader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return {}, f"its front matter is not YAML: {str(error).partition(chr(10))[0]}"
    if told is None or told == "":
        return {}, ""
    return (told, "") if isinstance(told, dict) else ({}, "its front matter is not a mapping")


def _squeeze_text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _parse_text_list(value: object) -> list[str]:
    """A list of texts; one text with commas is a list, too."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return []
    return [item.strip() for item in value if isinstance(item, str) and item.strip()]


Heading = tuple[int, int, str]


def _find_headings(lines: Sequence[str], begin: int) -> Iterator[Heading]:
    """Line, depth and words of each heading that stands outside of code."""
    fence = ""
    for at in range(begin, len(lines)):
        line = lines[at].lstrip(" ")
        if fence or line.startswith(_FENCE_MARKS):
            fence = _fence_after_line(line, fence)
        elif line.startswith("#") and len(lines[at]) - len(line) < 4:
            depth = len(line) - len(line.lstrip("#"))
            if depth <= _DEEPEST_HEADING and line[depth : depth + 1] in ("", " ", "\t"):
                yield at, depth, _strip_heading_marks(line[depth:])
        elif at > begin and _is_underline(line) and _can_be_underlined(lines[at - 1]):
            yield at - 1, 1 if line[0] == "=" else 2, _strip_heading_marks(lines[at - 1])


def _fence_after_line(line: str, fence: str) -> str:
    """The fence that is open behind this line; one closes only what is not longer than itself."""
    mark = line[:1]
    run = mark * (len(line) - len(line.lstrip(mark))) if mark else ""
    if not fence:
        return run
    return "" if run.startswith(fence) and not line[len(run) :].strip() else fence


def _is_underline(line: str) -> bool:
    bare = line.rstrip()
    return len(bare) > 1 and (not bare.strip("=") or not bare.strip("-"))


def _can_be_underlined(line: str) -> bool:
    """A list, a quote, a table or a heading over a line of dashes stands over a rule instead."""
    bare = line.strip()
    return bool(bare) and not bare.startswith(("#", ">", "-", "*", "+", "|", "=", "```", "~~~"))


def _strip_heading_marks(text: str) -> str:
    bare = text.strip()
    closed = bare.rstrip("#")
    bare = closed.rstrip() if closed != bare and (not closed or closed[-1] in " \t") else bare
    return " ".join(bare.replace("`", "").replace("*", "").split())


def _split_sections(lines: Sequence[str], begin: int, headings: list[Heading]) -> list[Section]:
    above: list[tuple[int, str]] = []
    ends = [at for at, _, _ in headings[1:]] + [len(lines)]
    first = headings[0][0] if headings else len(lines)
    found = [Section("", begin + 1, _section_body(lines[begin:first]))]
    for (at, depth, words), end in zip(headings, ends, strict=False):
        above = [(d, w) for d, w in above if d < depth] + [(depth, words)]
        path = " > ".join(w for _, w in above if w)
        found.append(Section(path, at + 1, _section_body(lines[at + 1 : end])))
    return [each for each in found if each.body or each.headings] or found


def _section_body(lines: Sequence[str]) -> str:
    body = "\n".join(lines).strip("\n")
    # The line under a heading that is marked by it belongs to the heading.
    first, _, rest = body.partition("\n")
    return rest.strip("\n") if first and not first.rstrip().strip("=-") else body
