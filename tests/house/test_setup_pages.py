"""The pages about setting up, migrating and finishing: every session happens, word for word."""

import re
from pathlib import Path

import pytest

from tests.house.test_readme import ROOT, Reader, masked
from tests.repositories import GITCONFIG


def counted(text: str) -> str:
    """How many files a protocol has is no promise, nor is the name of a commit."""
    text = re.sub(r"\([0-9a-f]{12}\)", "(COMMIT)", masked(text))
    return re.sub(r"\(\d+ files\)", "(N files)", text)


@pytest.mark.parametrize(
    "page, sessions", [("set-up-a-project", 4), ("migrate", 5), ("finish-a-run", 6)]
)
def test_the_sessions_of_the_page_really_happen(tmp_path: Path, page: str, sessions: int) -> None:
    reader = Reader(tmp_path)
    (reader.home / ".gitconfig").write_text(GITCONFIG)
    seen = reader.follow(f"docs/how-to/{page}.md")
    assert len(seen) == sessions
    for command, promised, printed in seen:
        assert (command, counted(printed)) == (command, counted(promised))


@pytest.mark.parametrize("page", ["set-up-a-project", "migrate", "finish-a-run"])
def test_the_page_is_listed(page: str) -> None:
    assert f"how-to/{page}.md" in (ROOT / "docs" / "README.md").read_text()
