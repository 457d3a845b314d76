"""Rules that every protocol keeps, whichever dialect wrote it."""

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from porch.errors import Finding, Place
from porch.model.protocol import (
    Agent,
    Budget,
    Check,
    Children,
    Command,
    Edge,
    End,
    Exit,
    Git,
    Guard,
    Human,
    Join,
    Loop,
    Option,
    Panel,
    Protocol,
    State,
    Target,
)
from porch.model.validate import exits_of, find_knots, free_steps, validate_protocol

ASK = Human("failure", "g", "G", (Option("approved", "on"), Option("rejected", "back")))


def state(name: str, actor: object, loop: str = "") -> State:
    return State(name, name, actor, loop=loop)  # type: ignore[arg-type]


def to(name: str, exit_: str, target: str, **more: object) -> Edge:
    return Edge(name, exit_, (Target(target),), **more)  # type: ignore[arg-type]


STATES = {
    "work": state("work", Agent("work", exits=(Exit("DONE", ("DONE",)),))),
    "check": state("check", Check((Command("c", "true"),))),
    "ask": state("ask", ASK),
    "end": state("end", End("complete")),
}
EDGES = (
    to("work", "DONE", "check"),
    to("work", "BLOCKED", "ask"),
    to("work", "silent", "ask"),
    to("work", "exhausted", "ask"),
    to("check", "passed", "end", resets=("tries",)),
    to("check", "failed", "work", charges="tries", spent=(Target("ask"),)),
    to("check", "unmeasured", "ask"),
    to("ask", "approved", "end"),
    to("ask", "rejected", "work"),
)
GOOD = Protocol("p", Target("work"), STATES, EDGES, budgets={"tries": Budget("tries", 3)})
PLACES = {"check": Place("p.json", 3, 1), "check.failed": Place("p.json", 4, 2)}


def with_edges(*edges: Edge, without: Iterable[tuple[str, str]] = ()) -> Protocol:
    kept = [edge for edge in EDGES if (edge.state, edge.exit) not in set(without)]
    return replace(GOOD, edges=(*kept, *edges))


def with_state(added: State, *edges: Edge) -> Protocol:
    return replace(GOOD, states={**STATES, added.name: added}, edges=(*EDGES, *edges))


def codes(protocol: Protocol) -> list[str]:
    return [finding.code for finding in validate_protocol(protocol, PLACES)]


def only(protocol: Protocol) -> Finding:
    (finding,) = validate_protocol(protocol, PLACES)
    return finding


def test_a_good_protocol_has_no_findings() -> None:
    assert validate_protocol(GOOD, {}) == []


def test_every_actor_has_its_exits() -> None:
    panel = Panel(("m",), "generic", "p", 1)
    assert exits_of(state("x", panel)) == ("approved", "changes", "undecided")
    assert exits_of(state("x", Git((), ""))) == ("clean", "refused", "conflict")
    assert exits_of(state("x", Children("p", "s"))) == ("settled",)
    assert exits_of(STATES["end"]) == ()
    assert exits_of(STATES["work"]) == ("DONE", "BLOCKED", "silent", "exhausted")


FAILED = {("check", "failed")}


def test_an_unknown_target_is_found_where_it_is_written() -> None:
    edge = to("check", "failed", "worc", charges="tries", spent=(Target("ask"),))
    finding = only(with_edges(edge, without=FAILED))
    assert (finding.code, finding.place) == ("unknown-state", PLACES["check.failed"])
    assert "'worc'" in finding.message


@pytest.mark.parametrize(
    "target, written",
    [
        (Target(next_of="loop"), "the next item of loop"),
        (Target("nowhere", "phase_1"), "nowhere:phase_1"),
    ],
)
def test_spent_budgets_and_loops_must_lead_somewhere_too(target: Target, written: str) -> None:
    edge = to("check", "failed", "work", charges="tries", spent=(target,))
    finding = only(with_edges(edge, without=FAILED))
    assert finding.code == "unknown-state"
    assert written in finding.message


def test_a_protocol_begins_at_a_state_that_exists() -> None:
    assert "unknown-state" in codes(replace(GOOD, initial=Target("nowhere")))


def test_an_edge_begins_at_a_state_that_exists() -> None:
    assert codes(with_edges(to("nowhere", "x", "end"))) == ["unknown-state"]


def test_an_exit_without_an_edge_is_an_error() -> None:
    finding = only(with_edges(without={("check", "unmeasured")}))
    assert (finding.code, finding.place) == ("missing-edge", PLACES["check"])


def test_an_edge_without_targets_leads_nowhere() -> None:
    bare = Edge("check", "unmeasured", ())
    assert codes(with_edges(bare, without={("check", "unmeasured")})) == ["missing-edge"]


def test_the_last_edge_of_an_exit_is_always_open() -> None:
    guarded = to("check", "unmeasured", "ask", guards=(Guard("x"),))
    assert codes(with_edges(guarded, without={("check", "unmeasured")})) == ["guarded-edge"]


