"""Whether the keys of a script name anything in a protocol: a key that does not is never used."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from porch.errors import suggest_name
from porch.machine.approvals import add_engine_states
from porch.model.protocol import Agent, Human, Panel, Protocol

_WILD = "*?["
_MOST_NAMED = 12
_WHATS = {
    "agents": "state with an agent",
    "reviews": "state with reviewers",
    "decisions": "decision",
}


class ScriptNames:
    """What each section of a script can name: states of agents and panels, and decisions."""

    def __init__(self, protocol: Protocol):
        states = add_engine_states(protocol).states.values()
        humans = [state for state in states if isinstance(state.actor, Human)]
        asked = (state.actor.name for state in humans if isinstance(state.actor, Human))
        self._protocol = protocol
        self._names = {
            "agents": [state.name for state in states if isinstance(state.actor, Agent)],
            "reviews": [state.name for state in states if isinstance(state.actor, Panel)],
            "decisions": list(dict.fromkeys((*asked, *(state.name for state in humans)))),
        }

    def find_problem(self, section: str, key: str) -> tuple[str, str] | None:
        """What is wrong with a key and how to fix it; nothing if it can match."""
        names = self._names[section]
        if any(self._may_match(key, name) for name in names):
            return None
        more = ", ..." if len(names) > _MOST_NAMED else ""
        known = f"possible: {', '.join(names[:_MOST_NAMED])}{more}" if names else "remove it"
        message = f"'{key}' matches no {_WHATS[section]} of {self._protocol.name}"
        return message, suggest_name(key.rpartition("/")[2], names).strip() or known

    def _may_match(self, key: str, name: str) -> bool:
        """With any item behind the name, and in a tree with any instance in front of it."""
        tails = [key.rpartition("/")[2]] if self._protocol.spec else [key]
        if self._protocol.spec:
            # What stands before a star may be the beginning of an instance.
            tails += [key[at:] for at, sign in enumerate(key) if sign == "*"]
        return any(_fits(tail, name) for tail in tails)

    def is_named(self, keys: Iterable[str], state: str) -> bool:
        """Whether one of the keys may be meant for a state."""
        return any(self._may_match(key, state) for key in keys)


def _fits(key: str, name: str) -> bool:
    if not any(sign in key for sign in _WILD):
        return key == name or key.startswith(f"{name}:")
    return fnmatchcase(name, key) or fnmatchcase(name, key.rpartition(":")[0])
