"""One round of reviews: all that is checked before anybody is paid, and what is kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from porch.adapters import plan_files
from porch.adapters.settings import Settings
from porch.dialects import front_matter
from porch.errors import FailedError, UsageError
from porch.machine import facts as f
from porch.machine import plans
from porch.machine.prompts import PLAN, reviewed
from porch.machine.state import InHand
from porch.model.prompt_ids import PromptId
from porch.operations.plans import pages, papers
from porch.operations.plans.contents import tree_of
from porch.operations.plans.desk import Desk
from porch.operations.plans.gates import pose
from porch.operations.plans.interrupted_rounds import give_back
from porch.operations.plans.prompting import allowed
from porch.operations.plans.review_limits import demand_budget, demand_reviewers
from porch.operations.plans.review_matter import listed, matter
from porch.operations.plans.review_turns import Combined, Reviewed, combined, settle_orphans
from porch.operations.plans.shelf import PLAN_FILE
from porch.operations.wishing import who


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which review is asked for, and from whom; without a prompt it is of the whole plan."""

    id: PromptId | None = None
    by: tuple[str, ...] = ()
    max_rounds: int = 0
    wait_s: float = 0
    script: str = ""
    force: bool = False
    caller: str = ""

    @property
    def item(self) -> str:
        return str(self.id) if self.id else ""


@dataclass(frozen=True, slots=True)
class Round:
    """One round that has begun: its number, who reviews, and what they get to see.

    `usual` is how many rounds there are where nobody has allowed more, and `seq` the record with
    which it began.
    """

    number: int
    most: int
    usual: int
    reviewers: tuple[str, ...]
    prompt: str
    workspace: str
    answers: tuple[tuple[str, str], ...]
    user_thoughts: str
    seq: int = 0
    tree: str = ""


def begin(held: Desk, wanted: Wanted, known: Settings) -> Round:
    """Everything that is checked and read before anybody is paid."""
    forced: tuple[str, ...] = ()
    if wanted.id is not None:
        held.demand(wanted.id)
        forced = allowed("review", held, wanted.id, wanted.force)
    settle_orphans(held, wanted.item)
    give_back(held, wanted.id, _spent(held, wanted.id)[0])
    spent, granted = _spent(held, wanted.id)
    usual = _usual(wanted, known)
    if spent >= usual + granted or _is_stopped(held, wanted):
        raise _no_rounds_left(held, wanted, spent)
    names = wanted.by or known.review_agents or known.models or (known.agent,)
    demand_reviewers(held, known, names)
    demand_budget(held, known)
    form = held.recalled(plans.answer_path("clarifying"), wanted.item).get("form", {})
    answers = tuple((each["question"], each["answer"]) for each in form.get("questions", ()))
    text, workspace = matter(held, wanted.id, answers, str(form.get("suggested_changes", "")))
    thoughts = str(form.get("thoughts", ""))
    most = usual + granted
    begun = Round(spent + 1, most, usual, tuple(names), text, workspace, answers, thoughts)
    branch = held.prompts[wanted.id].worktree_branch_name if wanted.id else held.plan.branch
    tree = tree_of(held.plan, branch)
    return replace(begun, seq=_record_begun(held, wanted, begun, forced), tree=tree)


def _usual(wanted: Wanted, known: Settings) -> int:
    """Who asks for a review may want fewer rounds, never more: that is a person's to say."""
    if wanted.max_rounds > known.review_rounds:
        raise UsageError(
            f"--max-rounds {wanted.max_rounds} is more than the {known.review_rounds} that are set",
            fix="leave it out; max_rounds under [review] in codev/config.toml is the most",
        )
    return wanted.max_rounds or known.review_rounds


def _is_stopped(held: Desk, wanted: Wanted) -> bool:
    """A person said so; whoever calls cannot allow themselves more."""
    said = held.recalled(plans.answer_path("rounds"), wanted.item)
    return said.get("exit") == "stopped"


def _spent(held: Desk, id_: PromptId | None) -> tuple[int, int]:
    if id_ is not None:
        prompt = held.prompts[id_]
        return prompt.review_rounds, prompt.rounds_allowed
    told = held.recalled(PLAN)
    return int(told.get("review_rounds", 0)), int(told.get("rounds_allowed", 0))


def _no_rounds_left(held: Desk, wanted: Wanted, spent: int) -> FailedError:
    if _is_stopped(held, wanted):
        return FailedError(
            f"a person ended the reviews of {wanted.item or 'the plan'}",
            fix="go on with what the last review said, and let a person look at it",
            code="no-rounds-left",
        )
    if plans.standing_of(held.state, "rounds", wanted.item) is None:
        said = f"{spent} reviews of {wanted.item or 'the plan'} came to no pass"
        fact = f.QuestionPosed("rounds", wanted.item, {"reason": said}, agent=held.caller)
        held.found.book.record(fact)
    name = f"rounds:{wanted.item}" if wanted.item else "rounds"
    return FailedError(
        f"{spent} reviews came to no pass, and no round is left",
        fix=f"a person can allow more: porch answer plan/{held.plan.branch} {name} retry",
        code="no-rounds-left",
    )


