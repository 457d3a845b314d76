"""What was measured and found good is told for the phase of a question, and for no other."""

from porch.machine.state import RunState, Standing
from porch.show.evidence_notes import list_good_evidence


def test_checks_and_reviews_of_the_phase_are_told() -> None:
    memory = {
        ("", ""): {
            "evidence.plan:sections": {"tree": "t"},
            "evidence.specify:lint": {"tree": "t"},
            "evidence.specify:test": {"tree": "t"},
            "specify:consult.changes": {"coverage": "1 of 3 gave a verdict"},
            "specify:consult.approved": {"coverage": "3 of 3 gave a verdict"},
            "plan:consult.approved": {"coverage": "2 of 2 gave a verdict"},
        },
        ("", "phase_1"): {"evidence.specify:types": {"tree": "t"}},
    }
    state = RunState(memory=memory)
    at = Standing("specify:gate#1", "", "specify:gate", "", 1, "")
    told = ["passed: lint, test", "reviews: 3 of 3 gave a verdict"]
    assert list_good_evidence(state, at) == told
    inside = Standing("specify:gate:phase_1#1", "", "specify:gate", "phase_1", 1, "")
    assert list_good_evidence(state, inside)[0] == "passed: lint, test, types"


def test_a_round_from_which_somebody_was_missing_is_not_good() -> None:
    memory = {("", ""): {"one:consult.approved": {"coverage": "1 of 2", "abstained": [{}]}}}
    at = Standing("one:gate#1", "", "one:gate", "", 1, "")
    assert list_good_evidence(RunState(memory=memory), at) == []
