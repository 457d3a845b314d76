"""One number of an attempt, wherever it is told: by the budget that was charged on the way."""

from porch.account.attempts import Attempt, find_attempt
from porch.show.place_words import attempt_words, place_words
from tests.account.test_phases import BUILD, SHIP, check_all, fail_build, finish_work, start


def test_the_number_is_that_of_the_budget_also_where_a_person_is_asked() -> None:
    rig = start(BUILD, SHIP)
    finish_work(rig)
    check_all(rig, unit="failed")
    (standing,) = rig.state.positions.values()
    assert find_attempt(rig.protocol, rig.state, standing) == Attempt(2, 2, 2)
    rig.fires()
    finish_work(rig)
    check_all(rig, unit="failed")
    (standing,) = rig.state.positions.values()
    assert standing.state == "failed:build"
    assert find_attempt(rig.protocol, rig.state, standing) == Attempt(2, 2, 2)


def test_behind_a_retry_both_numbers_are_told_together() -> None:
    """T14: `attempt 13` beside `attempt 2 of 4`."""
    rig = start(BUILD, SHIP)
    fail_build(rig)
    rig.decide("retry")
    finish_work(rig)
    check_all(rig, unit="failed")
    (standing,) = rig.state.positions.values()
    attempt = find_attempt(rig.protocol, rig.state, standing)
    assert attempt == Attempt(4, 2, 2)
    words = "attempt 4 (2 of 2 this time)"
    assert attempt_words(attempt.begun, (attempt.number, attempt.limit)) == words
    assert place_words("build#4", {}, (2, 2)) == f"build, {words}"


def test_the_first_attempt_is_not_counted() -> None:
    rig = start(BUILD, SHIP)
    (standing,) = rig.state.positions.values()
    assert find_attempt(rig.protocol, rig.state, standing) == Attempt(1)
    assert attempt_words(1) == ""
