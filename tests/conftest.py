"""Fixtures that tests of several layers want: the real agents, and the vendors' stand-in."""

from hypothesis import settings

from tests.real_agents import clean_room, cli, vendor

__all__ = ["clean_room", "cli", "vendor"]

# How long an example takes says more about the machine than about the code.
settings.register_profile("porch", deadline=None)
settings.load_profile("porch")
