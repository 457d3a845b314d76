"""Values that a command says itself, so that its help loads nothing: each agrees with its owner."""

from porch import errors
from porch.cli import command
from porch.cli.envoy import knowledge, plan
from porch.knowledge import search
from porch.plan.prompts import prompt_work


def test_what_the_help_says_of_a_search_is_what_the_search_does() -> None:
    assert (knowledge._LIMIT, knowledge._BUDGET) == (search.DEFAULT_LIMIT, search.DEFAULT_BUDGET)


def test_the_claims_that_can_be_typed_are_the_claims_that_are_verified() -> None:
    assert plan._CLAIMS == prompt_work.CLAIMS


def test_the_boundary_of_the_commands_uses_the_exit_codes_of_the_errors() -> None:
    assert (command._INPUT, command._INTERRUPTED) == (errors.EXIT_INPUT, errors.EXIT_INTERRUPTED)
