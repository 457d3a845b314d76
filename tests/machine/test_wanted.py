"""What should be happening, position by position."""

import pytest
from msgspec.structs import replace

from porch.machine import effects as e
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.evolve import evolve_state
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.machine.wanted import touched_positions, wanted_effects
from porch.model import protocol as p
from porch.testing import Rig

T = p.Target
WISH = f.WishTaken(wish=f.Wish(id="w", kind="stop"))


def started(protocol: p.Protocol, state: p.State) -> Rig:
    states = {**protocol.states, state.name: state}
    return Rig(replace(protocol, states=states, initial=T(state.name))).start()


def test_an_agents_request_carries_everything_it_needs(protocol: p.Protocol) -> None:
    exits = (p.Exit("done", ("DONE",)),)
    agent = p.Agent("builder", "work.md", exits, ("spec.md",), ("edit",), 60)
    rig = started(protocol, p.State("specify:draft", "specify", agent))
    assert wanted_effects(rig.protocol, rig.state, "specify:draft#1") == (
        e.RunAgent(
            id="specify:draft#1/agent/builder/0",
            position="specify:draft#1",
            kind="agent",
            name="builder",
            uses=("worktree:", "agent"),
            state="specify:draft",
            item="",
            visit=1,
            attempt=0,
            role="builder",
            prompt="work.md",
            exits=exits,
            artifacts=("spec.md",),
            permissions=("edit",),
            timeout_s=60,
        ),
    )


def test_nothing_is_wanted_of_a_position_that_does_not_stand(rig: Rig) -> None:
    assert wanted_effects(rig.protocol, rig.state, "specify:draft#2") == ()


def test_nothing_is_wanted_while_the_run_is_stopped_or_over(rig: Rig) -> None:
    rig.ask("stop")
    assert rig.wanted() == []
    assert wanted_effects(rig.protocol, rig.state, "specify:draft#1") == ()
    over = replace(rig.state, paused=False, outcome="failed")
    assert wanted_effects(rig.protocol, over, "specify:draft#1") == ()


