"""The lines of a unified difference, each with what it is, for pages and terminals alike."""

from collections.abc import Iterator

from porch.text.printable import make_printable


def list_difference_lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines of a difference, each with what it is: added, removed, where, or the same."""
    for line in make_printable(text).split("\n"):
        if line.startswith(("+++", "---")):
            yield "file", line
        else:
            yield {"+": "added", "-": "removed", "@": "where"}.get(line[:1], "same"), line
