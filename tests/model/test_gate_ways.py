"""A way around a gate is found in any protocol, whichever dialect it came from."""

from typing import Any

from porch.errors import Finding, Place
from porch.model import protocol as p
from porch.model.gate_ways import FINISH, find_unapproved_merge, find_ways_around_gates
from porch.model.protocol_parts import Interrupt, Part

GATE = p.Human("gate", "look", "Look", (p.Option("approved", "on"), p.Option("rejected", "back")))
FAILURE = p.Human("failure", "help", "Help", (p.Option("retry", "again"), p.Option("skip", "on")))
PLACES = {"work.FAST": Place("p.json", 3, 7), "late": Place("p.json", 9, 1)}


def graph(*ways: str, start: str = "work", **more: Any) -> p.Protocol:
    """`work.DONE>gate`: an exit of a state and where it leads; names say who works there."""
    edges = [
        p.Edge(source, exit_name, tuple(p.Target(name) for name in targets.split()))
        for way, _, targets in (way.partition(">") for way in ways)
        for source, _, exit_name in (way.partition("."),)
    ]
    names = [n for e in edges for n in (e.state, *(t.state for t in e.targets))]
    states = {name: p.State(name, name, actor(name)) for name in dict.fromkeys(names)}
    states |= more.pop("states", {})
    edges += more.pop("edges", ())
    return p.Protocol("p", p.Target(start), states, tuple(edges), **more)


def actor(name: str) -> p.Actor:
    if name.endswith("gate"):
        return GATE
    if name in ("end", "lost"):
        return p.End("complete" if name == "end" else "failed")
    return FAILURE if name == "help" else p.Agent(name)


def found(protocol: p.Protocol) -> list[Finding]:
    return list(find_ways_around_gates(protocol, PLACES))


STRAIGHT = ("work.DONE>gate", "gate.approved>late", "gate.rejected>work", "late.DONE>end")


def test_q1_a_way_around_a_gate_is_an_error_with_its_path_and_place() -> None:
    assert found(graph(*STRAIGHT)) == []
    (finding,) = found(graph(*STRAIGHT, "work.FAST>late"))
    assert finding.code == "gate-avoided"
    assert finding.severity == "error"
    assert finding.message == (
        "there is a way around the gate 'look' of 'gate': work -> late -> complete; "
        "'FAST' of 'work' leads past it"
    )
    assert str(finding.place) == "p.json:3:7"
    assert finding.fix == "let 'FAST' of 'work' lead to 'gate' first, or remove the gate"


def test_work_is_merged_by_itself_only_behind_the_approval_of_a_person() -> None:
    help_ways = ("work.LOST>help", "help.retry>work", "help.skip>end")
    asked = ("work.DONE>gate", "gate.approved>end", "gate.rejected>work", *help_ways)
    place = {FINISH: Place("p.json", 5, 3)}
    assert not list(find_unapproved_merge(graph(*asked, finish="merge"), place))
    alone = graph("gate.approved>end", "gate.rejected>gate", start="gate", finish="merge")
    assert not list(find_unapproved_merge(alone, place))
    assert not list(find_unapproved_merge(graph(*STRAIGHT), place))
    for ways in (STRAIGHT, ("late.DONE>end", "late.AGAIN>late")):
        protocol = graph(*ways, start=ways[0].partition(".")[0], finish="squash")
        (finding,) = find_unapproved_merge(protocol, place)
        assert (finding.code, str(finding.place)) == ("finish-without-gate", "p.json:5:3")
        assert finding.message.endswith("no person is asked between 'late' and the end")


def test_q1_what_a_person_decides_about_a_failure_is_no_way_around() -> None:
    asked = (*STRAIGHT, "work.LOST>help", "help.retry>work")
    assert found(graph(*asked, "help.skip>late")) == []
    assert found(graph(*asked, "help.other>late"))


def test_q1_a_run_may_fail_before_a_gate() -> None:
    assert found(graph(*STRAIGHT, "work.LOST>lost")) == []


def test_q1_a_run_that_begins_behind_a_gate_is_told_its_beginning() -> None:
    (finding,) = found(graph(*STRAIGHT, start="late"))
    assert finding.message.endswith("late -> complete; the run begins behind it, at 'late'")
    assert str(finding.place) == "p.json:9:1"
    assert found(graph(*STRAIGHT, start="gate")) == []


def test_q1_the_answer_that_leads_past_a_gate_to_which_nothing_leads_is_named() -> None:
    ways = ("work.LOST>lost", "plan.DONE>gate", "gate.approved>late", "late.DONE>end")
    (finding,) = found(graph(*ways, "work.FAST>late"))
    assert finding.message.endswith("work -> late -> complete; 'FAST' of 'work' leads past it")
    assert str(finding.place) == "p.json:3:7"
    (finding,) = found(graph(*ways, "work.DONE>end"))
    assert finding.message.endswith("work -> complete; 'DONE' of 'work' leads past it")


def test_q1_a_spent_budget_and_an_empty_list_lead_past_a_gate_too() -> None:
    edge = p.Edge("work", "AGAIN", (p.Target("work"),), charges="b", spent=(p.Target("late"),))
    assert found(graph(*STRAIGHT, edges=[edge]))
    loops = {"loop": p.Loop("loop", "plan.md", "work", p.Target("late"))}
    assert found(graph(*STRAIGHT, edges=[p.Edge("work", "NEXT", (p.Target(next_of="loop"),))],
                       loops=loops))  # fmt: skip


def test_q1_a_gate_in_a_branch_holds_where_both_branches_are_waited_for() -> None:
    ways = ("plan.DONE>work other", "work.DONE>gate", "gate.approved>join", "other.DONE>join",
            "join.ready>end")  # fmt: skip
    join = p.State("join", "join", p.Join(), waits_for=("gate.approved", "other.DONE"))
    assert found(graph(*ways, start="plan"))
    assert found(graph(*ways, start="plan", states={"join": join})) == []


def test_q1_a_gate_may_be_asked_only_under_a_condition_about_the_answer() -> None:
    def ways(path: str) -> p.Protocol:
        big = p.Edge("work", "DONE", (p.Target("gate"),), (p.Guard(path, "filled"),))
        small = p.Edge("work", "DONE", (p.Target("late"),))
        return graph(*STRAIGHT[1:], edges=[big, small])

    assert found(ways("work.DONE.parts")) == []
    assert found(ways("work.BIG"))


def test_q1_an_update_in_between_is_a_way_too() -> None:
    ready = p.State("ready", "ready", p.Agent("ready"), is_interruptible=True)
    ways = graph("work.DONE>ready", "ready.DONE>gate", "gate.approved>end", "update.DONE>end",
                 states={"ready": ready}, interrupt=Interrupt("update", "", ""))  # fmt: skip
    (finding,) = found(ways)
    assert "work -> update -> complete" in finding.message


def test_q1_every_graph_that_children_follow_has_its_own_beginning() -> None:
    names = ("x+work.DONE>x+gate", "x+gate.approved>x+late", "x+late.DONE>end", "x+work.FAST>end")
    protocol = graph("work.DONE>end", *names, parts={"x": Part("x+work")})
    (finding,) = found(protocol)
    assert "'FAST' of 'x+work' leads past it" in finding.message
    assert found(graph("work.DONE>end", *names[:3], parts={"x": Part("x+work")})) == []
