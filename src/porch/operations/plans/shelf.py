"""Reading a plan without its lock: the journal for what counts, the files for the words."""

from dataclasses import dataclass
from typing import Any

from porch.adapters import plan_files
from porch.adapters.where import Where
from porch.dialects import front_matter
from porch.errors import PorchError
from porch.machine.prompts import PLAN, Prompt, Prompts, prompts_of
from porch.machine.state import State
from porch.model.prompt_ids import PromptId, parse
from porch.operations.plans import papers, place
from porch.operations.plans.desk import unknown
from porch.operations.plans.place import Plan
from porch.operations.reading import read

PLAN_FILE = "plan.md"


@dataclass(frozen=True, slots=True)
class Shelf:
    """A plan as it is at this instant."""

    plan: Plan
    prompts: Prompts
    state: State

    @property
    def stage(self) -> str:
        known = self.state.memory.get(("", ""), {}).get(PLAN, {})
        return str(known.get("stage", "draft"))

    def text(self, name: str) -> str:
        return plan_files.text(self.plan.file(name)) or ""

    def fields(self, id_: PromptId) -> dict[str, Any]:
        return papers.fields_of(self.plan, id_, self.demand(id_))

    def demand(self, id_: PromptId) -> Prompt:
        if id_ not in self.prompts:
            raise unknown(id_, self.prompts)
        return self.prompts[id_]


def opened(where: Where) -> Shelf:
    """The plan of the branch we stand on, which must be there."""
    return of(place.demand(place.current(where)))


def of(plan: Plan) -> Shelf:
    state = read(plan.where, plan.run).state if plan.run in plan.where.runs() else State()
    known = prompts_of(state)
    for name in plan_files.names(plan.prompts_dir, ".md"):
        try:
            id_ = parse([name])
        except PorchError:
            continue
        if str(id_) == name:
            known.setdefault(id_, Prompt())
    return Shelf(plan, dict(sorted(known.items())), state)


def plan_page(shelf: Shelf) -> front_matter.Page:
    path = shelf.plan.file(PLAN_FILE)
    text = plan_files.text(path)
    return front_matter.read(text, path) if text else front_matter.Page({}, "")
