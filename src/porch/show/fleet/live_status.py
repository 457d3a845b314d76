"""A run at work, as whoever watches it wants it: how far it is, who works, what it cost so far."""

from collections.abc import Sequence

from msgspec import Struct

from porch.machine.state import InHand, RunState
from porch.model.protocol import Agent, End, Protocol
from porch.show import cost
from porch.show.fleet.checklist import CheckRow, describe_place, list_checklist
from porch.show.place_words import place_words
from porch.show.status import find_position_title, names_of

_WORK = ("agent", "review", "check", "timer")
_IS_HERE = ("now", "asked")


class Worker(Struct, frozen=True):
    """An agent, a reviewer or a check at work, or a wait before the next try, and where."""

    effect: str
    kind: str
    name: str
    place: str


class LiveStatus(Struct, frozen=True):
    """What changes with each record; what agents say in between comes from elsewhere."""

    title: str
    phases: Sequence[CheckRow] = ()
    number: int = 0  # of the phase in which the run is; 0 if it is in none
    place: str = ""
    trouble: str = ""  # with the attempt before this one
    workers: Sequence[Worker] = ()
    spent: str = ""


def describe_live_status(
    protocol: Protocol, state: RunState, allowed_usd: float = 0, *, is_scripted: bool = False
) -> LiveStatus:
    """`allowed_usd` is the limit of the whole run; 0 where there is none."""
    rows = [_name_phase(protocol, row) for row in list_checklist(protocol, state)]
    phases = [row for row in rows if not row.level]
    here = (number for number, row in enumerate(phases, 1) if row.sign in _IS_HERE)
    place = describe_place(rows)
    titles = (place, _find_item_title(protocol, state) if place else "")
    trouble = [note for row in rows if row.sign == "now" for note in row.notes[2:]]
    run, used = state.run, cost.make_cost_data(protocol, state)
    money = "" if is_scripted else cost.describe_money(used, allowed_usd)
    turns = cost.describe_turns(used) if used["turns"] else ""
    return LiveStatus(
        f"{run.id or run.name} {run.heading or run.title}",
        phases,
        next(here, 0),
        ": ".join(filter(None, titles)),
        "; ".join(trouble),
        [_make_worker(protocol, state, hand) for hand in _list_working(state)],
        ", ".join(filter(None, (turns, money))),
    )


def _name_phase(protocol: Protocol, row: CheckRow) -> CheckRow:
    """What stands before the end and is only checks; `complete` would sound as if all was over."""
    actors = [kind.actor for kind in protocol.states.values() if kind.group == row.phase]
    is_last = any(isinstance(actor, End) for actor in actors)
    has_agent = any(isinstance(actor, Agent) for actor in actors)
    return row._replace(phase="final checks") if is_last and not has_agent else row


def _find_item_title(protocol: Protocol, state: RunState) -> str:
    """What the phase of the plan is called, where all of the run is in the same one."""
    titles = {
        find_position_title(protocol, state, each) if each.item else ""
        for each in state.positions.values()
    }
    return titles.pop() if len(titles) == 1 else ""


def _list_working(state: RunState) -> list[InHand]:
    return [hand for hand in state.in_hand.values() if hand.kind in _WORK]


def _make_worker(protocol: Protocol, state: RunState, hand: InHand) -> Worker:
    place = place_words(hand.position, names_of(protocol, state))
    return Worker(hand.effect, hand.kind, hand.name, place)
