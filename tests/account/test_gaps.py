"""What has not passed is one list, and work that passed has none."""

import pytest

from porch.account.gaps import list_gaps
from porch.show.phase_words import describe_gap
from tests.account.test_phases import BUILD, SHIP, check_all, fail_build, finish_work, start
from tests.corpus.run_dump import Kept, definition_of, names

GAPS = {
    "gate-waived": "review: reviewed failed 6 times, waived by ann: I looked myself",
    "tree-with-questions": "add: failed",
}


@pytest.mark.parametrize("name", names())
def test_a_kept_run_that_is_complete_has_the_gaps_that_are_known(name: str) -> None:
    """Also trees and graphs, whose ways lead back to states that were left."""
    state = Kept(name).state
    if state.outcome != "complete":
        return
    protocol = definition_of(state.run.digest).protocol
    told = [describe_gap(gap) for gap in list_gaps(protocol, state)]
    assert told == ([GAPS[name]] if name in GAPS else [])


def test_a_check_that_failed_names_who_let_it_pass() -> None:
    rig = start(BUILD, SHIP)
    fail_build(rig)
    rig.decide("skip", "later")
    [gap] = list_gaps(rig.protocol, rig.state)
    assert (gap.phase, gap.kind, gap.name, gap.outcome) == ("build", "check", "unit", "failed")
    assert gap.decided is not None
    assert (gap.decided.by, gap.decided.text) == ("ada", "later")


def test_a_run_that_was_given_up_in_a_phase_has_that_gap() -> None:
    rig = start(BUILD, SHIP)
    fail_build(rig)
    rig.decide("stopped", "no use")
    assert [gap.phase for gap in list_gaps(rig.protocol, rig.state)] == ["build"]


def test_a_run_in_which_everything_passed_has_none() -> None:
    rig = start(BUILD, SHIP)
    for _ in range(2):
        finish_work(rig)
        check_all(rig)
    assert list_gaps(rig.protocol, rig.state) == []


def test_a_phase_that_an_upgrade_drops_keeps_the_gap_that_a_person_let_pass() -> None:
    rig = start(BUILD, SHIP)
    fail_build(rig)
    rig.decide("skip", "later")
    [gap] = list_gaps(start(SHIP).protocol, rig.state)
    assert describe_gap(gap) == "build: skipped by ada: later"


def test_a_phase_that_was_done_again_after_it_was_skipped_is_no_gap_once_it_is_dropped() -> None:
    rig = start(BUILD, SHIP)
    fail_build(rig)
    rig.decide("skip", "later")
    rig.ask("rollback", state="build")
    finish_work(rig)
    check_all(rig)
    assert "build" not in [gap.phase for gap in list_gaps(start(SHIP).protocol, rig.state)]


def test_a_waived_gate_of_a_phase_that_is_dropped_is_a_gap() -> None:
    kept = Kept("gate-waived")
    gaps = list_gaps(start(SHIP).protocol, kept.state)
    assert "waived by ann: I looked myself" in [describe_gap(g).partition(": ")[2] for g in gaps]
