"""The implicit run of questions: what an answer may say, and what is asked again after it.

Words are read elsewhere. Here a reply is a form, and whoever can write wishes can write anything,
so every answer is held against the questions that were posed before it counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.ask.human_questions import ANSWERS, POSED, QUESTIONS
from porch.machine.facts import Payload, Wish
from porch.machine.state import RunState, Standing, position_text
from porch.text.printable import describe_text

# After so many replies that left something open nobody is asked again by itself.
MOST_ROUNDS = 3
# The code of an answer that a tool brought although it was not among the options.
REFUSED = "not_an_option"
PARKED = "Three replies have left these questions open. They wait here until somebody answers them."


def posed_moves(state: RunState, fact: f.QuestionPosed) -> Iterator[m.Move]:
    """Questions that stand already are not asked twice."""
    if state.outcome or _standing(state) is not None:
        return
    yield m.Remembered(POSED, fact.payload)
    yield from _asked_moves(state.visits.get(("", QUESTIONS, ""), 0) + 1)


def _standing(state: RunState) -> Standing | None:
    return next((s for s in state.positions.values() if s.state == QUESTIONS), None)


def _asked_moves(visit: int) -> Iterator[m.Move]:
    position = position_text("", QUESTIONS, "", visit)
    yield m.Entered(position, QUESTIONS, visit, because=POSED)
    yield m.Asked(position, "question", QUESTIONS)


def recall_posed(state: RunState) -> Payload:
    return state.memory.get(("", ""), {}).get(POSED, {})


def recall_answers(state: RunState) -> Payload:
    return state.memory.get(("", ""), {}).get(ANSWERS, {})


def open_ids(state: RunState) -> list[str]:
    """The questions that nobody has answered, in their order."""
    known = recall_answers(state).get("answers", {})
    posed = recall_posed(state).get("questions", ())
    return [str(each["id"]) for each in posed if each["id"] not in known]


def form_problem(state: RunState, wish: Wish) -> str:
    """Why a form cannot be taken as it is; nothing if it can."""
    form = wish.data.get("form")
    if not isinstance(form, Mapping) or not isinstance(form.get("answers"), Mapping):
        return "answer with a letter, or with one line `q1: ...` for each question"
    posed = {str(each["id"]): each for each in recall_posed(state).get("questions", ())}
    for id_, answer in form["answers"].items():
        if id_ not in posed:
            return f"{id_} was not asked"
        if not _is_allowed(posed[id_], answer):
            return f"the answer to {id_} is none that the question allows"
    if not _are_texts(form.get("withdrawn", [])) or not _are_problems(form.get("problems", [])):
        return "the form cannot be read"
    return ""


def _is_allowed(question: Payload, answer: Any) -> bool:
    if not isinstance(answer, Mapping):
        return False
    numbers, text, note = answer.get("options"), answer.get("text"), answer.get("note")
    if not isinstance(numbers, list) or not _is_text_or_kept(text) or not _is_text_or_kept(note):
        return False
    count, most = len(numbers) + bool(text), len(question["options"]) + 1
    is_known = all(type(each) is int and 0 < each < most for each in numbers)
    is_single = count == 1 or (bool(question.get("multi")) and count > 1)
    return is_known and is_single and (not text or bool(question.get("free")))


def _is_text_or_kept(value: object) -> bool:
    """Long texts lie beside the journal and are named by their hash."""
    return value is None or isinstance(value, (str, Mapping))


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_problems(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, Mapping) and all(isinstance(each.get(key), str) for key in _PROBLEM)
        for each in value
    )


_PROBLEM = ("question", "code", "message")


def answer_moves(state: RunState, wish: Wish) -> Iterator[m.Move]:
    """What is answered now, in the record of the answer itself."""
    yield m.Remembered(ANSWERS, merge_answers(recall_answers(state), wish))


def merge_answers(known: Payload, wish: Wish) -> dict[str, Any]:
    """What was answered so far; an answer that was withdrawn or given anew no longer counts."""
    form = wish.data["form"]
    gone, problems = set(form.get("withdrawn", ())), list(form.get("problems", ()))
    kept = {id_: each for id_, each in known.get("answers", {}).items() if id_ not in gone}
    transport, refused = str(form.get("transport", "text")), known.get("refused", {})
    if any(each["code"] == REFUSED for each in problems):
        refused = {**refused, transport: refused.get(transport, 0) + 1}
    return {
        "answers": {**kept, **form["answers"]},
        "problems": problems,
        "rounds": known.get("rounds", 0) + 1,
        "refused": refused,
        "transport": transport,
        "by": wish.who,
        "channel": wish.channel,
    }


def onward_moves(state: RunState, standing: Standing, wish: Wish) -> Iterator[m.Move]:
    """The rest is asked again with its own numbers; where nothing is left the run ends."""
    now, posed = merge_answers(recall_answers(state), wish), recall_posed(state)
    left = [each for each in posed.get("questions", ()) if each["id"] not in now["answers"]]
    if not left:
        yield from (m.Left(each) for each in state.positions if each != standing.position)
        yield m.Ended("complete")
        return
    reason = "\n\n".join(_reason_parts(posed, left, now))
    yield m.Remembered(POSED, {**posed, "reason": reason})
    yield from _asked_moves(standing.visit + 1)


def _reason_parts(posed: Payload, left: Sequence[Payload], now: Payload) -> Iterator[str]:
    if now["rounds"] >= MOST_ROUNDS:
        yield PARKED
    told = {str(each["question"]): str(each["message"]) for each in now["problems"]}
    for each in left:
        block = describe_text(posed.get("blocks", {}).get(each["id"], each["id"]))
        yield f"{each['id']}: {told[each['id']]}\n{block}" if each["id"] in told else block
