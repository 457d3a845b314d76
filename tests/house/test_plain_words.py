"""What people read is in words that people use; the reader's English is a second language."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from porch.cli.rows import PROGRAMS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "porch"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
# Each was in a message once, and each has a plain word beside it.
UNCOMMON = {
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bis void\b|\blay at\b|\bat and after it\b": "discards later results and approvals",
    r"\bevidence stays fresh\b": "porch cannot tell whether files changed after a check",
    r"\b(?:which|it|this|that) is no (?:git|agent|phase|step|number|file|run)\b": "is not a",
    r"\bis asked for failed\b": "phase 'test' failed: retry, skip or stop?",
    r"\bthe wait '": "the waiting time is over",
    r"\bhow-?manyth\b": "how many times",
    r"\bshall\b": "will, should",
    r"\bcome to its end\b": "finish",
    r"\b(?:thereof|therein|hitherto|forthwith|whence|whither|lest|amiss|nought)\b": "a plain word",
}


def _list_messages(path: Path) -> Iterator[tuple[int, str]]:
    """Texts of more than one word that are neither docstrings nor patterns."""
    tree = ast.parse(path.read_text())
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    docstrings = {id(statement.value) for statement in statements}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_message = " " in node.value.strip() and "(?" not in node.value
            if is_message and id(node) not in docstrings:
                yield node.lineno, node.value


def test_r17_messages_use_plain_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:80]!r}: write {better!r}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in _list_messages(path)
        for uncommon, better in UNCOMMON.items()
        if re.search(uncommon, text, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


def test_r17_help_uses_plain_words() -> None:
    told = [row.help for rows in PROGRAMS.values() for row in rows]
    assert not [text for text in told for each in UNCOMMON if re.search(each, text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_r17_pages_for_users_use_plain_words(page: Path) -> None:
    text = page.read_text()
    assert not [each for each in UNCOMMON if re.search(each, text, re.IGNORECASE)]
