"""Reading a plan without its lock: the journal for what counts, the files for the words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from porch.adapters import plan_files
from porch.adapters.where import Where
from porch.dialects import front_matter
from porch.errors import PorchError
from porch.machine.prompts import PLAN, Prompt, Prompts, prompts_of
from porch.machine.state import State
from porch.model.prompt_ids import PromptId
from porch.operations.plans import pages, place
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
    # Files that nobody took into the journal yet, and that cannot be read.
    broken: Mapping[PromptId, PorchError]

    @property
    def stage(self) -> str:
        known = self.state.memory.get(("", ""), {}).get(PLAN, {})
        return str(known.get("stage", "draft"))

    def text(self, name: str) -> str:
        return plan_files.text(self.plan.file(name)) or ""

    def fields(self, id_: PromptId) -> dict[str, Any]:
        return pages.fields_of(self.plan, id_, self.demand(id_))

    def page(self, id_: PromptId, notes: list[str]) -> front_matter.Page:
        """Fields and text; of a file that cannot be read, what is known without it, and a note."""
        try:
            return front_matter.Page(self.fields(id_), pages.page_of(self.plan, id_).body)
        except PorchError as error:
            notes.append(str(error))
            return front_matter.Page(pages.bare(id_, self.prompts[id_]), "")

    def notes(self) -> list[str]:
        return [str(error) for error in self.broken.values()]

    def demand(self, id_: PromptId) -> Prompt:
        if id_ in self.broken:
            raise self.broken[id_]
        if id_ not in self.prompts:
            raise unknown(id_, self.prompts)
        return self.prompts[id_]


def opened(where: Where) -> Shelf:
    """The plan of the branch we stand on, which must be there."""
    return of(place.demand(place.current(where)))


def of(plan: Plan) -> Shelf:
    state = read(plan.where, plan.run).state if plan.run in plan.where.runs() else State()
    known = prompts_of(state)
    broken: dict[PromptId, PorchError] = {}
    for id_ in pages.listed(plan):
        if id_ in known:
            continue
        try:
            known[id_] = pages.planned(plan, id_)
        except PorchError as error:
            broken[id_] = error
    return Shelf(plan, dict(sorted(known.items())), state, broken)


def plan_page(shelf: Shelf) -> front_matter.Page:
    path = shelf.plan.file(PLAN_FILE)
    text = plan_files.text(path)
    return front_matter.read(text, path) if text else front_matter.Page({}, "")
