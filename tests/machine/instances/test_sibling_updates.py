"""A sibling merged: who is told, when it is taken, and what goes on afterwards."""

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.exits.sibling_updates import target_moved_moves
from porch.machine.state import RunState, Standing
from porch.model import protocol as p

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove

T = p.Target


def told(grove: "Grove", instance: str) -> Any:
    update = grove.recall(instance, "engine.update")
    return update and update["newParentHead"]


def publishes(grove: "Grove", instance: str, head: str) -> None:
    grove.goes(instance, "publish")
    grove.git(instance, "publish", commit=head)


def with_edges(protocol: p.Protocol, *edges: p.Edge) -> p.Protocol:
    """The protocol with other ways for some exits."""
    named = {(edge.state, edge.exit) for edge in edges}
    rest = [edge for edge in protocol.edges if (edge.state, edge.exit) not in named]
    return replace(protocol, edges=(*edges, *rest))


def test_only_the_living_under_the_same_parent_are_told(family: "Grove") -> None:
    """D19: not the author, not the parent, not nephews, not who is over."""
    family.plan("b", "x")
    family.goes("c", "impl")
    family.says("c", "impl", "Stuck")
    publishes(family, "a", "h1")
    assert told(family, "b") == "h1"
    for other in ("", "a", "c", "b.x"):
        assert told(family, other) is None


def test_who_begins_later_needs_no_update(v3: "Grove") -> None:
    """D19: its base already holds what was merged."""
    v3.plan("", "a")
    publishes(v3, "a", "h1")
    v3.git("", "contract", "refused", children=["a"])
    assert told(v3, "a-r2") is None
    v3.goes("a-r2")
    assert "update" not in v3.entered("a-r2")


def test_of_several_merges_the_latest_is_taken_once(family: "Grove") -> None:
    """D19: five siblings must not cause five updates."""
    family.goes("c", "impl")
    publishes(family, "a", "h1")
    publishes(family, "b", "h2")
    assert told(family, "c") == "h2"
    family.says("c", "impl", "TestsPassed")
    assert family.request("c", "update").values["update"]["newParentHead"] == "h2"
    family.git("c", "update")
    assert family.at("c") == {"review"}
    assert family.entered("c").count("update") == 1
    assert told(family, "c") is None


def test_an_agent_at_work_is_not_disturbed(family: "Grove") -> None:
    """D16: it finishes its turn; the next boundary takes the update."""
    family.goes("b", "impl")
    effect = family.held("b", "impl")
    publishes(family, "a", "h1")
    assert family.at("b") == {"impl"}
    assert family.held("b", "impl") == effect
    family.says("b", "impl", "RequestRetry")
    assert family.at("b") == {"update"}
    family.git("b", "update")
    assert family.at("b") == {"impl"}
    assert family.request("b", "impl").values["attemptCount"] == 2


@pytest.mark.parametrize("state", ["impl", "review", "candidate"])
def test_what_was_due_goes_on_after_a_clean_update(family: "Grove", state: str) -> None:
    """D16, D12: an update that needed nobody leaves an approval as it is."""
    before = {"impl": "scaffold", "review": "impl", "candidate": "review"}[state]
    if before != "scaffold":
        family.goes("b", before)
    publishes(family, "a", "h1")
    family.goes("b", "update")
    assert family.recall("b", "engine.due") == {"state": state}
    family.git("b", "update")
    assert family.at("b") == {state}
    assert family.recall("b", "engine.due") is None


def test_tests_are_written_and_integrated_without_waiting_for_an_update(family: "Grove") -> None:
    family.plan("b")
    family.git("b", "contract")
    publishes(family, "a", "h1")
    family.says("b", "write_tests", "TestsReady")
    assert "integrate" in family.at("b")
    family.git("b", "integrate")
    assert family.at("b") == {"update"}


def test_who_waits_to_merge_builds_on_the_new_head_without_an_update(family: "Grove") -> None:
    """D33: its candidate is made from the target's head when its turn comes."""
    family.goes("a", "candidate")
    family.goes("b", "candidate")
    publishes(family, "a", "h1")
    assert told(family, "b") == "h1"
    family.goes("b")
    assert "update" not in family.entered("b")
    assert family.of("b").outcome == "complete"


