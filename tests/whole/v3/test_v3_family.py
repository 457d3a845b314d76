"""A root with three children that merge one after the other while their siblings are running."""

from collections.abc import Iterator

import pytest

from tests.whole.v3.conftest import (
    ADD,
    MUL,
    NEG,
    Home,
    a_home,
    after_merge,
    family,
    family_spec,
    merged,
)

BRANCH = "porch/v3_calc"

# One run for all tests of this file, so they stay together.
pytestmark = pytest.mark.xdist_group("v3-family")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One run for all that is said here about it."""
    script = family(ADD, MUL, NEG, interfaces=[{"path": "calc/api.py", "exports": ["NAMES"]}])
    script.say("mul/impl", after_merge(MUL.impl(), "add"))
    script.say("neg/impl", after_merge(NEG.impl(), "mul"))
    for part in (ADD, MUL, NEG):
        script.say(f"{part.name}/merger", merged(symbol=part.name))
    with a_home(tmp_path_factory.mktemp("family")) as home:
        home.run(family_spec(ADD, MUL, NEG), script, "--into", "main")
        yield home


def _seq(home: Home, kind: str, effect: str) -> int:
    """The number of the record in which an effect ended."""
    return next(
        int(record["seq"])
        for record in home.records()
        if record["fact"]["is"] == kind and str(record["fact"]["effect"]).startswith(effect)
    )


@pytest.mark.req("V-002", "V-003", "V-061")
def test_each_child_is_one_squash_commit_on_its_parents_branch(built: Home) -> None:
    """D33: in the order in which they came to the head of the queue; D36: and one for the root."""
    parent = built.log(f"refs/porch/archive/{BRANCH}")
    squashed = [f"feat({name}): implement" for name in ("neg", "mul", "add")]
    assert [line for line in parent if line.startswith("feat")] == squashed
    assert built.log("main") == ["feat(calc): implement", "start"]
    assert built.git("rev-list", "--merges", "main") == ""
    for part in (ADD, MUL, NEG):
        assert built.file("main", part.target) == part.code.strip()
    assert (built.root / "calc" / "whole.py").exists()
    assert built.git("status", "--porcelain") == ""


def test_siblings_were_running_while_the_first_one_merged(built: Home) -> None:
    """D05: children and the tests of their parent are what runs in parallel."""
    merges = [_seq(built, "GitEnded", f"{name}/publish") for name in ("add", "mul", "neg")]
    built_at = [_seq(built, "ExitAccepted", f"{name}/impl") for name in ("add", "mul", "neg")]
    assert built_at[0] < merges[0] < built_at[1] < merges[1] < built_at[2] < merges[2]


@pytest.mark.req("V-003", "V-004", "V-099")
def test_the_parent_implements_only_when_tests_and_all_children_are_in(built: Home) -> None:
    """D04: Impl waits for TDD.TestsReady and for all children; D35: their suites are evidence."""
    begun = [hand for record in built.records() for hand in record.get("begun", ())]
    seqs = {h["effect"]: r["seq"] for r in built.records() for h in r.get("begun", ())}
    assert len([hand for hand in begun if hand["effect"].startswith("impl#")]) == 1
    assert seqs["impl#1/agent/impl/0"] > _seq(built, "GitEnded", "neg/publish")
    assert seqs["impl#1/agent/impl/0"] > _seq(built, "GitEnded", "integrate#1")
    prompt = built.prompt("impl#1")
    assert "Contract Suites of the Children" in prompt
    assert "7 passed, 1 failed: " in prompt
    assert all(f"- `{name}`: `{name}`" in prompt for name in ("add", "mul", "neg"))


@pytest.mark.req("V-022", "V-026")
def test_a_child_is_told_the_interface_its_criteria_and_the_files_between_siblings(
    built: Home,
) -> None:
    """D37: the criteria as a list; D54: interfaces reach the children."""
    prompt = built.prompt("mul/scaffold#1")
    assert "NAMES = ['add', 'mul', 'neg']" in prompt
    assert "- `c-mul`: mul(2, 3) == 6 holds" in prompt
    assert "c-neg" not in prompt
    assert "- `calc/api.py`: `NAMES`" in prompt


@pytest.mark.req("V-097", "V-098")
def test_the_parents_tests_author_judges_before_anything_is_published(built: Home) -> None:
    """D35: the judge sees the child's diff and what its siblings have merged."""
    first, last = built.prompt("add/judge#1"), built.prompt("neg/judge#1")
    assert "No sibling has merged yet" in first
    assert "- `add` (Additive)" in last
    assert "`mul` (NewExport): mul is new" in last
    assert "+    return -a" in last
    assert "return a + b" not in last
    judged = _seq(built, "ExitAccepted", "neg/judge")
    assert judged < _seq(built, "GitEnded", "neg/publish")


