"""The agents that porch can drive: one line in the table for each."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porch.adapters.agents.base import Agent

    AGENTS: dict[str, Agent]


def _table() -> "dict[str, Agent]":
    from porch.adapters.agents import scripted

    return {"scripted": scripted}


def __getattr__(name: str) -> object:
    # The scripted agent's process lives in this package, starts for every turn of a test, and
    # must not pay for importing every agent.
    if name != "AGENTS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault("AGENTS", _table())
