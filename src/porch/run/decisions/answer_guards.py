"""What the driver would object to behind an answer: budgets, and approved files that changed.

The machine knows neither settings nor files. So they are measured here, once for all answers of a
run and only when an answer leads to work, and handed to the account.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from porch.account.consequences import FilesNow
from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine.state import InHand, RunState
from porch.model.protocol import Protocol
from porch.run.engine.artifacts import look_at_asked_files, stamp_artifacts
from porch.run.engine.run_places import payload_directory, workspace_of

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
        from porch.run.pinned_settings import load_settings_of_run, read_pinned_settings

        run = self._state.run
        now = load_settings_of_run(self._where, self._state)
        return read_pinned_settings(self._where, run.name, run.settings, now)

    def list_stamps(self) -> list[list[object]]:
        """The files of which an answer would be told otherwise once they are written."""
        state = self._state
        if not state.decisions:
            return []
        kept = () if self._protocol.spec else state.approvals.values()
        asked = (each.artifacts for each in (*kept, *state.decisions.values()))
        known = {name: found for artifacts in asked for name, found in artifacts.items()}
        return stamp_artifacts(workspace_of(self._where, state), known)

    def look_at_files(self) -> Mapping[str, FilesNow]:
        """Those of the open questions, as they lie there now."""
        workspace = workspace_of(self._where, self._state)
        return look_at_asked_files(workspace, self._protocol, self._state)
