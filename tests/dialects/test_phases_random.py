"""No document breaks the reader, and what it accepts keeps the rules of every protocol."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porch.dialects import parse
from porch.dialects.phases.keys import KEYS
from porch.errors import errors_in
from porch.model.protocol import Agent, Human, Protocol
from porch.model.validate import RULES, exits_of, free_steps, knots, validate

NAMES = ["specify", "plan", "implement", "review", "draft", "consult", "revise", "final", "build"]
WORDS = [
    *NAMES, "complete", "next_phase", "next_phase_or_review", "current_phase", "retry", "verify",
    "specify:draft", "specify:consult", "plan:revise", "implement:phase_1", "review:final", "gate",
]  # fmt: skip

texts = st.sampled_from([*WORDS, "", "x", "../up", "/etc", "a b", "0", "reason", "once"])
scalars = st.none() | st.booleans() | st.integers(-2, 9) | st.floats(0, 9) | texts
all_keys = sorted({key for keys in KEYS.values() for key in keys} | {"$schema", "_x", "phaze"})
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(all_keys) | texts, inner, max_size=5)
    ),
    max_leaves=25,
)
relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def shaped(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with the right keys and any values at all."""
    return st.dictionaries(st.sampled_from(sorted(KEYS[kind])), anything, max_size=8)


@relaxed
@given(anything)
def test_any_json_document_is_read_without_a_crash(document: object) -> None:
    reading = parse(json.dumps(document), "p.json")
    assert (reading.protocol is None) == bool(errors_in(reading.findings))


@relaxed
@given(shaped("protocol"), st.lists(shaped("phase"), max_size=4))
def test_any_protocol_shaped_document_is_read_without_a_crash(
    top: dict[str, Any], phases: list[dict[str, Any]]
) -> None:
    reading = parse(json.dumps({**top, "phases": phases}), "p.json")
    assert (reading.protocol is None) == bool(errors_in(reading.findings))
    assert all(finding.place is not None for finding in reading.findings)


targets = st.sampled_from(WORDS)
checks = st.dictionaries(
    st.sampled_from(["build", "tests", "lint"]),
    st.just("true")
    | st.fixed_dictionaries(
        {"command": st.just("true")},
        optional={
            "on_fail": st.sampled_from(["retry", *NAMES]),
            "max_retries": st.integers(0, 3),
            "optional": st.booleans(),
        },
    ),
    min_size=1,
    max_size=3,
)
steps = st.lists(
    st.sampled_from(["draft", "consult", "revise", "final", "build", "extra"]),
    unique=True,
    max_size=5,
)


def phase(id_: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"id": st.just(id_)},
        optional={
            "substates": steps,
            "phased": st.booleans(),
            "checks": checks,
            "verification": st.fixed_dictionaries({"checks": checks}),
            "consultation": st.fixed_dictionaries(
                {"models": st.just(["a", "b"])},
                optional={
                    "on": st.sampled_from(["draft", "consult", "final"]),
                    "next": targets,
                    "max_rounds": st.integers(1, 3),
                },
            ),
            "gate": st.fixed_dictionaries(
                {},
                optional={
                    "after": st.sampled_from(["draft", "consult", "revise", "final"]),
                    "next": targets | st.none(),
                    "requires": st.lists(st.sampled_from(["sign", "draft", "consult"]), max_size=2),
                },
            ),
            "signals": st.dictionaries(
                st.sampled_from(["DONE", "BACK", "SKIP", "PHASE_COMPLETE", "X_DRAFTED"]),
                targets | st.none(),
                max_size=3,
            ),
            "transition": st.fixed_dictionaries(
                {},
                optional={
                    "on_complete": targets,
                    "on_fail": st.sampled_from(NAMES[:4]),
                    "on_all_phases_complete": targets,
                },
            ),
            "artifact": st.just("a.md"),
            "on_complete": st.just({"commit": True}),
        },
    )


protocols = st.lists(
    st.sampled_from(NAMES[:4]).flatmap(phase), min_size=1, max_size=4, unique_by=lambda p: p["id"]
).flatmap(
    lambda phases: st.fixed_dictionaries(
        {"name": st.just("p"), "phases": st.just(phases)},
        optional={
            "signals": st.dictionaries(
                st.sampled_from(["PHASE_COMPLETE", "AGAIN"]), targets, max_size=2
            ),
            "phase_completion": checks,
        },
    )
)
RULE_CODES = {
    "missing-edge", "guarded-edge", "unknown-exit", "dead-edge", "bad-budget", "bad-loop",
    "not-run", "endless", "ambiguous-signal",
}  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(protocols)
def test_what_the_compiler_draws_never_breaks_a_rule_of_the_model(document: dict[str, Any]) -> None:
    reading = parse(json.dumps(document), "p.json")
    assert not [f for f in reading.findings if f.code in RULE_CODES]
    if reading.protocol is not None:
        assert not errors_in(validate(reading.protocol, {}))
        assert_every_run_ends(reading.protocol)


def assert_every_run_ends(protocol: Protocol) -> None:
    """The same promise again, said directly: a walk without people runs out of budgets."""
    steps = free_steps(protocol.states, protocol.edges, protocol.loops)
    assert not knots(steps)
    for name, state in protocol.states.items():
        for exit_ in exits_of(state):
            edges = list(protocol.edges_of(name, exit_))
            assert edges[-1].guards == ()
            assert all(edge.spent for edge in edges if edge.charges)
        if isinstance(state.actor, Agent):
            assert list(protocol.edges_of(name, "BLOCKED"))
        if isinstance(state.actor, Human):
            assert state.actor.options


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_asked(rule: object) -> None:
    assert callable(rule)
