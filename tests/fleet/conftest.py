"""A repository in which runs wait."""

from tests.cli.conftest import desk, home

__all__ = ["desk", "home"]
