"""One round of reviews: all that is checked before anybody is paid, and what is kept of it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import FailedError, UsageError
from porch.machine import facts as f
from porch.machine.plan import run_rules
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import PLAN_PATH, fields_after_review
from porch.machine.state import InHand
from porch.plan.files import front_matter, plan_files, prompt_files, prompt_pictures
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.files.plan_snapshot import PLAN_FILE
from porch.plan.files.prompt_files import Fields
from porch.plan.gates.form_answers import pose_question
from porch.plan.prompts.branch_contents import hash_branch_files
from porch.plan.prompts.prompt_rules import check_prompt_rules
from porch.plan.reviews.interrupted_rounds import give_round_back
from porch.plan.reviews.missed_rounds import (
    MISSED,
    MOST_MISSED,
    MissedRounds,
    count_missed_rounds,
    describe_absence,
)
from porch.plan.reviews.review_budget import choose_reviewers, require_budget
from porch.plan.reviews.review_material import collect_review_material, list_or_empty
from porch.plan.reviews.reviewer_turns import (
    CombinedReview,
    ReviewerResult,
    ReviewerRow,
    combine_reviews,
    settle_orphans,
)
from porch.run.engine.caller import find_user_name
from porch.run.settings import Settings


class ReviewRequest(Struct, frozen=True):
    """Which review is asked for, and from whom; without a prompt it is of the whole plan."""

    id: PromptId | None = None
    by: tuple[str, ...] = ()
    max_rounds: int = 0
    wait_s: float = 0  # for people
    reviewers_s: float = 0  # for reviewers; 0 leaves it to the settings
    script: str = ""
    force: bool = False
    caller: str = ""
    # The agent after which the command is named.
    named: str = ""

    @property
    def item(self) -> str:
        return str(self.id) if self.id else ""


class ReviewRound(Struct, frozen=True):
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
    note: str = ""


class AnsweredQuestion(Struct, frozen=True, kw_only=True):
    """A question of a reviewer, and what a person said to it."""

    question: str
    answer: str


class ReviewResult(Struct, frozen=True, kw_only=True):
    """What came of a review, and how many more there may be."""

    state: str = "answered"
    verdict: str
    thoughts: str
    user_thoughts: str
    answered_questions: Sequence[AnsweredQuestion]
    suggested_changes: str
    why: str
    prompt_id: str | None
    round: int
    max_rounds: int
    rounds_left: int
    reviewers: Sequence[ReviewerRow]
    notes: Sequence[str]
    duration_ms: int = 0


def begin_round(held: LockedPlan, wanted: ReviewRequest, known: Settings) -> ReviewRound:
    """Everything that is checked and read before anybody is paid."""
    forced: tuple[str, ...] = ()
    if wanted.id is not None:
        held.demand(wanted.id)
        forced = check_prompt_rules("review", held, wanted.id, wanted.force)
    settle_orphans(held, wanted.item)
    give_round_back(held, wanted.id, _rounds_spent(held, wanted.id)[0])
    spent, granted = _rounds_spent(held, wanted.id)
    usual = _rounds_allowed(wanted, known)
    missed = count_missed_rounds(held, wanted.item)
    is_used_up = spent >= usual + granted or missed.count >= MOST_MISSED
    if is_used_up or _is_stopped(held, wanted) or _is_asked(held, wanted):
        raise _no_rounds_error(held, wanted, spent, missed)
    chosen = choose_reviewers(held, known, wanted.by, wanted.named)
    require_budget(held, known)
    form = held.recalled(run_rules.answer_path("clarifying"), wanted.item).get("form", {})
    answers = tuple((each["question"], each["answer"]) for each in form.get("questions", ()))
    thoughts = str(form.get("thoughts", ""))
    text, workspace = collect_review_material(
        held, wanted.id, answers, str(form.get("suggested_changes", "")), said=thoughts
    )
    most = usual + granted
    begun = ReviewRound(
        spent + 1, most, usual, chosen.names, text, workspace, answers, thoughts, note=chosen.note
    )
    branch = held.prompts[wanted.id].worktree_branch_name if wanted.id else held.plan.branch
    tree = hash_branch_files(held.plan, branch)
    return replace(begun, seq=_record_begun_round(held, wanted, begun, forced), tree=tree)


def _rounds_allowed(wanted: ReviewRequest, known: Settings) -> int:
    """Who asks for a review may want fewer rounds, never more: that is a person's to say."""
    if wanted.max_rounds > known.review_rounds:
        raise UsageError(
            f"--max-rounds {wanted.max_rounds} is more than the limit of {known.review_rounds}",
            fix="leave it out; max_rounds under [review] in codev/config.toml is the limit",
        )
    return wanted.max_rounds or known.review_rounds


