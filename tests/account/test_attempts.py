"""One number of an attempt, wherever it is told: by the budget that was charged on the way."""

import os

from msgspec.structs import replace

from porch.account.attempts import Attempt, find_attempt
from porch.machine.approvals import add_engine_states
from porch.machine.state import RunState, Standing
from porch.run.definitions import library
from porch.show.place_words import PlaceWords, attempt_words, place_words
from porch.show.status import names_of
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


def test_of_a_graph_the_number_is_the_one_that_its_prompts_have() -> None:
    """T14: `attempts 4 of 4` in the log, 5 of 5 in the prompt; a merge was an attempt, too."""
    file = os.path.join(library.PACKAGED, "v3", "v3.graph.yaml")
    protocol = add_engine_states(library.load_protocol(file).demand().protocol)
    here = Standing("add/impl#5", "add", "impl", "", 5, "impl.RequestRetry")
    state = RunState(spent={"add/attempts": 3, "add/merges": 1})
    assert find_attempt(protocol, state, here) == Attempt(5, 4, 5)
    behind = replace(here, because="candidate.conflict")
    assert find_attempt(protocol, RunState(spent={"add/merges": 1}), behind) == Attempt(5, 1, 5)
    assert find_attempt(protocol, state, replace(here, state="review", visit=2)) == Attempt(2)
    words = PlaceWords(names_of(protocol, state))
    assert words.charge("add/attempts", 3) == "; attempts 4 of 5"
    assert words.charge("add/rounds", 3) == "; rounds 3 of 5"
