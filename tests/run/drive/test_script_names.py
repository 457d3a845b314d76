"""Keys of scripts that can name nothing in the protocol are told before anything begins."""

from pathlib import Path

import pytest

import porch
from porch.agents.scripted.script_reader import read_script
from porch.dialects.registry import parse_definition
from porch.errors import DefinitionError, UsageError
from porch.model.protocol import Protocol
from porch.run.drive import script_answers
from porch.run.drive.script_names import ScriptNames
from porch.run.drive.start_requirements import require_script

PROTOCOLS = Path(porch.__file__).parent / "protocols"


def load(name: str) -> Protocol:
    file = PROTOCOLS / name
    read = parse_definition(file.read_text(encoding="utf-8"), str(file)).protocol
    assert read is not None
    return read


SPIDER, V3 = load("spider/protocol.json"), load("v3/v3.graph.yaml")


@pytest.mark.parametrize(
    "section, key",
    [
        ("agents", "specify:draft"),
        ("agents", "implement:phase_1"),
        ("agents", "specify:*"),
        ("agents", "implement:*"),
        ("agents", "*"),
        ("agents", "impl?ment"),
        ("reviews", "plan:consult"),
        ("decisions", "specify_approval"),
        ("decisions", "failed:implement"),
        ("decisions", "budget"),
        ("decisions", "*"),
    ],
)
def test_e15_what_can_match_is_accepted(section: str, key: str) -> None:
    """E15"""
    assert ScriptNames(SPIDER).find_problem(section, key) is None


@pytest.mark.parametrize(
    "key", ["impl", "./impl", "add.low/impl", "add-r2/impl", "*/impl", "add*", "add/im*"]
)
def test_e15_in_a_tree_any_instance_may_stand_in_front(key: str) -> None:
    """E15"""
    assert ScriptNames(V3).find_problem("agents", key) is None


@pytest.mark.parametrize("key", ["./imp", "add/judg", "*/reviews", "implx*y"])
def test_e15_in_a_tree_the_state_must_be_there(key: str) -> None:
    """E15"""
    assert ScriptNames(V3).find_problem("agents", key) is not None


def test_e15_every_key_that_matches_nothing_is_told_with_its_place(tmp_path: Path) -> None:
    """E15"""
    script = tmp_path / "s.yaml"
    script.write_text(
        "agents:\n  specifi:draft: [{say: x}]\n  'zz*': [{say: x}]\n"
        "reviews:\n  specify:draft: {'*': [{verdict: APPROVE}]}\n"
        "decisions: {spec_approval: [{approve: true}], specify_approval: [{approve: true}]}\n"
    )
    with pytest.raises(DefinitionError) as told:
        script_answers.read_chosen_script(str(script), "", SPIDER)
    found = told.value.findings
    assert [(each.code, each.place and each.place.line) for each in found] == [
        ("unknown-script-key", line) for line in (2, 3, 5, 6)
    ]
    assert found[0].message == "'specifi:draft' matches no state with an agent of spider"
    assert found[0].fix == "did you mean 'specify:draft'?"
    assert found[1].fix.startswith("possible: specify:draft, ")
    assert "'spec_approval' matches no decision" in found[3].message
    script.write_text("reviews: {review: {a: [{verdict: APPROVE}]}}\n")
    with pytest.raises(DefinitionError, match="matches no state with reviewers of v3"):
        script_answers.read_chosen_script(str(script), "", V3)


def test_e15_a_script_that_only_decides_has_the_agents_of_the_protocol(tmp_path: Path) -> None:
    """E15"""
    own = script_answers.read_protocol_script(str(PROTOCOLS / "spider/protocol.json"))
    script = tmp_path / "s.yaml"
    script.write_text("decisions: {specify_approval: [{approve: true}]}\nwitness: /w\n")
    text = script_answers.read_chosen_script(str(script), own, SPIDER)
    read = read_script(text, "s.yaml")
    assert read.agents == read_script(own, "own.yaml").agents
    assert list(read.decisions) == ["specify_approval"]
    assert read.witness == "/w"
    for more in ("agents: {implement: [{say: mine}]}", "reviews: {'*': {a: [{verdict: APPROVE}]}}"):
        script.write_text(f"decisions: {{specify_approval: [{{approve: true}}]}}\n{more}\n")
        assert script_answers.read_chosen_script(str(script), own, SPIDER) == script.read_text()
    assert script_answers.read_chosen_script("", own, SPIDER) == own
    assert script_answers.read_protocol_script(str(PROTOCOLS / "v3/v3.graph.yaml")) == ""


def test_e15_a_tree_is_not_started_with_a_script_that_cannot_begin_it() -> None:
    """E15"""
    require_script(V3, "agents: {'*/scaffold': [{say: x}]}")
    require_script(SPIDER, "")
    with pytest.raises(UsageError, match="no entry for 'scaffold', with which v3 begins"):
        require_script(V3, "decisions: {person: [{stop: true}]}")
    with pytest.raises(UsageError, match="needs a script for v3"):
        require_script(V3, "")
