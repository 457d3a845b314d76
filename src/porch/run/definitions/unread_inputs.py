"""Inputs of a graph's state that its template does not use: what is read there reaches nobody."""

import os
from collections.abc import Iterator, Mapping

from porch.errors import Finding, Place
from porch.model.protocol import Agent, State
from porch.show.graph_templates import find_used_variables


def find_unread_inputs(
    state: State, template: str, path: str, places: Mapping[str, Place]
) -> list[Finding]:
    used = find_used_variables(template, path)
    return [
        Finding(
            "unread-input",
            f"the template of '{state.name}' does not use the input '{name}'",
            places.get(f"{state.name}.input.{name}"),
            f"use it in {os.path.basename(path)}, or remove it",
            "warning",
        )
        for name in _list_prompt_inputs(state)
        if name not in used
    ]


def _list_prompt_inputs(state: State) -> Iterator[str]:
    """Inputs that only a template can use; checks look at some by themselves."""
    if not isinstance(state.actor, Agent) or state.actor.ask is None:
        return
    measures = [measure for exit_ in state.actor.exits for measure in exit_.measures]
    measured = [path for each in measures for path in (*each.of, *each.by)]
    for take in state.actor.ask.takes:
        if not any(f"{path}.".startswith(f"{p}.") for p in take.paths for path in measured):
            yield take.name
