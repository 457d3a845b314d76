"""A plan in the hands of whoever holds its lock: whatever commands change goes through this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from porch.errors import FailedError
from porch.machine import facts as f
from porch.machine import prompts
from porch.machine.prompts import Prompt, Prompts
from porch.machine.records import Record
from porch.machine.state import State
from porch.model.prompt_ids import PromptId
from porch.operations.plans.place import Plan
from porch.operations.session import Held, payload_directory
from porch.operations.wishing import who
from porch.runtime.payloading import expand


@dataclass(frozen=True, slots=True)
class Desk:
    """What the holder of a plan has of it; `caller` is the agent that says it is calling."""

    plan: Plan
    found: Held
    caller: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def state(self) -> State:
        return self.found.book.state

    @property
    def prompts(self) -> Prompts:
        return prompts.prompts_of(self.state)

    @property
    def stage(self) -> str:
        return str(self.recalled(prompts.PLAN).get("stage", "draft"))

    def recalled(self, path: str, item: str = "") -> dict[str, Any]:
        """What is remembered of the plan or of a prompt, with long texts whole again."""
        known = self.state.memory.get(("", item), {}).get(path, {})
        whole = expand(payload_directory(self.plan.where, self.plan.run), known)
        return dict(whole)

    def note(self, action: str, subject: str = "", **data: Any) -> Record:
        """Something that changed beside the prompts, for the log."""
        return self.record(f.PlanMoved(action, payload={"subject": subject, **data}))

    def move(
        self,
        action: str,
        news: Mapping[PromptId, Mapping[str, Any] | None],
        forced: tuple[str, ...] = (),
        **payload: Any,
    ) -> Record:
        """What is new of some prompts; the caller draws their files."""
        named = {str(id_): fields for id_, fields in news.items()}
        return self.record(f.PlanMoved(action, named, {}, payload, forced=forced))

    def record(self, fact: f.PlanMoved) -> Record:
        whole = f.PlanMoved(
            fact.action, fact.prompts, fact.plan, fact.payload, who(), self.caller, fact.forced
        )
        return self.found.book.record(whole)

    def demand(self, id_: PromptId) -> Prompt:
        """A prompt that the plan has."""
        known = self.prompts
        if id_ not in known:
            raise unknown(id_, known)
        return known[id_]


def unknown(id_: PromptId, known: Prompts) -> FailedError:
    names = ", ".join(map(str, known)) or "none"
    return FailedError(
        f"the plan has no prompt {id_}", fix=f"prompts of the plan: {names}", code="not-found"
    )
