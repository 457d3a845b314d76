"""Grants that appear while an agent works: they may be the agent's, so they do not count.

A check may run what an agent wrote, so the same holds for checks. What counted when a turn or a
check began is kept in its directory. So it is also compared when the driver was killed, by whoever
takes the run over.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from porch.agents.transcripts import turn_directory_name
from porch.machine.state import RunState
from porch.run.agents.turn_record import TurnTerms, read_terms, write_terms
from porch.run.agents.world import World
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
        what = (
            f"settings were trusted while an agent or a check ran ({digest}); this does not count"
        )
        yield f"{what} until a person repeats it: porch trust"


@contextmanager
def distrust_grants_of_check(world: World, effect: str) -> Iterator[None]:
    """While a check runs what an agent may have written."""
    terms = TurnTerms(trusted=list_trusted_digests())
    write_terms(world.turn_directory(effect), terms)
    try:
        yield
    finally:
        for note in distrust_new_grants(world.state().run.name, terms):
            world.progress(effect, note)


def distrust_grants_of_lost_turns(where: ProjectPaths, state: RunState) -> Iterator[str]:
    """The same for turns and checks whose driver was killed."""
    turns = os.path.join(where.run_dir(state.run.name), "turns")
    for effect in state.in_hand:
        terms = read_terms(os.path.join(turns, turn_directory_name(effect)))
        yield from distrust_new_grants(state.run.name, terms)
