"""What became of every phase, plan phase, check, review and gate, from the journal alone."""

import json
from typing import Any

from porch.account.attempts import Attempt
from porch.account.failures import find_failure
from porch.account.outcomes import SIGNS, Outcome, worst_outcome
from porch.account.phases import PhaseAccount, list_phases, list_plan_phases
from porch.dialects.registry import parse_definition
from porch.machine import facts as f
from porch.machine.approvals import add_engine_states
from porch.machine.evolve import evolve_state
from porch.model import protocol as p
from porch.show.phase_words import describe_answer
from porch.testing import Rig

SPECIFY: dict[str, Any] = {
    "id": "specify",
    "name": "Specify",
    "substates": ["draft", "consult", "revise"],
    "initial_substate": "draft",
    "signals": {"SPEC_DRAFTED": "specify:consult", "REVISED": "specify:consult"},
    "consultation": {"on": "consult", "models": ["claude", "codex"], "max_rounds": 2},
    "gate": {"name": "go", "next": "build"},
}
BUILD: dict[str, Any] = {
    "id": "build",
    "checks": {"unit": {"command": "true", "max_retries": 1}},
    "transition": {"on_complete": "ship"},
}
SHIP: dict[str, Any] = {"id": "ship", "checks": {"lint": {"command": "true", "max_retries": 0}}}


def start(*phases: dict[str, Any]) -> Rig:
    text = json.dumps({"name": "p", "phases": list(phases)})
    reading = parse_definition(text, "protocol.json")
    assert reading.protocol is not None, reading.findings
    return Rig(add_engine_states(reading.protocol)).start()


def outcomes(rig: Rig) -> dict[str, Outcome]:
    return {phase.name: phase.outcome for phase in list_phases(rig.protocol, rig.state)}


def find(rig: Rig, name: str) -> PhaseAccount:
    return next(each for each in list_phases(rig.protocol, rig.state) if each.name == name)


def finish_work(rig: Rig) -> None:
    agent = rig.request("agent")
    exits = [exit_.name for exit_ in getattr(agent, "exits", ()) if exit_.name != "BLOCKED"]
    rig.exit(exits[0])


def check_all(rig: Rig, **results: Any) -> None:
    """Every check that is running ends: passed, unless named."""
    while hands := [hand for hand in rig.state.in_hand.values() if hand.kind == "check"]:
        name = hands[0].name
        rig.check(name, results.get(name, "passed"), "t1")


def fail_build(rig: Rig) -> None:
    for _ in range(2):
        finish_work(rig)
        check_all(rig, unit="failed")
        if not rig.state.in_hand or "ask" in {h.kind for h in rig.state.in_hand.values()}:
            break
        rig.fires()
    rig.asked()


def test_a_phase_passes_once_its_work_and_checks_are_good() -> None:
    rig = start(BUILD, SHIP)
    assert outcomes(rig)["build"] == "working"
    finish_work(rig)
    check_all(rig)
    assert outcomes(rig) == {"build": "passed", "ship": "working"}
    build = find(rig, "build")
    assert ("unit", "passed", 1) in [(c.name, c.outcome, c.runs) for c in build.checks]


def test_a_phase_whose_check_failed_is_failed_after_a_person_stops_the_run() -> None:
    """T2: it was shown with a tick."""
    rig = start(BUILD, SHIP)
    fail_build(rig)
    assert outcomes(rig)["build"] == "waiting"
    rig.decide("stopped", "no use")
    build = find(rig, "build")
    assert rig.state.outcome == "abandoned"
    assert build.outcome == "failed"
    assert [(gap.name, gap.outcome) for gap in build.gaps] == [("unit", "failed")]
    assert build.decided is not None
    assert (build.decided.by, build.decided.text) == ("ada", "no use")
    assert outcomes(rig)["ship"] == "not run"


def test_a_phase_that_a_person_skips_says_who_and_why() -> None:
    """T2: skipped tests were shown as done."""
    rig = start(BUILD, SHIP)
    fail_build(rig)
    rig.decide("skip", "later")
    build = find(rig, "build")
    assert build.outcome == "skipped"
    assert build.decided is not None
    assert (build.decided.by, build.decided.text) == ("ada", "later")
    assert build.decided.seq == rig.state.seq
    finish_work(rig)
    check_all(rig)
    assert outcomes(rig)["build"] == "skipped"
    assert outcomes(rig)["ship"] == "passed"


def test_what_lies_behind_a_rollback_is_stale() -> None:
    """T15: `af status` kept the ticks of phases that had to be done again."""
    rig = start(BUILD, SHIP, {"id": "tell"})
    for _ in range(2):
        finish_work(rig)
        check_all(rig)
    rig.ask("rollback", state="build")
    assert outcomes(rig)["build"] == "working"
    assert outcomes(rig)["ship"] == "stale"
    assert outcomes(rig)["tell"] == "stale"


