"""The implicit run of a plan: nobody drives it, commands of envoy move it, people answer in it."""

from collections.abc import Iterator, Mapping

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine import prompts as life
from porch.machine.facts import Payload, Wish
from porch.machine.plan_forms import filled, has_changes, why_not
from porch.machine.plan_protocol import (
    FORMS,
    GATES,
    NAME,
    REVIEW,
    answer_path,
    posed_path,
    protocol,
)
from porch.machine.state import InHand, Standing, State, position_text
from porch.model.prompt_ids import PromptId, parse
from porch.model.protocol import Human, Protocol

__all__ = [
    "FORMS",
    "NAME",
    "REVIEW",
    "answer_path",
    "decided",
    "has_changes",
    "heard",
    "moved",
    "posed",
    "posed_path",
    "protocol",
    "standing_of",
    "why_not",
]

# An answer stands until what it was about changes; asked again before that, it is given again.
_OUTDATES: Mapping[str, tuple[str, ...]] = {
    "record-implementation": ("testing", "logging", "clarifying"),
    "testing": ("logging",),
    "write-prompt": ("testing", "logging", "clarifying"),
    "write-plan": ("plan",),
    "clear-prompt": ("plan", "testing", "logging", "clarifying", "variants", "rounds"),
    "update-prompt-dependencies": ("plan",),
    "write-finding": ("findings",),
    "write-approach": ("findings",),
    "clear-approach": ("findings",),
    "review": ("clarifying",),
    "files-changed": ("testing",),
}


def moved(state: State, fact: f.PlanMoved) -> Iterator[m.Move]:
    """What is new of each prompt over what was known of it."""
    yield from _outdated(state, fact)
    for item, news in fact.prompts.items():
        if news is None:
            yield m.Forgot(life.IS, item)
        else:
            known = state.memory.get(("", item), {}).get(life.IS, {})
            yield m.Remembered(life.IS, {**known, **news}, item)
    if fact.plan:
        known = state.memory.get(("", ""), {}).get(life.PLAN, {})
        yield m.Remembered(life.PLAN, {**known, **fact.plan})
    if fact.action == "complete" and not state.outcome:
        yield from (m.Left(position) for position in state.positions)
        yield m.Ended("complete")


def _outdated(state: State, fact: f.PlanMoved) -> Iterator[m.Move]:
    """Questions and answers about what is no longer so; of a prompt, or of the plan as a whole."""
    gates = _OUTDATES.get(fact.action, ())
    # Variants are asked about by their number.
    items = dict.fromkeys(("", *fact.prompts, *(each.partition("_")[0] for each in fact.prompts)))
    for item in items:
        known = state.memory.get(("", item), {})
        yield from (m.Forgot(path, item) for path in map(answer_path, gates) if path in known)
    if fact.action == "write-prompt" and answer_path("plan") in state.memory.get(("", ""), {}):
        yield m.Forgot(answer_path("plan"))
    if fact.action in GATES:
        return
    for standing in state.positions.values():
        if standing.state in gates and standing.item in items:
            yield m.Left(standing.position)


def posed(protocol: Protocol, state: State, fact: f.QuestionPosed) -> Iterator[m.Move]:
    """A question that stands already is not asked twice."""
    if standing_of(state, fact.state, fact.item) is not None or state.outcome:
        return
    actor = protocol.states[fact.state].actor
    kind = actor.kind if isinstance(actor, Human) else "question"
    visit = state.visits.get(("", fact.state, fact.item), 0) + 1
    position = position_text("", fact.state, fact.item, visit)
    path = posed_path(fact.state)
    yield m.Remembered(path, fact.payload, fact.item)
    yield m.Entered(position, fact.state, visit, fact.item, because=path)
    label = position.rpartition("#")[0]
    yield m.Asked(position, kind, label, fact.digest, fact.artifacts)


def heard(protocol: Protocol, hand: InHand, fact: f.EffectFact) -> Iterator[m.Move]:
    """What a reviewer said last of a prompt; nobody stands anywhere while a plan is reviewed."""
    if protocol.subject == NAME and isinstance(fact, f.ReviewEnded):
        item = hand.position.rpartition("#")[0].partition(":")[2]
        yield m.Remembered(f"{REVIEW}.{hand.name}", {"verdict": fact.verdict}, item)


def standing_of(state: State, gate: str, item: str) -> Standing | None:
    found = (s for s in state.positions.values() if s.state == gate and s.item == item)
    return next(found, None)


def decided(state: State, standing: Standing, wish: Wish) -> Iterator[m.Move]:
    """What an answer changes in the plan, in the record of the answer itself."""
    form = filled(standing, wish)
    told = {"form": form, "exit": wish.exit, "by": wish.who, "channel": wish.channel}
    yield m.Remembered(answer_path(standing.state), told, standing.item)
    fact = f.PlanMoved(standing.state, *_changes(state, standing, wish, form))
    yield from moved(state, fact)


def _changes(
    state: State, standing: Standing, wish: Wish, form: Payload
) -> tuple[dict[str, Payload | None], Payload]:
    known = life.prompts_of(state)
    match standing.state:
        case "plan" if not has_changes(form):
            return {}, {"stage": "in_progress"}
        case "testing":
            tree = str((state.recall(standing, posed_path("testing")) or {}).get("tree", ""))
            prompt = _prompt(known, standing)
            return {standing.item: life.tested(prompt, form["test_passed"], tree)}, {}
        case "logging":
            return {standing.item: {"completed_debug_logging": True}}, {}
        case "variants":
            return {**life.chosen(known, int(standing.item), form["variants"])}, {}
        case "rounds" if wish.exit == "retry" and standing.item:
            prompt = _prompt(known, standing)
            return {standing.item: {"rounds_allowed": prompt.review_rounds}}, {}
        case "rounds" if wish.exit == "retry":
            told = state.memory.get(("", ""), {}).get(life.PLAN, {})
            return {}, {"rounds_allowed": told.get("review_rounds", 0)}
        case _:
            return {}, {}


def _prompt(known: Mapping[PromptId, life.Prompt], standing: Standing) -> life.Prompt:
    return known[parse([standing.item])]
