"""`protected`, `may_write` and `runner`: what is read, and what is refused where it stands."""

import json
from typing import Any

import pytest

from porch.dialects.registry import parse_definition
from porch.errors import Finding
from porch.model import protocol as p


def read(phase: dict[str, Any], **top: Any) -> Any:
    text = {"name": "x", "phases": [{"id": "build", **phase}, {"id": "after"}], **top}
    return parse_definition(json.dumps(text), "protocol.json")


def findings(phase: dict[str, Any], **top: Any) -> list[tuple[str, str]]:
    found: tuple[Finding, ...] = read(phase, **top).findings
    return [(each.code, each.fix or "") for each in found if each.severity != "note"]


def commands(protocol: p.Protocol, state: str) -> list[str]:
    actor = protocol.states[state].actor if state in protocol.states else None
    return [command.name for command in actor.commands] if isinstance(actor, p.Check) else []


def test_a_file_that_declares_nothing_is_compiled_as_before() -> None:
    protocol = read({"checks": {"t": "pytest"}}).protocol
    assert (protocol.is_protecting, protocol.protected) == (False, ())
    assert commands(protocol, "build:checks") == ["t"]
    assert commands(protocol, "after:checks") == []


@pytest.mark.parametrize("declared", [{"protected": []}, {"protected": ["data/**"]}, {}])
def test_whoever_declares_compares_in_every_phase_and_first(declared: dict[str, Any]) -> None:
    phase = {"checks": {"t": "pytest"}} | ({} if declared else {"may_write": ["@tests"]})
    protocol = read(phase, **declared).protocol
    assert protocol.is_protecting
    assert protocol.protected == tuple(declared.get("protected", ["@tests", "@configuration"]))
    assert commands(protocol, "build:checks") == ["protected_files", "t"]
    assert commands(protocol, "after:checks") == ["protected_files"]
    edge = next(protocol.edges_of("build:checks", "failed"))
    assert edge.targets == (p.Target("build"),)


def test_silence_is_no_answer_because_files_were_compared() -> None:
    protocol = read({}, protected=["@tests"]).protocol
    assert next(protocol.edges_of("after", "silent")).targets == (p.Target("failed:after"),)


def test_an_approval_does_not_compare_again_what_people_may_have_changed() -> None:
    protocol = read({"gate": "look", "checks": {"t": "true"}}, protected=["@tests"]).protocol
    assert commands(protocol, "build:recheck") == ["t"]
    assert "after:recheck" not in protocol.states


@pytest.mark.parametrize(
    "phase, top, code",
    [
        ({}, {"protected": "tests/**"}, ""),
        ({}, {"protected": {"a": 1}}, "wrong-type"),
        ({}, {"protected": ["../x"]}, "wrong-value"),
        ({}, {"protected": ["a[b]"]}, "wrong-value"),
        ({"may_write": [""]}, {}, "wrong-value"),
        ({"may_write": ["codev/config.toml"]}, {}, "wrong-value"),
        ({"may_write": ["codev/protocols/**"]}, {}, "wrong-value"),
        ({"may_write": ["codev/**"]}, {}, "wrong-value"),
        ({"may_write": ["codev/projects/**"]}, {}, ""),
        ({"may_write": ["**"]}, {}, ""),
        ({"may_wriet": ["**"]}, {}, "unknown-key"),
        ({"checks": {"t": {"command": "x", "runner": "nose"}}}, {}, "wrong-value"),
        ({"checks": {"t": {"command": "x", "runner": "pytest"}}}, {}, ""),
        ({"checks": {"t": {"command": "x", "plugins": ["a"]}}}, {}, "no-meaning"),
        ({"checks": {"protected_files": "x"}}, {"protected": []}, "reserved-name"),
        ({"checks": {"protected_files": "x"}}, {}, ""),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(
    phase: dict[str, Any], top: dict[str, Any], code: str
) -> None:
    found = findings(phase, **top)
    assert [each for each, _ in found] == ([code] if code else [])


def test_a_check_keeps_its_runner_and_its_plugins() -> None:
    check = {"command": "pytest", "runner": "pytest", "plugins": ["xdist"]}
    actor = read({"checks": {"t": check}}).protocol.states["build:checks"].actor
    assert (actor.commands[0].runner, actor.commands[0].plugins) == ("pytest", ("xdist",))
