"""The plans of envoy: the prompts of a plan by how far they are, its gates and its reviews."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import STATUSES, Prompt, Prompts, unmerged_dependencies
from porch.machine.state import RunState
from porch.web.pages.page_words import (
    count_of,
    decision_address,
    describe_time_since,
    run_address,
)

ON_COLUMN = 50
_TITLES = {
    "unimplemented": "To do",
    "working": "In progress",
    "implemented": "Implemented",
    "reviewed": "Reviewed",
    "tested": "Tested",
    "merged": "Merged",
    "aside": "Put aside",
}
_ORDER = ("unimplemented", "working", *STATUSES[1:], "aside")


def plan_address(project: str, run: str) -> str:
    return f"/plans/{quote(project, safe='')}/{quote(run, safe='')}"


def make_plan_row(
    project: str, run: str, branch: str, stage: str, prompts: Prompts, asked: int
) -> dict[str, Any]:
    """A plan in the list of all plans."""
    counts = dict.fromkeys(_ORDER, 0)
    for prompt in prompts.values():
        counts[find_column(prompt)] += 1
    told = [f"{number:,} {_TITLES[name].lower()}" for name, number in counts.items() if number]
    return {
        "branch": branch,
        "stage": stage,
        "address": plan_address(project, run),
        "total": count_of(len(prompts), "prompt"),
        "told": ", ".join(told) or "no prompts yet",
        "done": counts["merged"],
        "all": len(prompts) - counts["aside"],
        "asked": count_of(asked, "decision") + (" waits" if asked == 1 else " wait") + " for you"
        if asked
        else "",
        "trouble": "",
    }


def find_column(prompt: Prompt) -> str:
    if prompt.is_put_aside:
        return "aside"
    is_at_work = prompt.in_progress and prompt.status == "unimplemented"
    return "working" if is_at_work else prompt.status if prompt.status in _TITLES else "working"


def make_board(
    project: str,
    run: str,
    prompts: Prompts,
    words: Mapping[PromptId, str],
    state: RunState,
    now: datetime,
) -> dict[str, Any]:
    """`words` has the description of each prompt, as far as its file could be read."""
    cards = {name: [] for name in _ORDER}  # type: dict[str, list[dict[str, Any]]]
    for id_, prompt in prompts.items():
        cards[find_column(prompt)].append(_make_card(id_, prompt, words.get(id_, ""), prompts))
    return {
        "columns": [
            {
                "name": name,
                "title": _TITLES[name],
                "total": len(rows),
                "cards": rows[:ON_COLUMN],
                "more": max(len(rows) - ON_COLUMN, 0),
            }
            for name, rows in cards.items()
            if rows or name not in ("working", "aside")
        ],
        "gates": list(_list_gates(state)),
        "decisions": list(_list_questions(project, run, state, now)),
        "total": count_of(len(prompts), "prompt"),
        "run_address": run_address(project, run) if run else "",
    }


def _make_card(id_: PromptId, prompt: Prompt, text: str, prompts: Prompts) -> dict[str, Any]:
    missing = unmerged_dependencies(prompts, prompt) if prompt.status != "merged" else []
    return {
        "id": str(id_),
        "text": text,
        "kind": prompt.kind,
        "notes": list(_list_notes(prompt, missing)),
        "review": _describe_review(prompt),
        "review_look": {"passed": "good", "failed": "bad"}.get(prompt.review, "plain"),
        "is_blocked": bool(prompt.blocked_reason),
        "blocked": prompt.blocked_reason,
        "branch": prompt.worktree_branch_name,
    }


def _list_notes(prompt: Prompt, missing: Sequence[int]) -> Iterator[str]:
    if prompt.in_progress and prompt.delegated_to:
        yield f"at work: {prompt.delegated_to}"
    if prompt.current_iteration > 1:
        yield f"iteration {prompt.current_iteration}"
    if missing:
        yield f"waits for {', '.join(str(each) for each in missing)}"
    if prompt.needs_testing:
        yield f"tested by a person: {prompt.testing}" if prompt.testing else "a person tests it"
    if prompt.variant_solution:
        yield f"variant: {prompt.variant_solution}"


def _describe_review(prompt: Prompt) -> str:
    if not (prompt.review or prompt.review_rounds):
        return ""
    return f"review: {prompt.review or 'open'}, {count_of(prompt.review_rounds, 'round')}"


def _list_gates(state: RunState) -> Iterator[dict[str, str]]:
    for name, gate in state.gates.items():
        by = f" by {gate.by}" if gate.by else ""
        yield {"name": name, "told": f"{gate.status}{by}"}


def _list_questions(
    project: str, run: str, state: RunState, now: datetime
) -> Iterator[dict[str, str]]:
    for decision in state.decisions.values():
        yield {
            "name": decision.name,
            "about": decision.position.rpartition("#")[0],
            "waited": describe_time_since(decision.asked_at, now),
            "asked_at": decision.asked_at,
            "address": decision_address(project, run, decision.position),
        }
