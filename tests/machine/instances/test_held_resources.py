"""What stays with an instance from state to state: the head of a merge queue, a worktree."""

from typing import TYPE_CHECKING

import pytest

from porch.machine import effects as e
from porch.machine import facts as f
from porch.model import protocol as p
from porch.run.engine.queue import EffectQueue

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove

HEAD = "hold:branch:b"


def holder(grove: "Grove", resource: str = HEAD) -> str:
    return grove.state.held.get(resource, "").partition("#")[0]


@pytest.mark.req("V-106")
def test_merges_into_one_branch_happen_one_at_a_time_in_the_order_of_asking(
    family: "Grove",
) -> None:
    """D33, D50: first come, first served; nobody has priority."""
    for name in "cab":
        family.goes(name, "candidate")
    assert [name for name in "abc" if family.runs(name, "candidate")] == ["c"]
    merged: list[str] = []
    for _ in range(3):
        [name] = [n for n in "abc" if family.runs(n, "candidate")]
        for state in ("merger", "judge", "publish"):
            family.goes(name, state)
            assert holder(family) == f"{name}/{state}"
            others = [n for n in "abc" if n not in (name, *merged)]
            assert not [n for n in others if family.runs(n, "candidate")]
        family.goes(name)
        merged.append(name)
    assert merged == ["c", "a", "b"]
    assert holder(family) == ""


def test_merges_into_different_branches_do_not_wait_for_each_other(v3: "Grove") -> None:
    v3.plan("", "a", "b")
    v3.plan("a", "x")
    v3.goes("a.x", "candidate")
    v3.goes("b", "candidate")
    assert v3.runs("a.x", "candidate")
    assert v3.runs("b", "candidate")


def test_nobody_merges_while_the_planner_of_the_target_plans(v3: "Grove") -> None:
    """D06: merges are frozen until the new plan stands; children run on otherwise."""
    v3.plan("", "a", "b")
    v3.goes("a", "review")
    v3.says("", "write_tests", "InvalidScaffold")
    assert holder(v3) == "scaffold"
    v3.says("a", "review", "Approved")
    assert v3.at("a") == {"candidate"}
    assert not v3.runs("a", "candidate")
    v3.goes("b", "candidate")
    v3.plan("", "a", "b")
    assert v3.runs("a", "candidate")
    assert not v3.runs("b", "candidate")


def test_a_planner_waits_for_a_merge_in_flight(v3: "Grove") -> None:
    """D06: a publish in flight is let finish."""
    v3.plan("", "a", "b")
    v3.goes("a", "merger")
    v3.says("", "write_tests", "InvalidScaffold")
    assert not v3.runs("", "scaffold")
    v3.goes("b", "candidate")
    v3.goes("a")
    assert v3.runs("", "scaffold"), "it had asked before the next one did"
    assert not v3.runs("b", "candidate")


@pytest.mark.parametrize("state", ["merger", "judge"])
def test_who_is_sent_back_lets_the_next_one_merge(family: "Grove", state: str) -> None:
    family.goes("a", state)
    family.goes("b", "candidate")
    assert not family.runs("b", "candidate")
    family.says("a", state, {"merger": "MergeRejected", "judge": "Rejected"}[state])
    assert family.at("a") == {"impl"}
    assert family.runs("b", "candidate")


@pytest.mark.parametrize("state", ["candidate", "merger", "judge"])
def test_who_fails_lets_the_next_one_merge(family: "Grove", state: str) -> None:
    for _ in range(3 if state == "candidate" else 0):
        family.goes("a", "candidate")
        family.git("a", "candidate", "refused")
    family.goes("a", state)
    family.goes("b", "candidate")
    assert not family.runs("b", "candidate")
    if state == "candidate":
        family.git("a", "candidate", "refused")
    else:
        family.tell(f.EffectFailed(effect=family.held("a", state), why="gone", hopeless=True))
    assert family.of("a").outcome == "failed"
    assert family.runs("b", "candidate")


def test_who_is_cancelled_in_the_middle_of_a_merge_holds_nothing(v3: "Grove") -> None:
    v3.plan("", "a", "b")
    v3.plan("a", "x", "y")
    v3.goes("a.x", "merger")
    v3.goes("a.y", "candidate")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", v3.spec("a", description="otherwise"), "b")
    assert not v3.runs("a", "scaffold"), "a child of `a` is merging into it"
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", "b")
    assert not any(name.startswith("hold:branch:b.a") for name in v3.state.held)
    v3.let_go()
    assert not [h for h in v3.state.in_hand.values() if h.position.startswith("a.")]


