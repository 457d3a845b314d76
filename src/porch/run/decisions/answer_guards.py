"""What the driver would object to behind an answer: budgets, and approved files that changed.

The machine knows neither settings nor files. So they are measured here, once for all answers of a
run and only when an answer leads to work, and handed to the account.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine.state import InHand, RunState
from porch.model.protocol import Protocol
from porch.model.track_names import FILE, LINK
from porch.run.engine.run_places import payload_directory, settings_root, workspace_of
from porch.store.run_rows import stamp_file

if TYPE_CHECKING:  # short commands load them only where an answer leads to work
    from porch.run.settings import Settings
    from porch.store.where import ProjectPaths


class AnswerGuards:
    """Objects where the driver would, to what a hypothetical answer makes begin."""

    def __init__(self, where: ProjectPaths, protocol: Protocol, state: RunState) -> None:
        self._where, self._protocol, self._state = where, protocol, state

    def __call__(self, protocol: Protocol, state: RunState, hand: InHand) -> f.Fact | None:
        try:
            return self._find_changed_approval(state, hand) or self._find_budget(state, hand)
        except (PorchError, OSError):
            return None  # what cannot be measured now is told by the driver

    def _find_changed_approval(self, state: RunState, hand: InHand) -> f.Fact | None:
        from porch.run.engine.approved_artifacts import UNGUARDED

        if hand.kind in UNGUARDED or self._protocol.spec:
            return None
        now, then = state.approvals, self._state.approvals
        same = (fact for fact in self._outdated if now.get(fact.gate) == then.get(fact.gate))
        return next(same, None)

    @cached_property
    def _outdated(self) -> list[f.ApprovalOutdated]:
        from porch.run.engine.approved_artifacts import list_outdated_approvals

        workspace = workspace_of(self._where, self._state)
        store = payload_directory(self._where, self._state.run.name)
        return list(list_outdated_approvals(workspace, store, self._protocol, self._state))

    def _find_budget(self, state: RunState, hand: InHand) -> f.Fact | None:
        from porch.machine.evolve import PAID

        if hand.kind not in PAID:
            return None
        from porch.run.agents.budget_limits import find_used_up

        standing = state.positions[hand.position]
        return find_used_up(
            self._settings, self._protocol, state, standing.state, position=hand.position
        )

    @cached_property
    def _settings(self) -> Settings:
        from porch.run.pinned_settings import read_pinned_settings
        from porch.run.settings import load_settings

        run = self._state.run
        now = load_settings(settings_root(self._where, self._state))
        return read_pinned_settings(self._where, run.name, run.settings, now)

    def list_stamps(self) -> list[list[object]]:
        """The files of which an answer would be told otherwise once they are written."""
        if not self._state.decisions or self._protocol.spec:
            return []
        workspace = workspace_of(self._where, self._state)
        names = (name for each in self._state.approvals.values() for name in each.artifacts)
        files = (os.path.join(workspace, _name_file(name)) for name in names)
        return [[path, *stamp_file(path)] for path in dict.fromkeys(files)]


def _name_file(name: str) -> str:
    """The file of an artifact, or of the part of one."""
    path = name.removesuffix(LINK).removesuffix(FILE)
    return path if path != name else name.partition("#")[0]
