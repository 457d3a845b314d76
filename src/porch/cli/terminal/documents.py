"""Documents and differences on a terminal: Markdown is rendered, and nothing in it can do harm.

What agents wrote never moves the cursor, opens a link, loads a picture or disappears: HTML,
comments and definitions of links stay visible as they were written, since a person approves the
document with all that is in it. Long texts are cut, because rendering two megabytes takes ten
seconds; a last line says how much is missing.
"""

from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.markdown import CodeBlock, Heading, HorizontalRule, Markdown, TableElement
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from porch.show.difference_lines import list_difference_lines
from porch.text.printable import make_printable

LONGEST = 100_000  # characters; they take half a second
WIDEST = 100  # longer lines are hard to read
_MARKDOWN = (".md", ".markdown")
_NARROWEST = 20
_DEEPEST = 16
# Only colours that every terminal has, on the background that the person chose.
_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "italic",
        "markdown.code": "cyan",
        "markdown.code_block": "cyan",
        "markdown.block_quote": "dim",
        "markdown.item.number": "bold",
        "markdown.link": "none",
        "markdown.link_url": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)
_DIFFERENCE = {"file": "bold", "added": "green", "removed": "red", "where": "cyan"}


def render_document(text: str, width: int) -> RenderableType:
    """A Markdown document, at most this wide; whoever prints it may have less room."""
    shown, note = _cut_text(text)
    wide = max(min(width, WIDEST), _NARROWEST)
    return Group(Constrain(_Document(shown), wide), *_notes(note))


def render_file(path: str, text: str, width: int) -> RenderableType:
    """Markdown as a document, a difference in its colours, anything else as it stands."""
    if path.lower().endswith(_MARKDOWN):
        return render_document(text, width)
    if path.lower().endswith((".diff", ".patch")):
        return render_difference(text)
    shown, note = _cut_text(text)
    return Group(Text(make_printable(shown).expandtabs(4), overflow="fold"), *_notes(note))


def render_difference(text: str) -> RenderableType:
    """A unified difference in colours; without colours, the signs of its lines say the same."""
    shown, note = _cut_text(text)
    lines = Text(overflow="fold")
    for kind, line in list_difference_lines(shown.removesuffix("\n")):
        lines.append(f"{line}\n", _DIFFERENCE.get(kind))
    lines.rstrip()
    return Group(lines, *_notes(note))


def _cut_text(text: str) -> tuple[str, str]:
    """Whole lines where possible, and how much is not shown."""
    if len(text) <= LONGEST:
        return text, ""
    shown = text[: text.rfind("\n", 0, LONGEST) + 1 or LONGEST]
    left = len(text) - len(shown)
    return shown, f"({left:,} more of {len(text):,} characters; open the file to read the rest)"


def _notes(note: str) -> list[Text]:
    return [Text(f"\n{note}", style="yellow")] if note else []


class _LeftHeading(Heading):
    LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _PlainCode(CodeBlock):
    """Set off by its place and colour alone, so that it can be read on any background."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.rstrip()
        self.text.overflow = "fold"
        yield Padding(self.text, (0, 0, 0, 2))


class _Line(HorizontalRule):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(style="dim")


class _WholeTable(TableElement):
    """A long word in a cell goes on in its next line, where rich would cut it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                for column in table.columns:
                    column.overflow = "fold"
            yield table


class _Document(Markdown):
    elements: ClassVar = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
        "hr": _Line,
        "table_open": _WholeTable,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        reader.disable(["image", "autolink", "reference"])
        self._text = make_printable(text)
        self.parsed = reader.parse(self._text)
        self._depth = max((token.level for token in self.parsed), default=0)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # The reader leaves out what is deeper; a narrow window has no room beside the indents.
        if self._depth >= min(_DEEPEST, options.max_width // 4 - 1):
            yield Text(self._text, overflow="fold")
            return
        with console.use_theme(_THEME):
            segments = list(super().__rich_console__(console, options))
        # Once more: an entity such as &#x202e; has become a character by now.
        for segment in segments:
            if isinstance(segment, Segment):
                yield Segment(make_printable(segment.text), segment.style)
