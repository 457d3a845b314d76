"""A plan as a board for people: its prompts by how far they are, its gates and open questions."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import STATUSES, Prompt, Prompts, unmerged_dependencies
from porch.machine.state import RunState
from porch.plan.files.plan_location import plan_of_run
from porch.plan.files.plan_snapshot import PlanSnapshot, read_plan
from porch.run.verbs.read_run import read_run
from porch.store.where import ProjectPaths

ON_COLUMN = 50
_MOST_WORDS = 400
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


class PlanRow(Struct, frozen=True, kw_only=True):
    """A plan in a list of plans; `trouble` says why it cannot be read."""

    branch: str
    stage: str = ""
    told: str = ""
    done: int = 0
    all: int = 0
    questions: int = 0
    trouble: str = ""


class PromptCard(Struct, frozen=True, kw_only=True):
    """A prompt on the board."""

    id: str
    text: str
    kind: str
    notes: Sequence[str]
    review: str
    review_look: str
    is_blocked: bool
    blocked: str
    branch: str


class BoardColumn(Struct, frozen=True, kw_only=True):
    """The prompts that are equally far; of very many only the first have a card."""

    name: str
    title: str
    total: int
    cards: Sequence[PromptCard]
    more: int


class BoardGate(Struct, frozen=True):
    """A gate of the plan, and what was decided."""

    name: str
    told: str


class BoardQuestion(Struct, frozen=True, kw_only=True):
    """What a person is asked."""

    name: str
    about: str
    asked_at: str
    position: str


class PlanBoard(Struct, frozen=True, kw_only=True):
    """One plan with everything that its page shows."""

    branch: str
    stage: str
    prompts: int
    columns: Sequence[BoardColumn]
    gates: Sequence[BoardGate]
    questions: Sequence[BoardQuestion]
    notes: Sequence[str]


def read_plan_row(where: ProjectPaths, run: str) -> PlanRow:
    """A plan that cannot be read is still listed, with what is wrong."""
    try:
        found = _read(where, run)
    except PorchError as error:
        return PlanRow(branch=run, trouble=error.findings[0].message)
    return make_plan_row(found.plan.branch, found.stage, found.prompts, found.state)


def make_plan_row(branch: str, stage: str, prompts: Prompts, state: RunState) -> PlanRow:
    counts = dict.fromkeys(_ORDER, 0)
    for prompt in prompts.values():
        counts[find_column(prompt)] += 1
    told = [f"{number:,} {_TITLES[name].lower()}" for name, number in counts.items() if number]
    return PlanRow(
        branch=branch,
        stage=stage,
        told=", ".join(told) or "no prompts yet",
        done=counts["merged"],
        all=len(prompts) - counts["aside"],
        questions=len(state.decisions),
    )


def find_column(prompt: Prompt) -> str:
    if prompt.is_put_aside:
        return "aside"
    is_at_work = prompt.in_progress and prompt.status == "unimplemented"
    return "working" if is_at_work else prompt.status if prompt.status in _TITLES else "working"


def read_board(where: ProjectPaths, run: str) -> PlanBoard:
    found = _read(where, run)
    notes = found.notes()
    words = _read_words(found, notes)
    return PlanBoard(
        branch=found.plan.branch,
        stage=found.stage,
        prompts=len(found.prompts),
        columns=list_columns(found.prompts, words),
        gates=list_gates(found.state),
        questions=list_questions(found.state),
        notes=notes,
    )


def _read(where: ProjectPaths, run: str) -> PlanSnapshot:
    branch = read_run(where, run).state.run.title if where.has_begun(run) else ""
    return read_plan(plan_of_run(where, run, branch))


def _read_words(found: PlanSnapshot, notes: list[str]) -> dict[PromptId, str]:
    """What each prompt is about; of very many only the first, because each is a file."""
    told = {}
    for id_ in [*found.prompts][:_MOST_WORDS]:
        text = str(found.page_or_note(id_, notes).fields.get("description") or "")
        told[id_] = text.strip().split("\n")[0][:300]
    return told


def list_columns(prompts: Prompts, words: Mapping[PromptId, str]) -> list[BoardColumn]:
    """`words` has the description of each prompt, as far as its file could be read."""
    cards: dict[str, list[PromptCard]] = {name: [] for name in _ORDER}
    for id_, prompt in prompts.items():
        cards[find_column(prompt)].append(_make_card(id_, prompt, words.get(id_, ""), prompts))
    return [
        BoardColumn(
            name=name,
            title=_TITLES[name],
            total=len(rows),
            cards=rows[:ON_COLUMN],
            more=max(len(rows) - ON_COLUMN, 0),
        )
        for name, rows in cards.items()
        if rows or name not in ("working", "aside")
    ]


def _make_card(id_: PromptId, prompt: Prompt, text: str, prompts: Prompts) -> PromptCard:
    missing = unmerged_dependencies(prompts, prompt) if prompt.status != "merged" else []
    return PromptCard(
        id=str(id_),
        text=text,
        kind=prompt.kind,
        notes=list(_list_notes(prompt, missing)),
        review=_describe_review(prompt),
        review_look={"passed": "good", "failed": "bad"}.get(prompt.review, "plain"),
        is_blocked=bool(prompt.blocked_reason),
        blocked=prompt.blocked_reason,
        branch=prompt.worktree_branch_name,
    )


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
    rounds = "1 round" if prompt.review_rounds == 1 else f"{prompt.review_rounds:,} rounds"
    return f"review: {prompt.review or 'open'}, {rounds}"


def list_gates(state: RunState) -> list[BoardGate]:
    return [
        BoardGate(name, f"{gate.status} by {gate.by}" if gate.by else gate.status)
        for name, gate in state.gates.items()
    ]


def list_questions(state: RunState) -> list[BoardQuestion]:
    return [
        BoardQuestion(
            name=decision.name,
            about=decision.position.rpartition("#")[0],
            asked_at=decision.asked_at,
            position=decision.position,
        )
        for decision in state.decisions.values()
    ]