@pytest.mark.parametrize("exit_", ["clean", "conflict"])
def test_a_second_merge_during_an_update_is_taken_before_what_was_due(
    family: "Grove", exit_: Any
) -> None:
    """D19: coalesced to the latest head, whoever finished the first update."""
    family.goes("c", "impl")
    publishes(family, "a", "h1")
    family.says("c", "impl", "TestsPassed")
    publishes(family, "b", "h2")
    family.git("c", "update", exit_, base="h1")
    if exit_ == "conflict":
        family.says("c", "rebase", "RebaseClean")
    assert family.at("c") == {"update"}
    assert family.request("c", "update").values["update"]["newParentHead"] == "h2"
    family.git("c", "update")
    assert family.at("c") == {"review"}


def test_an_update_that_was_given_up_is_tried_again_at_the_next_boundary(family: "Grove") -> None:
    """D17: the conflict went to Impl, who now has what it needs to know."""
    family.goes("b", "impl")
    publishes(family, "a", "h1")
    family.says("b", "impl", "TestsPassed")
    family.git("b", "update", "conflict")
    family.says("b", "rebase", "RebaseConflict", conflictFile="src/b/x.py")
    assert family.at("b") == {"impl"}
    assert told(family, "b") == "h1"
    assert family.recall("b", "engine.due") is None
    family.says("b", "impl", "TestsPassed")
    assert family.at("b") == {"update"}
    family.git("b", "update")
    assert family.at("b") == {"review"}


def test_an_update_given_up_for_a_new_plan_comes_before_the_next_impl(family: "Grove") -> None:
    """D17."""
    family.goes("b", "impl")
    publishes(family, "a", "h1")
    family.says("b", "impl", "TestsPassed")
    family.git("b", "update", "conflict", files=["src/api.py"])
    family.says("b", "rebase", "RebaseConflict", conflictFile="src/api.py")
    assert family.at("b") == {"scaffold"}
    family.goes("b", "update")
    family.git("b", "update")
    assert family.at("b") == {"impl"}


@pytest.mark.parametrize("exit_", ["RebaseClean", "RebaseAdapted"])
def test_content_that_an_agent_adapted_after_its_approval_is_reviewed_again(
    family: "Grove", exit_: str
) -> None:
    """D12: approval is bound to what was reviewed."""
    family.goes("b", "review")
    publishes(family, "a", "h1")
    family.says("b", "review", "Approved")
    family.git("b", "update", "conflict")
    family.says("b", "rebase", exit_)
    assert family.at("b") == {"review"}


def test_a_rebaser_sees_the_event_and_the_trouble(family: "Grove") -> None:
    """D54: the engine adds the head of the parent, which the event lacks."""
    family.goes("b", "impl")
    publishes(family, "a", "h1")
    family.says("b", "impl", "TestsPassed")
    family.git("b", "update", "refused", report="test_x is red")
    seen = family.request("b", "rebase").values
    assert (seen["newParentHead"], seen["parentBranch"]) == ("h1", "b")
    assert seen["mergeEvent"]["impactLevel"] == "Additive"
    assert seen["trouble"] == {
        "kind": "refused",
        "payload": {
            "base": "h1",
            "kind": "regression",
            "files": ["src/x.py"],
            "report": "test_x is red",
        },
    }


def test_a_child_that_is_told_a_new_spec_during_its_update_forgets_what_was_due(
    v3: "Grove",
) -> None:
    v3.plan("", "a", "b")
    v3.goes("b", "impl")
    publishes(v3, "a", "h1")
    v3.says("b", "impl", "TestsPassed")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", "a", v3.spec("b", description="otherwise"))
    v3.let_go()
    assert v3.at("b") == {"scaffold"}
    v3.plan("b")
    assert v3.recall("b", "engine.due") is None
    v3.goes("b", "update")
    v3.git("b", "update")
    assert v3.at("b") == {"impl"}


def test_a_rebaser_that_cannot_be_had_ends_the_child(family: "Grove") -> None:
    family.goes("b", "impl")
    publishes(family, "a", "h1")
    family.says("b", "impl", "TestsPassed")
    family.git("b", "update", "conflict")
    family.tell(f.EffectFailed(effect=family.held("b", "rebase"), why="gone", hopeless=True))
    assert family.of("b").outcome == "failed"


