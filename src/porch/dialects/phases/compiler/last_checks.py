"""The last word before a protocol is complete is a fresh measurement.

What has been worked on since it was measured is measured again, also what a person went on
without. A failure goes back to the phase that measured it last. Where a check has passed nowhere, a
person has seen it fail before, and is asked at once. Nothing is drawn where nobody works behind a
check any more.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from porch.dialects.phases.compiler.check_states import (
    FAILED,
    RECHECK_LIMIT,
    UNMEASURED,
    failure_paths,
)
from porch.dialects.phases.compiler.protocol_draft import ABANDONED, COMPLETE, ProtocolDraft
from porch.dialects.phases.compiler.targets import PhaseLookup
from porch.errors import Place
from porch.model.memory_paths import NEVER_PASSED, evidence_path
from porch.model.protocol import (
    LAST_ITEM,
    Agent,
    Check,
    Command,
    Edge,
    Guard,
    Human,
    Option,
    Panel,
    State,
    Target,
)

STATE = "complete:checks"
GROUP = "complete"
# A check of one plan phase says nothing about the whole.
_OF_ONE_ITEM = "PLAN_PHASE_ID"


class _Measurement(Struct, frozen=True):
    """One thing that is measured, wherever: the states that do it, the phase that did it last."""

    command: Command
    states: frozenset[str]
    paths: tuple[str, ...]
    phase: str


def draw_last_checks(draft: ProtocolDraft, atlas: PhaseLookup, place: Place) -> None:
    """Put a check in front of the end, if anything can have expired by then."""
    ways = _ways_by_state(draft)
    due = [each for each in _list_measurements(draft) if _is_worked_on(draft, ways, each)]
    if not due:
        return
    for drawn in draft.edges:
        drawn.edge = _with_detour(drawn.edge)
    for name, loop in draft.loops.items():
        draft.loops[name] = replace(loop, after=_detour(loop.after))
    commands = tuple(_name_commands(due))
    draft.add(State(STATE, GROUP, Check(commands, reuse=True), "Last checks"), place)
    _draw_ways(draft, atlas, due, commands)
    _draw_failed(draft, place)


def _with_detour(edge: Edge) -> Edge:
    return replace(
        edge, targets=tuple(map(_detour, edge.targets)), spent=tuple(map(_detour, edge.spent))
    )


def _detour(target: Target) -> Target:
    return Target(STATE) if target == COMPLETE else target


def _list_measurements(draft: ProtocolDraft) -> list[_Measurement]:
    found: dict[Command, _Measurement] = {}
    for state in draft.states.values():
        for command in state.actor.commands if isinstance(state.actor, Check) else ():
            # What a phase found when it began can be compared only in that phase.
            if command.optional or command.once or command.protects or command.files:
                continue
            if command.about == "outside":
                continue
            if _OF_ONE_ITEM in command.shell:
                continue
            same = replace(command, name="", description="", if_missing="fail")
            known = found.get(same, _Measurement(command, frozenset(), (), ""))
            path = evidence_path(state.group, command.name)
            paths = tuple(dict.fromkeys((*known.paths, path)))
            found[same] = _Measurement(command, known.states | {state.name}, paths, state.group)
    return list(found.values())


def _ways_by_state(draft: ProtocolDraft) -> Mapping[str, list[tuple[str, str]]]:
    """For each state its exits and where they can lead; what a person has failed at leads nowhere.

    Whoever goes on past a failure has said otherwise.
    """
    ways: dict[str, list[tuple[str, str]]] = {name: [] for name in draft.states}
    for drawn in draft.edges:
        actor = draft.states[drawn.edge.state].actor
        if isinstance(actor, Human) and actor.kind != "gate":
            continue
        for target in (*drawn.edge.targets, *drawn.edge.spent):
            for place in _places_of(draft, target):
                ways[drawn.edge.state].append((drawn.edge.exit, place))
    return ways


def _places_of(draft: ProtocolDraft, target: Target) -> Iterator[str]:
    if not target.next_of:
        yield target.state
        return
    loop = draft.loops[target.next_of]
    yield loop.first
    yield from _places_of(draft, loop.after)


def _is_worked_on(
    draft: ProtocolDraft, ways: Mapping[str, list[tuple[str, str]]], known: _Measurement
) -> bool:
    """Whether somebody can work behind the measurement and the run be complete without another."""
    passed = [place for name in known.states for exit_, place in ways[name] if exit_ == "passed"]
    behind = _reached(ways, passed, known.states)
    workers = [n for n in behind if isinstance(draft.states[n].actor, (Agent, Panel))]
    return any(COMPLETE.state in _reached(ways, [name], known.states) for name in workers)


def _reached(
    ways: Mapping[str, list[tuple[str, str]]], starts: list[str], without: frozenset[str]
) -> set[str]:
    found: set[str] = set()
    ahead = list(starts)
    while ahead:
        name = ahead.pop()
        if name not in found and name not in without:
            found.add(name)
            ahead.extend(place for _, place in ways.get(name, ()))
    return found


def _name_commands(due: list[_Measurement]) -> Iterator[Command]:
    """Each under the name that people know, unless two phases mean different things by it."""
    names = [each.command.name for each in due]
    for each in due:
        name = each.command.name
        name = name if names.count(name) == 1 else f"{each.phase}-{name}"
        yield replace(each.command, name=name, evidence=(*each.paths, evidence_path(GROUP, name)))


def _draw_ways(
    draft: ProtocolDraft,
    atlas: PhaseLookup,
    due: list[_Measurement],
    commands: tuple[Command, ...],
) -> None:
    budget = draft.budget(GROUP, STATE, RECHECK_LIMIT)
    failed, person = failure_paths(STATE), Target(f"failed:{STATE}")
    draft.edge(GROUP, STATE, "passed", COMPLETE, resets=(budget,), forgets=failed)
    never = Guard(f"{STATE}.{FAILED}.{NEVER_PASSED}", "filled")
    forgets = (f"{STATE}.{UNMEASURED}",)
    draft.edge(GROUP, STATE, FAILED, person, guards=(never,), forgets=forgets)
    ways = [(command.name, each.phase) for command, each in zip(commands, due, strict=True)]
    for name, phase in (*ways, ("", ways[0][1])):
        draft.edge(
            GROUP,
            STATE,
            FAILED,
            _mender_of(atlas, phase),
            guards=(Guard(f"{STATE}.{FAILED}", "has", name),) if name else (),
            charges=budget,
            spent=person,
            forgets=forgets,
        )
    draft.edge(GROUP, STATE, UNMEASURED, person, forgets=(f"{STATE}.{FAILED}",))


def _mender_of(atlas: PhaseLookup, phase: str) -> Target:
    """Of phases that run for each phase of a plan the last one is the one that is still at hand."""
    layout = atlas.layouts[phase]
    return Target(layout.mender(None).state, LAST_ITEM if layout.loop else "")


def _draw_failed(draft: ProtocolDraft, place: Place) -> None:
    state = f"failed:{STATE}"
    ask = Human(
        "failure",
        state,
        "The last checks failed",
        (
            Option("retry", "run these checks again with new budgets"),
            Option("skip", "end the run as complete without them", needs_text=True),
            Option("stopped", "end the run"),
        ),
        shows=failure_paths(STATE),
    )
    draft.add(State(state, GROUP, ask, "Last checks"), place)
    draft.edge(GROUP, state, "retry", Target(STATE), resets=(STATE,))
    draft.edge(GROUP, state, "skip", COMPLETE, forgets=failure_paths(STATE))
    draft.edge(GROUP, state, "stopped", ABANDONED)
