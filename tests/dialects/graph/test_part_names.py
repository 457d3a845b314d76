"""A protocol inside another one: every name of its own is told apart, everything else stays."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from porch.dialects.graph.part_names import PartNames, add_part
from porch.dialects.registry import parse_definition
from porch.model import protocol as p
from porch.model import types as t
from porch.model.definition import Definition, encode_definition

SMALL = Path(__file__).parents[2] / "corpus" / "graph" / "small.graph.yaml"


def small() -> p.Protocol:
    found = parse_definition(SMALL.read_text("utf-8"), SMALL.name).protocol
    assert found is not None
    return found


def outer() -> p.Protocol:
    return p.Protocol("outer", p.Target("one"), {"one": p.State("one", "one", p.Join())}, ())


def test_every_state_budget_and_type_is_named_after_its_part() -> None:
    whole, inner = add_part(outer(), "x", small()), small()
    assert list(whole.states) == ["one", *(f"x+{name}" for name in inner.states)]
    assert list(whole.budgets) == [f"x+{name}" for name in inner.budgets]
    assert [budget.name for budget in whole.budgets.values()] == list(whole.budgets)
    assert list(whole.types) == [f"x+{name}" for name in inner.types]
    assert whole.budgets_of("x") == {name: f"x+{name}" for name in inner.budgets}
    assert whole.budgets_of("") == {}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)
    elif isinstance(value, str):
        yield from value.split()


def test_no_path_target_or_budget_of_the_part_is_left_as_it_was() -> None:
    inner, whole = small(), add_part(outer(), "x", small())
    raw = encode_definition(Definition(whole))["protocol"]
    states = {name: each for name, each in raw["states"].items() if name != "one"}
    told = [text.rpartition("parent.")[2] for text in texts([states, raw["edges"]])]
    paths = {text.partition(".")[0] for text in told if "." in text and not text.endswith(".j2")}
    # A slot belongs to an instance, and is no path of the graph.
    assert paths <= {"instance", "engine", "seen", *(f"x+{name}" for name in inner.states)}
    assert len(paths) > 5
    for edge in whole.edges:
        named = [*(each.state for each in (*edge.targets, *edge.spent)), edge.state]
        assert set(named) <= {*whole.states, ""}
        assert {edge.charges, *edge.resets} <= {*whole.budgets, ""}


def test_the_part_begins_is_about_is_updated_and_plans_as_before() -> None:
    part = add_part(outer(), "x", small()).part("x")
    assert (part.initial, part.spec) == ("x+plan", "x+Task")
    assert part.epoch == p.Epoch("x+plan", "x+plans", ("x+rounds",))
    assert part.interrupt == p.Interrupt(
        "x+update", "x+publish.clean", "x+merge.Merged", {"x+work": "x+plan"}
    )


def test_a_part_inside_a_part_has_both_names() -> None:
    whole = add_part(outer(), "y", replace(add_part(outer(), "x", small()), name="mid"))
    assert set(whole.parts) == {"y", "y+x"}
    assert whole.part("y+x").initial == "y+x+plan"
    assert whole.part("y").interrupt is None
    assert whole.part("y").epoch is None
    assert whole.part_of("y+x+work") == whole.part("y+x")
    assert whole.spawn_of("y+x") is not None
    assert whole.spawn_of("y") is None


def test_paths_of_parents_of_the_instance_and_of_the_engine() -> None:
    names = PartNames("x", frozenset({"plan"}))
    assert names.path("plan.Planned.file") == "x+plan.Planned.file"
    assert names.path("parent.parent.plan.Planned") == "parent.parent.x+plan.Planned"
    for same in ("instance.spec.file", "engine.rounds.left", "parent", "", "parent.instance.id"):
        assert names.path(same) == same


def test_types_are_named_inside_of_types() -> None:
    names = PartNames("x", frozenset())
    type_ = t.parse_type("Maybe [(Task, Text)]")
    assert t.format_type(names.type(type_)) == "Maybe [(x+Task, Text)]"
    enum = t.parse_type("A | B")
    assert names.type(enum) == enum


def test_what_no_graph_has_stays_as_it_is() -> None:
    names = PartNames("x", frozenset())
    check = p.Check(())
    assert names.state(p.State("s", "s", check)).actor == check
    untyped = p.Agent("r")
    assert names.state(p.State("s", "s", untyped)).actor == untyped