def _is_stopped(held: LockedPlan, wanted: ReviewRequest) -> bool:
    """A person said so; whoever calls cannot allow themselves more."""
    said = held.recalled(run_rules.answer_path("rounds"), wanted.item)
    return said.get("exit") == "stopped"


def _rounds_spent(held: LockedPlan, id_: PromptId | None) -> tuple[int, int]:
    if id_ is not None:
        prompt = held.prompts[id_]
        return prompt.review_rounds, prompt.rounds_allowed
    told = held.recalled(PLAN_PATH)
    return int(told.get("review_rounds", 0)), int(told.get("rounds_allowed", 0))


def _is_asked(held: LockedPlan, wanted: ReviewRequest) -> bool:
    return run_rules.gate_position(held.state, "rounds", wanted.item) is not None


def _no_rounds_error(
    held: LockedPlan, wanted: ReviewRequest, spent: int, missed: MissedRounds
) -> FailedError:
    if _is_stopped(held, wanted):
        return FailedError(
            f"a person stopped the reviews of {wanted.item or 'the plan'}",
            fix="continue with what the last review said, and ask a person to look at it",
            code="no-rounds-left",
        )
    posed = held.recalled(run_rules.question_path("rounds"), wanted.item)
    said = str(posed.get("reason", "")) if _is_asked(held, wanted) else ""
    if not said:
        said = _describe_no_round(wanted, spent, missed)
        fact = f.QuestionPosed(
            state="rounds", item=wanted.item, payload={"reason": said}, agent=held.caller
        )
        held.found.book.record(fact)
    name = f"rounds:{wanted.item}" if wanted.item else "rounds"
    return FailedError(
        f"{said}; a person decides whether to ask the reviewers again",
        fix=f"a person can allow more: porch answer plan/{held.plan.branch} {name} retry",
        code="no-rounds-left",
    )


def _describe_no_round(wanted: ReviewRequest, spent: int, missed: MissedRounds) -> str:
    """The true reason: reviewers that could not answer have not disagreed."""
    about = wanted.item or "the plan"
    if missed.count >= MOST_MISSED:
        return f"{missed.count} reviews of {about} in a row gave no verdict; {missed.why}"
    return f"{spent} reviews of {about} did not pass, and no round is left"


def _record_begun_round(
    held: LockedPlan, wanted: ReviewRequest, begun: ReviewRound, forced: tuple[str, ...]
) -> int:
    news = {"review_rounds": begun.number}
    prompts, plan = ({wanted.item: news}, {}) if wanted.id else ({}, news)
    fact = f.PlanMoved(
        action="review-begun",
        prompts=prompts,
        plan=plan,
        payload={"text": begun.note} if begun.note else {},
        who=find_user_name(),
        agent=held.caller,
        forced=forced,
    )
    visit = held.state.seq + 1
    position = f"{run_rules.REVIEW}{f':{wanted.item}' if wanted.item else ''}#{visit}"
    hands = [
        InHand(f"{position}/review/{name}/0", position, "review", name, state=run_rules.REVIEW)
        for name in begun.reviewers
    ]
    record = held.found.book.record(fact, lambda _definition, _state, _moves: hands)
    if wanted.id:
        prompt_pictures.redraw_file(held, wanted.id, {})
    return record.seq


