"""What a question tool gave back: read as strictly as words, because most tools take any text.

An empty result, a dismissed form and one that cannot be read leave a question open. None of them
is an answer, and none chooses what was recommended.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.claims.questions.answer_reader import (
    ask_for_text,
    problem_of,
    refuse_option,
    refuse_several,
)
from porch.claims.questions.option_labels import is_free_label, number_of_label
from porch.claims.questions.question import (
    LETTERS,
    AnswerProblem,
    Question,
    QuestionAnswer,
    QuestionRound,
    ReplyReading,
)
from porch.claims.questions.tool_calls import OTHER, TEXT_SUFFIX, question_text, split_calls
from porch.claims.questions.transports import TRANSPORTS, TransportName

Outcome = QuestionAnswer | AnswerProblem
_NOTE = "user_note:"
_REFUSALS = {
    "decline": ("declined", "the form was declined; nothing was chosen"),
    "cancel": ("dismissed", "the form was closed without an answer"),
}


def read_tool_result(
    round_: QuestionRound, open_: Sequence[str], name: TransportName, text: str
) -> ReplyReading:
    """The answers in the result of one call, or of several, each on a line of its own."""
    asked = round_.only(open_)
    results = _parse_results(text)
    if results is None:
        told = "the result of the tool is not JSON, so nothing was read from it"
        return ReplyReading(problems=tuple(problem_of(q, "unreadable_result", told) for q in asked))
    calls = split_calls(round_, open_, TRANSPORTS[name])
    read: dict[str, Outcome] = {}
    for at, call in enumerate(calls):
        for question in call:
            result = results[at] if at < len(results) else None
            read[question.id] = _read_one(round_, call, question, name, result)
    return ReplyReading(
        {id_: said for id_, said in read.items() if isinstance(said, QuestionAnswer)},
        tuple(said for said in read.values() if isinstance(said, AnswerProblem)),
    )


def _parse_results(text: str) -> list[Any] | None:
    """One value, or one on each line; halves of characters become question marks."""
    clean = text.encode("utf-8", "replace").decode().strip().removeprefix("\ufeff")
    if not clean:
        return []
    whole = _parse_json([clean])
    return whole if whole is not None else _parse_json(clean.splitlines())


def _parse_json(texts: Sequence[str]) -> list[Any] | None:
    try:
        return [json.loads(each) for each in texts if each.strip()]
    except (ValueError, RecursionError):
        return None


def _read_one(
    round_: QuestionRound,
    call: Sequence[Question],
    question: Question,
    name: TransportName,
    result: Any,
) -> Outcome:
    if name == "mcp":
        return _read_form(question, _unwrap(result, "result"))
    values = list(_list_values(round_, call, question, name, result))
    return _read_values(question, values)


def _unwrap(value: Any, *keys: str) -> Any:
    for key in keys:
        if isinstance(value, Mapping) and isinstance(value.get(key), (Mapping, list)):
            value = value[key]
    return value


def _list_values(
    round_: QuestionRound,
    call: Sequence[Question],
    question: Question,
    name: TransportName,
    result: Any,
) -> Iterator[str]:
    """What the tool says was chosen or typed; by text, by position or by id, as the tool has it."""
    answers = _unwrap(result, "updatedInput", "answers")
    at = call.index(question)
    match name, answers:
        case "claude", Mapping():
            found = _find_by_text(round_, question, answers)
        case "gemini", Mapping():
            found = answers.get(str(at))
        case "opencode", list():
            found = answers[at] if at < len(answers) else None
        case "codex", Mapping():
            found = _unwrap(answers.get(question.id), "answers")
        case _:
            found = None
    yield from _split_value(question, found)


def _find_by_text(round_: QuestionRound, question: Question, answers: Mapping[str, Any]) -> Any:
    """A question that was asked again has its refusal in front of it."""
    known = (question_text(round_, question), question.text)
    fits = (value for key, value in answers.items() if key in known)
    behind = f"\n{known[0]}"
    again = (value for key, value in answers.items() if key.endswith(behind))
    return next(fits, next(again, None))


def _split_value(question: Question, value: Any) -> Iterator[str]:
    """A list, or one text that holds several labels with commas between them."""
    for each in value if isinstance(value, list) else [value]:
        text = _clean(each)
        if question.multi and text and not number_of_label(question, text):
            yield from _split_labels(question, text)
        elif text:
            yield text


def _clean(value: Any) -> str:
    """Numbers and flags are no choice; as text they say what they are."""
    if value is None or isinstance(value, (Mapping, list)):
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode().strip()


def _split_labels(question: Question, text: str) -> list[str]:
    """All parts are options, else it is one text with a comma in it."""
    parts = [part.strip() for part in text.split(",")]
    is_list = len(parts) <= len(LETTERS) and all(number_of_label(question, p) for p in parts)
    return parts if is_list else [text]


def _read_values(question: Question, values: Sequence[str]) -> Outcome:
    notes = [each.removeprefix(_NOTE).strip() for each in values if each.startswith(_NOTE)]
    said = [each for each in values if not each.startswith(_NOTE)]
    chosen = {number for each in said if (number := number_of_label(question, each))}
    typed = [each for each in said if not number_of_label(question, each)]
    typed = [each for each in typed if not is_free_label(question, each)]
    note = "\n".join(each for each in notes if each)
    if not chosen and not typed and (said or note) and question.free:
        return QuestionAnswer(text=note) if note else ask_for_text(question)
    return _judge_values(question, chosen, "\n".join(typed), note)


def _judge_values(question: Question, chosen: set[int], typed: str, note: str) -> Outcome:
    if not chosen and not typed and not note:
        return problem_of(question, "unanswered", "the tool brought no answer")
    if not question.free and (typed or not chosen):
        return refuse_option(question, typed or note)
    if not question.multi and len(chosen) + bool(typed) > 1:
        return refuse_several(question)
    return QuestionAnswer(tuple(sorted(chosen)), typed or None, (note or None) if chosen else None)


def _read_form(question: Question, result: Any) -> Outcome:
    """The content of a form; declined is told apart from closed, and neither is an answer."""
    action = result.get("action") if isinstance(result, Mapping) else None
    if isinstance(action, str) and action in _REFUSALS:
        return problem_of(question, *_REFUSALS[action])
    content = result.get("content") if isinstance(result, Mapping) else None
    if action != "accept" or not isinstance(content, Mapping):
        return problem_of(question, "unanswered", "the form brought no answer")
    value = content.get(question.id)
    typed = _clean(content.get(question.id + TEXT_SUFFIX))
    if not question.options:
        text = _clean(value)
        return QuestionAnswer(text=text) if text else ask_for_text(question)
    values = [_clean(each) for each in (value if isinstance(value, list) else [value])]
    return _read_form_values(question, [each for each in values if each], typed)


def _read_form_values(question: Question, values: Sequence[str], typed: str) -> Outcome:
    letters = question.letters[: len(question.options)]
    wrong = [each for each in values if each not in letters and each != OTHER]
    wrong += [OTHER] if OTHER in values and not question.free else []
    if wrong:
        return refuse_option(question, wrong[0])
    chosen = {letters.index(each) + 1 for each in values if each != OTHER}
    if OTHER in values and not typed:
        return ask_for_text(question)
    if OTHER in values or not question.free:
        return _judge_values(question, chosen, typed * (OTHER in values), "")
    return _judge_values(question, chosen, "" if chosen else typed, typed if chosen else "")
