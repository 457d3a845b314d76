"""What reviewers get to see: the task, the claims about it, and what really changed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import FailedError
from porch.git import repository
from porch.git.command import try_git
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.branches import base_branch, branch_diff
from porch.plan.files import plan_files, plan_snapshot, prompt_files
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.prompts.branch_contents import find_checkout
from porch.plan.reviews.review_prompt import ReviewSubject, render_review_prompt
from porch.plan.session.file_sync import INPUT

DIFF_CAP = 200_000
LOG_LINES = 50
QuestionAnswers = Sequence[tuple[str, str]]


class ChangedWork(Struct, frozen=True, kw_only=True):
    """What really changed, and the directory in which it can be looked at."""

    workspace: str
    diff: str
    diff_note: str
    files: Sequence[str]


def collect_review_material(
    held: LockedPlan, id_: PromptId | None, answers: QuestionAnswers, wished: str, *, said: str = ""
) -> tuple[str, str]:
    """The text of the review and the directory in which it is done."""
    about, workspace = (
        _collect_plan_material(held) if id_ is None else _collect_prompt_material(held, id_)
    )
    more = (("Changes that the user asked for", wished), ("What the user said besides", said))
    given = [*answers, *(each for each in more if each[1])]
    return render_review_prompt(replace(about, answers=tuple(given))), workspace


def _collect_prompt_material(held: LockedPlan, id_: PromptId) -> tuple[ReviewSubject, str]:
    plan, prompt = held.plan, held.prompts[id_]
    file = prompt_files.read_prompt_file(plan, id_)
    fields = prompt_files.prompt_fields(file, id_, prompt)
    branch = prompt.worktree_branch_name
    changed = _read_changed_work(held, branch, plan.branch)
    about = ReviewSubject(
        kind="prompt",
        title=f"prompt {id_}",
        description=str(fields["description"]),
        success_criteria=str(fields["success_criteria"]),
        body=file.page.body.strip("\n"),
        user_input=plan_files.read_file_text(plan.file(INPUT)) or "",
        walkthrough=_render_claims(fields["walkthrough"]),
        earlier=_suggested_changes(fields["reviews"]),
        files=tuple(map(str, list_or_empty(fields["relevant_files"]))),
        debug=prompt.kind == "debug",
        log=_read_commit_log(held, plan.branch, branch),
        diff=changed.diff,
        diff_note=changed.diff_note,
        changed=changed.files,
    )
    return about, changed.workspace


def _collect_plan_material(held: LockedPlan) -> tuple[ReviewSubject, str]:
    plan, found = held.plan, plan_snapshot.read_plan(held.plan)
    base = base_branch.find_base_branch(plan.where.workspace).branch
    changed = _read_changed_work(held, plan.branch, base)
    page = plan_snapshot.read_plan_page(found)
    read = {id_: found.page(id_) for id_ in found.prompts}
    prompts = [
        f"## Prompt {id_} ({found.prompts[id_].status})\n\n{each.body}"
        for id_, each in read.items()
    ]
    walkthroughs = [
        entry for each in read.values() for entry in list_or_empty(each.fields["walkthrough"])
    ]
    about = ReviewSubject(
        kind="full",
        title=plan.branch,
        description="",
        success_criteria="",
        body="\n\n".join([page.body.strip("\n"), found.text("curator.md"), *prompts]),
        user_input=found.text(INPUT),
        walkthrough=_render_claims(walkthroughs),
        earlier=_suggested_changes(page.fields.get("reviews")),
        debug=False,
        log=_read_commit_log(held, base, plan.branch),
        diff=changed.diff,
        diff_note=changed.diff_note,
        changed=changed.files,
    )
    return about, changed.workspace


def _read_changed_work(held: LockedPlan, branch: str, base: str) -> ChangedWork:
    """In the worktree of the branch with everything that is not committed, else of its commits."""
    where = held.plan.where
    place = find_checkout(held.plan, branch)
    if place is None and repository.resolve_commit(where.base, f"refs/heads/{branch}") is None:
        raise FailedError(
            f"there is no branch '{branch}' to review",
            fix="commit the work on it, in a worktree of its own",
            code="branch-not-found",
        )
    found = branch_diff.read_branch_diff(
        place or where.base, base, cap=DIFF_CAP, branch="" if place else branch, is_shared=True
    )
    files = [
        f"{each.path} +{_format_number(each.added)} -{_format_number(each.deleted)}"
        for each in found.files
    ]
    note = ""
    if found.truncated:
        cut = ", ".join(found.cut_files)
        note = f"{found.bytes_shown} of {found.bytes_total} bytes are shown; cut or missing: {cut}"
    return ChangedWork(
        workspace=place or where.workspace,
        diff=found.text,
        diff_note=note,
        files=tuple(files),
    )


def _format_number(number: int | None) -> str:
    return "?" if number is None else str(number)


def _read_commit_log(held: LockedPlan, base: str, branch: str) -> str:
    words = ("log", "--oneline", f"-{LOG_LINES}", f"{base}..{branch}", "--")
    return try_git(held.plan.where.base, *words).stdout


def list_or_empty(value: Any) -> list[Any]:
    """A list out of a file that people edit: none there is an empty one, and nothing is lost."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _mapping_entries(value: Any) -> Iterator[Mapping[str, Any]]:
    return (each for each in list_or_empty(value) if isinstance(each, Mapping))


def _suggested_changes(reviews: Any) -> tuple[str, ...]:
    said = (each.get("suggested_changes") for each in _mapping_entries(reviews))
    return tuple(str(text) for text in said if text)


def _render_claims(walkthrough: Any) -> str:
    return "\n\n".join("\n".join(_render_claim(entry)) for entry in _mapping_entries(walkthrough))


def _render_claim(entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"Iteration {entry.get('iteration')} ({entry.get('type')})"
    yield str(entry.get("approach") or "")
    for each in _mapping_entries(entry.get("changes")):
        yield f"- {each.get('file')}: {each.get('description')}"
    for each in _mapping_entries(entry.get("decisions")):
        yield f"- decided: {each.get('decision')}: {each.get('rationale')}"
