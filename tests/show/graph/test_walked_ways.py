"""A run on the picture of its protocol: counted from records, marked on nodes and arrows."""

from typing import Any

from porch.machine.state import RunState, Standing
from porch.show.graph.picture import Arrow, Node, ProtocolPicture
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk
from porch.show.graph.walked_ways import RunWalk, WalkCount, make_walk, mark_walk


def entered(state: str, visit: int = 1, instance: str = "") -> dict[str, Any]:
    front = f"{instance}/" if instance else ""
    at = f"{front}{state}#{visit}"
    return {"is": "Entered", "position": at, "state": state, "instance": instance}


def left(position: str) -> dict[str, Any]:
    return {"is": "Left", "position": position}


def record(seq: int, *moves: dict[str, Any]) -> dict[str, Any]:
    return {"seq": seq, "moves": list(moves)}


RECORDS = [
    record(1, entered("a")),
    record(2, left("a#1"), entered("b")),
    record(3, left("b#1"), entered("a", 2)),
    record(4, left("a#2"), entered("b", 2), entered("c")),
    record(5),
]


def test_what_one_record_leaves_and_enters_is_a_way() -> None:
    counted = WalkCount()
    counted.add_records(RECORDS)
    assert counted.taken == {("", "a", "b"): 2, ("", "b", "a"): 1, ("", "a", "c"): 1}
    assert counted.seq == 5


def test_records_that_were_counted_are_not_counted_again() -> None:
    counted = WalkCount()
    counted.add_records(RECORDS[:3])
    counted.add_records(RECORDS)
    assert counted.taken["", "a", "b"] == 2


def test_what_is_no_record_of_ours_counts_for_nothing() -> None:
    counted = WalkCount()
    counted.add_records([{}, {"seq": 1, "moves": [{"is": "Left"}, {}, {"is": "Entered"}]}])
    assert counted.taken == {}


def test_the_walk_of_one_instance_is_without_the_others() -> None:
    standing = {f"{who}/b#1": Standing(f"{who}/b#1", who, "b", "", 1, "") for who in ("x", "y")}
    state = RunState(positions=standing, visits={("x", "b", ""): 2, ("y", "b", "1"): 3})
    taken = {("x", "a", "b"): 2, ("y", "a", "b"): 3}
    assert make_walk(state, taken) == RunWalk(frozenset("b"), {"b": 5}, {("a", "b"): 5})
    assert make_walk(state, taken, "x") == RunWalk(frozenset("b"), {"b": 2}, {("a", "b"): 2})
    assert make_walk(state, taken, "z") == RunWalk(frozenset(), {}, {})


PICTURE = ProtocolPicture(
    "p",
    "",
    "s0",
    (
        Node("s0", "a", "agent", state="a"),
        Node("s1", "b", "check", state="b"),
        Node("s2", "what was due", "due"),
    ),
    (
        Arrow("s0", "s1", ("spent",), spent=True),
        Arrow("s0", "s1", ("on",)),
        Arrow("s1", "s2", ("back",)),
    ),
    (),
    (),
)


def test_a_way_counts_for_the_plain_arrow_and_for_what_was_due_if_there_is_no_other() -> None:
    walk = RunWalk(frozenset("b"), {"a": 1, "b": 1200}, {("a", "b"): 1200, ("b", "a"): 1})
    marked = mark_walk(PICTURE, walk)
    assert [each.taken for each in marked.arrows] == [0, 1200, 1]
    assert [describe_node_walk(each) for each in marked.nodes] == [
        "entered once",
        "here now, entered 1,200 times",
        "",
    ]
    assert describe_arrow_walk(marked.arrows[1]) == "taken 1,200 times"
    assert describe_arrow_walk(marked.arrows[0]) == ""
