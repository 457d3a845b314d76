"""protocols graph: any protocol as a picture, by name or by file."""

from typing import TYPE_CHECKING

import pytest

from porch.cli.table import load_all_commands
from porch.run.definitions.protocol_graph import FORMATS

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


@pytest.mark.parametrize(
    "form, first",
    [
        ("text", "spider 1.0.0\n"),
        ("mermaid", "%% spider 1.0.0\nflowchart TD\n"),
        ("dot", 'digraph "spider 1.0.0" {\n'),
        ("svg", '<svg xmlns="'),
    ],
)
def test_a_protocol_is_drawn_in_the_format_asked_for(desk: "Desk", form: str, first: str) -> None:
    drawn = desk.porch("protocols", "graph", "spider", "--format", form).out
    assert drawn.startswith(first)
    told = desk.porch("protocols", "graph", "spider", "--format", form, "--json").json
    assert list(told) == ["name", "file", "format", "picture"]
    assert (told["name"], told["format"], told["picture"]) == ("spider", form, drawn)


def test_every_format_can_be_asked_for() -> None:
    graph = next(
        command for command in load_all_commands("porch") if command.name == "protocols graph"
    )
    assert graph.arguments[1].options["choices"] == tuple(FORMATS)


def test_a_file_or_its_directory_is_drawn_as_well_as_a_name(desk: "Desk") -> None:
    file = desk.protocol("p", {"id": "one"})
    by_name = desk.porch("protocols", "graph", "p").out
    assert ">  1 one (agent)\n" in by_name
    assert desk.porch("protocols", "graph", str(file)).out == by_name
    assert desk.porch("protocols", "graph", str(file.parent)).out == by_name


def test_a_file_that_is_called_like_a_protocol_does_not_hide_it(desk: "Desk") -> None:
    desk.write("spider", "not a protocol")
    assert desk.porch("protocols", "graph", "spider").out.startswith("spider 1.0.0\n")


def test_what_cannot_be_drawn_is_told_with_what_to_do(desk: "Desk") -> None:
    said = desk.porch("protocols", "graph", "spidr", code=2)
    assert "known protocols: bug-discovery, bugfix, change, debugging" in said.err
    file = desk.write("broken/protocol.json", "{")
    assert "broken/protocol.json:1:2" in desk.porch("protocols", "graph", str(file), code=2).err
    assert (
        "invalid choice: 'png'"
        in desk.porch("protocols", "graph", "spider", "--format", "png", code=2).err
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_is_drawn_on_its_protocol_in_every_format(desk: "Desk", form: str) -> None:
    desk.begin({"id": "one", "gate": {"name": "go", "next": "two"}}, {"id": "two"}, code=3)
    words = ("protocols", "graph", "p", "--run", "1", "--format", form)
    told = desk.porch(*words, "--json").json
    assert (told["name"], told["run"], told["format"]) == ("p", "0001-x", form)
    drawn = told["picture"]
    assert drawn.count("here now") == (2 if form == "svg" else 1)  # its title, and its box
    assert "taken once" in drawn
    assert desk.porch("protocols", "graph", "--run", "1", "--format", form).out == drawn
    assert "here now" not in desk.porch("protocols", "graph", "p", "--format", form).out


def test_a_run_of_another_protocol_or_no_word_at_all_is_refused(desk: "Desk") -> None:
    desk.begin({"id": "one", "gate": {"name": "go", "next": None}}, code=3)
    said = desk.porch("protocols", "graph", "spider", "--run", "1", code=2).err
    assert "follows the protocol 'p', not 'spider'" in said
    assert "porch protocols graph p --run 0001" in said
    assert "name a protocol, or a run" in desk.porch("protocols", "graph", code=2).err
