"""Removes the worktrees of tree members as soon as they end."""

from collections.abc import Callable

from porch.errors import PorchError
from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import Request
from porch.machine.records import JournalRecord
from porch.machine.state import RunState
from porch.run.handlers.products import Perform
from porch.system.late_asyncio import asyncio


class MemberCleanup:
    """Removes beside the loop; whatever begins meanwhile waits, for it may make a worktree.

    What cannot be removed now is tried again where the run rests, and said there.
    """

    def __init__(self, remove: Callable[[list[str]], object]):
        self._remove = remove
        self._due: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def hear(self, record: JournalRecord, state: RunState) -> None:
        """Who has ended goes, as soon as nothing of theirs is in anybody's hands."""
        ended = (move.instance for move in record.moves if isinstance(move, m.Ended))
        self._due.update(name for name in ended if name)
        free = [name for name in self._due if not _is_in_hand(state, name)]
        if free:
            self._due.difference_update(free)
            before, loop = self._task, asyncio.get_running_loop()
            self._task = loop.create_task(self._clean(sorted(free), before))

    async def _clean(self, names: list[str], before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await asyncio.wait({before})
        await asyncio.to_thread(self._try_to_remove, names)

    def _try_to_remove(self, names: list[str]) -> None:
        for name in names:
            try:
                self._remove([name])
            except (PorchError, OSError):
                continue

    def after_cleanup(self, perform: Perform) -> Perform:
        """The same, begun when what is being removed is gone."""

        async def wait_and_perform(request: Request) -> f.EffectFact:
            if self._task is not None:
                # An effect that is stopped meanwhile does not stop this, nor fails if this fails.
                await asyncio.wait({self._task})
            return await perform(request)

        return wait_and_perform


def _is_in_hand(state: RunState, instance: str) -> bool:
    return any(hand.position.startswith(f"{instance}/") for hand in state.in_hand.values())
