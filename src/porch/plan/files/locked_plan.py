"""A plan in the hands of whoever holds its lock: whatever commands change goes through this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from porch.errors import FailedError
from porch.machine import facts as f
from porch.machine.plan import prompt_lifecycle as prompts
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Prompt, Prompts

if TYPE_CHECKING:
    from porch.machine.records import JournalRecord
    from porch.machine.state import RunState
    from porch.plan.files.drawn_files import DrawnFiles
    from porch.plan.files.plan_location import Plan
    from porch.run.engine.session import HeldRun


class LockedPlan(Struct, frozen=True):
    """What the holder of a plan has of it; `caller` is the agent that says it is calling."""

    plan: Plan
    found: HeldRun
    drawn: DrawnFiles
    caller: str = ""
    notes: list[str] = field(default_factory=list)
    # By the number of the last record, so that they are read off the state once for each.
    _prompts: dict[int, Prompts] = field(default_factory=dict)

    @property
    def state(self) -> RunState:
        return self.found.book.state

    @property
    def prompts(self) -> Prompts:
        seq = self.state.seq
        if seq not in self._prompts:
            self._prompts.clear()
            self._prompts[seq] = prompts.prompts_of(self.state)
        return self._prompts[seq]

    @property
    def stage(self) -> str:
        return str(self.recalled(prompts.PLAN_PATH).get("stage", "draft"))

    def recalled(self, path: str, item: str = "") -> Mapping[str, Any]:
        """What is remembered of the plan or of a prompt, with long texts whole again."""
        from porch.run.engine.run_places import payload_directory
        from porch.store.large_payloads import expand_payloads

        known = self.state.memory.get(("", item), {}).get(path, {})
        whole = expand_payloads(payload_directory(self.plan.where, self.plan.run), known)
        return dict(whole)

    def note(self, action: str, subject: str = "", **data: Any) -> JournalRecord:
        """Something that changed beside the prompts, for the log."""
        return self.record(f.PlanMoved(action=action, payload={"subject": subject, **data}))

    def move(
        self,
        action: str,
        news: Mapping[PromptId, Mapping[str, Any] | None],
        forced: tuple[str, ...] = (),
        **payload: Any,
    ) -> JournalRecord:
        """What is new of some prompts; the caller draws their files."""
        named = {str(id_): fields for id_, fields in news.items()}
        return self.record(
            f.PlanMoved(action=action, prompts=named, plan={}, payload=payload, forced=forced)
        )

    def record(self, fact: f.PlanMoved) -> JournalRecord:
        from porch.run.engine.caller import find_user_name

        whole = f.PlanMoved(
            action=fact.action,
            prompts=fact.prompts,
            plan=fact.plan,
            payload=fact.payload,
            who=find_user_name(),
            agent=self.caller,
            forced=fact.forced,
        )
        return self.found.book.record(whole)

    def demand(self, id_: PromptId) -> Prompt:
        """A prompt that the plan has."""
        known = self.prompts
        if id_ not in known:
            raise unknown_prompt_error(id_, known)
        return known[id_]


def unknown_prompt_error(id_: PromptId, known: Prompts) -> FailedError:
    names = ", ".join(map(str, known)) or "none"
    return FailedError(
        f"the plan has no prompt {id_}", fix=f"prompts of the plan: {names}", code="not-found"
    )


def require_open_plan(desk: LockedPlan) -> None:
    """A plan that has ended is not worked on; what was said of it afterwards may still be kept."""
    if desk.state.outcome:
        raise FailedError(
            f"the plan of {desk.plan.branch} is {desk.state.outcome}",
            fix="for more work, make a plan on another branch",
            code="plan-completed",
        )
