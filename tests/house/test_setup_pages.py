"""The pages about setting up and migrating: every session in them happens, word for word."""

import re
from pathlib import Path

import pytest

from tests.house.test_readme import ROOT, Reader, masked
from tests.repositories import GITCONFIG


def counted(text: str) -> str:
    """How many files a protocol has is no promise."""
    return re.sub(r"\(\d+ files\)", "(N files)", masked(text))


@pytest.mark.parametrize("page, sessions", [("set-up-a-project", 4), ("migrate", 5)])
def test_the_sessions_of_the_page_really_happen(tmp_path: Path, page: str, sessions: int) -> None:
    reader = Reader(tmp_path)
    (reader.home / ".gitconfig").write_text(GITCONFIG)
    seen = reader.follow(f"docs/how-to/{page}.md")
    assert len(seen) == sessions
    for command, promised, printed in seen:
        assert (command, counted(printed)) == (command, counted(promised))


@pytest.mark.parametrize("page", ["set-up-a-project", "migrate"])
def test_the_page_is_listed(page: str) -> None:
    assert f"how-to/{page}.md" in (ROOT / "docs" / "README.md").read_text()