def end_round(
    held: LockedPlan, wanted: ReviewRequest, round_: ReviewRound, told: Sequence[ReviewerResult]
) -> ReviewResult | None:
    """What came of a round; nothing if a person has to be asked first."""
    for each in told:
        held.found.book.record(each.fact)
    if wanted.id is not None:
        held.demand(wanted.id)
    result = _check_reviewed_files(held, wanted, round_, combine_reviews(told))
    if result.questions:
        _give_round_back(held, wanted, round_)
        payload = {"reason": "\n".join(result.questions), "questions": list(result.questions)}
        pose_question(held, "clarifying", wanted.item, payload)
        return None
    entry = _review_entry(round_, result.verdict, result.thoughts, result.suggested_changes)
    missed = describe_absence(told) if result.verdict == "error" else ""
    _keep_review(held, wanted, round_, entry, verdict=result.verdict, missed=missed)
    left = max(0, round_.most - round_.number + bool(missed))
    return ReviewResult(
        verdict=result.verdict,
        thoughts=result.thoughts,
        user_thoughts=round_.user_thoughts,
        answered_questions=[AnsweredQuestion(question=q, answer=a) for q, a in round_.answers],
        suggested_changes=result.suggested_changes,
        why=result.why,
        prompt_id=wanted.item or None,
        round=round_.number,
        max_rounds=round_.most,
        rounds_left=round_.usual if result.verdict == "passed" else left,
        reviewers=[each.row() for each in told],
        notes=[*filter(None, [round_.note, missed and _NOT_CHARGED]), *held.notes],
    )


_NOT_CHARGED = "no round was charged, because there was no verdict"
# What makes of a prompt something that nobody has reviewed.
_NEW_WORK = ("record-implementation", "write-prompt")


def _check_reviewed_files(
    held: LockedPlan, wanted: ReviewRequest, round_: ReviewRound, result: CombinedReview
) -> CombinedReview:
    """Work that was recorded while reviewers looked at older work has not passed."""
    since = [raw["fact"] for raw in held.found.records_after(round_.seq)]
    moved = [fact for fact in since if fact.get("action") in _NEW_WORK]
    if wanted.id is not None:
        moved = [fact for fact in moved if wanted.item in fact.get("prompts", ())]
    if result.verdict != "passed" or not moved:
        return result
    return replace(result, verdict="error", why="new work was recorded in the meantime; ask again")


def _give_round_back(held: LockedPlan, wanted: ReviewRequest, round_: ReviewRound) -> None:
    """A person stands between this round and the next, so it needs no other end."""
    news = {"review_rounds": round_.number - 1}
    prompts = {wanted.item: news} if wanted.id else {}
    held.record(
        f.PlanMoved(action="review-questions", prompts=prompts, plan={} if wanted.id else news)
    )


_DECISIONS: Mapping[str, str] = {"passed": "approved", "failed": "needs_changes", "error": "error"}


def _review_entry(round_: ReviewRound, verdict: str, thoughts: str, changes: str) -> Fields:
    return {
        "review_context": thoughts,
        "decision": _DECISIONS[verdict],
        "total_questions": len(round_.answers),
        "were_changes_suggested": bool(changes.strip()),
        "suggested_changes": changes,
        "round": round_.number,
        "reviewers": list(round_.reviewers),
    }


def _keep_review(
    held: LockedPlan,
    wanted: ReviewRequest,
    round_: ReviewRound,
    entry: Fields,
    *,
    verdict: str,
    missed: str,
) -> None:
    payload = {"verdict": verdict, "text": entry["suggested_changes"]}
    payload |= {MISSED: missed} if missed else {}
    given_back = {"review_rounds": round_.number - 1} if missed else {}
    if wanted.id is None:
        news = {"review_rounds": 0, "rounds_allowed": 0} if verdict == "passed" else given_back
        held.record(
            f.PlanMoved(
                action="review", prompts={}, plan={"review": verdict, **news}, payload=payload
            )
        )
        _keep_review_in_plan(held, entry)
        return
    prompt = held.prompts[wanted.id]
    fields = {**fields_after_review(prompt, verdict, round_.tree), **given_back}
    held.move("review", {wanted.id: fields}, **payload)
    file = prompt_files.read_prompt_file(held.plan, wanted.id)
    known = file.page.fields.get("reviews")
    prompt_pictures.draw_file(
        held, wanted.id, file, authored={"reviews": [*list_or_empty(known), entry]}
    )


def _keep_review_in_plan(held: LockedPlan, entry: Fields) -> None:
    path = held.plan.file(PLAN_FILE)
    text = plan_files.read_file_text(path)
    if text is not None:
        known = front_matter.read_page(text, path).fields.get("reviews")
        reviews = [*list_or_empty(known), entry]
        plan_files.write_file(
            path, front_matter.render_changed_page(text, path, {"reviews": reviews})
        )
