"""What lies in front of what: by the ways of a protocol, not by the order of its file."""

from typing import Any

from porch.model import protocol as p

DONE = p.End("complete")


def graph(*ways: str, loops: dict[str, p.Loop] | None = None, **waits: Any) -> p.Protocol:
    """`a>b c` leads from a to b and c at once; the file lists the states as the ways name them."""
    names = dict.fromkeys(word for way in ways for word in way.replace(">", " ").split())
    states = {
        name: p.State(name, name, p.Agent(name), waits_for=waits.get(name, ())) for name in names
    }
    edges = []
    for number, way in enumerate(ways):
        source, _, targets = way.partition(">")
        found = tuple(p.Target(name) for name in targets.split())
        edges.append(p.Edge(source, f"exit{number}", found))
    return p.Protocol("any", p.Target(next(iter(names))), states, tuple(edges), loops=loops or {})


def front(protocol: p.Protocol, name: str) -> set[str]:
    return set(protocol.states_in_front(name))


def test_a_review_that_the_file_lists_first_is_not_in_front_of_the_work() -> None:
    """In graphs it made finished work stale."""
    ways = graph("review>end", "start>work", "work>review", "review>work")
    ways = p.Protocol("any", p.Target("start"), ways.states, ways.edges)
    assert front(ways, "work") == {"start"}
    assert front(ways, "review") == {"start", "work"}
    assert front(ways, "end") == {"start", "work", "review"}


def test_branches_beside_each_other_are_in_front_of_neither() -> None:
    ways = graph("a>b c", "b>join", "c>join", "join>a", "join>end", join=("b.exit1", "c.exit2"))
    assert front(ways, "b") == front(ways, "c") == {"a"}
    assert front(ways, "join") == {"a", "b", "c"}


def test_who_waits_for_others_has_passed_them() -> None:
    """There is a way around the tests, but nobody gets past the join without them."""
    waits = graph(
        "plan>tests ready", "tests>git", "git>ready", "ready>work", "work>tests", ready=("git.x",)
    )
    assert front(waits, "tests") == {"plan"}
    assert front(waits, "work") == {"plan", "tests", "git", "ready"}


def test_a_way_around_does_not_change_what_is_in_front() -> None:
    ways = graph("a>b", "a>c", "b>c", "c>a")
    assert front(ways, "c") == {"a", "b"}


def test_where_only_the_engine_sends_somebody_nothing_lies_behind() -> None:
    ways = graph("a>b", "update>a", "update>b")
    assert front(ways, "b") == {"a"}
    assert front(ways, "update") == set()


def test_behind_a_loop_lie_the_states_after_it() -> None:
    ways = graph("plan>work", "work>check", "end>end")
    loop = {"loop": p.Loop("loop", "plan.md", "work", p.Target("end"))}
    edges = (*ways.edges, p.Edge("check", "good", (p.Target(next_of="loop"),)))
    whole = p.Protocol("any", p.Target("plan"), ways.states, edges, loops=loop)
    assert front(whole, "end") == {"plan", "work", "check"}
    assert front(whole, "work") == {"plan"}
