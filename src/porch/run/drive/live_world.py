"""The world of a driver: an upgrade gives it other settings and agents while it drives.

What is in hand goes on as it was begun. Everything that begins after the upgrade uses the settings
that are pinned now.
"""

from collections.abc import Callable

from porch.errors import PorchError
from porch.run import settings
from porch.run.agents.world import World
from porch.run.engine.session import HeldRun
from porch.run.pinned_settings import load_settings_of_run, read_pinned_settings


class LiveWorld:
    """The world under the settings that the journal names last."""

    def __init__(self, found: HeldRun, known: settings.Settings, make: Callable[..., World]):
        self._found = found
        self._make = make
        self._digest = found.book.state.run.settings
        self._world = make(known)

    def current(self) -> World:
        digest = self._found.book.state.run.settings
        if digest != self._digest:
            self._world = self._make(self._read_settings(digest))
            self._digest = digest
        return self._world

    def _read_settings(self, digest: str) -> settings.Settings:
        where, state = self._found.where, self._found.book.state
        try:
            now = load_settings_of_run(where, state)
        except PorchError:
            # Of the file only what is not pinned would be used, and that is known already.
            now = self._world.settings
        return read_pinned_settings(where, self._found.name, digest, now)
