"""Scripts: the most exact entry answers, and every mistake is told with its place."""

import json

import pytest

from porch.agents.scripted.script import ScriptedDecision
from porch.agents.scripted.script_reader import read_script
from porch.errors import DefinitionError


def test_most_exact_key_answers() -> None:
    script = read_script(
        """
agents:
  "*": [{final: any}]
  "impl*": [{final: glob}]
  implement: [{final: state}]
  implement:phase_2: [{final: item}]
  "*:phase_3": [{final: third}]
""",
        "s.yaml",
    )

    def answer(state: str, item: str = "") -> str | None:
        found = script.agent(state, item, 1, 1)
        return found.final if found else None

    assert answer("implement", "phase_1") == "state"
    assert answer("implement", "phase_2") == "item"
    assert answer("review", "phase_3") == "third"
    assert [answer("implant"), answer("x")] == ["glob", "any"]


def test_decisions_are_read_in_order_for_porch_run() -> None:
    script = read_script(
        "decisions:\n"
        "  specify_approval: [{reject: too vague}, {approve: true}]\n"
        "  plan_*: {override: known}\n"
        "  question: [{answer: blue}, {wait: true}]\n",
        "s.yaml",
    )
    asked = [script.decision("specify_approval", time) for time in (1, 2, 3)]
    assert asked == [
        ScriptedDecision("reject", "too vague"),
        ScriptedDecision("approve"),
        ScriptedDecision("approve"),
    ]
    assert script.decision("plan_approval", 1) == ScriptedDecision("override", "known")
    assert script.decision("question", 2) == ScriptedDecision("wait")
    assert script.decision("other", 1) is None


@pytest.mark.parametrize(
    "text, code, line",
    [
        ("- a", "wrong-type", 1),
        ("agent: {}", "unknown-key", 1),
        ("agents: [x]", "wrong-type", 1),
        ("agents:\n  a: []", "empty-list", 2),
        ("agents:\n  a:\n  - x", "wrong-type", 3),
        ("agents:\n  a:\n  - crash: yes", "wrong-type", 3),
        ("agents:\n  a:\n  - sleep: -1", "wrong-type", 3),
        ("agents:\n  a:\n  - write: x", "wrong-type", 3),
        ("agents:\n  a:\n  - orphan: {secs: 1}", "unknown-key", 3),
        ("agents:\n  a:\n  - run: [[a], {b: c}]", "wrong-type", 3),
        ("agents:\n  a:\n  - fail: loudly", "unknown-failure", 3),
        ("agents:\n  a:\n  - verdict: APPROVE", "unknown-key", 3),
        ("agents:\n  a:\n  - tries: []", "empty-list", 3),
        ("agents:\n  a:\n  - tries:\n    - {tries: [{}]}", "nested-tries", 4),
        ("reviews:\n  a: {b: [{signal: X}]}", "unknown-key", 2),
        ("decisions:\n  a: [{}]", "one-decision", 2),
        ("decisions:\n  a: [{approve: true, wait: true}]", "one-decision", 2),
        ("decisions:\n  a: [{reject: ''}]", "missing-key", 2),
        ("decisions:\n  a: [{approve: false}]", "wrong-type", 2),
        ("decisions:\n  a: [{aprove: true}]", "unknown-key", 2),
    ],
)
def test_wrong_script_is_told_with_its_place(text: str, code: str, line: int) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_script(text, "s.yaml")
    places = [(found.code, found.place and found.place.line) for found in caught.value.findings]
    assert (code, line) in places


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(DefinitionError) as caught:
        read_script("agents:\n  a: [{x: 1}, {crash: no}]\nreviews: 3\nwitnes: w\n", "s.yaml")
    assert len(caught.value.findings) == 4


def test_script_may_be_empty_of_everything_but_a_key() -> None:
    script = read_script("agents:\nreviews: {}\n", "s.yaml")
    assert script.agent("a", "", 1, 1) is None
    assert script.review("a", "", "b", 1, 1) is None


@pytest.mark.parametrize(
    "final", ["plain", "true", "1e3", "a/b", "späce ü", 'q"uote', "line\nend", "\U0001f600"]
)
def test_a_script_in_json_means_what_it_means_in_yaml(final: str) -> None:
    said = {"agents": {"one": [{"final": final, "write": {"a.txt": final}}]}}
    # A comment is no JSON.
    text = f"# as YAML\n{json.dumps(said, ensure_ascii=False)}"
    assert read_script(json.dumps(said), "s") == read_script(text, "s")


def test_what_only_looks_like_json_is_read_as_yaml() -> None:
    script = read_script("{agents: {one: [{final: done}]}}", "s.json")
    assert script == read_script("agents: {one: [{final: done}]}", "s.yaml")
    with pytest.raises(DefinitionError) as wrong:
        read_script('{"agents": {"one": [}', "s.json")
    assert [each.code for each in wrong.value.findings] == ["yaml-syntax"]
