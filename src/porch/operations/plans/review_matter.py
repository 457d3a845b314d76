"""What reviewers get to see: the task, the claims about it, and what really changed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.adapters import base_branch, diffs, git
from porch.adapters.git_command import attempt
from porch.errors import FailedError
from porch.model.prompt_ids import PromptId
from porch.operations.plans import pages, shelf
from porch.operations.plans.contents import checkout_of
from porch.operations.plans.desk import Desk
from porch.operations.plans.settling import INPUT
from porch.operations.plans.shelf import Shelf
from porch.views.review_prompt import About, review_prompt

DIFF_CAP = 200_000
LOG_LINES = 50
Answers = Sequence[tuple[str, str]]


def matter(held: Desk, id_: PromptId | None, answers: Answers, wished: str) -> tuple[str, str]:
    """The text of the review and the directory in which it is done."""
    about, workspace = _of_plan(held) if id_ is None else _of_prompt(held, id_)
    given = [*answers, *([("What should be changed, by the user", wished)] if wished else [])]
    return review_prompt(_with(about, given)), workspace


def _with(about: dict[str, Any], answers: Answers) -> About:
    return About(**{**about, "answers": tuple(answers)})


def _of_prompt(held: Desk, id_: PromptId) -> tuple[dict[str, Any], str]:
    plan, prompt = held.plan, held.prompts[id_]
    fields = pages.fields_of(plan, id_, prompt)
    branch = prompt.worktree_branch_name
    workspace, changed = _changed(held, branch, plan.branch)
    return {
        "kind": "prompt",
        "title": f"prompt {id_}",
        "description": str(fields["description"]),
        "success_criteria": str(fields["success_criteria"]),
        "body": pages.page_of(plan, id_).body.strip("\n"),
        "user_input": shelf.of(plan).text(INPUT),
        "walkthrough": _claims(fields["walkthrough"]),
        "earlier": _suggested(fields["reviews"]),
        "files": tuple(map(str, listed(fields["relevant_files"]))),
        "debug": prompt.kind == "debug",
        "log": _log(held, plan.branch, branch),
        **changed,
    }, workspace


def _of_plan(held: Desk) -> tuple[dict[str, Any], str]:
    plan, found = held.plan, shelf.of(held.plan)
    base = base_branch.of(plan.where.workspace).branch
    workspace, changed = _changed(held, plan.branch, base)
    page = shelf.plan_page(found)
    prompts = [
        f"## Prompt {id_} ({prompt.status})\n\n{pages.page_of(plan, id_).body}"
        for id_, prompt in found.prompts.items()
    ]
    walkthroughs = [each for id_ in found.prompts for each in _told(found, id_)]
    return {
        "kind": "full",
        "title": plan.branch,
        "description": "",
        "success_criteria": "",
        "body": "\n\n".join([page.body.strip("\n"), found.text("curator.md"), *prompts]),
        "user_input": found.text(INPUT),
        "walkthrough": _claims(walkthroughs),
        "earlier": _suggested(page.fields.get("reviews")),
        "debug": False,
        "log": _log(held, base, plan.branch),
        **changed,
    }, workspace


def _changed(held: Desk, branch: str, base: str) -> tuple[str, dict[str, Any]]:
    """In the worktree of the branch with everything that is not committed, else of its commits."""
    where = held.plan.where
    place = checkout_of(held.plan, branch)
    if place is None and git.resolve(where.base, f"refs/heads/{branch}") is None:
        raise FailedError(
            f"there is no branch '{branch}' to review",
            fix="commit the work on it, in a worktree of its own",
            code="branch-not-found",
        )
    found = diffs.against(place or where.base, base, cap=DIFF_CAP, branch="" if place else branch)
    files = [f"{each.path} +{_n(each.added)} -{_n(each.deleted)}" for each in found.files]
    note = ""
    if found.truncated:
        cut = ", ".join(found.cut_files)
        note = f"{found.bytes_shown} of {found.bytes_total} bytes are shown; cut or missing: {cut}"
    return place or where.workspace, {
        "diff": found.text,
        "diff_note": note,
        "changed": tuple(files),
    }


def _n(number: int | None) -> str:
    return "?" if number is None else str(number)


def _log(held: Desk, base: str, branch: str) -> str:
    words = ("log", "--oneline", f"-{LOG_LINES}", f"{base}..{branch}", "--")
    return attempt(held.plan.where.base, *words).stdout


def listed(value: Any) -> list[Any]:
    """A list out of a file that people edit: none there is an empty one, and nothing is lost."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    return (each for each in listed(value) if isinstance(each, Mapping))


def _suggested(reviews: Any) -> tuple[str, ...]:
    said = (each.get("suggested_changes") for each in _entries(reviews))
    return tuple(str(text) for text in said if text)


def _told(found: Shelf, id_: PromptId) -> list[Any]:
    return listed(found.fields(id_)["walkthrough"])


def _claims(walkthrough: Any) -> str:
    return "\n\n".join("\n".join(_claim(entry)) for entry in _entries(walkthrough))


def _claim(entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"Iteration {entry.get('iteration')} ({entry.get('type')})"
    yield str(entry.get("approach") or "")
    for each in _entries(entry.get("changes")):
        yield f"- {each.get('file')}: {each.get('description')}"
    for each in _entries(entry.get("decisions")):
        yield f"- decided: {each.get('decision')}: {each.get('rationale')}"
