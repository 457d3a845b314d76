"""A protocol as nodes and arrows: what is told of each state, and which way every exit goes."""

from dataclasses import dataclass
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.model.protocol import (
    Actor,
    Agent,
    Budget,
    Check,
    Children,
    Command,
    Edge,
    End,
    Git,
    Guard,
    Human,
    Interrupt,
    Join,
    Loop,
    Panel,
    Protocol,
    State,
    Target,
)
from porch.show.graph import ranks
from porch.show.graph.picture import Arrow, ProtocolPicture, make_protocol_picture

AGENT = Agent("worker")


def flow(*edges: Edge, names: str = "a b c d", **parts: Any) -> ProtocolPicture:
    """States called by single words, the first of them the beginning, joined by these edges."""
    words = names.split()
    states = {name: State(name, name, AGENT) for name in words}
    return make_protocol_picture(
        Protocol("p", Target(words[0]), {**states, **parts.pop("states", {})}, edges, **parts)
    )


def to(state: str, exit_: str, *targets: str, **parts: Any) -> Edge:
    return Edge(state, exit_, tuple(Target(name) for name in targets), **parts)


def between(drawn: ProtocolPicture, source: str, target: str, spent: bool = False) -> Arrow:
    names = {node.id: node.name for node in drawn.nodes}
    found = [
        arrow
        for arrow in drawn.arrows
        if (names[arrow.source], names[arrow.target], arrow.spent) == (source, target, spent)
    ]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    "actor, kind, detail",
    [
        (Agent("tester"), "agent", "tester"),
        (Check((Command("build"), Command("lint"))), "check", "build, lint"),
        (Panel(("x", "y", "z"), "review", "spec", 2), "panel", "2 of 3"),
        (Panel((), "review", "spec", 0, is_default=True), "panel", "two thirds"),
        (Human("gate", "g", "t", ()), "human", "gate"),
        (Git(), "git", ""),
        (Children("", ""), "children", ""),
        (Join(), "join", ""),
        (End("abandoned"), "end", "abandoned"),
    ],
)
def test_every_actor_has_its_kind_and_what_else_is_worth_saying(
    actor: Actor, kind: str, detail: str
) -> None:
    node = flow(states={"x": State("x", "x", actor)}).nodes[-1]
    assert (node.name, node.kind, node.detail) == ("x", kind, detail)


def test_an_actor_that_is_not_known_here_yet_is_a_plain_box() -> None:
    @dataclass(frozen=True)
    class Oracle:
        pass

    drawn = flow(states={"x": State("x", "x", cast("Actor", Oracle()))})
    assert drawn.nodes[-1].kind == "other"


def test_a_role_that_is_called_like_its_state_is_not_told_twice() -> None:
    assert flow(states={"x": State("x", "x", Agent("x"))}).nodes[-1].detail == ""


def test_several_exits_between_two_states_are_one_arrow_with_several_lines() -> None:
    drawn = flow(to("a", "done", "b"), to("a", "silent", "b"))
    assert len(drawn.arrows) == 1
    assert between(drawn, "a", "b").lines == ("done", "silent")


def test_a_charged_exit_names_its_budget_and_the_way_of_a_spent_one_is_an_arrow_of_its_own() -> (
    None
):
    again = to("b", "MoreTests", "a", charges="rounds", spent=(Target("c"),))
    drawn = flow(to("a", "x", "b"), again, budgets={"rounds": Budget("rounds", 5)})
    assert between(drawn, "b", "a").lines == ("MoreTests -rounds",)
    assert between(drawn, "b", "c", spent=True).lines == ("MoreTests after 5 rounds",)


def test_a_budget_is_called_without_what_its_state_says_already() -> None:
    again = to("a", "failed", "b", charges="a.lint", spent=(Target("c"),))
    drawn = flow(again, budgets={"a.lint": Budget("a.lint", 2)})
    assert between(drawn, "a", "b").lines == ("failed -lint",)


def test_an_exit_that_becomes_another_when_spent_leads_where_that_one_leads() -> None:
    drawn = flow(
        to("a", "Retry", "a", charges="attempts", spent_as="Stuck"),
        to("a", "Stuck", "d"),
        budgets={"attempts": Budget("attempts", 5)},
    )
    assert between(drawn, "a", "d", spent=True).lines == ("Retry after 5 attempts",)


@pytest.mark.parametrize(
    "guard, told",
    [
        (Guard("b.x"), "done [when b.x]"),
        (Guard("b.x", "filled"), "done [when b.x]"),
        (Guard("b.x", "absent"), "done [unless b.x]"),
        (Guard("b.x", "empty"), "done [unless b.x]"),
        (Guard("b.x", "equals", "7"), "done [when b.x = 7]"),
        (Guard("b.x", "within", "src"), "done [when b.x within src]"),
        (Guard("a.done", "has", "lint"), "done [has lint]"),
        (Guard("a.done.size"), "done [when size]"),
        (Guard("a.other"), "done [when other]"),
    ],
)
def test_a_guard_is_told_shortly(guard: Guard, told: str) -> None:
    drawn = flow(to("a", "done", "b", guards=(guard,)), to("a", "done", "c"))
    assert between(drawn, "a", "b").lines == (told,)
    assert between(drawn, "a", "c").lines == ("done",)


def test_a_guard_is_left_out_where_the_same_exit_gets_to_the_same_place_without_it() -> None:
    x, y = Guard("b.x"), Guard("b.y")
    drawn = flow(
        to("a", "done", "b", guards=(x, y)),
        to("a", "done", "b", guards=(x,)),
        to("a", "done", "c", guards=(y,)),
        to("a", "done", "c"),
    )
    assert between(drawn, "a", "b").lines == ("done [when b.x]",)
    assert between(drawn, "a", "c").lines == ("done",)


