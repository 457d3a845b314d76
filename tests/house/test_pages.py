"""Every page that tells its reader what to do is carried out, word for word."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.pages import ROOT, Block, Reader, blocks, masked, sessions

TO_DO = [
    "README.md",
    *(
        str(path.relative_to(ROOT))
        for kind in ("tutorial", "how-to")
        for path in sorted((ROOT / "docs" / kind).glob("*.md"))
    ),
    "docs/reference/graph.md",
]
# Nobody carries these out in a test, each for a reason that the page says.
_INSTALL = "uv tool install './porch[web,tui]'"
UNRUN = {
    "README.md": [_INSTALL],
    "docs/tutorial/first-run.md": [_INSTALL],
    "docs/how-to/adopt-an-existing-project.md": [
        '[worktree]\ncopy = [".env"]\nsetup = ["npm ci"]\n'
    ],
    "docs/how-to/agents.md": ["porch agents test claude"],
    "docs/how-to/dashboard.md": [_INSTALL, "af dashboard"],
    "docs/how-to/inbox.md": [_INSTALL, "porch"],
    "docs/how-to/knowledge.md": ["uv tool install './porch[semantic]'"],
    "docs/how-to/hand-in-a-request.md": ["porch run bugfix 142\n"],
    "docs/how-to/run-a-tree.md": ["""test = 'python3 -m pytest -q --junitxml="$PORCH_REPORT"'\n"""],
    "docs/how-to/teams.md": ['"protected": ["@tests", "@configuration", ".github/**"]\n'],
    "docs/how-to/watch-a-run.md": ['porch run "Add a login page" --no-claude\n'],
    "docs/how-to/set-up-a-project.md": ["source <(codev completion zsh)"],
}


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    made = Reader(tmp_path)
    yield made
    made.clear()


@pytest.mark.parametrize("page", TO_DO)
def test_r9_the_page_is_true_from_an_empty_directory(page: str, reader: Reader) -> None:
    reader.follow(page)


def test_r9_few_blocks_are_not_carried_out_and_each_is_known() -> None:
    found = {page: [_first(each) for each in blocks(page) if not each.is_run] for page in TO_DO}
    assert {page: lines for page, lines in found.items() if lines} == UNRUN


def _first(block: Block) -> str:
    return block.text.partition("  ")[0]


@pytest.mark.parametrize("page", [page for page in TO_DO if page.startswith("docs/how-to/")])
def test_a_page_begins_with_what_it_is_good_for_and_what_it_needs(page: str) -> None:
    beginning = re.split(
        r"^(?:## |```)", (ROOT / page).read_text(), maxsplit=1, flags=re.MULTILINE
    )[0]
    assert "After this page" in beginning
    assert "need" in beginning


@pytest.mark.parametrize("page", TO_DO)
def test_r9_no_commands_hide_outside_of_the_blocks(page: str) -> None:
    """An indented block would be shown like the others, and nobody would carry it out."""
    fences = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
    text = fences.sub("", (ROOT / page).read_text())
    hidden = re.findall(r"\n\n( {4,}(?:porch|af|codev|envoy|git|uv|pip|\$|\[).*)", text)
    assert hidden == []


@pytest.mark.parametrize("page", TO_DO)
def test_r9_porch_is_never_installed_by_a_name_of_an_index(page: str) -> None:
    """That name is not ours: whoever types it gets somebody else's program.

    With ` @ ` and an address behind it, it is only what the package there is called.
    """
    text = (ROOT / page).read_text()
    by_name = r"(?:pip|pipx|uv tool|uv) (?:install|add) '?porch\b(?!(?:\[[a-z,]+\])? @ \S)"
    assert not re.search(by_name, text)


def test_a_page_that_promises_something_else_is_noticed() -> None:
    assert sessions("$ a\nb\n$ c\n") == [("a", "b\n"), ("c", "")]
    assert masked("2026-11-15 22:11:25Z ok") == masked("2027-01-01 00:00:00Z ok")
    assert masked("passed in 0.1 s") != masked("failed in 0.1 s")
