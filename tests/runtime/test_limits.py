"""What a run may cost, said in one line before anything is spent."""

from porch.adapters.settings import Settings
from porch.model.protocol import Agent, Protocol, State, Target
from porch.runtime.limits import worst_case

PROTOCOL = Protocol("p", Target("a"), {"a": State("a", "build", Agent("r"))}, ())


def test_without_any_budget_that_is_said() -> None:
    assert worst_case(Settings(), PROTOCOL).startswith("no budget is set")


def test_budgets_of_the_run_and_of_its_phases_are_named() -> None:
    settings = Settings(
        max_usd=3, phases={"build": {"max_turns": 4}, "elsewhere": {"max_tokens": 9}}
    )
    told = worst_case(settings, PROTOCOL)
    assert "$3.00, 4 turns in build, and what up to 1 turns of 600 s" in told
    assert "elsewhere" not in told


def test_a_budget_of_one_phase_alone_is_a_budget() -> None:
    told = worst_case(Settings(phases={"build": {"max_minutes": 30}}), PROTOCOL)
    assert "30 minutes of agents' time in build" in told
