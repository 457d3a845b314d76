"""The page of protocol blocks: made from one source, packaged as it is, and named by id."""

import re
from importlib import resources
from pathlib import Path

import pytest

import porch
from porch.claims.questions.question_file import PROTOCOLS
from porch.claims.questions.transports import TRANSPORTS
from porch.fleet.setup.package_files import QUESTIONS_PAGE
from porch.fleet.setup.project_setup import SetupChoices, plan_setup, write_setup
from tools.protocol_texts import PAGE, list_protocol_texts, render_protocol_page

PACKAGE = Path(porch.__file__).parent
_NAMED = re.compile(r"\b(?:ask|yield)-[a-z]+-(?:question-[a-z]+|confirm)\b")


def test_the_packaged_page_is_what_the_source_makes() -> None:
    """Written by `tools/protocol_texts.py --write`."""
    packaged = resources.files("porch").joinpath("integration", PAGE).read_text(encoding="utf-8")
    assert packaged == render_protocol_page()


@pytest.mark.req("C-001")
def test_every_block_that_a_file_of_the_package_names_is_on_the_page() -> None:
    texts = [path.read_text() for path in PACKAGE.rglob("*") if path.suffix in (".md", ".py")]
    named = {found for text in texts for found in _NAMED.findall(text)}
    assert (
        named
        == set(list_protocol_texts())
        == {*PROTOCOLS, "yield-human-confirm", "yield-ai-confirm"}
    )
    page = render_protocol_page()
    assert all(f"\n## {id_}\n" in page for id_ in named)


def test_every_question_tool_is_named_where_questions_are_asked() -> None:
    tools = [each.tool for each in TRANSPORTS.values() if each.tool]
    for id_ in PROTOCOLS:
        block = list_protocol_texts()[id_]
        assert all(any(f"`{tool}`" in rule for rule in block.rules) for tool in tools)


@pytest.mark.req("C-001")
def test_setting_up_a_project_puts_the_page_where_prompts_find_it(tmp_path: Path) -> None:
    chosen = SetupChoices(integrations=("protocols",))
    planned = [each for each in plan_setup(str(tmp_path), chosen) if each.path == QUESTIONS_PAGE]
    write_setup(str(tmp_path), planned)
    assert (tmp_path / "codev" / PAGE).read_text(encoding="utf-8") == render_protocol_page()
