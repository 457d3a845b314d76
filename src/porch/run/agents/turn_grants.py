"""Grants that appear while an agent works: they may be the agent's, so they do not count.

A check may run what an agent wrote, so the same holds for checks. What counted when a turn or a
check began is kept in its directory, too. An agent may outlive a driver that was killed; so whoever
takes the run over compares once more.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from porch.agents.transcripts import turn_directory_name
from porch.machine.state import RunState
from porch.run.agents.turn_record import TurnTerms, read_terms, write_terms
from porch.run.agents.world import World
from porch.run.grants import GrantWatch, mark_new_grants
from porch.run.settings import user_directory
from porch.store.where import ProjectPaths


@contextmanager
def watch_grants(world: World, effect: str) -> Iterator[GrantWatch]:
    """While something runs that an agent may have written."""
    watch = GrantWatch(user_directory(os.environ), world.state().run.name)
    try:
        yield watch
    finally:
        for digest in watch.close():
            world.progress(effect, _describe_distrust(digest))


@contextmanager
def watch_grants_of_check(world: World, effect: str) -> Iterator[None]:
    """The same for a check, whose directory says what counted before."""
    with watch_grants(world, effect) as watch:
        write_terms(world.turn_directory(effect), TurnTerms(trusted=watch.before))
        yield


def _describe_distrust(digest: str) -> str:
    what = f"settings were trusted while an agent or a check ran ({digest}); this does not count"
    return f"{what} until a person repeats it: porch trust"


def distrust_grants_of_lost_turns(where: ProjectPaths, state: RunState) -> Iterator[str]:
    """The same for turns and checks whose driver was killed."""
    turns = os.path.join(where.run_dir(state.run.name), "turns")
    for effect in state.in_hand:
        terms = read_terms(os.path.join(turns, turn_directory_name(effect)))
        if terms.trusted is not None:  # else an earlier release began it
            new = mark_new_grants(user_directory(os.environ), terms.trusted, state.run.name)
            yield from map(_describe_distrust, new)
