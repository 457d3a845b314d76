"""Texts of agents as a part of a page: Markdown is drawn and made safe, everything else stays text.

Nothing that an agent wrote is ever a script, a style, a picture from elsewhere or a link of ours.
"""

from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from porch.text.printable import make_printable

LONGEST = 400_000
_MARKDOWN = (".md", ".markdown")
# Titles of a document stand below those of the page.
_DEEPER = 2
_DEEPEST = 18
_TAGS = frozenset(
    (
        *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
        *("em", "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
    )
)


@cache
def _make_reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False})
    # A picture from elsewhere would tell its owner that somebody reads this; its address is shown.
    # What defines a link and what is a comment stays visible: a person approves all that is there.
    return reader.enable(["table", "strikethrough"]).disable(["image", "reference"])


def cut_document(text: str) -> tuple[str, int]:
    """The beginning that is shown, and how many characters are not."""
    return text[:LONGEST], max(len(text) - LONGEST, 0)


def draw_document(path: str, text: str) -> Markup | None:
    """A Markdown file as HTML; nothing for other files, which are shown as they are."""
    return draw_markdown(text) if path.lower().endswith(_MARKDOWN) else None


def draw_markdown(text: str) -> Markup:
    text = make_printable(text)
    tokens = _make_reader().parse(text)
    if any(token.level >= _DEEPEST for token in tokens):
        return Markup("<pre><code>{}</code></pre>").format(text)  # the reader leaves out the rest
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + _DEEPER, 6)}"
    drawn = _make_reader().renderer.render(tokens, _make_reader().options, {})
    # What markdown-it drew of their words is ours; nh3 lets through what is listed, and no more.
    return Markup(  # noqa: S704
        nh3.clean(
            drawn,
            tags=set(_TAGS),
            attributes={"a": {"href"}, "ol": {"start"}},
            url_schemes={"http", "https", "mailto"},
            attribute_filter=_keep_outside_links,
            link_rel="noopener noreferrer nofollow",
        )
    )


def _keep_outside_links(tag: str, name: str, value: str) -> str | None:
    """A file that names an address of the dashboard must not look like a part of it."""
    is_link = (tag, name) == ("a", "href")
    return None if is_link and not value.startswith(("http://", "https://", "mailto:")) else value
