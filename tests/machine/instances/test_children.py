"""Children of an instance: begun, limited, told of a new plan, failed, cancelled, done again."""

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.instances import children
from porch.machine.instances.child_specs import find_plan_problems
from porch.machine.payload_equality import digest_payload
from porch.model import protocol as p
from tests.machine.instances.conftest import spec

if TYPE_CHECKING:
    from tests.machine.instances.conftest import Grove


def room(grove: "Grove", instance: str) -> Any:
    return grove.request(instance, "scaffold").values["children"]


def with_room_for(protocol: p.Protocol, instances: int) -> p.Protocol:
    known = protocol.states["children"]
    assert isinstance(known.actor, p.Children)
    fewer = replace(known, actor=replace(known.actor, instances=instances))
    return replace(protocol, states={**protocol.states, "children": fewer})


def plan_problems(grove: "Grove", *specs: Any) -> list[str]:
    planned = {"childSpecs": list(specs)}
    return find_plan_problems(grove.protocol, grove.state, "", "scaffold.InitWork", planned)


def test_each_child_has_its_own_branch_beside_the_others_and_merges_into_its_parents(
    v3: "Grove",
) -> None:
    """D47: names joined by dots, since `a` and `a/b` cannot both be branches."""
    v3.plan("", "a")
    v3.plan("a", "x")
    assert (v3.of("a").branch, v3.of("a").target) == ("b.a", "b")
    assert (v3.of("a.x").branch, v3.of("a.x").target) == ("b.a.x", "b.a")
    assert v3.of("a.x").parent == "a"


def test_a_child_gets_what_its_parent_wrote_for_it(v3: "Grove") -> None:
    """D37, D54: criteria as a list, constraints inherited, interfaces handed on."""
    given = [{"path": "src/api.py", "exports": ["f"]}]
    v3.plan("", "a", interfaces=given)
    seen = v3.request("a", "scaffold").values
    assert seen["spec"]["id"] == "a"
    assert "complexityConstraints" in seen["spec"]
    context = seen["parentContext"]
    assert context["assignedCriteria"] == [{"id": "a-1", "text": "a works"}]
    assert (context["interface"], context["interfaces"]) == ("src/api.py", given)
    assert v3.request("", "write_tests").values["scaffold"]["interfaces"] == given


def test_a_root_has_no_parent_context(v3: "Grove") -> None:
    assert v3.request("", "scaffold").values["parentContext"] is None


@pytest.mark.parametrize("none", [None, []])
def test_a_plan_without_children_waits_for_nobody(v3: "Grove", none: object) -> None:
    """D52: an empty list means the same as none."""
    v3.says("", "scaffold", "InitWork", childSpecs=none)
    assert v3.at() == {"write_tests", "contract", "ready"}
    assert v3.recall("", "children.settled") == {"merged": [], "failed": [], "cancelled": []}
    assert list(v3.state.instances) == [""]


def test_depth_and_width_are_limited_and_the_planner_is_told(v3: "Grove") -> None:
    """D39: at the limit children are not offered at all."""
    assert room(v3, "") == {"allowed": True, "most": 5}
    v3.plan("", "a")
    assert room(v3, "a") == {"allowed": True, "most": 5}
    v3.plan("a", "x")
    assert room(v3, "a.x") == {"allowed": False, "most": 0}