def test_a_lost_swap_is_built_anew_without_losing_its_place(family: "Grove") -> None:
    """D33."""
    family.goes("a", "publish")
    family.goes("b", "candidate")
    family.git("a", "publish", "conflict")
    assert family.at("a") == {"candidate"}
    assert holder(family) == "a/candidate"
    assert not family.runs("b", "candidate")


def test_the_end_of_the_run_holds_nothing(v3: "Grove") -> None:
    v3.goes("")
    assert v3.state.held == {}
    assert v3.state.in_hand == {}


def test_a_worktree_in_the_middle_of_an_update_stays_with_its_instance(family: "Grove") -> None:
    """D16, D17: nobody works in a half merged tree but the one who is to finish it."""
    family.goes("b", "impl")
    family.goes("a")
    family.says("b", "impl", "TestsPassed")
    tree = "hold:worktree:b"
    assert holder(family, tree) == "b/update"
    family.git("b", "update", "conflict")
    assert holder(family, tree) == "b/rebase"
    family.says("b", "rebase", "RebaseClean")
    assert holder(family, tree) == ""


def test_tests_and_implementation_have_worktrees_of_their_own(family: "Grove") -> None:
    """D20: one branch cannot be checked out twice."""
    assert "hold:worktree:a" in family.request("a", "scaffold").uses
    family.plan("a")
    assert "hold:worktree:a--tests" in family.request("a", "write_tests").uses
    family.goes("a", "impl")
    assert "hold:worktree:a" in family.request("a", "impl").uses
    family.goes("a", "review")
    assert not [name for name in family.request("a", "review").uses if "worktree" in name]


def test_publishing_a_child_needs_the_worktree_of_its_parent(family: "Grove") -> None:
    """Its files are moved along with the branch."""
    family.goes("a", "publish")
    assert "hold:worktree:" in family.request("a", "publish").uses
    family.goes("a")
    family.goes("b")
    family.goes("c")
    family.goes("", "publish")
    assert family.request("", "publish").uses == ("hold:branch:main",)


def test_a_try_that_failed_keeps_its_place_while_it_waits(family: "Grove") -> None:
    """D43: a crash of an agent is no reason to lose one's turn."""
    family.goes("a", "merger")
    family.goes("b", "candidate")
    family.tell(f.EffectFailed(effect=family.held("a", "merger"), why="crashed"))
    assert holder(family) == "a/merger"
    assert not family.runs("b", "candidate")
    family.tell(f.TimerFired(effect=family.held("a", "merger")))
    assert family.runs("a", "merger")
    family.goes("a")
    assert family.runs("b", "candidate")


def test_a_stopped_run_keeps_what_was_held_and_another_runner_respects_it(
    family: "Grove", v3_protocol: p.Protocol
) -> None:
    family.goes("a", "merger")
    family.goes("b", "candidate")
    family.tell(f.WishTaken(wish=f.Wish(id="w-stop", kind="stop")))
    assert family.queue.unwanted
    family.let_go()
    assert not family.state.in_hand
    assert holder(family) == "a/merger"
    family.tell(f.WishTaken(wish=f.Wish(id="w-go", kind="resume")))
    assert family.runs("a", "merger")
    assert not family.runs("b", "candidate")
    other = EffectQueue({e.AGENT_SLOT: 9})
    other.load(v3_protocol, family.replayed())
    assert other.choose() == []
    family.goes("a")
    assert family.runs("b", "candidate")


def test_with_one_agent_at_a_time_everybody_gets_a_turn(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """D39: who waits holds no slot, so a pool cannot be deadlocked by its own children."""
    grove = grove_of(v3_protocol, slots=1).start()
    grove.plan("", "a", "b", "c")
    for _ in range(200):
        if grove.state.outcome:
            break
        hand = next(iter(grove.state.in_hand.values()))
        grove.ends_well(hand.position)
    assert grove.state.outcome == "complete"
    assert {known.outcome for known in grove.state.instances.values()} == {"complete"}
