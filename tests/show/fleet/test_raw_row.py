"""A row that is followed from plain JSON is the one that the folded state has."""

import json
from functools import cache
from typing import Any, get_args

import pytest

from porch.machine import approvals
from porch.machine.evolve import fold_records
from porch.machine.moves import Move
from porch.machine.state import RunState
from porch.machine.state_json import encode_state
from porch.show import run_picture
from porch.show.fleet import raw_row
from porch.show.fleet.raw_row import RawRun, UnknownRow
from porch.store import payloads
from tests.corpus.run_dump import PAYLOADS, Kept, names

kept = cache(Kept)
# Moves that a row depends on; the first record is never behind a snapshot.
MATTER = ("Entered", "Left", "Marked", "Postponed", "Paused", "Resumed", "Pinned", "Ended")


@cache
def states_of(digest: str) -> Any:
    return json.loads(payloads.read_payload(str(PAYLOADS), digest))["protocol"]["states"]


def row_of(run: Kept, state: RunState) -> dict[str, str]:
    protocol = run.protocol(state.run.digest)
    return run_picture.row_with_decisions(protocol, state, 0, "")["row"]


def follow(run: Kept, state: RunState, count: int) -> list[dict[str, str] | None]:
    """What is made of the records behind a state, one after the other; None if it is not known."""
    raw = RawRun(json.loads(json.dumps(encode_state(state))))
    found: list[dict[str, str] | None] = []
    for record in run.scan.records[count:]:
        raw.apply(record["moves"])
        try:
            found.append(raw.make_row(states_of(raw.run["digest"])))
        except UnknownRow:
            found.append(None)
    return found


@pytest.mark.parametrize("name", names())
def test_every_cut_of_every_kept_journal_is_followed_to_the_same_rows(name: str) -> None:
    run = kept(name)
    states = [fold_records(RunState(), run.records[:1])]
    for record in run.records[1:]:
        states.append(fold_records(states[-1], [record]))
    rows = [row_of(run, state) for state in states]
    for count in range(1, len(states) + 1):
        for found, wanted in zip(follow(run, states[count - 1], count), rows[count:], strict=True):
            assert found in (None, wanted)
            if found is not None:
                assert list(found) == list(wanted)


def test_nearly_all_rows_of_kept_journals_are_known_without_the_machine() -> None:
    """Otherwise nothing above would say anything."""
    found = []
    for name in names():
        run = kept(name)
        found += follow(run, fold_records(RunState(), run.records[:1]), 1)
    unknown = found.count(None)
    assert unknown < len(found) / 10


def test_every_move_is_known_to_matter_or_not() -> None:
    tags = {move.__struct_config__.tag for move in get_args(Move)}
    assert tags == {*raw_row.NO_MATTER, *MATTER, "Delivered", "Began"}
    assert raw_row.CHANGED == approvals.STATE


def begun(**more: Any) -> RawRun:
    run = {"name": "n", "id": "1", "title": "t", "protocol": "p", "digest": "d", **more}
    standing = {"is": "Standing", "position": "one#1", "instance": "", "state": "one", "item": ""}
    return RawRun({"run": run, "positions": {"one#1": standing}})


def kind(actor: str, **more: Any) -> dict[str, Any]:
    return {"one": {"is": "State", "actor": {"is": actor, **more}}}


def test_the_end_of_a_run_is_told_by_its_delivery() -> None:
    run = begun(own_worktree=True, heading="A heading")
    run.apply([{"is": "Ended", "outcome": "complete"}])
    assert run.make_row({})["waits"] == "porch finish 1"
    run.apply([{"is": "Delivered", "how": "merged", "branch": "b", "head": "h"}])
    row = run.make_row({})
    assert (row["state"], row["waits"], row["heading"]) == ("merged", "", "A heading")


def test_an_end_inside_of_a_run_is_not_its_own() -> None:
    run = begun()
    run.apply([{"is": "Ended", "outcome": "complete", "instance": "i"}])
    assert run.make_row(kind("Git"))["waits"] == "git"


def test_reviews_that_came_are_not_waited_for() -> None:
    run = begun()
    run.apply([{"is": "Marked", "position": "one#1", "key": "review/a", "value": {}}])
    assert run.make_row(kind("Panel", reviewers=["a", "b"]))["waits"] == "reviews: b"


@pytest.mark.parametrize(
    "actor, waits",
    [("Children", "its children"), ("End", "nobody"), ("Join", "`envoy` commands")],
)
def test_those_who_wait_for_no_person_have_their_words(actor: str, waits: str) -> None:
    assert begun().make_row(kind(actor))["waits"] == waits


def test_what_it_does_not_know_is_left_to_the_machine() -> None:
    with pytest.raises(UnknownRow):
        begun().apply([{"is": "Began", "run": "n"}])
    with pytest.raises(UnknownRow):
        begun().apply([{"is": "NewerMove"}])
    for states in ({}, kind("NewerActor"), kind("Human", name="")):
        with pytest.raises(UnknownRow):
            begun().make_row(states)
    with pytest.raises(UnknownRow):
        begun(title="caf\u00e9\u200b").make_row(kind("Git"))
    late = begun()
    late.apply(
        [{"is": "Postponed", "position": "one#1", "work": "agent", "name": "n", "seconds": 1}]
    )
    with pytest.raises(UnknownRow):
        late.make_row(kind("Agent"))