def test_all_instances_of_a_run_are_limited_together(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """D39: 25 of them, however they are spread."""
    v3 = grove_of(v3_protocol, slots=30).start()
    v3.plan("", *"abcde")
    for name in "abcd":
        v3.plan(name, *"vwxyz"[: 5 if name != "d" else 3])
    assert len(v3.state.instances) == 24
    assert room(v3, "e") == {"allowed": True, "most": 1}
    v3.plan("e", "x")
    v3.says("", "write_tests", "InvalidScaffold")
    assert len(v3.state.instances) == 25
    assert room(v3, "") == {"allowed": True, "most": 5}, "it may keep those that it has"
    v3.goes("d.v")
    v3.says("d", "write_tests", "InvalidScaffold")
    assert room(v3, "d") == {"allowed": True, "most": 3}
    v3.plan("d", "v", "w", "x")
    assert len(v3.state.instances) == 25


def test_the_places_of_children_that_are_there_are_not_for_new_ones(
    v3_protocol: p.Protocol, grove_of: "type[Grove]"
) -> None:
    """D39: a plan that names others instead would begin more instances than a run may have."""
    criteria = [each for name in "abcd" for each in spec(name)["acceptanceCriteria"]]
    fewer = with_room_for(v3_protocol, 4)
    v3 = grove_of(fewer, slots=30).start_with(spec(acceptanceCriteria=criteria))
    v3.plan("", "a", "b", "c")
    v3.goes("b")
    v3.says("", "write_tests", "InvalidScaffold")
    assert room(v3, "") == {"allowed": True, "most": 3}
    assert plan_problems(v3, spec("a"), spec("b")) == []
    assert plan_problems(v3, spec("a"), spec("d")) == [
        (
            "'d': the run has 4 of at most 4 instances, so no more can begin; "
            "give this work to children that are there, or do it without children"
        )
    ]
    changed = {**spec("b"), "description": "another"}
    assert plan_problems(v3, changed) == [
        (
            "'b': the run has 4 of at most 4 instances, so no more can begin; "
            "give this work to children that are there, or do it without children"
        )
    ]


def test_a_protocol_that_spawns_nobody_offers_no_children(v3_protocol: p.Protocol) -> None:
    from porch.machine.path_values import engine_value
    from porch.machine.state import RunState

    lonely = p.Protocol("x", p.Target("s"), {"s": v3_protocol.states["merged"]}, ())
    assert engine_value(lonely, RunState(), "", "children") == {"allowed": False, "most": 0}


def test_a_new_plan_keeps_tells_cancels_and_begins(v3: "Grove") -> None:
    """D06: same spec goes on, changed is told, missing is cancelled, new is started."""
    v3.plan("", "same", "changed", "missing")
    for name in ("same", "changed", "missing"):
        v3.goes(name, "impl")
    v3.says("", "write_tests", "InvalidScaffold")
    assert v3.at("same") == v3.at("changed") == v3.at("missing") == {"impl"}
    other = v3.spec("changed", description="otherwise")
    record = v3.plan("", "same", other, "new")
    assert v3.at("same") == {"impl"}
    assert v3.at("changed") == {"scaffold"}
    assert v3.at("new") == {"scaffold"}
    assert v3.of("missing").outcome == "abandoned"
    assert v3.of("changed").spec["description"] == "otherwise"
    told = v3.request("changed", "scaffold").values
    assert told["revision"]["kind"] == "respecified"
    assert told["revision"]["payload"]["spec"]["description"] == "otherwise"
    assert not [x for x in record.moves if isinstance(x, m.Left) and x.position.startswith("same")]
    v3.let_go()
    for name in ("same", "changed", "new"):
        v3.goes(name)
    settled = v3.recall("", "children.settled")
    assert len(settled["merged"]) == 3
    assert settled["cancelled"] == []


def test_a_child_whose_text_lies_in_the_store_is_the_same_child(v3: "Grove") -> None:
    """A long description travels inside a small record and outside of a large one."""
    long = "very " * 200
    v3.plan("", v3.spec("a", description=long))
    v3.goes("a", "impl")
    v3.says("", "write_tests", "InvalidScaffold")
    stored = {"$sha256": _sha256(long), "size": len(long), "clip": long[:9]}
    v3.plan("", v3.spec("a", description=stored))
    assert v3.at("a") == {"impl"}
    assert (
        digest_payload({"x": [long, 1]})
        == digest_payload({"x": (stored, 1)})
        != digest_payload({"x": [long, 2]})
    )


def _sha256(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


def test_what_a_child_was_told_is_newer_than_what_had_come_back_to_it(v3: "Grove") -> None:
    v3.plan("", "a")
    v3.plan("a")
    v3.says("a", "write_tests", "InvalidScaffold")
    v3.says("", "write_tests", "InvalidScaffold")
    assert v3.request("a", "scaffold").values["revision"]["kind"] == "InvalidScaffold"
    v3.plan("", v3.spec("a", description="otherwise"))
    assert v3.request("a", "scaffold").values["revision"]["kind"] == "respecified"
    v3.let_go()
    v3.plan("a")
    v3.says("a", "write_tests", "InvalidScaffold")
    assert v3.request("a", "scaffold").values["revision"]["kind"] == "InvalidScaffold"


def test_a_told_child_may_answer_as_before_and_gets_its_budgets_back(v3: "Grove") -> None:
    """D08 is about an unchanged question; this one has changed."""
    v3.plan("", "a")
    v3.says("a", "scaffold", "ClarificationNeeded")
    v3.says("a", "answer", "Answered")
    v3.says("a", "scaffold", "InitWork", tree="t")
    assert v3.state.spent["a/questions"] == 1
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", v3.spec("a", description="otherwise"))
    assert v3.state.spent["a/questions"] == 0
    v3.let_go()
    v3.says("a", "scaffold", "InitWork", tree="t")
    assert "write_tests" in v3.at("a")


def test_a_told_child_keeps_its_own_children_until_it_has_planned(v3: "Grove") -> None:
    v3.plan("", "a")
    v3.plan("a", "x", "y")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", v3.spec("a", description="otherwise"))
    v3.let_go()
    assert v3.at("a.x") == {"scaffold"}
    v3.plan("a", "x")
    assert v3.at("a.x") == {"scaffold"}
    assert v3.of("a.y").outcome == "abandoned"


def test_cancelling_a_child_cancels_all_below_it_and_stops_their_work(v3: "Grove") -> None:
    v3.plan("", "a", "ab")
    v3.plan("a", "x", "y")
    v3.goes("a.x")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", "ab")
    assert (v3.of("a").outcome, v3.of("a.y").outcome) == ("abandoned", "abandoned")
    assert v3.of("a.x").outcome == "complete", "what has merged stays merged"
    assert v3.of("ab").outcome == "", "a name that begins alike is no descendant"
    stopped = {v3.state.in_hand[effect].position for effect in v3.queue.unwanted}
    assert any(position.startswith("a.y/") for position in stopped)
    v3.let_go()
    assert not [h for h in v3.state.in_hand.values() if h.position.startswith("a")][1:]


def test_a_cancelled_child_that_is_planned_again_begins_anew(v3: "Grove") -> None:
    v3.plan("", "a")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.let_go()
    v3.plan("", "a")
    assert v3.of("a").outcome == "abandoned"
    assert v3.at("a-r2") == {"scaffold"}
    assert v3.of("a-r2").revision == {
        "kind": "rework",
        "payload": {"outcome": "abandoned", "why": {}},
    }


@pytest.mark.req("V-089")
def test_a_failed_child_goes_back_to_the_planner_with_its_spec_and_why(family: "Grove") -> None:
    """D13, D40: nothing of a spec is dropped silently."""
    family.goes("b", "impl")
    family.says("b", "impl", "Stuck", diagnosis="cannot")
    for name in "ac":
        family.goes(name)
    assert family.at() == {"scaffold"}
    assert family.state.spent["epochs"] == 1
    revision = family.request("", "scaffold").values["revision"]
    assert revision["kind"] == "settled"
    [failed] = revision["payload"]["failed"]
    assert failed["id"] == "b"
    assert failed["spec"]["acceptanceCriteria"] == [{"id": "b-1", "text": "b works"}]
    assert failed["why"]["payload"]["diagnosis"] == "cannot"
    assert len(revision["payload"]["merged"]) == 2
    family.plan("", "a", "b", "c")
    assert family.at("b-r2") == {"scaffold"}
    assert family.of("b").outcome == "failed"
    told = family.request("b-r2", "scaffold").values["revision"]
    assert told["kind"] == "rework"
    assert told["payload"]["outcome"] == "failed"
    assert told["payload"]["why"]["payload"]["diagnosis"] == "cannot"
    assert family.of("b-r2").branch == "b.b-r2"


def test_what_came_of_the_last_plan_is_void_after_the_next(family: "Grove") -> None:
    """D06: approvals, critiques and the settled children of before."""
    family.goes("b", "impl")
    family.says("b", "impl", "Stuck")
    for name in "ac":
        family.goes(name)
    family.plan("", "a", "c")
    assert family.recall("", "write_tests.TestsReady") is None
    assert family.at() == {"write_tests", "contract", "ready"}
    assert family.request("", "contract").op == "contract"


def test_what_has_merged_is_never_revived(v3: "Grove") -> None:
    """D38: the branch was squashed; other work begins from where its target is now."""
    v3.plan("", "a", "b")
    v3.goes("a")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", v3.spec("a", description="more of it"), "b")
    assert v3.of("a").outcome == "complete"
    assert v3.at("a") == set()
    assert v3.at("a-r2") == {"scaffold"}
    assert v3.of("a-r2").revision["payload"]["outcome"] == "complete"  # type: ignore[index]


def test_two_children_never_get_one_name(v3: "Grove") -> None:
    """D47: a second try is named after the first, and the planner may have thought of the same."""
    v3.plan("", "a", "b")
    v3.goes("b", "impl")
    v3.goes("a", "impl")
    v3.says("a", "impl", "Stuck")
    v3.says("b", "impl", "Stuck")
    v3.plan("", "a", "a-r2")
    assert v3.state.instances.keys() == {"", "a", "b", "a-r2", "a-r2-r2"}
    assert (v3.of("a-r2").key, v3.of("a-r2-r2").key) == ("a", "a-r2")
    assert v3.of("a-r2").branch != v3.of("a-r2-r2").branch


@pytest.mark.req("V-099", "V-100")
def test_a_contract_that_fails_starts_a_rework_of_the_child_it_blames(v3: "Grove") -> None:
    """D38: never revived; the same spec from the parent's head, with what failed."""
    v3.plan("", "a", "b")
    v3.says("", "write_tests", "TestsReady")
    v3.git("", "integrate")
    v3.goes("a")
    v3.goes("b")
    v3.git("", "contract", "refused", children=["a"], report="test_a is red")
    assert v3.at() == {"children", "ready"}
    assert v3.at("a-r2") == {"scaffold"}
    assert v3.of("a-r2").spec == v3.of("a").spec
    told = v3.request("a-r2", "scaffold").values["revision"]
    assert told["kind"] == "rework"
    assert told["payload"]["why"]["report"] == "test_a is red"
    v3.goes("a-r2")
    assert v3.at() == {"contract", "ready"}
    assert [each["author"] for each in v3.recall("", "children.settled")["merged"]] == ["", ""]
    v3.git("", "contract")
    assert v3.at() == {"impl"}
    assert v3.state.spent["reworks"] == 1


def test_a_rework_does_not_stumble_over_children_of_an_older_plan(v3: "Grove") -> None:
    v3.plan("", "a", "b")
    v3.goes("b", "impl")
    v3.says("b", "impl", "Stuck")
    v3.goes("a")
    assert v3.at() == {"scaffold"}
    v3.plan("", "a")
    v3.git("", "contract", "refused", children=["a"])
    v3.goes("a-r2")
    assert v3.recall("", "children.settled")["failed"] == []
    assert "contract" in v3.at()


def test_a_merged_child_of_an_older_plan_is_done_again_when_it_fails(v3: "Grove") -> None:
    v3.plan("", "a", "b")
    v3.goes("a")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", "b")
    v3.goes("b")
    v3.git("", "contract", "refused", children=["a", "nobody"])
    assert v3.at("a-r2") == {"scaffold"}
    v3.goes("a-r2")
    assert len(v3.recall("", "children.settled")["merged"]) == 2


def test_reworks_are_bounded(v3: "Grove") -> None:
    v3.plan("", "a")
    v3.says("", "write_tests", "TestsReady")
    v3.git("", "integrate")
    v3.goes("a")
    for number in (2, 3, 4):
        v3.git("", "contract", "refused", children=["a"])
        v3.goes(f"a-r{number}")
    v3.git("", "contract", "refused", children=["a"])
    assert "person" in v3.at()


def test_a_contract_that_cannot_be_measured_asks_a_person(v3: "Grove") -> None:
    v3.plan()
    v3.git("", "contract", "conflict")
    assert "person" in v3.at()


def test_the_end_of_the_root_is_the_end_of_everybody(v3: "Grove") -> None:
    v3.plan("", "a", "b")
    v3.plan("a", "x")
    v3.tell(f.EffectFailed(effect=v3.held("", "write_tests"), why="gone", hopeless=True))
    assert "person" in v3.at()
    v3.decide("", "person", "stopped")
    assert v3.state.outcome == "failed"
    assert not v3.state.positions
    assert {name: known.outcome for name, known in v3.state.instances.items()} == {
        "": "failed",
        "a": "abandoned",
        "b": "abandoned",
        "a.x": "abandoned",
    }
    v3.let_go()
    assert not v3.state.in_hand
    assert v3.replayed() == v3.state


def test_outcomes_of_a_cancelled_child_name_it(v3: "Grove") -> None:
    v3.plan("", "a", "b")
    v3.goes("a")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("", "a")
    assert children.summarise_outcomes(v3.state, ["a", "b"])["cancelled"] == ["b"]


def test_a_child_that_fails_while_the_planner_plans_is_told_at_the_end_of_the_plan(
    v3: "Grove",
) -> None:
    """D06: children run on meanwhile; what they come to is not lost."""
    v3.plan("", "a")
    v3.goes("a", "impl")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.says("a", "impl", "Stuck")
    assert v3.at() == {"scaffold"}
    v3.plan("", "a")
    assert v3.at("a-r2") == {"scaffold"}
    assert v3.of("a-r2").revision["payload"]["why"]["kind"] == "Stuck"  # type: ignore[index]


def test_a_late_answer_of_a_cancelled_child_moves_nothing(v3: "Grove") -> None:
    v3.plan("", "a")
    effect = v3.held("a", "scaffold")
    v3.says("", "write_tests", "InvalidScaffold")
    v3.plan("")
    record = v3.tell(
        f.ExitAccepted(effect=effect, exit="InitWork", payload={"childSpecs": [v3.spec("z")]})
    )
    assert [type(move) for move in record.moves] == [m.Settled]
    assert "z" not in v3.state.instances


@pytest.mark.req("V-098")
def test_the_siblings_that_a_judge_sees_are_those_that_have_merged(family: "Grove") -> None:
    """D35: it also judges how parts fit together."""
    family.goes("a")
    family.goes("b", "judge")
    [sibling] = family.request("b", "judge").values["siblings"]
    assert sibling["impactLevel"] == "Additive"
