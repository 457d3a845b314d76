"""The implicit run of a plan: nobody drives it, commands of envoy move it, people answer in it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine import prompts as life
from porch.machine.budgets import PLAN
from porch.machine.facts import Payload, Wish
from porch.machine.state import InHand, Standing, State, position_text
from porch.model.prompt_ids import PromptId, parse
from porch.model.protocol import AskKind, Edge, End, Human, Join, Option, Protocol, Target
from porch.model.protocol import State as Kind

NAME = PLAN
OPEN = "open"
DONE = "done"
REVIEW = "review"
_STOPPED = "stopped"
_FORM = "the form is filled in; in the feedback file, or as YAML"

# Each gate with what a person is asked and the answers there are; a form has a feedback file.
_GATES: Mapping[str, tuple[AskKind, str, tuple[Option, ...]]] = {
    "findings": (
        "question",
        "Are these approaches what you want?",
        (Option("approved", "they are planned as they stand"), Option("answered", _FORM, True)),
    ),
    "plan": (
        "question",
        "Is this plan ready to be carried out?",
        (
            Option("approved", "the plan is in progress, its findings are archived"),
            Option("rejected", "the plan is changed as you say, and you are asked again", True),
            Option("answered", _FORM, True),
        ),
    ),
    "testing": (
        "question",
        "Does it work?",
        (
            Option("approved", "it is tested and can be merged"),
            Option("rejected", "it is changed as you say, and you are asked again", True),
            Option("answered", _FORM, True),
        ),
    ),
    "variants": (
        "question",
        "Which variant is merged?",
        (Option("answered", "exactly one is main; " + _FORM, True),),
    ),
    "logging": (
        "question",
        "What do the logs say when the fault happens?",
        (Option("answered", "the agent reads your logs and thoughts; " + _FORM, True),),
    ),
    "clarifying": (
        "question",
        "A reviewer has questions",
        (Option("answered", "the reviewer is asked again with your answers; " + _FORM, True),),
    ),
    "rounds": (
        "undecided",
        "The reviews found no end",
        (
            Option("retry", "as many rounds again are allowed"),
            Option(_STOPPED, "no further review is allowed for this prompt"),
        ),
    ),
}
FORMS = tuple(name for name, gate in _GATES.items() if gate[2][-1].exit == "answered")


def protocol() -> Protocol:
    """Its gates stand only while somebody is asked; nothing leads to them but a command."""
    gates = {
        name: Kind(name, name, Human(kind, name, title, options, shows=(posed_path(name),)))
        for name, (kind, title, options) in _GATES.items()
    }
    states = {
        OPEN: Kind(OPEN, OPEN, Join(), "Plan"),
        **gates,
        REVIEW: Kind(REVIEW, REVIEW, Join(), "Reviews"),
        DONE: Kind(DONE, DONE, End("complete")),
    }
    edges = [
        Edge(name, option.exit, ())
        for name, (_, _, options) in _GATES.items()
        for option in options
    ]
    return Protocol(
        name=NAME,
        initial=Target(OPEN),
        states=states,
        edges=tuple(edges),
        description="The decisions of a plan",
        subject=NAME,
    )


def posed_path(gate: str) -> str:
    return f"{gate}.posed"


def answer_path(gate: str) -> str:
    return f"{gate}.answer"


# An answer stands until what it was about changes; asked again before that, it is given again.
_OUTDATES: Mapping[str, tuple[str, ...]] = {
    "record-implementation": ("testing", "logging", "clarifying"),
    "testing": ("logging",),
    "write-prompt": ("testing", "logging", "clarifying"),
    "write-plan": ("plan",),
    "clear-prompt": ("plan",),
    "update-prompt-dependencies": ("plan",),
    "write-finding": ("findings",),
    "write-approach": ("findings",),
    "clear-approach": ("findings",),
    "review": ("clarifying",),
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
    for item in (*fact.prompts, ""):
        known = state.memory.get(("", item), {})
        yield from (m.Forgot(path, item) for path in map(answer_path, gates) if path in known)
    if fact.action == "write-prompt" and answer_path("plan") in state.memory.get(("", ""), {}):
        yield m.Forgot(answer_path("plan"))
    if fact.action in _GATES:
        return
    for standing in state.positions.values():
        if standing.state in gates and standing.item in ("", *fact.prompts):
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


def why_not(state: State, standing: Standing, wish: Wish) -> str:
    """Why a form cannot be taken as it is; nothing if it can."""
    if wish.exit != "answered" or standing.state not in FORMS:
        return ""
    form = wish.data.get("form")
    if not isinstance(form, Mapping):
        return "this question is answered with a form: its feedback file, or the same as YAML"
    return _JUDGES.get(standing.state, _anything)(state, standing, form)


def _anything(_state: State, _standing: Standing, _form: Payload) -> str:
    return ""


def _judge_variants(state: State, standing: Standing, form: Payload) -> str:
    number = int(standing.item)
    wanted = [each.variant for each in life.variants_of(life.prompts_of(state), number)]
    given = form.get("variants", {})
    if sorted(given) != wanted:
        return f"each of the variants {', '.join(wanted)} needs a decision"
    words = [str(given[letter].get("decision", "")) for letter in wanted]
    if any(word not in ("main", "alternative", "discard") for word in words):
        return "a decision is one of main, alternative, discard"
    if words.count("main") != 1:
        return f"exactly one variant is main, not {words.count('main')}"
    return ""


def _judge_testing(_state: State, _standing: Standing, form: Payload) -> str:
    if form.get("test_passed") is False and not str(form.get("user_required_changes", "")).strip():
        return "a test that did not pass needs user_required_changes: what is wrong"
    return ""


def _judge_clarifying(_state: State, _standing: Standing, form: Payload) -> str:
    answers = form.get("questions", ())
    if any(not str(each.get("answer", "")).strip() for each in answers):
        return "every question needs an answer"
    return ""


_JUDGES: Mapping[str, Callable[[State, Standing, Payload], str]] = {
    "variants": _judge_variants,
    "testing": _judge_testing,
    "clarifying": _judge_clarifying,
}


def filled(standing: Standing, wish: Wish) -> dict[str, Any]:
    """What a person said, in the words of the form, by whichever of the answers they gave."""
    form = wish.data.get("form")
    if wish.exit == "answered" and isinstance(form, Mapping):
        return dict(form)
    match standing.state, wish.exit:
        case "testing", "rejected":
            return {"thoughts": "", "test_passed": False, "user_required_changes": wish.text}
        case "testing", _:
            return {"thoughts": wish.text, "test_passed": True, "user_required_changes": ""}
        case "plan", "rejected":
            return {"thoughts": "", "user_required_plan_changes": wish.text}
        case _:
            return {"thoughts": wish.text}


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
            return {standing.item: life.tested(_prompt(known, standing), form["test_passed"])}, {}
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


def has_changes(form: Payload) -> bool:
    """Whether a person wants the plan, or any of its prompts, to be different."""
    changes = [form.get("user_required_plan_changes", "")]
    changes += [each.get("user_required_changes", "") for each in _prompts(form).values()]
    return any(str(text).strip() for text in changes)


def _prompts(form: Payload) -> Mapping[str, Payload]:
    found = form.get("prompt_feedback")
    return found if isinstance(found, Mapping) else {}
