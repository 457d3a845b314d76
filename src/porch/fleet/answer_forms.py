"""The forms of plans and of rounds of questions, as they are typed by whoever answers one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from porch.machine.budgets import ASK

if TYPE_CHECKING:
    from porch.machine.state import RunState, Standing
    from porch.store.where import ProjectPaths


def read_form(
    where: "ProjectPaths", state: "RunState", standing: "Standing", text: str
) -> Mapping[str, Any] | None:
    """Both kinds are loaded where somebody answers one; None if the question has no form."""
    if state.run.protocol == ASK:
        from porch.track.questions import ask_answers

        return ask_answers.read_typed_reply(where, state, standing, text)
    from porch.plan.gates import typed_answers

    return typed_answers.read_typed_form(where, state, standing, text)
