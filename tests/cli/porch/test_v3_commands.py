"""run v3 with a spec that cannot be run, and status --tree while it runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SPEC = """id: sum
description: A sum
acceptanceCriteria:
  - {id: c1, text: it is there}
targetPath: src
testPath: tests/sum
"""
QUESTION = {
    "exit": "ClarificationNeeded",
    "payload": {"question": "Which?", "ambiguityReference": "it", "specSentence": "A sum"},
}


def _asking(desk: "Desk", *words: str, **agents: Any) -> str:
    """A run of v3 that waits with a question of its planner."""
    desk.write("spec.yaml", SPEC)
    script = desk.script(agents={"./scaffold": [QUESTION], **agents})
    given = ("run", "v3", "spec.yaml", "--script", script, "--plain", *words)
    return desk.porch(*given, code=3).out


def test_a_spec_is_read_to_its_end_and_everything_is_said_with_its_place(desk: "Desk") -> None:
    """D47: bad input is exit 2, before anything is begun."""
    desk.write(
        "spec.yaml",
        "id: sum\n"
        "acceptanceCriteria:\n"
        "  - {id: c1, text: one}\n"
        "  - {id: c1, text: two}\n"
        "targetPath: ../elsewhere\n"
        "testPath: /tmp/tests\n"
        "colour: red\n",
    )
    said = desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).err
    assert "description" in said
    assert "acceptanceCriteria: the id 'c1' is used twice" in said
    assert "--> spec.yaml:3:3" in said
    assert "--> spec.yaml:5:13" in said
    assert "--> spec.yaml:6:11" in said
    assert "--> spec.yaml:7:1" in said
    assert said.count("error[bad-spec]") == 5


@pytest.mark.parametrize(
    "old, new, told, place",
    [
        ("  - {id: c1, text: it is there}\n", "  []\n", "acceptanceCriteria is empty", "4:3"),
        ("  - {id: c1, text: it is there}\n", "  none\n", "acceptanceCriteria", "4:3"),
        ("src", ".git/hooks", "targetPath", "5:13"),
        ("c1, text", "c1, words", "acceptanceCriteria[0]: unknown field 'words'", "4:14"),
    ],
)
def test_a_spec_that_means_nothing_is_refused(
    desk: "Desk", old: str, new: str, told: str, place: str
) -> None:
    desk.write("spec.yaml", SPEC.replace(old, new))
    said = desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).err
    assert told in said
    assert f"--> spec.yaml:{place}" in said


@pytest.mark.parametrize("text", ["- a\n- list\n", "just words\n", "a: [\n"])
def test_a_file_that_is_no_spec_at_all_is_refused(desk: "Desk", text: str) -> None:
    desk.write("spec.yaml", text)
    assert "spec.yaml:" in desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).err


def test_a_word_instead_of_a_spec_says_what_is_wanted(desk: "Desk") -> None:
    said = desk.porch("run", "v3", "0073", "--no-claude", code=2).err
    assert "error[no-spec]: '0073' is not a spec file" in said
    assert "porch run v3 SPEC.yaml" in said


def test_a_branch_that_is_not_there_is_no_target(desk: "Desk") -> None:
    """D36."""
    desk.write("spec.yaml", SPEC)
    said = desk.porch("run", "v3", "spec.yaml", "--no-claude", "--into", "nowhere", code=2).err
    assert "error[no-branch]: there is no branch 'nowhere'" in said


def test_without_a_test_command_nothing_could_be_measured(desk: "Desk") -> None:
    """D48: commands are the project's own."""
    desk.write("spec.yaml", SPEC)
    desk.write("codev/config.toml", "")
    said = desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).err
    assert "error[no-test-command]" in said
    assert "PORCH_REPORT" in said


def test_x2_the_test_command_of_a_tree_is_that_of_its_commit(desk: "Desk") -> None:
    desk.write("spec.yaml", SPEC)
    desk.write("codev/config.toml", "")
    (desk.root / "codev/config.toml").write_text('[commands]\ntest = "true"\n')
    said = " ".join(desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).all.split())
    assert "[commands] test is not committed" in said
    assert "fix: git add codev/config.toml && git commit" in said


def test_a_tree_needs_a_repository_with_a_commit(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk.root.parent / "bare").mkdir()
    monkeypatch.chdir(desk.root.parent / "bare")
    desk.write("../bare/spec.yaml", SPEC)
    said = desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).err
    assert "error[no-repository]" in said
    desk.root = desk.root.parent / "bare"
    desk.git("init", "-q")
    assert "error[no-repository]" in desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).err


def test_a_refused_spec_leaves_nothing_and_can_be_mended(desk: "Desk") -> None:
    desk.write("spec.yaml", SPEC.replace("src", "../src"))
    desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2)
    assert "v3_sum" not in desk.porch("status").all
    assert desk.git("for-each-ref", "refs/heads/porch") == ""
    assert "waiting for your decision: ask" in _asking(desk)


