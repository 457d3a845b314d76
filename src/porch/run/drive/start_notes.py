"""What people should know before agents begin: said in one line, kept whole, not said twice.

Who works and who reviews stands in a line that everybody reads.
"""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from porch.model.protocol import Agent, Check, Panel, Protocol
from porch.system import atomic
from porch.system.regular_file import open_regular

if TYPE_CHECKING:
    from porch.run.agents.roster import EmployedAgent
    from porch.run.agents.world import World
    from porch.run.engine.drive_options import DriveWatch, RunRequest
    from porch.run.settings import Settings


FILE = "start-notes.txt"
_ONE_MODEL = "It is one model; a second one would see other mistakes"


def list_setting_notes(known: "Settings", protocol: Protocol) -> list[str]:
    """What is odd in the settings, and the checks for which they have no command.

    Nobody should learn that from a log afterwards.
    """
    checks = [state.actor for state in protocol.states.values() if isinstance(state.actor, Check)]
    wanted = (command.setting for check in checks for command in check.commands)
    unset = dict.fromkeys(each for each in wanted if each and each not in known.commands)
    notes = [*map(str, known.notes)]
    if unset:
        names = ", ".join(unset)
        notes.append(f"skipped checks: {names} (not set in codev/config.toml, below [commands])")
    return notes


def tell_notes(
    directory: str,
    run: str,
    notes: list[str],
    terms: list[str],
    *,
    watch: "DriveWatch",
    at_work: Iterable[str] = (),
) -> None:
    """Notes are few and each wants an answer; terms are many and mostly the same every time.

    Of the terms the first is the cost, which everybody should read.
    """
    front = [*notes, *at_work]
    told = [*front, *terms]
    if told == kept_notes(directory):
        return
    atomic.replace_file(os.path.join(directory, FILE), "\n".join(told).encode(), sync=False)
    for note in [*front, *(f"cost: {cost}" for cost in terms[:1])]:
        watch.notice(note)
    if terms[1:]:
        more = "1 note" if len(terms) == 2 else f"{len(terms) - 1} notes"
        watch.notice(f"{more} on what agents may do: porch explain {run} --verbose")


def tell_trouble(trouble: str, watch: "DriveWatch") -> None:
    """At the end of a drive: what was recorded stands, and people look at an old picture."""
    if trouble:
        watch.notice(f"the status of the run could not be written: {trouble}")


def kept_notes(directory: str) -> list[str]:
    """What was said last; nothing for a run that nobody has driven."""
    try:
        with open(os.path.join(directory, FILE), encoding="utf-8", opener=open_regular) as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def describe_people_at_work(world: "World", wanted: "RunRequest") -> Iterator[str]:
    """Nothing where all of it is scripted: that costs nothing and asks nobody."""
    if world.roster.is_scripted or "agent" in wanted.hands_off:
        return
    states = world.definition().protocol.states.values()
    workers = [
        world.roster.worker(state.actor.role, state.group, state.actor.permissions)
        for state in states
        if isinstance(state.actor, Agent)
    ]
    panels = [state.actor for state in states if isinstance(state.actor, Panel)]
    reviewers = [world.roster.reviewer(name) for panel in panels for name in panel.reviewers]
    if workers:
        yield f"{_join_names(workers)} will work"
    if reviewers:
        is_default = any(panel.is_default for panel in panels)
        is_limited = any(panel.max_reviewers for panel in panels)
        why = _describe_others(world, reviewers) if is_default and not is_limited else ""
        is_alone = len({(post.kind, post.model) for post in (*workers, *reviewers)}) == 1
        alone = f", in a fresh context. {_ONE_MODEL}" if workers and is_alone else ""
        yield f"Reviews: {_join_names(reviewers)}{alone}{f' ({why})' if why else ''}"


def _describe_others(world: "World", reviewers: "Iterable[EmployedAgent]") -> str:
    """Why the agents that porch knows and that are not in the default panel don't review."""
    from porch.run.agents.default_panel import find_absences, list_missing

    run, names = world.state().run, {post.name for post in reviewers}
    added = f"new here, and `porch upgrade {run.id or run.name}` adds it"
    absences = find_absences(world.roster).items()
    return list_missing({name: why or added for name, why in absences if name not in names})


def _join_names(posts: "Iterable[EmployedAgent]") -> str:
    names = (f"{post.name} ({post.model})" if post.model else post.name for post in posts)
    return ", ".join(dict.fromkeys(names))