def test_a_gate_approved_over_open_findings_is_waived_and_names_them() -> None:
    """T7: three rounds with changes left were told as "3 of 3 reviewers gave a verdict"."""
    rig = start(SPECIFY, BUILD, SHIP)
    finish_work(rig)
    check_all(rig)
    while not rig.state.decisions:
        kinds = {hand.kind for hand in rig.state.in_hand.values()}
        if "review" in kinds:
            rig.panel(claude="REQUEST_CHANGES", codex="APPROVE")
        elif "agent" in kinds:
            finish_work(rig)
        elif "check" in kinds:
            check_all(rig)
        elif "ask" in kinds:
            rig.asked()
    (review,) = find(rig, "specify").reviews
    assert review.result == "changes"
    assert (review.is_open, review.is_used_up) == (True, True)
    assert review.round == review.limit
    assert review.verdicts == {"claude": "REQUEST_CHANGES", "codex": "APPROVE"}
    assert review.findings == ("claude: fix it",)


def test_plan_phases_have_an_outcome_each_and_the_phase_the_worst_of_them() -> None:
    """T16: one result per name hid that the tests of the first plan phase had failed."""
    rig = start(
        {"id": "plan", "artifacts": ["plan.md"], "transition": {"on_complete": "do"}},
        {
            "id": "do",
            "type": "per_plan_phase",
            "phases_from": "plan.md",
            "checks": {"unit": {"command": "true", "max_retries": 0}},
        },
    )
    finish_work(rig)
    check_all(rig)
    rig.reads("one=1", "two=2")
    finish_work(rig)
    check_all(rig, unit="failed")
    rig.asked()
    rig.decide("skip", "known")
    assert outcomes(rig)["do"] == "working"
    finish_work(rig)
    check_all(rig)
    first, second = list_plan_phases(rig.protocol, rig.state)
    assert (first.outcome, second.outcome) == ("skipped", "passed")
    do = find(rig, "do")
    assert do.outcome == "skipped"
    assert [part.outcome for part in do.parts] == ["skipped", "passed"]
    assert [gap.name for gap in do.gaps] == ["unit"]


def test_a_phase_of_the_plan_is_not_done_before_each_plan_phase_has_come_to_it() -> None:
    """T14: `evaluate done` while plan phase 2 was in defend."""
    plan = {"id": "plan", "artifacts": ["plan.md"], "transition": {"on_complete": "defend"}}
    loop = {"phased": True, "phases_from": "plan.md"}
    rig = start(plan, {"id": "defend", **loop}, {"id": "evaluate", **loop}, {"id": "tell"})
    finish_work(rig)
    check_all(rig)
    rig.reads("one=1", "two=2")
    finish_work(rig)
    finish_work(rig)
    assert [each.state for each in rig.state.positions.values()] == ["defend"]
    assert [part.outcome for part in find(rig, "evaluate").parts] == ["passed", "not run"]
    assert outcomes(rig)["evaluate"] == "not run"
    assert outcomes(rig)["defend"] == "working"


def test_a_whole_is_as_good_as_its_worst_part() -> None:
    assert worst_outcome([]) == "not run"
    assert worst_outcome(["passed", "not run"]) == "not run"
    assert worst_outcome(["passed", "waived", "skipped"]) == "skipped"
    assert worst_outcome(["failed", "passed"]) == "failed"


def test_only_what_passed_has_the_sign_of_being_done() -> None:
    assert [outcome for outcome, sign in SIGNS.items() if sign == "x"] == ["passed"]


LOOPED: list[dict[str, Any]] = [
    {"id": "plan", "artifacts": ["plan.md"], "transition": {"on_complete": "do"}},
    {"id": "do", "type": "per_plan_phase", "phases_from": "plan.md"},
    {"id": "tell"},
]


def test_behind_a_rollback_to_one_plan_phase_the_later_ones_are_stale() -> None:
    """They are done again, and kept their ticks."""
    rig = start(*LOOPED)
    finish_work(rig)
    check_all(rig)
    rig.reads("one=1", "two=2")
    for _ in range(2):
        finish_work(rig)
        check_all(rig)
    plan = list_plan_phases(rig.protocol, rig.state)
    assert [each.outcome for each in plan] == ["passed", "passed"]
    rig.ask("rollback", state="do", item="one")
    plan = list_plan_phases(rig.protocol, rig.state)
    assert [each.outcome for each in plan] == ["working", "stale"]


