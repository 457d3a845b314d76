"""What `porch.testing` offers to people who write protocols: names, wherever they are kept."""

import porch.testing

OFFERED = {
    "COMMAND",
    "PATIENCE_S",
    "CheckResult",
    "Form",
    "MemoryJournal",
    "Project",
    "Result",
    "Rig",
    "Verdict",
    "distrust",
    "exits",
    "kill_at",
    "kill_python_at",
    "result",
    "unmeasured",
}


def test_testing_offers_the_same_names_as_ever() -> None:
    assert set(porch.testing.__all__) == OFFERED
    assert all(hasattr(porch.testing, name) for name in OFFERED)
