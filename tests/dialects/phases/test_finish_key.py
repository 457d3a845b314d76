"""`finish`, and gates about `@changes`: what is read, and what is refused where it stands."""

import json
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.model import protocol as p

GATE = {"name": "look", "artifact": "@changes", "next": None}


def read(phase: dict[str, Any], **top: Any) -> Any:
    text = {"name": "x", "phases": [{"id": "build", **phase}], **top}
    return parse_definition(json.dumps(text, indent=1), "protocol.json")


@pytest.mark.parametrize("way", ["merge", "squash"])
def test_a_protocol_says_what_becomes_of_the_work_and_its_gate_is_about_all_changes(
    way: str,
) -> None:
    found = read({"gate": GATE}, finish=way)
    assert [str(each) for each in found.findings if each.severity != "note"] == []
    assert found.protocol.finish == way
    gate = found.protocol.states["build:gate"].actor
    assert isinstance(gate, p.Human)
    assert gate.artifacts == ("@changes",)
    assert read({"gate": {**GATE, "artifact": ["@changes", "note.md"]}}).protocol.finish == ""


@pytest.mark.parametrize(
    "phase, top, code, word",
    [
        ({}, {"finish": "merge"}, "finish-without-gate", '"finish"'),
        ({"gate": GATE}, {"finish": "push"}, "wrong-value", '"finish"'),
        ({"gate": GATE, "artifact": "@changes"}, {}, "wrong-value", '"artifact"'),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(
    phase: dict[str, Any], top: dict[str, Any], code: str, word: str
) -> None:
    text = {"name": "x", "phases": [{"id": "build", **phase}], **top}
    lines = json.dumps(text, indent=1).split("\n")
    found = [each for each in read(phase, **top).findings if each.severity == "error"]
    assert [each.code for each in found] == [code]
    place = found[0].place
    assert place is not None
    assert word in lines[place.line - 1]
