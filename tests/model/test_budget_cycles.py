"""A budget that is restored on the way round ends nothing, and is not taken for an end."""

from porch.model.budget_cycles import drop_knotted_resets
from porch.model.protocol import (
    Agent,
    Budget,
    Edge,
    End,
    Exit,
    Human,
    Option,
    Protocol,
    State,
    Target,
)
from porch.model.validate import find_knots, validate_protocol

WAYS = ("silent", "exhausted", "BLOCKED")


def agent(name: str, *exits: str) -> State:
    return State(name, name, Agent(name, exits=tuple(Exit(each, (each,)) for each in exits)))


def protocol(*edges: Edge, person: bool = False) -> Protocol:
    asked = Human("question", "g", "G", (Option("again", "once more"),))
    states = {
        "one": agent("one", "ON", "BACK"),
        "two": agent("two", "ON", "BACK"),
        **({"ask": State("ask", "ask", asked)} if person else {}),
        "end": State("end", "end", End("complete")),
    }
    rest = [Edge(name, exit_, (Target("end"),)) for name in ("one", "two") for exit_ in WAYS]
    known = {edge.state + edge.exit for edge in edges}
    more = [
        Edge(name, exit_, (Target("end"),))
        for name in ("one", "two")
        for exit_ in ("ON", "BACK")
        if name + exit_ not in known
    ]
    budgets = {name: Budget(name, 3) for name in ("a", "b")}
    every = (*edges, *rest, *more)
    return Protocol("p", Target("one"), states, every, budgets=budgets, spec="Spec")


def way(source: str, exit_: str, target: str, charges: str, resets: tuple[str, ...] = ()) -> Edge:
    return Edge(source, exit_, (Target(target),), (), charges, (Target("end"),), resets)


def codes(given: Protocol) -> list[str]:
    return [found.code for found in validate_protocol(given, {}) if found.code != "unreachable"]


def test_two_budgets_that_restore_each_other_go_round_for_ever() -> None:
    given = protocol(way("one", "ON", "two", "a", ("b",)), way("two", "BACK", "one", "b", ("a",)))
    (found,) = validate_protocol(given, {})
    assert found.code == "endless"
    assert found.message.endswith("one, two")


def test_nested_budgets_run_out_from_the_outside_in() -> None:
    inner = way("two", "ON", "two", "b")
    given = protocol(inner, way("one", "ON", "two", "a", ("b",)), way("two", "BACK", "one", ""))
    assert codes(given) == []


def test_a_budget_that_is_restored_inside_its_own_loop_is_none() -> None:
    assert codes(protocol(way("one", "BACK", "one", "a", ("a",)))) == ["endless"]


def test_a_person_on_the_way_round_is_an_end_of_its_own() -> None:
    there, back = (
        way("one", "ON", "ask", "a"),
        Edge("ask", "again", (Target("one"),), resets=("a",)),
    )
    assert codes(protocol(there, back, person=True)) == []


def test_what_goes_round_without_any_charge_is_said_once() -> None:
    free = Edge("one", "BACK", (Target("one"),))
    assert codes(protocol(free, way("two", "BACK", "two", "a", ("a",)))) == ["endless"]


def test_untied_charges_add_up_and_resets_on_the_way_out_stay() -> None:
    leaving = Edge("two", "ON", (Target("end"),), resets=("a", "b"))
    given = protocol(
        way("one", "ON", "two", "a", ("b",)), way("two", "BACK", "one", "b", ("a",)), leaving
    )
    mended = drop_knotted_resets(given, find_knots)
    assert codes(mended) == []
    assert [edge.resets for edge in mended.edges if edge.resets] == [("a", "b")]
    assert drop_knotted_resets(mended, find_knots) is mended
