"""Drawing the journal for people and programs: status.yaml at once, picture.json when it rests."""

import json
import os
from collections.abc import Callable

from porch.adapters import atomic, compiled, redraw
from porch.adapters.journal import Journal
from porch.errors import OutsideError
from porch.machine.state import State
from porch.model.definition import Definition
from porch.runtime.clock import Clock
from porch.views import picture, status_yaml

# Nobody reads faster than this, and readers fold what a picture does not cover.
PICTURE_EVERY_S = 0.25


class Pictures:
    """Both pictures of one run; nothing is ever decided from them."""

    def __init__(
        self,
        root: str,
        directory: str,
        journal: Journal,
        clock: Clock,
        on_edited: Callable[[str], object] = lambda _aside: None,
    ):
        self._root = root
        self._file = os.path.join(directory, "picture.json")
        self._directory = directory
        self._spare = os.path.join(directory, "status.spare")
        self._journal = journal
        self._clock = clock
        self._drawn_at = 0.0
        self._stamp: tuple[int, ...] = ()
        self._drawing = status_yaml.Drawing()
        self.on_edited = on_edited
        self.late = False

    def draw(self, definition: Definition, state: State) -> None:
        """Every record redraws the status; where the run rests it is synced too."""
        self._status(definition, state, sync=_rests(state))
        if _rests(state) or self._clock.wall() - self._drawn_at > PICTURE_EVERY_S:
            self.picture(definition, state)
        else:
            self.late = True

    def status_path(self, state: State) -> str:
        name = state.run.status_file
        return (
            os.path.join(self._root, name) if name else os.path.join(self._directory, "status.yaml")
        )

    def _status(self, definition: Definition, state: State, sync: bool) -> None:
        path = self.status_path(state)
        # What lies there before the first record is no edit of ours; adopting keeps it.
        is_ours = state.seq == 1 or _stamp(path) in (self._stamp, ())
        aside = "" if is_ours else self.keep_edits(state)
        text = self._drawing.text(definition.protocol, state).encode("utf-8", "replace")
        try:
            written = self._put(path, text, sync)
        except OutsideError:
            # The directory may have been removed under us; a picture is worth one more try.
            atomic.ensure_directory(os.path.dirname(path))
            written = self._put(path, text, sync)
        self._stamp = _stamp_of(written)
        if aside:
            self.on_edited(aside)

    def _put(self, path: str, text: bytes, sync: bool) -> os.stat_result:
        if sync:
            return atomic.replace(path, text, sync=True)
        return redraw.redraw(self._spare, path, text)

    def picture(self, definition: Definition, state: State) -> None:
        drawn = picture.picture(definition.protocol, state, self._journal.length, self._journal.sum)
        drawn["files"] = compiled.kept_stamps(self._directory, state.run.digest)
        data = json.dumps(drawn, separators=(",", ":")).encode()
        atomic.replace(self._file, data, sync=False)
        self._drawn_at, self.late = self._clock.wall(), False

    def is_current(self, state: State) -> bool:
        """Whether the status file is the one that belongs to the last record."""
        try:
            with open(self.status_path(state), encoding="utf-8", errors="replace") as file:
                return status_yaml.signature(file.read()) == (state.seq, True)
        except OSError:
            return False

    def keep_edits(self, state: State) -> str:
        """An edited status file is kept aside before it is redrawn; returns where, or nothing."""
        path = self.status_path(state)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            return ""
        signed = status_yaml.signature(text)
        if signed is not None and signed[1]:
            return ""
        aside = _free_name(path)
        os.rename(path, aside)
        return os.path.relpath(aside, self._root)


def _stamp(path: str) -> tuple[int, ...]:
    """By what a file is known to be the one that was written; nothing if there is none."""
    try:
        return _stamp_of(os.stat(path))
    except OSError:
        return ()


def _stamp_of(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _rests(state: State) -> bool:
    return bool(state.outcome or state.paused or state.decisions)


def _free_name(path: str) -> str:
    number = 1
    while os.path.exists(aside := path.replace(".yaml", f".edited-{number}.yaml")):
        number += 1
    return aside