def test_a_guard_stays_where_another_budget_is_charged() -> None:
    parts: dict[str, Any] = {"spent": (Target("d"),)}
    drawn = flow(
        to("a", "no", "b", guards=(Guard("a.no", "has", "lint"),), charges="lint", **parts),
        to("a", "no", "b", charges="other", **parts),
    )
    assert between(drawn, "a", "b").lines == ("no [has lint] -lint", "no -other")


def test_an_exit_that_starts_several_things_says_so_on_each_arrow() -> None:
    drawn = flow(to("a", "go", "b", "c"), to("b", "go", "a", "b", "c", "d"))
    assert between(drawn, "a", "b").lines == ("go (and c)",)
    assert between(drawn, "b", "d").lines == ("go (and 3 more)",)


def test_the_next_item_of_a_loop_leads_to_its_first_state_and_behind_it() -> None:
    loop = Loop("each", "plan.md", "a", Target("c"))
    inside = {name: State(name, name, AGENT, loop="each") for name in ("a", "b")}
    drawn = flow(
        to("a", "x", "b"),
        Edge("b", "passed", (Target(next_of="each"),)),
        states=inside,
        loops={"each": loop},
    )
    assert between(drawn, "b", "a").lines == ("passed [next item]",)
    assert between(drawn, "b", "a").back
    assert between(drawn, "b", "c").lines == ("passed [no item left]",)
    assert [(each.title, len(each.members)) for each in drawn.loops] == [
        ("for each item of plan.md", 2)
    ]


def test_a_target_at_an_item_says_which() -> None:
    drawn = flow(Edge("a", "x", (Target("b", item="two"),)))
    assert between(drawn, "a", "b").lines == ("x [item two]",)


def test_an_interrupt_comes_from_outside_and_goes_on_with_what_was_due() -> None:
    drawn = flow(
        Edge("b", "clean", (Target(is_due=True),)),
        interrupt=Interrupt("b", "publish.clean", "Merged"),
    )
    assert between(drawn, "Merged", "b").lines == ("on publish.clean",)
    due = next(
        node for node in drawn.nodes if node.id == between(drawn, "b", "what was due").target
    )
    assert due.kind == "due"


def test_a_name_that_no_state_has_is_drawn_as_missing() -> None:
    drawn = flow(to("a", "x", "nowhere"))
    assert drawn.nodes[-1].name == "nowhere"
    assert drawn.nodes[-1].kind == "missing"


def test_what_leads_to_an_earlier_state_goes_back_and_so_does_a_state_that_leads_to_itself() -> (
    None
):
    drawn = flow(to("a", "x", "b"), to("b", "x", "c"), to("c", "again", "b"), to("b", "r", "b"))
    assert between(drawn, "c", "b").back
    assert between(drawn, "b", "b").back
    assert not between(drawn, "a", "b").back


def test_an_arrow_against_the_order_of_the_file_goes_on_if_it_closes_no_circle() -> None:
    drawn = flow(to("a", "x", "d"), to("d", "x", "b"), to("b", "x", "c"))
    assert not any(arrow.back for arrow in drawn.arrows)
    assert [node.rank for node in drawn.nodes] == [0, 2, 3, 1]


def test_a_file_that_is_not_in_order_is_drawn_by_distance_from_the_beginning() -> None:
    drawn = flow(
        to("start", "x", "mid"), to("mid", "x", "late"), to("late", "again", "mid"),
        names="start late mid",
    )  # fmt: skip
    assert between(drawn, "late", "mid").back
    assert not between(drawn, "mid", "late").back


def test_the_beginning_stands_on_top_even_of_what_only_leads_to_it() -> None:
    drawn = flow(to("a", "x", "b"), to("c", "x", "a"))
    assert [node.rank for node in drawn.nodes] == [0, 1, 1, 0]
    assert between(drawn, "c", "a").back


def test_the_first_way_through_follows_first_exits_that_lead_on() -> None:
    drawn = flow(
        to("a", "x", "b"), to("a", "y", "c"), to("b", "retry", "a"), to("b", "z", "c"),
        to("d", "x", "c"),
    )  # fmt: skip
    names = {node.id: node.name for node in drawn.nodes}
    assert [(names[a.source], names[a.target]) for a in drawn.arrows if a.main] == [
        ("a", "b"),
        ("b", "c"),
    ]


def test_states_that_people_know_by_one_name_are_a_group_and_single_ones_are_not() -> None:
    states = {
        "a": State("a", "g", AGENT, title="The group"),
        "b": State("b", "g", AGENT),
        "c": State("c", "c", AGENT),
    }
    drawn = flow(states=states)
    assert [(each.title, each.members) for each in drawn.groups] == [("The group", ("s0", "s1"))]


def test_names_are_one_line_without_escapes() -> None:
    state = State("x\n\x1b[31my\u202e", "x", AGENT)
    node = flow(states={state.name: state}).nodes[-1]
    assert node.name == "x y"
    assert (
        flow(names="a", states={"\u200b": State("\u200b", "x", AGENT)}).nodes[-1].name
        == "(no name)"
    )


@given(st.data())
def test_without_the_arrows_that_go_back_every_arrow_leads_further_down(
    data: st.DataObject,
) -> None:
    names = [f"n{number}" for number in range(data.draw(st.integers(1, 12)))]
    pick = st.sampled_from(names)
    pairs = data.draw(st.lists(st.tuples(pick, pick), max_size=40))
    order = ranks.rank_nodes(names, data.draw(pick), pairs)
    for source, target in pairs:
        if (source, target) not in order.back:
            assert order.rank[source] < order.rank[target]
        elif source != target:
            # Drawn upwards, so there must be an upwards.
            assert order.rank[source] > order.rank[target]