def test_several_states_in_a_row_may_deal_with_an_update(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    longer = with_edges(
        v3_protocol,
        p.Edge("rebase", "RebaseAdapted", (T("answer"),)),
        p.Edge("answer", "Answered", (T(is_due=True),)),
    )
    grove = grove_of(longer).start()
    grove.plan("", "a", "b")
    grove.goes("b", "impl")
    publishes(grove, "a", "h1")
    grove.says("b", "impl", "TestsPassed")
    grove.git("b", "update", "conflict")
    grove.says("b", "rebase", "RebaseAdapted")
    assert grove.recall("b", "engine.due") == {"state": "review"}
    grove.says("b", "answer", "Answered")
    assert grove.at("b") == {"review"}


def test_going_on_with_what_was_due_where_nothing_was_ends_as_a_deadlock(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """D15: better a failure that says so than a crash or a silence."""
    odd = with_edges(v3_protocol, p.Edge("impl", "SpecAmbiguity", (T(is_due=True),)))
    grove = grove_of(odd).start().goes("", "impl")
    grove.says("", "impl", "SpecAmbiguity")
    assert grove.of("").why == {"kind": "Deadlock", "payload": {"waits": {}}}
    assert grove.state.outcome == "failed"


def test_without_an_interrupt_nobody_is_told(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    quiet = replace(v3_protocol, interrupt=None)
    grove = grove_of(quiet).start()
    grove.plan("", "a", "b")
    grove.goes("a")
    assert not [move for move in grove.moved(m.Remembered) if move.path == "engine.update"]
    assert grove.of("a").merged == {"id": "a"}
    grove.goes("b")
    assert "update" not in grove.entered("b")


def moved_target(v3: "Grove", head: str, instance: str = "", state: str = "impl") -> None:
    """The end of an agent's work, at which the target has a head that the branch lacks."""
    v3.tell(
        f.ExitAccepted(
            effect=v3.held(instance, state),
            exit="TestsPassed",
            payload={"commitHash": "c", "iterations": 1, "passedTests": []},
            tree=f"t{head}",
            target_head=head,
        )
    )


def test_t1_a_target_that_moved_is_taken_before_the_next_state_of_the_root(v3: "Grove") -> None:
    v3.plan()
    v3.goes("", "impl")
    moved_target(v3, "h2")
    assert v3.at() == {"update"}
    event = v3.recall("", "engine.update")
    assert event == {
        "mergeCommit": "h2",
        "author": "main",
        "impactLevel": "Breaking",
        "changes": [],
        "newParentHead": "h2",
    }
    v3.git("", "update", base="h2")
    assert v3.at() == {"review"}
    assert v3.recall("", "engine.update") is None


def test_t1_the_same_move_is_told_once_and_a_newer_one_replaces_it(v3: "Grove") -> None:
    v3.plan()
    v3.goes("", "impl")
    told = target_moved_moves(v3.protocol, v3.state, standing(v3), "h2")
    assert len(told) == 1
    moved_target(v3, "h2")
    assert target_moved_moves(v3.protocol, v3.state, standing(v3), "h2") == ()
    assert len(target_moved_moves(v3.protocol, v3.state, standing(v3), "h3")) == 1


def test_t1_members_below_and_graphs_without_updates_hear_of_no_target(family: "Grove") -> None:
    family.plan("a")
    family.goes("a", "impl")
    moved_target(family, "h2", "a")
    assert family.at("a") == {"review"}
    lonely = replace(family.protocol, interrupt=None)
    assert target_moved_moves(lonely, family.state, standing(family), "h2") == ()
    assert target_moved_moves(family.protocol, RunState(), standing(family), "h2") == ()
    assert target_moved_moves(family.protocol, family.state, standing(family), "") == ()


def test_t1_an_event_that_no_agent_describes_says_only_where_the_target_is(v3: "Grove") -> None:
    known = v3.protocol.interrupt
    assert known is not None
    for event in ("publish.clean", "merger.nothing"):
        odd = replace(v3.protocol, interrupt=replace(known, event=event))
        (move,) = target_moved_moves(odd, v3.state, standing(v3), "h2")
        assert isinstance(move, m.Remembered)
        assert move.payload == {"newParentHead": "h2"}


def standing(grove: "Grove") -> Standing:
    return next(each for each in grove.state.positions.values() if not each.instance)
