"""How long a consent to work holds files fast: until its phase is closed and the next has begun.

Behind that, changing them is what later phases are for. Within it, whoever confirms a later version
of a file has confirmed it for all who confirmed it before.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from porch.machine.state import RunState
from porch.model.protocol import BLOCKED, EXHAUSTED, SILENT, Agent, Human, Protocol
from porch.model.track_names import DONE, FILE, LINK, gate_of_state, moment_of_gate

_ENDS = (DONE, BLOCKED, SILENT, EXHAUSTED)


class ConsentScope:
    """Asked for one gate after another; what all of them need is looked up once."""

    def __init__(self, protocol: Protocol, state: RunState):
        self._protocol, self._state = protocol, state

    def list_changed(self, gate: str, now: Mapping[str, str]) -> list[str]:
        """Of what a gate was confirmed for, the names of which the bytes are others now."""
        then = self._state.approvals[gate].artifacts
        changed = sorted(name for name, sum_ in then.items() if now.get(name) != sum_)
        place = self._places.get(gate, "") if changed else ""
        if moment_of_gate(place) != "after":
            return changed
        return [name for name in changed if _is_text(name) or self._binds(place, name, now[name])]

    def _binds(self, place: str, name: str, sum_: str) -> bool:
        if self._last_phase > self._phases[place]:
            return False
        return not any(known.get(name) == sum_ for known in self._later_consents(place))

    def _later_consents(self, place: str) -> Iterator[Mapping[str, str]]:
        states, order = self._protocol.states, self._protocol.order
        for gate, known in self._state.approvals.items():
            there = self._places.get(gate, place)
            is_beside = states[there].beside == states[place].beside != ""
            if there != place and (is_beside or order(there) > order(place)):
                yield known.artifacts

    @cached_property
    def _places(self) -> Mapping[str, str]:
        """The states of gates, by the names that people know."""
        return {
            kind.actor.name: name
            for name, kind in self._protocol.states.items()
            if isinstance(kind.actor, Human) and gate_of_state(name) == name
        }

    @cached_property
    def _phases(self) -> Mapping[str, int]:
        """The number of the phase of each state."""
        known: dict[str, int] = {}
        return {
            name: known.setdefault(kind.description, len(known))
            for name, kind in self._protocol.states.items()
        }

    @cached_property
    def _last_phase(self) -> int:
        """The last phase in which anybody has worked."""
        memory = self._state.memory.get(("", ""), {})
        standing = self._state.positions.values()
        begun = {each.state for each in standing if each.position in self._state.tries}
        worked = (
            self._phases[name]
            for name, kind in self._protocol.states.items()
            if isinstance(kind.actor, Agent) and ":" not in name
            if name in begun or any(f"{name}.{end}" in memory for end in _ENDS)
        )
        return max(worked, default=-1)


def _is_text(name: str) -> bool:
    """A part of the plan binds always: nobody but people changes it."""
    return ".xml#" in name and not name.endswith((FILE, LINK))