@pytest.mark.req("V-005", "V-098")
def test_conversations_are_forked_from_the_planner_and_never_shared(built: Home) -> None:
    """D29: tests and impl are two forks of the scaffold; D27: a review goes on with the tests."""
    sessions = {fact["effect"]: fact["session"] for fact in built.facts("ExitAccepted")}
    asked = {name: built.request(f"add/{name}#1") for name in ("scaffold", "write_tests", "impl")}
    planner = sessions["add/scaffold#1/agent/planner/0"]
    assert asked["write_tests"]["fork"] == asked["impl"]["fork"] == planner
    assert asked["scaffold"]["fork"] == ""
    tests = sessions["add/write_tests#1/agent/tests/0"]
    assert built.request("add/review#1")["resume"] == tests
    assert tests != sessions["add/impl#1/agent/impl/0"]
    judge = built.request("add/judge#1")
    # The parent's author of tests was still writing, so there was nothing to begin from but that.
    assert judge["resume"] is None
    assert built.request("neg/judge#1")["fork"] == sessions["write_tests#1/agent/tests/0"]


@pytest.mark.req("V-068", "V-071")
def test_a_sibling_is_brought_up_to_date_between_two_states_and_without_an_agent(
    built: Home,
) -> None:
    """D16: at the next boundary, then what was due; D18: by git; D19: two merges, one update."""
    assert built.entered("mul").count("update") == built.entered("neg").count("update") == 1
    after = built.entered("neg")[built.entered("neg").index("update") + 1]
    assert after == "review"
    assert "rebase" not in built.entered("mul") + built.entered("neg")
    assert "hold:worktree:neg" in built.uses("neg/update#1")
    archived = built.log("refs/porch/archive/porch/v3_calc.neg")
    assert archived[:5] == [
        "impl(neg): TestsPassed",
        "test(neg): what must hold",
        "scaffold(neg): InitWork",
        "feat(mul): implement",
        "feat(add): implement",
    ]


def test_nothing_is_left_standing_and_nothing_is_lost(built: Home) -> None:
    """D49: worktrees are removed, heads of branches are kept under refs/porch/archive."""
    assert built.worktrees() == []
    assert built.refs("refs/heads") == ["refs/heads/main"]
    names = [f"{BRANCH}{name}" for name in ("", ".add", ".mul", ".neg")]
    kept = [f"refs/porch/archive/{n}{end}" for n in names for end in ("", "--tests")]
    assert sorted(built.refs("refs/porch/archive")) == sorted(kept)
    assert built.refs("refs/porch/entry") == []


def test_every_instance_worked_in_worktrees_of_its_own(built: Home) -> None:
    """D20: one for the branch, one for its tests."""
    where = {
        position: built.prompt(f"{position}#1").partition("You work in `")[2].partition("`")[0]
        for position in ("add/impl", "mul/impl", "add/write_tests", "impl")
    }
    assert len(set(where.values())) == len(where)
    assert where["add/write_tests"] == f"{where['add/impl']}--tests"


def test_the_tree_is_shown_with_branches_and_outcomes(built: Home) -> None:
    lines = built.porch("status", "calc", "--tree").out.splitlines()
    assert lines[0].startswith("calc  merged")
    assert [line.split()[1:3] for line in lines[2::2]] == [
        ["add", "merged"],
        ["mul", "merged"],
        ["neg", "merged"],
    ]
    assert any("porch/v3_calc.mul" in line for line in lines)
