"""A round of reviews that was interrupted is no round, as long as that does not become a habit."""

from collections.abc import Iterator

from porch.machine import facts as f
from porch.machine.facts import Payload
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.files import prompt_pictures
from porch.plan.files.locked_plan import LockedPlan

# So many in a row; whoever never lets a review end must not be able to go on for ever.
INTERRUPTIONS = 5
_BEGUN = "review-begun"
_BACK = "review-interrupted"
_ENDED = ("review", "review-questions")


def give_round_back(held: LockedPlan, id_: PromptId | None, spent: int) -> None:
    """The last round of a prompt, or of the whole plan, if nothing came of it.

    The journal says so, not what is still in hand: a crash in here must not cost the round either.
    """
    item = str(id_) if id_ else ""
    told = list(_iterate_round_facts(held, item))
    if not told or told[-1]["action"] != _BEGUN or _count_last_interruptions(told) >= INTERRUPTIONS:
        return
    begun = told[-1]["prompts"][item] if item else told[-1]["plan"]
    # A prompt that was written anew since then has rounds of its own.
    if begun["review_rounds"] != spent:
        return
    news = {"review_rounds": spent - 1}
    held.record(
        f.PlanMoved(action=_BACK, prompts={item: news} if item else {}, plan={} if item else news)
    )
    if id_:
        prompt_pictures.redraw_file(held, id_, {})


def _iterate_round_facts(held: LockedPlan, item: str) -> Iterator[Payload]:
    """How each round of this prompt, or of the whole plan, began and ended."""
    for fact in (raw["fact"] for raw in held.found.records_after(0)):
        if fact.get("action") in (_BEGUN, _BACK, *_ENDED):
            prompts = fact.get("prompts", {})
            if item in prompts or not (item or prompts):
                yield fact


def _count_last_interruptions(told: list[Payload]) -> int:
    actions = [fact["action"] for fact in told]
    last = max((n for n, action in enumerate(actions) if action in _ENDED), default=-1)
    return actions[last + 1 :].count(_BACK)
