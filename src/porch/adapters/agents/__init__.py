"""The agents that porch can drive: one module for each, imported when it is first needed."""

from importlib import import_module
from typing import TYPE_CHECKING

from porch.adapters.agents.kinds import AGENT_KINDS

if TYPE_CHECKING:
    from porch.adapters.agents.base import Agent


class _Table(dict[str, "Agent"]):
    """Nobody pays for an agent that is not asked: the scripted one starts for every turn."""

    def __missing__(self, kind: str) -> "Agent":
        if kind not in AGENT_KINDS:
            raise KeyError(kind)
        self[kind] = import_module(f"porch.adapters.agents.{kind}")
        return self[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in AGENT_KINDS or super().__contains__(kind)


AGENTS = _Table()