def test_an_edge_behind_an_open_one_is_never_taken() -> None:
    assert codes(with_edges(to("check", "passed", "ask"))) == ["dead-edge"]


def test_an_actor_gives_only_its_own_exits() -> None:
    assert codes(with_edges(to("check", "approved", "end"))) == ["unknown-exit"]


def test_a_signal_means_one_exit() -> None:
    twice = Agent("work", exits=(Exit("DONE", ("DONE",)), Exit("ALSO", ("ALSO", "DONE"))))
    protocol = with_edges(to("work", "ALSO", "end"))
    states = {**STATES, "work": state("work", twice)}
    assert codes(replace(protocol, states=states)) == ["ambiguous-signal"]


def test_budgets_are_known_not_negative_and_say_what_follows() -> None:
    assert codes(replace(GOOD, budgets={"tries": Budget("tries", -1)})) == ["bad-budget"]
    assert codes(replace(GOOD, budgets={})) == ["bad-budget", "bad-budget"]
    bare = to("check", "failed", "work", charges="tries")
    assert codes(with_edges(bare, without=FAILED)) == ["bad-budget"]


def test_children_and_joins_have_one_exit_each() -> None:
    added = state("kids", Children("p", "s"))
    assert codes(with_state(added)) == ["missing-edge", "unreachable"]
    assert codes(with_state(state("join", Join()))) == ["missing-edge", "unreachable"]
    assert codes(with_state(added, to("kids", "settled", "end"))) == ["unreachable"]


def test_a_state_that_nothing_leads_to_is_a_warning() -> None:
    finding = only(with_state(state("aside", Human("gate", "a", "A", ()))))
    assert (finding.code, finding.severity) == ("unreachable", "warning")


def test_a_protocol_has_an_end_that_can_be_reached() -> None:
    protocol = with_edges(
        to("check", "passed", "ask"),
        to("ask", "approved", "work"),
        without={("check", "passed"), ("ask", "approved")},
    )
    assert codes(protocol) == ["no-end"]
    given_up = {**STATES, "end": state("end", End("abandoned"))}
    assert codes(replace(GOOD, states=given_up)) == ["no-end"]


def test_going_round_without_a_charge_or_a_person_is_refused_with_the_way() -> None:
    free = to("check", "failed", "work")
    finding = only(with_edges(free, without=FAILED))
    assert finding.code == "endless"
    assert "work -> check -> work" in finding.message


def test_going_round_on_the_spent_side_is_refused_too() -> None:
    spent = to("check", "failed", "ask", charges="tries", spent=(Target("work"),))
    assert codes(with_edges(spent, without=FAILED)) == ["endless"]


def test_a_state_that_leads_to_itself_is_a_cycle() -> None:
    finding = only(
        with_edges(to("check", "unmeasured", "check"), without={("check", "unmeasured")})
    )
    assert "check -> check" in finding.message


def looped(after: Target, first: str = "work", source: str = "plan.md") -> Protocol:
    loop = Loop("loop", source, first, after)
    states = {
        name: replace(s, loop="loop") if name in ("work", "check") else s
        for name, s in STATES.items()
    }
    edge = Edge("check", "passed", (Target(next_of="loop"),))
    protocol = with_edges(edge, without={("check", "passed")})
    return replace(protocol, states=states, loops={"loop": loop})


def test_the_step_to_the_next_item_may_go_round() -> None:
    assert validate_protocol(looped(Target("end")), {}) == []


def test_but_not_if_the_way_out_of_the_loop_leads_back_into_it() -> None:
    assert "endless" in codes(looped(Target("work")))


@pytest.mark.parametrize(
    "protocol",
    [
        looped(Target("nowhere")),
        looped(Target(next_of="loop")),
        looped(Target("end"), first="ask"),
        looped(Target("end"), first="nowhere"),
        looped(Target("end"), source=""),
        replace(GOOD, states={**STATES, "work": replace(STATES["work"], loop="other")}),
    ],
)
def test_loops_are_sound(protocol: Protocol) -> None:
    assert "bad-loop" in codes(protocol)


def test_an_initial_step_into_a_loop_reaches_it() -> None:
    protocol = replace(looped(Target("end")), initial=Target(next_of="loop"))
    assert validate_protocol(protocol, {}) == []


def test_knots_are_found_in_long_chains_without_recursion() -> None:
    chain = {str(n): [str(n + 1)] for n in range(5000)}
    assert find_knots(chain) == {}
    assert len(find_knots({**chain, "5000": ["10"]})) == 4991


def test_two_knots_are_kept_apart() -> None:
    found = find_knots({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"], "e": ["a", "c"]})
    assert found["a"] == found["b"] != found["c"] == found["d"]
    assert "e" not in found


def test_edges_of_unknown_states_are_no_steps() -> None:
    assert free_steps({}, EDGES, {}) == {}