def _record_begun(held: Desk, wanted: Wanted, begun: Round, forced: tuple[str, ...]) -> int:
    news = {"review_rounds": begun.number}
    prompts, plan = ({wanted.item: news}, {}) if wanted.id else ({}, news)
    fact = f.PlanMoved("review-begun", prompts, plan, {}, who(), held.caller, forced)
    visit = held.state.seq + 1
    position = f"{plans.REVIEW}{f':{wanted.item}' if wanted.item else ''}#{visit}"
    hands = [
        InHand(f"{position}/review/{name}/0", position, "review", name, state=plans.REVIEW)
        for name in begun.reviewers
    ]
    record = held.found.book.record(fact, lambda _definition, _state, _moves: hands)
    if wanted.id:
        papers.put(held, wanted.id, {})
    return record.seq


def end(
    held: Desk, wanted: Wanted, round_: Round, told: Sequence[Reviewed]
) -> dict[str, Any] | None:
    """What came of a round; nothing if a person has to be asked first."""
    for each in told:
        held.found.book.record(each.fact)
    if wanted.id is not None:
        held.demand(wanted.id)
    result = _about_what_is_there(held, wanted, round_, combined(told))
    if result.questions:
        _give_back(held, wanted, round_)
        payload = {"reason": "\n".join(result.questions), "questions": list(result.questions)}
        pose(held, "clarifying", wanted.item, payload)
        return None
    entry = _entry(round_, result.verdict, result.thoughts, result.suggested_changes)
    _keep(held, wanted, entry, result.verdict, round_.tree)
    left = max(0, round_.most - round_.number)
    return {
        "state": "answered",
        "verdict": result.verdict,
        "thoughts": result.thoughts,
        "user_thoughts": round_.user_thoughts,
        "answered_questions": [{"question": q, "answer": a} for q, a in round_.answers],
        "suggested_changes": result.suggested_changes,
        "why": result.why,
        "prompt_id": wanted.item or None,
        "round": round_.number,
        "max_rounds": round_.most,
        "rounds_left": round_.usual if result.verdict == "passed" else left,
        "reviewers": [each.as_json() for each in told],
        "notes": held.notes,
    }


# What makes of a prompt something that nobody has reviewed.
_NEW_WORK = ("record-implementation", "write-prompt")


def _about_what_is_there(held: Desk, wanted: Wanted, round_: Round, result: Combined) -> Combined:
    """Work that was recorded while reviewers looked at older work has not passed."""
    since = [raw["fact"] for raw in held.found.raws if raw["seq"] > round_.seq]
    moved = [fact for fact in since if fact.get("action") in _NEW_WORK]
    if wanted.id is not None:
        moved = [fact for fact in moved if wanted.item in fact.get("prompts", ())]
    if result.verdict != "passed" or not moved:
        return result
    return replace(result, verdict="error", why="new work was recorded meanwhile; ask again")


def _give_back(held: Desk, wanted: Wanted, round_: Round) -> None:
    """A person stands between this round and the next, so it needs no other end."""
    news = {"review_rounds": round_.number - 1}
    prompts = {wanted.item: news} if wanted.id else {}
    held.record(f.PlanMoved("review-questions", prompts, {} if wanted.id else news))


_DECISIONS: Mapping[str, str] = {"passed": "approved", "failed": "needs_changes", "error": "error"}


def _entry(round_: Round, verdict: str, thoughts: str, changes: str) -> dict[str, Any]:
    return {
        "review_context": thoughts,
        "decision": _DECISIONS[verdict],
        "total_questions": len(round_.answers),
        "were_changes_suggested": bool(changes.strip()),
        "suggested_changes": changes,
        "round": round_.number,
        "reviewers": list(round_.reviewers),
    }


def _keep(held: Desk, wanted: Wanted, entry: dict[str, Any], verdict: str, tree: str) -> None:
    payload = {"verdict": verdict, "text": entry["suggested_changes"]}
    if wanted.id is None:
        news = {"review_rounds": 0, "rounds_allowed": 0} if verdict == "passed" else {}
        held.record(f.PlanMoved("review", {}, {"review": verdict, **news}, payload))
        _keep_in_plan(held, entry)
        return
    prompt = held.prompts[wanted.id]
    held.move("review", {wanted.id: reviewed(prompt, verdict, tree)}, **payload)
    known = pages.page_of(held.plan, wanted.id).fields.get("reviews")
    papers.put(held, wanted.id, {"reviews": [*listed(known), entry]})


def _keep_in_plan(held: Desk, entry: dict[str, Any]) -> None:
    path = held.plan.file(PLAN_FILE)
    text = plan_files.text(path)
    if text is not None:
        known = front_matter.read(text, path).fields.get("reviews")
        reviews = [*listed(known), entry]
        plan_files.write(path, front_matter.changed(text, path, {"reviews": reviews}))
