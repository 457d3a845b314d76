"""One protocol with every kind of actor, and a run of it at its beginning."""

import pytest

from porch.model import protocol as p
from porch.testing import Rig

T = p.Target


def _gate(name: str, *artifacts: str, override: tuple[str, ...] = ()) -> p.Human:
    options = (
        p.Option("approved", "goes on"),
        p.Option("rejected", "goes back", needs_text=True),
        p.Option("waived", "goes on in spite of it", needs_text=True),
    )
    return p.Human("gate", name, name, options, artifacts=artifacts, override=override)


def _failure(name: str) -> p.Human:
    options = (
        p.Option("retry", "does it again"),
        p.Option("skip", "goes on without", needs_text=True),
        p.Option("stopped", "ends the run"),
    )
    return p.Human("failure", name, name, options)


def _agent(*exits: str) -> p.Agent:
    named = tuple(p.Exit(name, (name,)) for name in exits)
    return p.Agent("builder", "work.md", (*named, p.Exit(p.BLOCKED, (p.BLOCKED,), True)))


def _states() -> list[p.State]:
    lint, unit = (
        p.Command("lint", "lint", optional=True),
        p.Command("unit/fast", "unit", about="files"),
    )
    panel = p.Panel(("gemini", "codex", "claude"), "spec-review", "specify", 2)
    findings = p.Input("The reviewers ask for", "specify:consult.changes")
    rejected = p.Input("The architect said no", "specify:gate.rejected")
    gate = _gate("spec-approval", "spec.md", override=("specify:check.failed",))
    merge = _gate("merge-approval")
    return [
        p.State("specify:draft", "specify", _agent("SPEC_DRAFTED"), inputs=(rejected,)),
        p.State("specify:check", "specify", p.Check((lint, unit))),
        p.State("specify:consult", "specify", panel, inputs=(findings,)),
        p.State("specify:revise", "specify", _agent("REVISED"), inputs=(findings, rejected)),
        p.State("specify:gate", "specify", gate),
        p.State("specify:again", "specify", p.Check((unit,), reuse=True)),
        p.State("implement", "implement", _agent("PHASE_IMPLEMENTED"), loop="plan"),
        p.State("implement:check", "implement", p.Check((unit,)), loop="plan"),
        p.State("defend", "defend", _agent("TESTS_WRITTEN"), loop="plan"),
        p.State("failed:implement", "implement", _failure("failed:implement"), loop="plan"),
        p.State("left", "merge", _agent("done")),
        p.State("right", "merge", _agent("done")),
        p.State("merge", "merge", merge, waits_for=("left.done", "right.done")),
        p.State("commit", "commit", p.Git(("spec.md",), "Keep the spec")),
        p.State("failed", "failed", _failure("failed")),
        p.State("complete", "complete", p.End("complete")),
        p.State("stopped", "stopped", p.End("abandoned")),
    ]


def _edge(state: str, exits: str, *targets: str, **more: object) -> list[p.Edge]:
    places = tuple(T(target) for target in targets)
    return [p.Edge(state, exit_, places, **more) for exit_ in exits.split()]  # type: ignore[arg-type]


def _edges() -> list[p.Edge]:
    rounds = {"charges": "rounds", "spent": (T("specify:gate"),)}
    retries = {"charges": "retries", "spent": (T("failed:implement"),), "delay_s": 5}
    bad = ("specify:check.failed", "specify:check.unmeasured")
    lost = "silent exhausted BLOCKED"
    return [
        *_edge("specify:draft", "SPEC_DRAFTED", "specify:check"),
        *_edge("specify:draft", lost, "failed"),
        *_edge("specify:check", "passed", "specify:consult", forgets=bad),
        *_edge("specify:check", "failed unmeasured", "specify:gate"),
        *_edge("specify:consult", "approved", "specify:gate", resets=("rounds",)),
        *_edge("specify:consult", "changes", "specify:revise", **rounds),
        *_edge("specify:consult", "undecided", "specify:gate"),
        *_edge("specify:revise", "REVISED", "specify:consult"),
        *_edge("specify:revise", lost, "failed"),
        *_edge("specify:gate", "approved", "specify:again"),
        *_edge("specify:gate", "waived", "implement"),
        *_edge("specify:gate", "rejected", "specify:revise", resets=("rounds",)),
        *_edge("specify:again", "passed", "implement"),
        *_edge("specify:again", "failed unmeasured", "specify:draft"),
        *_edge("implement", "PHASE_IMPLEMENTED", "implement:check"),
        *_edge("implement", lost, "failed:implement"),
        *_edge("implement:check", "passed", "defend", resets=("retries",)),
        *_edge("implement:check", "failed", "implement", **retries),
        *_edge("implement:check", "unmeasured", "failed:implement"),
        p.Edge("defend", "TESTS_WRITTEN", (T(next_of="plan"),)),
        *_edge("defend", lost, "failed:implement"),
        *_edge("failed:implement", "retry", "implement", resets=("retries",)),
        p.Edge("failed:implement", "skip", (T(next_of="plan"),)),
        *_edge("failed:implement", "stopped", "stopped"),
        *_edge("left", "done", "merge"),
        *_edge("left", lost, "failed"),
        *_edge("right", "done", "merge"),
        *_edge("right", lost, "failed"),
        *_edge("merge", "approved waived", "commit"),
        *_edge("merge", "rejected", "left", "right", forgets=("left.done", "right.done")),
        *_edge("commit", "clean refused conflict", "complete"),
        *_edge("failed", "retry", "specify:draft"),
        *_edge("failed", "skip", "complete"),
        *_edge("failed", "stopped", "stopped"),
    ]


@pytest.fixture
def protocol() -> p.Protocol:
    budgets = {"rounds": p.Budget("rounds", 2), "retries": p.Budget("retries", 3)}
    # The two branches after the loop begin at a state whose only purpose is to part the ways.
    fork = p.State("fork", "merge", p.Git(("plan.md",), "Part the ways"))
    states = _states()
    states.insert(10, fork)
    edges = (*_edges(), *_edge("fork", "clean refused conflict", "left", "right"))
    loops = {"plan": p.Loop("plan", "plan.md", "implement", T("fork"))}
    named = {state.name: state for state in states}
    return p.Protocol("house", T("specify:draft"), named, edges, budgets=budgets, loops=loops)


@pytest.fixture
def rig(protocol: p.Protocol) -> Rig:
    return Rig(protocol).start()


@pytest.fixture
def at_gate(rig: Rig) -> Rig:
    """The specification was drafted, checked and approved by all reviewers; a person is asked."""
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed", "t1")
    rig.check("unit/fast", "passed", "t1")
    rig.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    rig.asked("spec as asked")
    return rig


@pytest.fixture
def at_loop(at_gate: Rig) -> Rig:
    """The gate was approved and the plan of three items read."""
    at_gate.decide("approved")
    at_gate.let_go()
    at_gate.check("unit/fast", "passed", "t1")
    at_gate.reads("one=1", "two=2", "three=3")
    return at_gate


@pytest.fixture
def at_fork(at_loop: Rig) -> Rig:
    """All items are done and two branches run side by side."""
    for _ in range(3):
        at_loop.exit("PHASE_IMPLEMENTED")
        at_loop.check("unit/fast", "passed", "t2")
        at_loop.exit("TESTS_WRITTEN")
    at_loop.commits()
    return at_loop
