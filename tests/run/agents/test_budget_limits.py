"""What a run may cost, said in one line before anything is spent."""

from porch.model.protocol import Agent, Protocol, State, Target
from porch.run.agents.budget_limits import describe_worst_case
from porch.run.settings import Settings

PROTOCOL = Protocol("p", Target("a"), {"a": State("a", "build", Agent("r"))}, ())


def test_without_any_budget_that_is_said() -> None:
    assert describe_worst_case(Settings(), PROTOCOL).startswith("no budget is set")


def test_budgets_of_the_run_and_of_its_phases_are_named() -> None:
    settings = Settings(
        max_usd=3, phases={"build": {"max_turns": 4}, "elsewhere": {"max_tokens": 9}}
    )
    told = describe_worst_case(settings, PROTOCOL)
    assert "$3.00, 4 turns in build: plus what up to 1 running turns of 600 s" in told
    assert "elsewhere" not in told


def test_a_budget_of_one_phase_alone_is_a_budget() -> None:
    told = describe_worst_case(Settings(phases={"build": {"max_minutes": 30}}), PROTOCOL)
    assert "30 minutes of agent time in build" in told