def test_checks_that_have_a_result_are_not_run_again(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    assert [r.id for r in rig.wanted()] == [
        "specify:check#1/check/lint/0",
        "specify:check#1/check/unit/fast/0",
    ]
    rig.check("lint", "unmeasured")
    assert [r.name for r in rig.wanted()] == ["unit/fast"]


def test_fresh_evidence_may_stand_for_a_check_only_where_the_state_says_so(at_gate: Rig) -> None:
    first = at_gate.records[1]
    assert first.begun[0].effect == "specify:check#1/check/lint/0"
    at_gate.decide("approved")
    request = at_gate.request("check", "unit/fast")
    assert isinstance(request, e.RunCheck)
    assert request.tree == "t1"
    at_gate.check("unit/fast", "failed")
    at_gate.exit("SPEC_DRAFTED")
    again = at_gate.request("check", "unit/fast")
    assert isinstance(again, e.RunCheck)
    assert again.tree == ""


@pytest.mark.parametrize(
    "command, carries_over",
    [
        (p.Command("unit/fast", "unit"), False),
        (p.Command("unit/fast", "unit", about="outside"), False),
        (p.Command("unit/fast", "unit", about="files"), True),
        (p.Command("unit/fast", net_lines_below=300), True),
        (p.Command("unit/fast", changed=True), True),
    ],
)
def test_only_what_depends_on_files_alone_is_carried_over(
    protocol: p.Protocol, command: p.Command, carries_over: bool
) -> None:
    """T5"""
    again = replace(protocol.states["specify:again"], actor=p.Check((command,), reuse=True))
    rig = Rig(replace(protocol, states={**protocol.states, "specify:again": again})).start()
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed", tree="t1")
    rig.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    rig.asked()
    rig.decide("approved")
    request = rig.request("check", "unit/fast")
    assert isinstance(request, e.RunCheck)
    assert request.tree == ("t1" if carries_over else "")


def test_a_reuse_without_evidence_is_a_plain_run(protocol: p.Protocol) -> None:
    rig = started(protocol, protocol.states["specify:again"])
    request = rig.request("check")
    assert isinstance(request, e.RunCheck)
    assert request.tree == ""


def test_reviewers_are_asked_side_by_side_and_share_the_agents_slots(protocol: p.Protocol) -> None:
    rig = started(protocol, protocol.states["specify:consult"])
    uses = {request.uses for request in rig.wanted()}
    assert uses == {("agent",)}
    assert len(rig.state.in_hand) == 3


def test_reviewers_in_series_take_turns(protocol: p.Protocol) -> None:
    actor = p.Panel(("a", "b"), "any", "specify", 1, parallel=False, timeout_s=9)
    rig = started(protocol, p.State("specify:consult", "specify", actor))
    assert list(rig.state.in_hand) == ["specify:consult#1/review/a/0"]
    rig.review("a", "APPROVE")
    assert list(rig.state.in_hand) == ["specify:consult#1/review/b/0"]
    rig.review("b", "ABSTAIN")
    request = rig.request("feedback")
    assert isinstance(request, e.WriteFeedback)
    assert (request.subject, request.round) == ("specify", 1)
    assert {name: review["verdict"] for name, review in request.reviews.items()} == {
        "a": "APPROVE",
        "b": "ABSTAIN",
    }


def test_a_person_is_asked_once_and_then_reminded_when_it_takes_too_long(
    protocol: p.Protocol,
) -> None:
    gate = protocol.states["specify:gate"]
    assert isinstance(gate.actor, p.Human)
    actor = replace(gate.actor, stale_after_s=60)
    rig = started(protocol, replace(gate, actor=actor))
    request = rig.request("ask")
    assert isinstance(request, e.AskPerson)
    assert (request.ask, request.artifacts, request.uses) == ("gate", ("spec.md",), ())
    rig.asked("d")
    asked_at = rig.state.at
    timer = rig.request("stale")
    assert isinstance(timer, e.StartTimer)
    assert (timer.since, timer.seconds) == (asked_at, 60)
    rig.fires("stale")
    assert rig.wanted() == []
    assert list(rig.state.decisions) == ["specify:gate#1"]


def test_a_list_is_read_before_anybody_works_on_an_item(protocol: p.Protocol) -> None:
    rig = started(protocol, protocol.states["implement"])
    request = rig.request("items")
    assert isinstance(request, e.ReadItems)
    assert (request.loop, request.source) == ("plan", "plan.md")
    rig.reads("one=1")
    work = rig.request("agent")
    assert isinstance(work, e.RunAgent)
    assert (work.item, work.id) == ("one", "implement:one#1/agent/builder/0")


def test_commits_use_the_worktree(protocol: p.Protocol) -> None:
    rig = started(protocol, protocol.states["commit"])
    request = rig.request("commit")
    assert isinstance(request, e.CommitPaths)
    assert (request.paths, request.message) == (("spec.md",), "Keep the spec")
    assert request.uses == ("worktree:",)


@pytest.mark.parametrize("actor", [p.Children("other", "specs"), p.End("complete")])
def test_nobody_works_where_children_or_an_end_stand(protocol: p.Protocol, actor: p.Actor) -> None:
    rig = Rig(replace(protocol, initial=T("commit"))).start()
    states = {**protocol.states, "commit": p.State("commit", "commit", actor)}
    assert wanted_effects(replace(protocol, states=states), rig.state, "commit#1") == ()


def test_two_branches_take_the_one_worktree_in_turn(at_fork: Rig) -> None:
    assert [r.position for r in at_fork.wanted()] == ["left#1", "right#1"]
    assert [h.position for h in at_fork.state.in_hand.values() if h.kind == "agent"] == ["left#1"]
    at_fork.exit("done")
    assert [h.position for h in at_fork.state.in_hand.values() if h.kind == "agent"] == ["right#1"]


def test_a_delay_comes_before_the_work_and_a_join_before_the_delay(protocol: p.Protocol) -> None:
    state = RunState()
    moves: tuple[m.Move, ...] = (m.Entered("merge#1", "merge", 1, delay_s=5),)
    state = evolve_state(state, JournalRecord(1, "t1", WISH, moves))
    assert wanted_effects(protocol, state, "merge#1") == ()
    there = (m.Remembered("left.done", {}), m.Remembered("right.done", {}))
    state = evolve_state(state, JournalRecord(2, "t2", WISH, there))
    (timer,) = wanted_effects(protocol, state, "merge#1")
    assert isinstance(timer, e.StartTimer)
    assert (timer.name, timer.since, timer.seconds) == ("delay", "t1", 5)
    state = evolve_state(state, JournalRecord(3, "t3", WISH, (m.Marked("merge#1", "fired/delay"),)))
    assert [r.kind for r in wanted_effects(protocol, state, "merge#1")] == ["ask"]


# Which positions a record touches


@pytest.fixture
def crowd(protocol: p.Protocol) -> tuple[p.Protocol, RunState]:
    """Many positions at once, in the run itself and in an instance of it."""
    places = [
        ("", "specify:revise", "", 1),
        ("", "specify:revise", "", 2),
        ("a", "specify:revise", "", 1),
        ("", "specify:again", "", 1),
        ("", "merge", "", 1),
        ("", "implement", "", 1),
        ("", "implement", "one", 1),
        ("", "implement", "two", 1),
    ]
    texts = [
        m.Entered(f"{i + '/' if i else ''}{s}{':' + item if item else ''}#{v}", s, v, item, i)
        for i, s, item, v in places
    ]
    implement = replace(protocol.states["implement"], inputs=(p.Input("x", "specify:gate.waived"),))
    protocol = replace(protocol, states={**protocol.states, "implement": implement})
    return protocol, evolve_state(RunState(), JournalRecord(1, "t", WISH, tuple(texts)))


REVISE = {"specify:revise#1", "specify:revise#2"}


@pytest.mark.parametrize(
    "move,found",
    [
        (m.Remembered("specify:consult.changes", {}), REVISE),
        (m.Forgot("specify:consult.changes"), REVISE),
        (m.Remembered("specify:consult.changes", {}, "one"), set()),
        (m.Remembered("specify:consult.changes", {}, "", "a"), {"a/specify:revise#1"}),
        (m.Remembered("left.done", {}), {"merge#1"}),
        (m.Remembered("evidence.specify:unit/fast", {}), {"specify:again#1"}),
        (m.Remembered("evidence.specify:lint", {}), set()),
        (m.Remembered("specify:gate.waived", {}, "one"), {"implement:one#1"}),
        (
            m.Remembered("specify:gate.waived", {}),
            {"implement#1", "implement:one#1", "implement:two#1"},
        ),
        (m.Remembered("specify:gate.waived", {}, "", "a"), set()),
        (m.Remembered("nobody.reads", {}), set()),
        (m.Charged("rounds", 1), set()),
        (m.GateNoted("x", "waiting"), set()),
        (m.Marked("merge#1", "x"), {"merge#1"}),
        (m.Left("gone#1"), {"gone#1"}),
        (m.Settled("a/specify:revise#1/agent/x/y/0"), {"a/specify:revise#1"}),
        (m.Settled("rubbish"), set()),
    ],
)
def test_a_move_touches_exactly_the_positions_that_see_it(
    crowd: tuple[p.Protocol, RunState], move: m.Move, found: set[str]
) -> None:
    protocol, state = crowd
    assert touched_positions(protocol, state, [move]) == found


@pytest.mark.parametrize(
    "move", [m.Paused(), m.Resumed(), m.Ended("complete"), m.Pinned("d"), m.Left("x#1")]
)
def test_what_concerns_the_whole_run_touches_every_position(
    crowd: tuple[p.Protocol, RunState], move: m.Move
) -> None:
    protocol, state = crowd
    everyone = {*state.positions, "x#1"} if not isinstance(move, m.Left) else {"x#1"}
    assert touched_positions(protocol, state, [m.Left("x#1"), move]) == everyone
