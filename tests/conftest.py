"""Fixtures that tests of several layers want: the real agents, and the vendors' stand-in."""

from tests.real_agents import clean_room, cli, vendor

__all__ = ["clean_room", "cli", "vendor"]