def test_the_tree_shows_where_each_instance_stands_and_what_is_left(desk: "Desk") -> None:
    _asking(desk)
    lines = desk.porch("status", "sum", "--tree").out.splitlines()
    assert lines == ["sum  ask#1", "  porch/v3_sum  (questions: 2 of 3 left)"]
    (root,) = desk.porch("status", "sum", "--tree", "--json").json["tree"]
    assert root["positions"] == ["ask#1"]
    assert (root["id"], root["parent"], root["outcome"]) == ("sum", None, "")
    assert root["budgets"]["epochs"] == "3 left"


def test_the_question_is_shown_to_whoever_is_asked(desk: "Desk") -> None:
    """D10, D14: one inbox."""
    _asking(desk)
    pending = desk.porch("pending").out
    assert "ask" in pending
    assert "Which?" in pending + desk.porch("status", "sum").out


def test_a_person_may_end_the_run_at_its_question(desk: "Desk") -> None:
    _asking(desk)
    assert "porch answer sum ask --option stopped" in desk.porch("pending").out
    desk.porch("answer", "sum", "ask", "--option", "stopped")
    desk.porch("resume", "sum", "--plain", code=1)
    assert desk.porch("status", "sum", "--tree").out.startswith("sum  failed")


def _stuck(desk: "Desk") -> None:
    """The planner has asked too often, so a person is asked what becomes of the run."""
    answers = {"ask": [{"answer": "the other one"}] * 3}
    desk.write("spec.yaml", SPEC)
    script = desk.script(agents={"./scaffold": [QUESTION] * 4}, decisions=answers)
    desk.porch("run", "v3", "spec.yaml", "--script", script, "--plain", code=3)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert asked["name"] == "person"


def test_where_the_work_is_stuck_the_word_stopped_with_a_reason_ends_the_run(desk: "Desk") -> None:
    """T18"""
    _stuck(desk)
    assert "porch answer sum person stopped" in desk.porch("pending").out
    desk.porch("answer", "sum", "person", "stopped", "nobody needs it any more")
    wish = desk.facts("WishTaken", run="v3_sum")[-1]["wish"]
    assert (wish["exit"], wish["text"]) == ("stopped", "nobody needs it any more")
    desk.porch("resume", "sum", "--plain", code=1)
    assert desk.porch("status", "sum", "--tree").out.startswith("sum  failed")


def test_a_sentence_that_begins_like_an_option_is_neither_taken_for_it_nor_cut(
    desk: "Desk",
) -> None:
    _stuck(desk)
    said = desk.porch("answer", "sum", "person", "stopped", "working", "on", "Monday", code=2).err
    assert "error[unclear-answer]" in said
    assert "--option stopped" in said
    desk.porch("answer", "sum", "person", "answered by the spec: use the second")
    wish = desk.facts("WishTaken", run="v3_sum")[-1]["wish"]
    assert (wish["exit"], wish["text"]) == ("answered", "answered by the spec: use the second")


def test_a_run_without_instances_has_no_tree(desk: "Desk") -> None:
    desk.begin({"id": "one"}, agents={})
    said = desk.porch("status", "0001", "--tree")
    assert said.out.strip() == "this run has no tree: its protocol has no instances"
    assert desk.porch("status", "0001", "--tree", "--json").json["tree"] == []


def test_words_that_mean_nothing_here_are_refused_before_anything_begins(desk: "Desk") -> None:
    said = desk.porch("run", "v3", "--no-claude", code=2).err
    assert "no spec was given" in said
    assert "porch run v3 SPEC.yaml" in said
    said = desk.porch(
        "run", "spider", "0001", "--into", "main", "--no-claude", "--here", code=2
    ).err
    assert "error[no-tree]" in said
    assert "leave out --into" in said


def test_a_scripted_agent_without_a_script_is_refused_and_leaves_no_run(desk: "Desk") -> None:
    desk.write("spec.yaml", SPEC)
    said = desk.porch("run", "v3", "spec.yaml", "--no-claude", code=2).err
    assert "error[no-script]" in said
    assert "--script FILE" in said
    assert desk.porch("status", "--json").json["runs"] == []


def test_x1_the_branch_that_porch_makes_for_the_tests_of_a_tree_is_no_news(desk: "Desk") -> None:
    """The example said that somebody had made it outside the worktree."""
    example = Path(__file__).parents[3] / "examples" / "adder"
    for name in ("spec.yaml", "script.yaml"):
        desk.write(name, (example / name).read_text())
    desk.write("codev/config.toml", '[commands]\ntest = "python3 -m pytest -q tests"\n')
    desk.git("add", "-A")
    desk.git("commit", "-qm", "the example")
    said = desk.porch("run", "v3", "spec.yaml", "--script", "script.yaml").out
    assert "v3_adder is complete" in said
    assert "changed outside" not in said + desk.porch("log", "adder", "--all").out


def test_what_a_stuck_run_waits_for_is_said_once(desk: "Desk") -> None:
    """It said `waiting for your decision: scaffold fault: waiting for your decision: ...`."""
    desk.write("spec.yaml", SPEC)
    answers = {"ask": [{"answer": "the other one"}] * 3}
    script = desk.script(agents={"./scaffold": [QUESTION] * 4}, decisions=answers)
    said = desk.porch("run", "v3", "spec.yaml", "--script", script, "--plain", code=3).out
    (last,) = [line for line in said.splitlines() if line.startswith("waiting for your decision")]
    assert last.count("waiting for") == 1, last
