"""Drawing the journal for people and programs: at most four times a second, and where it rests."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from porch.account.consequences import FilesNow
from porch.errors import OutsideError, PorchError
from porch.machine.budgets import NAMES
from porch.machine.state import RunState
from porch.model.definition import Definition
from porch.model.protocol import Protocol
from porch.run.engine.artifacts import look_at_asked_files, stamp_artifacts
from porch.run.engine.pinned_definition import find_shown_request
from porch.run.engine.status_copies import has_status_copy
from porch.show import run_picture, status_yaml
from porch.show.status import names_of
from porch.store import compiled_protocols, payloads, run_rows
from porch.store.coming_row import ComingRow
from porch.store.journal import Journal
from porch.store.run_rows import NOT_MEASURED
from porch.store.snapshots import snapshot
from porch.store.view_files import seal
from porch.system import atomic
from porch.system.clock import Clock
from porch.system.regular_file import open_regular

if TYPE_CHECKING:  # shapes are for who reads the code; to make them takes a while
    from porch.show.shapes import PictureShape, StatusDocument

# Nobody reads faster than this, and readers fold what a picture does not cover.
PICTURE_EVERY_S = 0.25
# Folding so many records costs about as much as writing a state and reading it back.
SNAPSHOT_EVERY = 32
# What a picture of a large tree takes grows with it; so does the time until the next one.
LARGEST_SHARE = 0.02


class _Pace:
    """When something may be done again whose price grows: it takes a small share of all time."""

    def __init__(self, clock: Clock, least_s: float):
        self._clock = clock
        self._least_s = self._pause_s = least_s
        self._ended_at = 0.0
        self._began = 0.0

    def is_due(self) -> bool:
        # A clock that was put back must not keep anybody waiting for it to catch up.
        return not 0 <= self._clock.wall() - self._ended_at <= self._pause_s

    def put_off(self) -> None:
        self._ended_at = self._clock.wall()

    def begin(self) -> None:
        self._ended_at, self._began = self._clock.wall(), time.thread_time()

    def end(self) -> None:
        """By its own processor time: a busy machine is no reason to draw less."""
        taken_s = time.thread_time() - self._began
        self._pause_s = max(self._least_s, taken_s / LARGEST_SHARE)


class RunPictures:
    """The status file, the picture and the row of one run; nothing is ever decided from them.

    The snapshot is kept along with them; of it alone short commands go on.
    """

    def __init__(
        self,
        root: str,
        directory: str,
        journal: Journal,
        clock: Clock,
        on_edited: Callable[[str], object] = lambda _aside: None,
        snapshot_seq: int = 0,
        base: str = "",
    ):
        self._root = root
        self._base = base or root
        self._directory = directory
        self._journal = journal
        self._coming = ComingRow(directory)
        self._is_brief = False
        self._drawing = _Pace(clock, PICTURE_EVERY_S)
        self._stamp: tuple[int, ...] = ()
        self._snapshot_seq = snapshot_seq
        self.on_edited = on_edited
        self._budgets: dict[str, bool] = {}  # by the digest of the settings that govern the run
        self.late = False

    def put_off(self) -> None:
        """For a short command, which draws as it leaves: its first record is no reason yet."""
        self._drawing.put_off()
        self._is_brief = True

    def announce(self, definition: Definition, state: RunState, length: int, total: str) -> None:
        """Before a record: how lists show the run after it, should nobody live to draw that.

        Of what short commands record, and where the run rests: there it may stay for days. A
        runner has the next record soon, and each of them would cost a fifth more.
        """
        if not (self._is_brief or _is_resting(state)):
            return
        protocol = definition.protocol
        request = find_shown_request(self._directory, protocol, state.run)
        stamps, files = self._look(protocol, state)
        row = run_picture.row_with_decisions(
            protocol, state, length, total, request=request, files=files
        )
        if stamps:
            row["stamps"] = stamps
        self._coming.write(run_rows.encode_row(row))

    def _look(
        self, protocol: Protocol, state: RunState
    ) -> tuple[list[list[object]], Mapping[str, FilesNow]]:
        """The files of open questions as they are now, and when readers have to look again."""
        if self._is_guarded(state):
            return NOT_MEASURED, {}
        workspace = os.path.normpath(os.path.join(self._base, state.run.worktree or "."))
        asked = (each.artifacts for each in state.decisions.values())
        known = {name: found for artifacts in asked for name, found in artifacts.items()}
        stamps = stamp_artifacts(workspace, known)
        return stamps, look_at_asked_files(workspace, protocol, state)

    def _is_guarded(self, state: RunState) -> bool:
        """Whether budgets or approved files have a say in what an answer does.

        Whoever reads this next measures them and keeps what follows.
        """
        if not state.decisions:
            return False
        if any(approval.artifacts for approval in state.approvals.values()):
            return True
        digest = state.run.settings
        if digest and digest not in self._budgets:
            try:
                text = payloads.read_payload(os.path.join(self._directory, "payloads"), digest)
                values = json.loads(text)
            except (PorchError, ValueError):
                values = {}
            budgets = (value for key, value in values.items() if key.rpartition(".")[2] in NAMES)
            self._budgets[digest] = any(budgets)
        return self._budgets.get(digest, False)

    def close(self) -> None:
        """For whoever leaves the run, drawn or not."""
        self._coming.close()

    def draw(self, definition: Definition, state: RunState) -> None:
        """After a record: at once where the run rests, otherwise not more often than people look.

        Whoever leaves a run that was not drawn last (`late`) calls `draw_now`.
        """
        if _is_resting(state) or self._drawing.is_due():
            self.draw_now(definition, state)
        else:
            self.late = True

    def draw_now(self, definition: Definition, state: RunState) -> None:
        """All three; the status file is on the disk where the run rests: people may think long."""
        self.late = False
        self._drawing.begin()
        try:
            self._draw_all(definition, state)
        finally:
            self._drawing.end()

    def _draw_all(self, definition: Definition, state: RunState) -> None:
        stamps, files = self._look(definition.protocol, state)
        drawn = run_picture.make_run_picture(
            definition.protocol,
            state,
            self._journal.length,
            self._journal.sum,
            request=find_shown_request(self._directory, definition.protocol, state.run),
            files=files,
        )
        if stamps:
            drawn["stamps"] = stamps
        try:
            aside = self._status(drawn["status"], state)
        finally:
            # It lies elsewhere, so it can often be drawn where the status file cannot.
            self._picture({**drawn, "names": names_of(definition.protocol, state)}, state)
            self.keep_snapshot(state)
        if aside:
            self.on_edited(aside)

    def status_path(self, state: RunState) -> str:
        name = state.run.status_file
        return (
            os.path.join(self._root, name) if name else os.path.join(self._directory, "status.yaml")
        )

    def _status(self, document: StatusDocument, state: RunState) -> str:
        """Returns where an edited one was put; nothing if it was as we left it."""
        path, sync = self.status_path(state), _is_resting(state)
        # What lies there before the first record is no edit of ours; adopting keeps it.
        is_ours = state.seq == 1 or _stamp_file(path) in (self._stamp, ())
        aside = "" if is_ours else self.keep_edits(state)
        text = status_yaml.render_status_file(document, state.seq).encode("utf-8", "replace")
        try:
            written = atomic.replace_file(path, text, sync=sync)
        except OutsideError:
            # The directory may have been removed under us; a picture is worth one more try.
            atomic.ensure_directory(os.path.dirname(path))
            written = atomic.replace_file(path, text, sync=sync)
        self._stamp = _stamp_of(written)
        return aside

    def _picture(self, drawn: PictureShape, state: RunState) -> None:
        drawn["files"] = compiled_protocols.read_file_stamps(self._directory, state.run.digest)
        whole = json.dumps(drawn, separators=(",", ":")).encode()
        for name, data in (("picture.json", whole), (run_rows.FILE, run_rows.encode_row(drawn))):
            atomic.replace_file(os.path.join(self._directory, name), seal(data), sync=False)

    def keep_snapshot(self, state: RunState, *, is_left: bool = False) -> None:
        """Where a run rests or is left, otherwise once there is enough behind the last one."""
        behind = state.seq - self._snapshot_seq
        # The state of a tree grows with its members; so does what may lie behind a snapshot of it.
        enough = max(SNAPSHOT_EVERY, len(state.instances))
        if behind >= enough or (behind and (is_left or _is_resting(state))):
            self._snapshot_seq = state.seq
            snapshot.keep_snapshot(self._directory, state, self._journal.length, self._journal.sum)

    def is_current(self, state: RunState) -> bool:
        """Whether the status file belongs to the last record, and no kill left another half."""
        path = self.status_path(state)
        try:
            with open(path, encoding="utf-8", errors="replace", opener=open_regular) as file:
                is_last = status_yaml.parse_signature(file.read()) == (state.seq, True)
            return is_last and not os.path.lexists(atomic.temporary_name(path))
        except OSError:
            return False

    def keep_edits(self, state: RunState) -> str:
        """An edited status file is kept aside before it is redrawn; returns where, or nothing."""
        path = self.status_path(state)
        try:
            with open(path, "rb", opener=open_regular) as file:
                data = file.read()
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            return ""
        signed = status_yaml.parse_signature(data.decode("utf-8", "replace"))
        # A crash in front of the first drawing leaves what the run was adopted from.
        if (signed is not None and signed[1]) or has_status_copy(path, data):
            return ""
        aside = _free_name(path)
        os.rename(path, aside)
        return os.path.relpath(aside, self._root)


def _stamp_file(path: str) -> tuple[int, ...]:
    """By what a file is known to be the one that was written; nothing if there is none."""
    try:
        return _stamp_of(os.stat(path))
    except OSError:
        return ()


def _stamp_of(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _is_resting(state: RunState) -> bool:
    return bool(state.outcome or state.paused or state.decisions)


def _free_name(path: str) -> str:
    number = 1
    while os.path.exists(aside := path.replace(".yaml", f".edited-{number}.yaml")):
        number += 1
    return aside
