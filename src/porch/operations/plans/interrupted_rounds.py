"""A round of reviews that was interrupted is no round, as long as that does not become a habit."""

from collections.abc import Iterator
from typing import Any

from porch.machine import facts as f
from porch.model.prompt_ids import PromptId
from porch.operations.plans import papers
from porch.operations.plans.desk import Desk

# So many in a row; whoever never lets a review end must not be able to go on for ever.
INTERRUPTIONS = 5
_BEGUN = "review-begun"
_BACK = "review-interrupted"
_ENDED = ("review", "review-questions")


def give_back(held: Desk, id_: PromptId | None, spent: int) -> None:
    """The last round of a prompt, or of the whole plan, if nothing came of it.

    The journal says so, not what is still in hand: a crash in here must not cost the round either.
    """
    item = str(id_) if id_ else ""
    told = list(_told(held, item))
    if not told or told[-1]["action"] != _BEGUN or _in_a_row(told) >= INTERRUPTIONS:
        return
    begun = told[-1]["prompts"][item] if item else told[-1]["plan"]
    # A prompt that was written anew since then has rounds of its own.
    if begun["review_rounds"] != spent:
        return
    news = {"review_rounds": spent - 1}
    held.record(f.PlanMoved(_BACK, {item: news} if item else {}, {} if item else news))
    if id_:
        papers.put(held, id_, {})


def _told(held: Desk, item: str) -> Iterator[dict[str, Any]]:
    """How each round of this prompt, or of the whole plan, began and ended."""
    for fact in (raw["fact"] for raw in held.found.raws):
        if fact.get("action") in (_BEGUN, _BACK, *_ENDED):
            prompts = fact.get("prompts", {})
            if item in prompts or not (item or prompts):
                yield fact


def _in_a_row(told: list[dict[str, Any]]) -> int:
    actions = [fact["action"] for fact in told]
    last = max((n for n, action in enumerate(actions) if action in _ENDED), default=-1)
    return actions[last + 1 :].count(_BACK)
