"""Making a plan and looking at it: init, status, check, write-plan, get-full-plan, user input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from porch.errors import FailedError, UsageError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import PLAN_PATH
from porch.plan.files import front_matter, locked_plan, plan_files, plan_location, plan_snapshot
from porch.plan.files import user_input_log as user_input
from porch.plan.files.plan_snapshot import PLAN_FILE, SUMMARY, PlanSnapshot
from porch.plan.files.prompt_files import Fields
from porch.plan.prompts.late_commits import LateCommits, list_late_commits
from porch.store.where import ProjectPaths
from porch.system.clock import Clock

if TYPE_CHECKING:
    from porch.plan.prompts.prompt_edits import WholePrompt

INPUT = user_input.FILE
_OBJECTIVE, _CONTEXT = "## Objective", "## Context"


class PlanMade(Struct, frozen=True, kw_only=True):
    """A plan that is there, and where."""

    initialized: bool = True
    branch: str
    base_branch: str
    direct_mode: bool
    directory: str
    notes: Sequence[str]


class PlanPlace(Struct, frozen=True, kw_only=True):
    """Where the plan of a branch is, or would be."""

    exists: bool
    branch: str
    base_branch: str
    direct_mode: bool
    directory: str
    late_commits: Sequence[LateCommits] = ()


class PromptRow(Struct, frozen=True, kw_only=True):
    """A prompt in the list of all prompts."""

    id: str
    description: str
    status: str
    kind: str
    depends_on: Sequence[int]
    in_progress: bool
    variant_solution: str | None


class PlanChecked(Struct, frozen=True, kw_only=True):
    """What somebody who takes a plan up has to know; more of it the further the plan is."""

    exists: bool = True
    stage: str | UnsetType = UNSET
    branch: str
    message: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    user_input: str | UnsetType = UNSET
    plan_context: str | UnsetType = UNSET
    prompts: Sequence[PromptRow] | UnsetType = UNSET
    late_commits: Sequence[LateCommits] | UnsetType = UNSET
    notes: Sequence[str] | UnsetType = UNSET


class PlanWritten(Struct, frozen=True, kw_only=True):
    """The words of a plan are in its file."""

    created: bool
    branch: str
    notes: Sequence[str]


class WholePage(Struct, frozen=True, kw_only=True):
    """The file of a plan: its fields and its text."""

    front_matter: Fields
    content: str


class FullPlan(Struct, frozen=True, kw_only=True):
    """Everything in a plan."""

    branch: str
    plan: WholePage
    user_input: str
    summary: str
    prompts: Sequence[WholePrompt]
    notes: Sequence[str]


class InputAppended(Struct, frozen=True, kw_only=True):
    """What the user said is kept."""

    appended: bool = True
    notes: Sequence[str]


def init_plan(where: ProjectPaths, caller: str = "") -> PlanMade:
    """Have the directories; what is there stays."""
    from porch.machine.facts import PlanMoved
    from porch.plan.session import plan_session

    with plan_session.hold_plan(where, caller, make=True) as held:
        known = held.recalled(PLAN_PATH)
        if not known:
            held.record(PlanMoved(action="init", plan={"stage": "draft"}))
        found = _plan_place(held.plan)
        return PlanMade(
            branch=found.branch,
            base_branch=found.base_branch,
            direct_mode=found.direct_mode,
            directory=found.directory,
            notes=held.notes,
        )


def read_plan_status(where: ProjectPaths) -> PlanPlace:
    plan = plan_location.find_current_plan(where)
    late = list_late_commits(plan, plan_snapshot.read_plan(plan).prompts) if plan.exists else ()
    return replace(_plan_place(plan), late_commits=late)


def _plan_place(plan: plan_location.Plan) -> PlanPlace:
    from porch.plan.branches import base_branch

    return PlanPlace(
        exists=plan.exists,
        branch=plan.branch,
        base_branch=base_branch.find_base_branch(plan.where.workspace).branch,
        direct_mode=base_branch.is_protected_branch(plan.branch),
        directory=plan.directory,
    )


def check_plan(where: ProjectPaths) -> PlanChecked:
    """What somebody who takes the plan up has to know first."""
    plan = plan_location.find_current_plan(where)
    if not plan.exists:
        message = f"the branch {plan.branch} has no plan; `envoy plan init` makes one"
        return PlanChecked(exists=False, branch=plan.branch, message=message)
    found = plan_snapshot.read_plan(plan)
    late = list_late_commits(plan, found.prompts)
    left = [each.say(plan.branch) for each in late]
    if found.stage == "completed":
        return PlanChecked(
            stage=found.stage,
            branch=plan.branch,
            summary=found.text(SUMMARY),
            late_commits=late or UNSET,
            notes=left or UNSET,
        )
    said = found.text(INPUT)
    if found.stage == "draft":
        return PlanChecked(
            stage=found.stage,
            branch=plan.branch,
            user_input=said,
            late_commits=late or UNSET,
            notes=left or UNSET,
        )
    notes = [*found.notes(), *left]
    return PlanChecked(
        stage=found.stage,
        branch=plan.branch,
        user_input=said,
        plan_context=plan_snapshot.read_plan_page(found).body.strip("\n"),
        prompts=_prompt_rows(found, notes),
        late_commits=late,
        notes=notes,
    )


def _prompt_rows(found: PlanSnapshot, notes: list[str]) -> list[PromptRow]:
    return [
        PromptRow(
            id=str(id_),
            description=found.page_or_note(id_, notes).fields["description"],
            status=prompt.status,
            kind=prompt.kind,
            depends_on=list(prompt.depends_on),
            in_progress=prompt.in_progress,
            variant_solution=prompt.variant_solution or None,
        )
        for id_, prompt in found.prompts.items()
    ]


def write_plan(
    where: ProjectPaths, title: str, objective: str, context: str, *, caller: str = ""
) -> PlanWritten:
    """The words of the plan; what reviews and audits said of it stays."""
    if not title.strip():
        raise UsageError("a plan needs a title", fix="give one with --title", code="empty-content")
    from porch.machine.facts import PlanMoved
    from porch.plan.session import plan_session

    with plan_session.hold_plan(where, caller, make=True) as held:
        locked_plan.require_open_plan(held)
        path = held.plan.file(PLAN_FILE)
        old = plan_files.read_file_text(path)
        body = _render_plan_body(title, objective, context)
        mine = {"stage": held.stage, "branch_name": held.plan.branch}
        if old is None:
            text = front_matter.render_new_page({**mine, "audits": [], "reviews": []}, body)
        else:
            text = front_matter.render_with_body(
                front_matter.render_changed_page(old, path, mine), path, body
            )
        held.record(
            PlanMoved(action="write-plan", plan={"stage": held.stage}, payload={"text": body})
        )
        plan_files.write_file(path, text)
        return PlanWritten(created=old is None, branch=held.plan.branch, notes=held.notes)


def _render_plan_body(title: str, objective: str, context: str) -> str:
    parts = (f"# {title.strip()}", _OBJECTIVE, objective.strip(), _CONTEXT, context.strip())
    return "\n\n".join(part for part in parts if part)


def read_full_plan(where: ProjectPaths) -> FullPlan:
    found = plan_snapshot.read_current_plan(where)
    page, notes = plan_snapshot.read_plan_page(found), found.notes()
    fields = {**page.fields, "stage": found.stage}
    return FullPlan(
        branch=found.plan.branch,
        plan=WholePage(front_matter=fields, content=page.body.strip("\n")),
        user_input=found.text(INPUT),
        summary=found.text(SUMMARY),
        prompts=[_whole_prompt(found, id_, notes) for id_ in found.prompts],
        notes=notes,
    )


def _whole_prompt(found: PlanSnapshot, id_: PromptId, notes: list[str]) -> WholePrompt:
    from porch.plan.prompts.prompt_edits import WholePrompt

    page = found.page_or_note(id_, notes)
    return WholePrompt(id=str(id_), front_matter=page.fields, content=page.body.strip("\n"))


def append_user_input(where: ProjectPaths, text: str, caller: str = "") -> InputAppended:
    if not text.strip():
        raise FailedError("the text is empty", fix="write what the user said", code="empty-content")
    from porch.plan.session import plan_session
    from porch.run.engine.fact_redaction import redact_text

    text = redact_text(text)
    with plan_session.hold_plan(where, caller, make=True) as held:
        path = held.plan.file(INPUT)
        # Whoever was killed before the record was made comes again with the same number.
        mark = f"said {held.state.seq + 1}"
        if user_input.render_kept_part(mark, text) not in (plan_files.read_file_text(path) or ""):
            entry = user_input.render_entry(Clock().now(), text, mark)
            plan_files.append_to_file(path, entry, user_input.HEADING)
        held.note("append-user-input", text=text)
        return InputAppended(notes=held.notes)
