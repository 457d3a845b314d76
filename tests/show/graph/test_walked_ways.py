"""A run on the picture of its protocol: its ways from its past, marked on nodes and arrows."""

from porch.machine.state import RunState, Standing
from porch.show.graph.picture import Arrow, Node, ProtocolPicture, make_protocol_picture
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk
from porch.show.graph.walked_ways import RunWalk, WalkedWay, make_walk, mark_walk
from porch.testing import Rig
from tests.account.test_phases import BUILD, SHIP, check_all, fail_build, finish_work, start


def test_the_walk_of_one_instance_is_without_the_others() -> None:
    standing = {f"{who}/b#1": Standing(f"{who}/b#1", who, "b", "", 1, "") for who in ("x", "y")}
    state = RunState(
        positions=standing,
        visits={("x", "b", ""): 2, ("y", "b", "1"): 3},
        past_ways={("x", "a", "done", "", "b"): 2, ("y", "a", "done", "", "b"): 3},
    )
    protocol = start(BUILD, SHIP).protocol
    ways = [WalkedWay("a", "done", ("b",), times) for times in (2, 3)]
    assert make_walk(protocol, state) == RunWalk(frozenset("b"), {"b": 5}, tuple(ways))
    assert make_walk(protocol, state, "x") == RunWalk(frozenset("b"), {"b": 2}, (ways[0],))
    assert make_walk(protocol, state, "z") == RunWalk(frozenset(), {}, ())


def taken(rig: Rig) -> dict[tuple[str, str, tuple[str, ...]], int]:
    picture = make_protocol_picture(rig.protocol)
    marked = mark_walk(picture, make_walk(rig.protocol, rig.state))
    states = {node.id: node.state for node in marked.nodes}
    return {
        (states[arrow.source], states[arrow.target], arrow.exits): arrow.taken
        for arrow in marked.arrows
        if arrow.taken
    }


def test_a_check_that_failed_too_often_took_the_way_of_failing_and_no_other() -> None:
    """T3: both exits lead to the same question, and the wrong one was said to be taken."""
    rig = start(BUILD, SHIP)
    fail_build(rig)
    ways = taken(rig)
    (question,) = (way for way in ways if way[1] == "failed:build")
    assert ways[question] == 1
    assert question[2] == ("failed",)


def test_the_way_to_the_end_is_counted() -> None:
    rig = start(SHIP)
    finish_work(rig)
    check_all(rig)
    assert any(target == "complete" for _, target, _ in taken(rig))


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
    walk = RunWalk(
        frozenset("b"),
        {"a": 1, "b": 1200},
        (WalkedWay("a", "on", ("b",), 1200), WalkedWay("b", "back", ("a",), 1)),
    )
    marked = mark_walk(PICTURE, walk)
    assert [each.taken for each in marked.arrows] == [0, 1200, 1]
    assert [describe_node_walk(each) for each in marked.nodes] == [
        "entered once",
        "here now, entered 1,200 times",
        "",
    ]
    assert describe_arrow_walk(marked.arrows[1]) == "taken 1,200 times"
    assert describe_arrow_walk(marked.arrows[0]) == ""
