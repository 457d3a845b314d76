"""The status of a run as plain data: what its status file, its picture and its prompts show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from porch.account.outcomes import Outcome
from porch.account.phases import list_plan_phases
from porch.machine.base_commands import STATE as COMMANDS
from porch.machine.base_commands import is_trial
from porch.machine.budgets import PLAN
from porch.machine.facts import Item
from porch.machine.state import GateStatus, RunState, Standing
from porch.model.protocol import TRACK, Agent, Human, Panel, Protocol
from porch.show.board import describe_state_delivery
from porch.show.place_words import FAILURE_ANSWERS

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import PlaceNames, PlanPhaseShape, StatusDocument, StatusExtras

LOG_SHOWN = 50
GATE_STATUSES = ("waiting", "pending", "approved", "waived", "rejected")
_DECIDED = ("approved", "waived", "rejected")
_STATUS_WORDS: Mapping[str, str] = {
    "passed": "complete",
    "nothing to run": "complete",
    "working": "in_progress",
    "waiting": "in_progress",
}
_PLAIN_OUTCOMES = ("passed", "working", "not run")


def find_main_position(state: RunState) -> Standing | None:
    """The oldest position of the run itself, else of any instance inside it."""
    standing = state.positions.values()
    return next((each for each in standing if not each.instance), next(iter(standing), None))


def name_place(state: RunState) -> str:
    """Where a run is, in a word: how it ended, else its main position."""
    main = find_main_position(state)
    return state.outcome or (main.label if main else "")


def find_position_title(protocol: Protocol, state: RunState, standing: Standing) -> str:
    """What a position is about: its item's title, else its state's."""
    kind = protocol.states.get(standing.state)
    if kind is None:
        return standing.state
    item = state.item_of(standing, kind.loop) if kind.loop else None
    return item.title if item else kind.title or kind.group


def _list_gates(protocol: Protocol, state: RunState) -> Iterator[tuple[str, dict[str, str]]]:
    """Every gate of the protocol, then what is known of gates that it no longer has."""
    asked = {each.name for each in state.decisions.values() if each.kind == "gate"}
    for name in dict.fromkeys((*protocol.gates, *state.gates)):
        yield name, _gate_data(state.gates.get(name), name in asked)


def _gate_data(known: GateStatus | None, asked: bool) -> dict[str, str]:
    """Only a gate that is being asked says pending: whoever greps for it must not be misled."""
    if known is None or not (asked or known.status in _DECIDED):
        return {"status": "waiting"}
    if asked:
        return {"status": "pending", "requested_at": known.requested_at}
    told = {
        "status": known.status,
        "requested_at": known.requested_at,
        "decided_at": known.decided_at,
        "by": known.by,
    }
    return {key: value for key, value in told.items() if value}


def _list_plan_items(state: RunState) -> Iterator[Item]:
    mine = (known for (instance, _), known in state.items.items() if not instance)
    return (item for known in mine for item in known.items)


def _phase_statuses(protocol: Protocol, state: RunState) -> dict[str, dict[str, str]]:
    """Three words, as other tools read them; what did not simply pass has its outcome beside."""
    phases: dict[str, dict[str, str]] = {}
    for phase in list_plan_phases(protocol, state) if state.items else ():
        word = _STATUS_WORDS.get(phase.outcome, "pending")
        phases[phase.item] = _describe_status(word, phase.outcome)
    return phases


def _describe_status(word: str, outcome: Outcome) -> dict[str, str]:
    is_told = outcome not in _PLAIN_OUTCOMES
    return {"status": word, **({"outcome": outcome} if is_told else {})}


def _plan_phase_data(item: Item) -> PlanPhaseShape:
    return {"id": item.id, "title": item.title, "description": item.description}


def _plan_data(
    protocol: Protocol, state: RunState
) -> tuple[dict[str, dict[str, str]], list[PlanPhaseShape]]:
    """How far each phase of a plan is, and what it is called."""
    if protocol.subject != TRACK:
        items = [_plan_phase_data(item) for item in _list_plan_items(state)]
        return _phase_statuses(protocol, state), items
    from porch.show.track_rows import list_track_rows

    rows = list_track_rows(protocol, state)
    phases = {row.id: _describe_status(row.short_status, row.outcome) for row in rows}
    return phases, [
        {"id": r.id, "title": r.title, "description": r.status, "level": r.level} for r in rows
    ]


def make_status_document(protocol: Protocol, state: RunState) -> StatusDocument:
    """The status of a run as plain data, keys in the order in which they are printed."""
    main = find_main_position(state)
    is_at_work = main is not None and not state.outcome
    phases, plan_phases = _plan_data(protocol, state)
    heading: StatusExtras = {"heading": state.run.heading} if state.run.heading else {}
    paused: StatusExtras = {"paused": True} if state.paused else {}
    told = describe_state_delivery(state)
    finished: StatusExtras = {"finished": told} if told else {}
    return {
        "id": state.run.id,
        "title": state.run.title,
        **heading,
        "protocol": state.run.protocol,
        "state": name_place(state),
        **paused,
        **finished,
        "current_phase": find_position_title(protocol, state, main) if main and is_at_work else "",
        "worktree": state.run.worktree,
        "gates": dict(_list_gates(protocol, state)),
        "phases": phases,
        "plan_phases": plan_phases,
        "iteration": state.turns,
        "started_at": state.run.started_at,
        "last_updated": state.at,
        "log": list(state.log[-LOG_SHOWN:]),
    }


def names_of(protocol: Protocol, state: RunState) -> PlaceNames:
    """The names that lines of a log need and records do not carry: titles, plan phases, limits."""
    limits = {name: budget.limit for name, budget in protocol.budgets.items()}
    rounds = _round_budgets(protocol)
    names: PlaceNames = {
        "titles": dict(_phase_titles(protocol)),
        "items": dict(_item_counts(state)),
        "limits": {name: limit for name, limit in limits.items() if name not in rounds},
        "rounds": {name: limit for name, limit in limits.items() if name in rounds},
    }
    if firsts := {name: b.first for name, b in protocol.budgets.items() if b.first}:
        names["firsts"] = firsts
    if answers := dict(_unusual_answers(protocol)):
        names["answers"] = answers
    if protocol.subject == PLAN:
        names["uncounted"] = ["review"]
    if is_trial(protocol, COMMANDS):
        names["questions"] = {COMMANDS: "commands of the settings do not pass: begin all the same?"}
    return names


def _round_budgets(protocol: Protocol) -> set[str]:
    """What is charged when a panel has to look once more."""
    states = protocol.states
    changes = (edge for edge in protocol.edges if edge.exit == "changes")
    return {edge.charges for edge in changes if isinstance(states[edge.state].actor, Panel)}


def _unusual_answers(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Of each failure that offers other answers than most."""
    for name, kind in protocol.states.items():
        if isinstance(kind.actor, Human) and kind.actor.kind == "failure":
            *words, last = ("stop" if o.exit == "stopped" else o.exit for o in kind.actor.options)
            told = " or ".join(filter(None, (", ".join(words), last)))
            if told != FAILURE_ANSWERS:
                yield name, told


def _phase_titles(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Only where the title says more than the name that people type."""
    for kind in protocol.states.values():
        if isinstance(kind.actor, Agent) and kind.title.lower() not in ("", kind.group):
            yield kind.group, kind.title


def _item_counts(state: RunState) -> Iterator[tuple[str, str]]:
    for (instance, _), known in state.items.items():
        for number, item in enumerate(known.items, 1):
            if not instance:
                yield item.id, f"plan phase {number} of {len(known.items)}"
