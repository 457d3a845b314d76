"""Why a run stands where it stands."""

import pytest
from msgspec.structs import replace

from porch.machine.explain import explain_positions
from porch.machine.state import RunState, Standing
from porch.model import protocol as p
from porch.testing import Rig

T = p.Target


def told(rig: Rig) -> list[str]:
    return list(explain_positions(rig.protocol, rig.state))


def test_a_run_that_has_not_begun_says_so(protocol: p.Protocol) -> None:
    assert explain_positions(protocol, RunState()) == ("The run has not started yet.",)


def test_an_agent_moves_it_by_its_exits(rig: Rig) -> None:
    exits = "an agent works on it and must end with one of: SPEC_DRAFTED, BLOCKED"
    assert told(rig) == [f"It is at specify:draft#1: {exits}."]
    rig.fails("agent")
    assert "(the last attempt failed: crashed: code 1)" in told(rig)[0]


def test_checks_panels_and_people_are_named_with_why_it_came_there(at_gate: Rig) -> None:
    (sentence,) = told(at_gate)
    assert sentence.startswith(
        "It is at specify:gate#1 (came from specify:consult.approved): "
        "waiting for your decision spec-approval: approved - goes on; rejected - goes back"
    )


@pytest.mark.parametrize(
    "state,words",
    [
        ("specify:check", "the next step depends on these checks: lint, unit/fast"),
        (
            "specify:consult",
            "at least 2 of these reviewers must give a verdict: gemini, codex, claude",
        ),
        ("implement", "porch must first read the list 'plan' from plan.md"),
        ("merge", "waiting for left.done, right.done"),
        ("commit", "git must commit the documents"),
        ("kids", "waiting for its children to be merged, failed or cancelled"),
        ("join", "waiting until everything it needs is ready"),
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
    assert told(rig) == [f"It is at {state}#1: {words}."]


def test_a_branch_that_git_has_to_move_is_said_to_be_moved(protocol: p.Protocol) -> None:
    moved = p.State("update", "update", p.Git(op="update"))
    standing = Standing("a/update#1", "a", "update", "", 1, "")
    state = RunState(seq=1, positions={standing.position: standing})
    known = replace(protocol, states={**protocol.states, "update": moved})
    assert explain_positions(known, state) == ("It is at a/update#1: git must update the branch.",)


def test_a_stopped_run_says_how_to_go_on_and_an_ended_one_how_it_ended(rig: Rig) -> None:
    rig.ask("stop")
    assert told(rig)[0] == "The run is stopped. Continue with `porch resume`."
    assert len(told(rig)) == 2
    rig.ask("resume")
    rig.let_go()
    rig.exit("BLOCKED", reason="x")
    rig.asked()
    rig.decide("stopped")
    assert told(rig) == ["The run is over: abandoned."]
