"""The implicit run of a plan: commands of envoy move it, people answer its gates with forms."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.facts import Payload, Wish
from porch.machine.plan import prompt_lifecycle as life
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.machine.plan.protocol import (
    FORMS,
    GATES,
    NAME,
    REVIEW,
    answer_path,
    build_plan_protocol,
    question_path,
)
from porch.machine.state import InHand, RunState, Standing, position_text
from porch.model.protocol import Human, Protocol

__all__ = [
    "FORMS",
    "NAME",
    "REVIEW",
    "answer_path",
    "build_plan_protocol",
    "form_problem",
    "gate_position",
    "has_changes",
    "plan_answer_moves",
    "plan_change_moves",
    "plan_review_moves",
    "question_moves",
    "question_path",
]
# An answer stands until what it was about changes; asked again before that, it is given again.
_OUTDATES: Mapping[str, tuple[str, ...]] = {
    "record-implementation": ("testing", "logging", "clarifying"),
    "testing": ("logging",),
    "write-prompt": ("testing", "logging", "clarifying"),
    "write-plan": ("plan",),
    "clear-prompt": (
        *("plan", "testing", "logging", "clarifying", "variants", "rounds", "unfinished"),
    ),
    "start-prompt": ("unfinished",),
    "update-prompt-dependencies": ("plan",),
    "write-finding": ("findings",),
    "write-approach": ("findings",),
    "clear-approach": ("findings",),
    "review": ("clarifying",),
    "files-changed": ("testing",),
}


# No longer than what is left of a long text in a record.
QUESTION_KNOWN = 150


def plan_change_moves(state: RunState, fact: f.PlanMoved) -> Iterator[m.Move]:
    """What is new of each prompt over what was known of it."""
    yield from _outdate_moves(state, fact)
    for item, news in fact.prompts.items():
        if news is None:
            yield m.Forgot(life.PROMPT_PATH, item)
        else:
            known = state.memory.get(("", item), {}).get(life.PROMPT_PATH, {})
            yield m.Remembered(life.PROMPT_PATH, {**known, **news}, item)
    if fact.plan:
        known = state.memory.get(("", ""), {}).get(life.PLAN_PATH, {})
        yield m.Remembered(life.PLAN_PATH, {**known, **fact.plan})
    if fact.action == "complete" and not state.outcome:
        yield from (m.Left(position) for position in state.positions)
        yield m.Ended("complete")


def _outdate_moves(state: RunState, fact: f.PlanMoved) -> Iterator[m.Move]:
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


def question_moves(protocol: Protocol, state: RunState, fact: f.QuestionPosed) -> Iterator[m.Move]:
    """A question that stands already is not asked twice."""
    if gate_position(state, fact.state, fact.item) is not None or state.outcome:
        return
    actor = protocol.states[fact.state].actor
    kind = actor.kind if isinstance(actor, Human) else "question"
    visit = state.visits.get(("", fact.state, fact.item), 0) + 1
    position = position_text("", fact.state, fact.item, visit)
    path = question_path(fact.state)
    yield m.Remembered(path, fact.payload, fact.item)
    yield m.Entered(position, fact.state, visit, fact.item, because=path)
    label = position.rpartition("#")[0]
    yield m.Asked(position, kind, label, fact.digest, fact.artifacts)


def plan_review_moves(protocol: Protocol, hand: InHand, fact: f.EffectFact) -> Iterator[m.Move]:
    """What a reviewer said last of a prompt; nobody stands anywhere while a plan is reviewed."""
    if protocol.subject == NAME and isinstance(fact, f.ReviewEnded):
        item = hand.position.rpartition("#")[0].partition(":")[2]
        yield m.Remembered(f"{REVIEW}.{hand.name}", {"verdict": fact.verdict}, item)


def gate_position(state: RunState, gate: str, item: str) -> Standing | None:
    found = (s for s in state.positions.values() if s.state == gate and s.item == item)
    return next(found, None)


def plan_answer_moves(state: RunState, standing: Standing, wish: Wish) -> Iterator[m.Move]:
    """What an answer changes in the plan, in the record of the answer itself."""
    form = form_from_wish(standing, wish)
    told = {"form": form, "exit": wish.exit, "by": wish.who, "channel": wish.channel}
    yield m.Remembered(answer_path(standing.state), told, standing.item)
    prompts, plan = _answer_changes(state, standing, wish, form)
    if standing.state == "unfinished" and form["decision"] != "wait":
        choice = _choice_without_unready(state, standing, form)
        if any(each["decision"] == "main" for each in choice.values()):
            path = answer_path("variants")
            yield m.Remembered(path, {**told, "form": {"variants": choice}}, standing.item)
    fact = f.PlanMoved(action=standing.state, prompts=prompts, plan=plan)
    yield from plan_change_moves(state, fact)


def _answer_changes(
    state: RunState, standing: Standing, wish: Wish, form: Payload
) -> tuple[dict[str, Payload | None], Payload]:
    known = life.prompts_of(state)
    match standing.state:
        case "plan" if not has_changes(form):
            return {}, {"stage": "in_progress"}
        case "testing":
            tree = str((state.recall(standing, question_path("testing")) or {}).get("tree", ""))
            prompt = _prompt_at(known, standing)
            return {standing.item: life.fields_after_test(prompt, form["test_passed"], tree)}, {}
        case "logging":
            return {standing.item: {"completed_debug_logging": True}}, {}
        case "variants":
            return {**life.fields_after_choice(known, int(standing.item), form["variants"])}, {}
        case "unfinished" if form["decision"] != "wait":
            choice = _choice_without_unready(state, standing, form)
            return {**life.fields_after_choice(known, int(standing.item), choice)}, {}
        case "rounds" if wish.exit == "retry" and standing.item:
            prompt = _prompt_at(known, standing)
            return {standing.item: {"rounds_allowed": prompt.review_rounds}}, {}
        case "rounds" if wish.exit == "retry":
            told = state.memory.get(("", ""), {}).get(life.PLAN_PATH, {})
            return {}, {"rounds_allowed": told.get("review_rounds", 0)}
        case _:
            return {}, {}


def _choice_without_unready(
    state: RunState, standing: Standing, form: Payload
) -> dict[str, Payload]:
    known = life.prompts_of(state)
    return life.choose_without_unready(known, int(standing.item), str(form["decision"]))


def _prompt_at(known: Mapping[PromptId, life.Prompt], standing: Standing) -> life.Prompt:
    return known[parse_prompt_id([standing.item])]


def form_problem(state: RunState, standing: Standing, wish: Wish) -> str:
    """Why a form cannot be taken as it is; nothing if it can."""
    if wish.exit != "answered" or standing.state not in FORMS:
        return ""
    form = wish.data.get("form")
    if not isinstance(form, Mapping):
        return "answer with the form: fill in the feedback file, or give its fields as YAML"
    odd = [name for name, value in form.items() if not _SHAPES.get(name, _is_text)(value)]
    if odd:
        return f"{', '.join(map(str, odd))} does not fit the form"
    return _JUDGES.get(standing.state, _accept_anything)(state, standing, form)


def is_form_approval(standing: Standing, wish: Wish) -> bool:
    """Whether a form lets the plan, or the approaches that were found, pass as they are."""
    form = wish.data.get("form")
    is_form = wish.exit == "answered" and isinstance(form, Mapping)
    return is_form and standing.state in ("findings", "plan") and not has_changes(dict(form or {}))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_text_or_kept(value: object) -> bool:
    """Long texts lie beside the journal and are named by their hash."""
    return isinstance(value, (str, Mapping))


def _are_parts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values())


def _are_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


# What each field of a form must be; whoever can write wishes can write anything.
_SHAPES: Mapping[str, Callable[[object], bool]] = {
    "test_passed": _is_flag,
    "variants": _are_parts,
    "prompt_feedback": _are_parts,
    "approach_feedback": _are_parts,
    "questions": _are_rows,
    "logs": _is_text_or_kept,
}


def _accept_anything(_state: RunState, _standing: Standing, _form: Payload) -> str:
    return ""


def _judge_variants(state: RunState, standing: Standing, form: Payload) -> str:
    number = int(standing.item)
    wanted = [each.variant for each in life.compared_variants(life.prompts_of(state), number)]
    given = form.get("variants", {})
    if sorted(given) != wanted:
        return f"every variant needs a decision: {', '.join(wanted)}"
    words = [str(given[letter].get("decision", "")) for letter in wanted]
    if any(word not in ("main", "alternative", "discard") for word in words):
        return "a decision must be main, alternative or discard"
    if words.count("main") != 1:
        return f"exactly one variant must be main, not {words.count('main')}"
    return ""


def _judge_unfinished(_state: RunState, _standing: Standing, form: Payload) -> str:
    is_known = form.get("decision") in ("alone", "wait", "discard")
    return "a decision must be alone, wait or discard" * (not is_known)


def _judge_testing(_state: RunState, _standing: Standing, form: Payload) -> str:
    if "test_passed" not in form:
        return "test_passed must be true or false"
    changes = str(form.get("user_required_changes", "")).strip()
    if form["test_passed"] is False and not changes:
        return "if the test did not pass, say what is wrong in user_required_changes"
    if form["test_passed"] is True and changes:
        return (
            "test_passed says true, but user_required_changes asks for changes: set test_passed to "
            "false, or move the text to thoughts if nothing has to change"
        )
    return ""


def _judge_clarifying(state: RunState, standing: Standing, form: Payload) -> str:
    """Every question that was asked, also one that the answer no longer mentions."""
    posed = (state.recall(standing, question_path("clarifying")) or {}).get("questions", ())
    rows = [
        (_fold_question(each.get("question", "")), str(each.get("answer") or "").strip())
        for each in form.get("questions", ())
    ]
    answered = {question for question, answer in rows if answer}
    asked = dict.fromkeys((*map(_fold_question, posed), *(question for question, _ in rows)))
    missing = [f"'{question}'" for question in asked if question not in answered]
    return f"every question needs an answer; none is given to: {', '.join(missing)}" * bool(missing)


def _fold_question(text: Any) -> str:
    """A question as it is known again: its beginning, however its lines are broken.

    Of a long one, which is kept beside the journal, no more may be there.
    """
    told = text.get("clip", "") if isinstance(text, Mapping) else text
    return " ".join(str(told or "")[:QUESTION_KNOWN].split())


_JUDGES: Mapping[str, Callable[[RunState, Standing, Payload], str]] = {
    "variants": _judge_variants,
    "unfinished": _judge_unfinished,
    "testing": _judge_testing,
    "clarifying": _judge_clarifying,
}


def form_from_wish(standing: Standing, wish: Wish) -> dict[str, Any]:
    """What a person said, in the words of the form, by whichever of the answers they gave."""
    form = wish.data.get("form")
    if wish.exit == "answered" and isinstance(form, Mapping):
        return dict(form)
    match standing.state, wish.exit:
        case "testing", "rejected":
            return {"thoughts": "", "test_passed": False, "user_required_changes": wish.text}
        case "testing", _:
            return {"thoughts": wish.text, "test_passed": True, "user_required_changes": ""}
        case "unfinished", _:
            return {"thoughts": wish.text, "decision": wish.exit}
        case "plan", "rejected":
            return {"thoughts": "", "user_required_plan_changes": wish.text}
        case _:
            return {"thoughts": wish.text}


def has_changes(form: Payload) -> bool:
    """Whether a person wants the plan, or any of its prompts, to be different."""
    changes = [form.get("user_required_plan_changes", "")]
    changes += [each.get("user_required_changes", "") for each in _prompt_feedback(form).values()]
    return any(str(text).strip() for text in changes)


def _prompt_feedback(form: Payload) -> Mapping[str, Payload]:
    return form.get("prompt_feedback") or {}