def test_behind_a_gate_that_a_rollback_asks_again_everything_is_stale() -> None:
    """Nobody works in front of it, and yet it will be done again."""
    gated = {"id": "spec", "gate": {"name": "go", "next": "build"}}
    rig = start(gated, BUILD, SHIP)
    finish_work(rig)
    rig.asked()
    rig.decide("approved")
    finish_work(rig)
    check_all(rig)
    assert outcomes(rig)["build"] == "passed"
    rig.ask("rollback", state="spec:gate")
    rig.asked()
    assert outcomes(rig) == {"spec": "waiting", "build": "stale", "ship": "stale"}


def start_graph() -> Rig:
    """As graphs do it, the file lists the review in front of the work."""
    review = p.Agent("review", exits=(p.Exit("GOOD"), p.Exit("BAD")))
    work = p.Agent("work", exits=(p.Exit("DONE"), p.Exit("STUCK")))
    states = {
        "review": p.State("review", "review", review),
        "work": p.State("work", "work", work),
        "merged": p.State("merged", "merged", p.End("complete")),
        "failed": p.State("failed", "failed", p.End("failed")),
    }
    ways = [("work", "DONE", "review"), ("work", "STUCK", "failed")]
    ways += [("review", "GOOD", "merged"), ("review", "BAD", "work")]
    edges = tuple(p.Edge(source, exit_, (p.Target(target),)) for source, exit_, target in ways)
    return Rig(p.Protocol("small", p.Target("work"), states, edges)).start()


def test_work_is_not_stale_because_its_review_stands_first_in_the_file() -> None:
    """A tree that was green to its end told of its merge: must be done again."""
    rig = start_graph()
    rig.exit("DONE")
    assert outcomes(rig) == {"review": "working", "work": "passed"}
    rig.exit("BAD")
    assert outcomes(rig) == {"review": "stale", "work": "working"}
    rig.exit("DONE")
    rig.exit("GOOD")
    assert outcomes(rig) == {"review": "passed", "work": "passed"}


def test_an_agent_that_gives_up_and_so_ends_the_run_has_not_passed() -> None:
    """It was left by an exit, and was ticked."""
    rig = start_graph()
    rig.exit("STUCK")
    assert rig.state.outcome == "failed"
    assert outcomes(rig) == {"review": "not run", "work": "failed"}


def test_a_failure_names_its_checks_and_what_the_agent_said_and_was_denied() -> None:
    rig = start(BUILD, SHIP)
    agent = rig.held("agent")
    notes = ("denied: rm -rf /", "another note")
    rig.tell(f.ExitAccepted(effect=agent, exit="PHASE_COMPLETE", said="All good.", notes=notes))
    check_all(rig, unit="failed")
    rig.fires()
    finish_work(rig)
    check_all(rig, unit="failed")
    (standing,) = rig.state.positions.values()
    failure = find_failure(rig.protocol, rig.state, standing)
    assert [(gap.name, gap.outcome, gap.runs) for gap in failure.checks] == [("unit", "failed", 2)]
    assert failure.attempt == Attempt(2, 2, 2)
    assert failure.turn is not None
    assert (failure.turn.said, failure.turn.denied) == ("", ())
    first = evolve_state(start(BUILD, SHIP).state, rig.records[1])
    (turn,) = first.past_turns.values()
    assert (turn.said, turn.denied) == ("All good.", ("rm -rf /",))


def test_a_question_that_was_answered_is_not_to_be_asked_again_at_the_end() -> None:
    """The work began again behind the answer, and nobody needed the answerer a second time."""
    exits = {"work": ("UNCLEAR", "DONE"), "answer": ("ANSWERED",)}
    states = {
        name: p.State(name, name, p.Agent(name, exits=tuple(map(p.Exit, named))))
        for name, named in exits.items()
    }
    states["merged"] = p.State("merged", "merged", p.End("complete"))
    ways = [("work", "UNCLEAR", "answer"), ("answer", "ANSWERED", "work")]
    ways += [("work", "DONE", "merged")]
    edges = tuple(p.Edge(source, exit_, (p.Target(target),)) for source, exit_, target in ways)
    rig = Rig(p.Protocol("small", p.Target("work"), states, edges)).start()
    for exit_ in ("UNCLEAR", "ANSWERED", "DONE"):
        rig.exit(exit_)
    assert outcomes(rig) == {"work": "passed", "answer": "passed"}


def test_a_phase_that_was_skipped_names_the_skip_and_not_the_waiver_behind_it() -> None:
    """Lists said `skipped, waived by ada`, and finish named the skip."""
    rig = start({**BUILD, "gate": {"name": "go", "next": "ship"}, "transition": {}}, SHIP)
    fail_build(rig)
    rig.decide("skip", "later\n- all passed")
    rig.asked()
    rig.decide("waived", "I looked")
    build = find(rig, "build")
    assert build.outcome == "skipped"
    assert build.decided is not None
    assert build.decided.exit == "skip"
    assert describe_answer(build.decided) == "skipped by ada: later - all passed"
