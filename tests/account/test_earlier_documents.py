"""Documents that were there before the run need not have the form that porch asks of new ones."""

from porch.account.consequences import Step, foresee_answers
from porch.machine import facts as f
from porch.testing import Rig
from tests.account.test_phases import SHIP, check_all, finish_work, start

PLAN = {
    "id": "plan",
    "artifact": "plan.md",
    "gate": {"name": "go", "next": "ship"},
    "checks": {"sections": {"command": "grep Risks", "about": "form"}, "unit": "make"},
}


def foresee_approval(rig: Rig) -> list[tuple[Step, ...]]:
    rig.asked()
    [decision] = rig.state.decisions.values()
    answers = foresee_answers(rig.protocol, rig.state, decision)
    return [way.steps for way in next(a for a in answers if a.exit == "approved").ways]


def test_an_approval_of_them_skips_the_checks_of_their_form_and_measures_the_rest() -> None:
    """Q4."""
    begun = f.RunStarted(run="0001-x", id="0001", title="x", protocol="p", digest="d0")
    rig = Rig(start(PLAN, SHIP).protocol)
    rig.tell(f.RunAdopted(state="plan:gate", start=begun))
    expected, *other = foresee_approval(rig)
    assert [(step.name, step.result) for step in expected] == [
        ("sections", "nothing to run"),
        ("unit", "passed"),
    ]
    results = {
        step.name: {s.result for way in other for s in way if s.name == step.name}
        for step in expected
    }
    assert results == {"sections": {"nothing to run"}, "unit": {"failed", "could not measure"}}


def test_what_an_agent_has_worked_on_is_measured_whole() -> None:
    rig = start(PLAN, SHIP)
    finish_work(rig)
    check_all(rig)
    expected, *_ = foresee_approval(rig)
    assert {step.result for step in expected} == {"passed"}
