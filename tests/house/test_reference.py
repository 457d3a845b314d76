"""The reference pages against the tables and classes that they describe."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import fields

from porch.dialects.phases import file_records
from porch.dialects.phases.keys import KEYS
from porch.machine import facts as f
from porch.machine import moves as m
from porch.show import prompt
from tools import cli_reference

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(section: str) -> dict[str, list[str]]:
    """The tables of a section: the first cell, without its quotes, to the others."""
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0].startswith("`"):
            assert cells[0] not in found, line
            found[cells[0].strip("`")] = cells[1:]
    return found


def test_the_page_of_commands_is_what_the_table_makes() -> None:
    assert page("cli.md") == cli_reference.page()


@pytest.mark.parametrize("kind", KEYS)
def test_every_key_of_protocol_json_has_its_row(kind: str) -> None:
    told = rows(sections(page("protocol-json.md"))[f"`{kind}`"])
    assert list(told) == list(KEYS[kind])
    assert all(meaning for *_, meaning in told.values())


@pytest.mark.parametrize(
    "kind, key, default",
    [
        ("check", "max_retries", file_records.DEFAULT_RETRIES),
        ("check", "retry_delay", file_records.DEFAULT_DELAY_S),
        ("verification", "max_retries", file_records.DEFAULT_RESPAWNS),
        ("consultation", "max_rounds", file_records.DEFAULT_ROUNDS),
        ("config", "max_retries", file_records.DEFAULT_RETRIES),
        ("defaults", "max_consultation_rounds", file_records.DEFAULT_ROUNDS),
    ],
)
def test_defaults_are_those_of_the_reader(kind: str, key: str, default: float) -> None:
    told = rows(sections(page("protocol-json.md"))[f"`{kind}`"])
    assert told[key][1] == f"{default:g}"


@pytest.mark.parametrize(
    "heading, variables",
    [
        ("In the prompt of a phase", prompt.VARIABLES),
        ("In a phase that runs for each phase of the plan", prompt.LOOP_VARIABLES),
        ("In the text of a review", prompt.REVIEW_VARIABLES),
    ],
)
def test_every_variable_of_a_prompt_has_its_row(heading: str, variables: dict[str, str]) -> None:
    told = rows(sections(page("prompts.md"))[heading])
    assert {name: cells[0] for name, cells in told.items()} == dict(variables)


@pytest.mark.parametrize("heading, union", [("Facts", f.Fact), ("Moves", m.Move)])
def test_every_fact_and_move_is_on_the_page_of_the_journal(heading: str, union: Any) -> None:
    told = rows(sections(page("journal.md"))[heading])
    known = {kind.__name__: [f"`{each.name}`" for each in fields(kind)] for kind in get_args(union)}
    assert {name: re.findall(r"`\w+`", cells[1]) for name, cells in told.items()} == known


@pytest.mark.parametrize("kind", [f.Wish, f.Item])
def test_what_facts_hold_is_on_the_page_of_the_journal(kind: Any) -> None:
    names = ", ".join(f"`{each.name}`" for each in fields(kind))
    assert names in page("journal.md")


def pages() -> Iterator[Path]:
    yield from sorted((ROOT / "docs").rglob("*.md"))
    yield from sorted((ROOT / "examples").rglob("README.md"))
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_link_between_pages_leads_somewhere() -> None:
    lost = []
    for source in pages():
        text = source.read_text(encoding="utf-8")
        for link in _LINK.findall(text):
            name, _, anchor = link.partition("#")
            if "://" in link:
                continue
            target = (source.parent / name).resolve() if name else source
            if not target.exists():
                lost.append(f"{source.relative_to(ROOT)}: {link}")
            elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
                lost.append(f"{source.relative_to(ROOT)}: {link} (no such heading)")
    assert lost == []


def test_every_page_of_the_docs_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = {str((ROOT / "docs" / link).resolve()) for link in _LINK.findall(index)}
    every = {str(path) for path in (ROOT / "docs").rglob("*.md") if path.name != "README.md"}
    assert every - linked == set()
