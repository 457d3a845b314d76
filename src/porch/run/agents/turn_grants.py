"""Grants that appear while an agent works: they may be the agent's, so they do not count.

What counted when a turn began is kept with the terms of the turn. So it is also compared when the
driver was killed, by whoever takes the run over.
"""

import os
from collections.abc import Iterator

from porch.agents.transcripts import turn_directory_name
from porch.machine.state import RunState
from porch.run.agents.turn_record import TurnTerms, read_terms
from porch.run.grants import mark_new_grants, read_grants
from porch.run.settings import user_directory
from porch.store.where import ProjectPaths


def list_trusted_digests() -> tuple[str, ...]:
    """What a person trusts now."""
    return tuple(sorted(read_grants(user_directory(os.environ)).digests))


def distrust_new_grants(run: str, terms: TurnTerms) -> Iterator[str]:
    """When a turn is over: what was granted meanwhile waits for a person to repeat it."""
    if terms.trusted is None:  # a turn that an earlier release began
        return
    for digest in mark_new_grants(user_directory(os.environ), terms.trusted, run):
        what = f"settings were trusted while an agent worked ({digest}); this does not count"
        yield f"{what} until a person repeats it: porch trust"


def distrust_grants_of_lost_turns(where: ProjectPaths, state: RunState) -> Iterator[str]:
    """The same for turns whose driver was killed."""
    turns = os.path.join(where.run_dir(state.run.name), "turns")
    for effect in state.in_hand:
        terms = read_terms(os.path.join(turns, turn_directory_name(effect)))
        yield from distrust_new_grants(state.run.name, terms)
