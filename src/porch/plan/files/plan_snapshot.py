"""Reading a plan without its lock: the journal for what counts, the files for the words."""

from collections.abc import Mapping

from msgspec import Struct

from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import PLAN_PATH, Prompt, Prompts, prompts_of
from porch.machine.state import RunState
from porch.plan.files import front_matter, plan_files, plan_location, prompt_files
from porch.plan.files.front_matter import Page
from porch.plan.files.locked_plan import unknown_prompt_error
from porch.plan.files.plan_location import Plan
from porch.run.engine.folded_journal import JournalReader
from porch.store.where import ProjectPaths

PLAN_FILE = "plan.md"
SUMMARY = "summary.md"


class PlanSnapshot(Struct, frozen=True):
    """A plan as it is at this instant."""

    plan: Plan
    prompts: Prompts
    state: RunState
    # Files that nobody took into the journal yet, and that cannot be read.
    broken: Mapping[PromptId, PorchError]

    @property
    def stage(self) -> str:
        known = self.state.memory.get(("", ""), {}).get(PLAN_PATH, {})
        return str(known.get("stage", "draft"))

    def text(self, name: str) -> str:
        return plan_files.read_file_text(self.plan.file(name)) or ""

    def page(self, id_: PromptId) -> Page:
        """All fields of a prompt, and its text; its file is read once."""
        prompt = self.demand(id_)
        file = prompt_files.read_prompt_file(self.plan, id_)
        return Page(prompt_files.prompt_fields(file, id_, prompt), file.page.body)

    def page_or_note(self, id_: PromptId, notes: list[str]) -> Page:
        """The same; of a file that cannot be read, what is known without it, and a note."""
        try:
            return self.page(id_)
        except PorchError as error:
            notes.append(str(error))
            return Page(prompt_files.fields_without_file(id_, self.prompts[id_]), "")

    def notes(self) -> list[str]:
        return [str(error) for error in self.broken.values()]

    def demand(self, id_: PromptId) -> Prompt:
        if id_ in self.broken:
            raise self.broken[id_]
        if id_ not in self.prompts:
            raise unknown_prompt_error(id_, self.prompts)
        return self.prompts[id_]


def read_current_plan(where: ProjectPaths) -> PlanSnapshot:
    """The plan of the branch we stand on, which must be there."""
    return read_plan(plan_location.require_plan(plan_location.find_current_plan(where)))


def read_plan(plan: Plan) -> PlanSnapshot:
    # The definition of a plan is that of the release, so nobody has to look at the pinned one.
    reader = JournalReader(plan.where.run_dir(plan.run), plan.run)
    state = reader.fold().state if plan.where.has_begun(plan.run) else RunState()
    known = prompts_of(state)
    broken: dict[PromptId, PorchError] = {}
    for id_ in prompt_files.list_prompt_files(plan, frozenset(map(str, known))):
        try:
            known[id_] = prompt_files.planned_prompt(prompt_files.read_prompt_file(plan, id_))
        except PorchError as error:
            broken[id_] = error
    return PlanSnapshot(plan, dict(sorted(known.items())), state, broken)


def read_plan_page(shelf: PlanSnapshot) -> Page:
    path = shelf.plan.file(PLAN_FILE)
    text = plan_files.read_file_text(path)
    return front_matter.read_page(text, path) if text else Page({}, "")
