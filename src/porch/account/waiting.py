"""What a run waits for now, as values: who must act, on what, since when and until when."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from porch.machine import outside
from porch.machine.base_commands import CHECK as COMMANDS_CHECK
from porch.machine.base_commands import STATE as COMMANDS
from porch.machine.base_commands import is_ours
from porch.machine.budgets import ASK, DRIVERLESS
from porch.machine.exits.evidence import due_commands
from porch.machine.state import CHANGED, RunState, Standing
from porch.model.protocol import (
    TRACK,
    Agent,
    Check,
    Children,
    End,
    Git,
    Human,
    Join,
    Panel,
    Protocol,
)

# `commands` are those of envoy, which alone move a plan; `upgrade` waits for another definition.
# A `question` was not asked yet: only then can a person answer it.
Actor = Literal[
    "agent",
    "reviewers",
    "checks",
    "git",
    "person",
    "question",
    "children",
    "others",
    "plan",
    "commands",
    "upgrade",
    "resume",
    "finish",
]
# Those that a driver moves; for all others it is enough that somebody answers.
_DRIVEN: tuple[Actor, ...] = (
    "agent",
    "reviewers",
    "checks",
    "git",
    "question",
    "plan",
    "children",
    "others",
)


class Waiting(Struct, frozen=True):
    """One thing that a run waits for; `until` is set where a rate limit has to pass first."""

    on: Actor
    names: tuple[str, ...] = ()  # of reviewers, checks or the decision
    position: str = ""
    since: str = ""
    until: str = ""
    is_delayed: bool = False  # it begins again after a short wait
    failure: str = ""  # of the try before

    @property
    def needs_driver(self) -> bool:
        return self.on in _DRIVEN


def wants_driver(protocol: Protocol, state: RunState) -> bool:
    """Whether a driver moves this run: now, or once a person has answered.

    Commands alone move a plan and a round of questions.
    """
    return not (state.outcome or state.paused or protocol.subject in DRIVERLESS)


def list_waits(protocol: Protocol, state: RunState) -> list[Waiting]:
    """Everything that a run waits for, oldest first; nothing if its work is delivered.

    What a person stopped can still be answered, but moves only once it is resumed, too.
    """
    name = state.run.id or state.run.name
    if state.outcome:
        is_open = state.outcome == "complete" and state.has_own_branch
        return [Waiting("finish", (name,))] if is_open and state.run.delivery is None else []
    # While one of these is asked, or commands are tried, nothing else begins.
    first = [CHANGED, *((COMMANDS, COMMANDS_CHECK) if is_ours(protocol) else ())]
    first += [outside.STATE] if outside.is_open(state) else []
    asked = [each for each in state.positions.values() if each.state in first]
    waits = [
        waiting
        for standing in asked or state.positions.values()
        for waiting in _list_position_waits(protocol, state, standing)
        # Of a round of questions nothing is left but to answer them.
        if not (waiting.on == "commands" and protocol.subject == ASK)
    ]
    if state.paused:
        return [*(each for each in waits if each.on == "person"), Waiting("resume", (name,))]
    return waits


def _list_position_waits(
    protocol: Protocol, state: RunState, standing: Standing
) -> Iterator[Waiting]:
    place, since = standing.position, standing.entered_at
    kind = protocol.states.get(standing.state)
    if kind is None:
        yield Waiting("upgrade", (), place, since)
        return
    if kind.loop and not standing.item:
        yield Waiting("plan", (protocol.loops[kind.loop].source,), place, since)
        return
    until, is_delayed = _find_delay(state, standing)
    failure = str(state.marked(place, "failure") or "").strip()
    match kind.actor:
        case Agent(role=role):
            yield Waiting("agent", (role,), place, since, until, is_delayed, failure)
        case Check() as check:
            names = tuple(command.name for command in due_commands(state, standing, check))
            yield Waiting("checks", names, place, since)
        case Panel(reviewers=reviewers):
            marks = state.marks.get(place, {})
            missing = tuple(name for name in reviewers if f"review/{name}" not in marks)
            yield Waiting("reviewers", missing, place, since, until, is_delayed, failure)
        case Human(name=name):
            decision = state.decisions.get(place)
            shown = standing.item if standing.state == CHANGED else name
            if decision or protocol.subject in DRIVERLESS:
                yield Waiting("person", (shown,), place, decision.asked_at if decision else since)
            else:
                yield Waiting("question", (shown,), place, since)
        case Git() | Children():
            on: Actor = "git" if isinstance(kind.actor, Git) else "children"
            yield Waiting(on, (), place, since, failure=failure)
        case Join():
            # In a track, who has come to the end of a wave waits for those named anyway.
            if protocol.subject != TRACK:
                yield Waiting("others" if kind.waits_for else "commands", (), place, since)
        case End():
            return


def _find_delay(state: RunState, standing: Standing) -> tuple[str, bool]:
    """Until when a rate limit lasts, and whether anything has to be waited out at all."""
    marks = state.marks.get(standing.position, {})
    for key, wait in marks.items():
        if not key.startswith("wait/") or f"fired/{wait['name']}" in marks:
            continue
        if not wait["since"]:
            return "", True
        due = datetime.fromisoformat(wait["since"]) + timedelta(seconds=wait["seconds"])
        return due.isoformat(timespec="seconds").replace("+00:00", "Z"), True
    return "", False
