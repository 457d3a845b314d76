"""What a retry repeats depends on why a person is asked."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.exits.causes import failure_cause, repeated_state
from porch.testing import Rig


def _standing(rig: Rig, state: str) -> str:
    return next(place for place in rig.state.positions if place.startswith(state))


def test_after_an_unmeasured_check_a_retry_measures_again_with_the_budgets_as_they_are(
    at_loop: Rig,
) -> None:
    """R3"""
    rig = at_loop
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "failed")
    spent = dict(rig.state.spent)
    rig.fires()
    rig.exit("PHASE_IMPLEMENTED")
    rig.check("unit/fast", "unmeasured")
    rig.asked()
    rig.decide("retry")
    standing = rig.state.positions[_standing(rig, "implement:check")]
    assert standing.item == "one"
    assert rig.state.spent == spent != {}


def test_after_an_agent_that_could_not_be_run_a_retry_starts_that_agent(rig: Rig) -> None:
    """R3"""
    rig.tell(f.EffectFailed(effect=rig.held("agent"), why="no such agent", hopeless=True))
    standing = rig.state.positions["failed#1"]
    assert failure_cause(rig.protocol, standing) == "environment"
    rig.asked()
    rig.decide("retry")
    assert list(rig.state.positions) == ["specify:draft#2"]


@pytest.mark.parametrize(
    "because, cause, again",
    [
        ("implement:check.unmeasured", "measurement", "implement:check"),
        ("implement:check.failed", "work", ""),
        ("commit.refused", "git", "commit"),
        ("specify:draft.exhausted", "environment", "specify:draft"),
        ("specify:draft.silent", "work", ""),
        ("specify:consult.undecided", "reviewer", "specify:consult"),
        ("specify:consult.changes", "work", ""),
        ("a-state-of-an-older-definition.unmeasured", "work", ""),
    ],
)
def test_the_exit_that_led_to_the_question_tells_the_cause(
    rig: Rig, because: str, cause: str, again: str
) -> None:
    """R3"""
    standing = replace(next(iter(rig.state.positions.values())), state="failed", because=because)
    assert failure_cause(rig.protocol, standing) == cause
    assert repeated_state(rig.protocol, standing) == again


def test_only_a_question_about_a_failure_repeats_and_a_graph_decides_by_its_edges(
    rig: Rig,
) -> None:
    """R3"""
    here = next(iter(rig.state.positions.values()))
    unmeasured = replace(here, state="specify:gate", because="specify:check.unmeasured")
    assert repeated_state(rig.protocol, unmeasured) == ""
    refused = replace(here, state="failed", because="commit.refused")
    graph = replace(rig.protocol, spec="Task")
    assert repeated_state(graph, refused) == ""
