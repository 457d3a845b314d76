"""Why a run stands where it stands."""

from dataclasses import replace

import pytest

from porch.machine.explain import explain
from porch.machine.state import Standing, State
from porch.model import protocol as p
from porch.testing import Rig

T = p.Target


def told(rig: Rig) -> list[str]:
    return list(explain(rig.protocol, rig.state))


def test_a_run_that_has_not_begun_says_so(protocol: p.Protocol) -> None:
    assert explain(protocol, State()) == ("The run has not begun.",)


def test_an_agent_moves_it_by_its_exits(rig: Rig) -> None:
    exits = "an agent works on it and moves it by one of SPEC_DRAFTED, BLOCKED"
    assert told(rig) == [f"It stands at specify:draft#1; {exits}."]
    rig.fails("agent")
    assert "(its last try failed: crashed: code 1)" in told(rig)[0]


def test_checks_panels_and_people_are_named_with_why_it_came_there(at_gate: Rig) -> None:
    (sentence,) = told(at_gate)
    assert sentence.startswith(
        "It stands at specify:gate#1, entered because of specify:consult.approved; "
        "a person must decide spec-approval: approved - goes on; rejected - goes back"
    )


@pytest.mark.parametrize(
    "state,words",
    [
        ("specify:check", "the checks lint, unit/fast decide where it goes"),
        ("specify:consult", "2 of gemini, codex, claude must give a verdict"),
        ("implement", "the list of 'plan' has to be read from plan.md"),
        ("merge", "it waits until there is left.done, right.done"),
        ("commit", "git has to commit its artifacts"),
        ("kids", "its children have to be over: merged, failed or cancelled"),
        ("join", "it waits until everything it needs is there"),
    ],
)
def test_each_kind_of_state_says_what_would_move_it(
    protocol: p.Protocol, state: str, words: str
) -> None:
    actors: dict[str, p.Actor] = {
        "kids": p.Children("other", "specs"),
        "join": p.Join(),
    }
    more = {name: p.State(name, name, actor) for name, actor in actors.items()}
    states = {**protocol.states, **more}
    rig = Rig(replace(protocol, states=states, initial=T(state))).start()
    assert told(rig) == [f"It stands at {state}#1; {words}."]


def test_a_branch_that_git_has_to_move_is_said_to_be_moved(protocol: p.Protocol) -> None:
    moved = p.State("update", "update", p.Git(op="update"))
    standing = Standing("a/update#1", "a", "update", "", 1, "")
    state = State(seq=1, positions={standing.position: standing})
    known = replace(protocol, states={**protocol.states, "update": moved})
    assert explain(known, state) == ("It stands at a/update#1; git has to update the branch.",)


def test_a_stopped_run_says_how_to_go_on_and_an_ended_one_how_it_ended(rig: Rig) -> None:
    rig.ask("stop")
    assert told(rig)[0] == "The run was stopped; `porch resume` goes on from here."
    assert len(told(rig)) == 2
    rig.ask("resume")
    rig.let_go()
    rig.exit("BLOCKED", reason="x")
    rig.asked()
    rig.decide("stopped")
    assert told(rig) == ["The run is over: it ended abandoned."]
