"""Taking a reply: read, recorded as a decision of the questions' run, and told as it now stands."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct, to_builtins

from porch.claims.questions.question import (
    AnswerProblem,
    QuestionAnswer,
    QuestionRound,
    ReplyReading,
)
from porch.claims.questions.reply_reader import read_reply
from porch.claims.questions.tool_calls import unfit_reason
from porch.claims.questions.tool_results import read_tool_result
from porch.claims.questions.transports import TRANSPORTS, TransportName
from porch.errors import UsageError
from porch.machine.ask.human_questions import ANSWERED, QUESTIONS
from porch.machine.ask.run_rules import MOST_ROUNDS, open_ids, recall_answers
from porch.machine.state import RunState, Standing
from porch.run.engine.run_places import payload_directory
from porch.run.verbs.decide import DecisionRequest, decide_question
from porch.run.verbs.read_run import read_run
from porch.store.large_payloads import INSIDE, expand_payloads, slim_wish_text
from porch.store.where import ProjectPaths
from porch.track.questions.ask_run import (
    AskRun,
    find_latest_run,
    pose_questions,
    recall_round,
)

AskState = Literal["asking", "awaiting_answers", "answered"]
# Nobody said anything: such a reply is no round, and nothing is recorded of it.
_SILENT = frozenset(("unanswered", "declined", "dismissed", "unreadable_result"))
_PROBLEMS_KEPT = 40
_STAYED = "the reply says nothing, so the answers stay as they are"
_CLIP = 200


class AskOutcome(Struct, frozen=True, kw_only=True):
    """Where a round of questions stands, and what is to be done next."""

    run: AskRun
    round: QuestionRound
    state: AskState
    answers: Mapping[str, QuestionAnswer]
    problems: tuple[AnswerProblem, ...]
    open: tuple[str, ...]
    notes: tuple[str, ...] = ()
    transport: TransportName = "text"

    @property
    def refusals(self) -> dict[str, str]:
        """Why something is asked again, by question; that nothing was said needs no words."""
        told = (each for each in self.problems if each.code not in _SILENT)
        return {each.question: each.message for each in told if each.question in self.open}


def ask_questions(
    where: ProjectPaths, round_: QuestionRound, transport: TransportName = "text"
) -> AskOutcome:
    """Ask, if it is not asked yet; what was answered meanwhile is told."""
    run = find_latest_run(where, round_)
    return _tell_standing(run, round_, pose_questions(run, round_), transport)


def answer_questions(
    where: ProjectPaths,
    round_: QuestionRound,
    reply: str,
    transport: TransportName = "text",
    *,
    as_person: bool = False,
) -> AskOutcome:
    """Take what a person replied; a reply to questions that are all answered asks them anew."""
    run = find_latest_run(where, round_)
    notes: tuple[str, ...] = ()
    state = pose_questions(run, round_)
    if state.outcome and _is_silent(read_any_reply(round_, round_.ids, reply, transport)):
        return _tell_standing(run, round_, state, transport, notes=(_STAYED,))
    if state.outcome:
        notes = (f"these questions were answered before, in {run.id}; this is a new answer",)
        run = run.next()
        state = pose_questions(run, round_)
    reading = read_any_reply(round_, open_ids(state), reply, transport)
    told = (*notes, *reading.notes)
    if _is_silent(reading):
        return _tell_standing(run, round_, state, transport, problems=reading.problems, notes=told)
    form = make_form(where, run.name, state, reading=reading, transport=transport)
    request = DecisionRequest(ANSWERED, _clip(reply), as_person)
    decide_question(where, run.name, QUESTIONS, request, read_form=lambda *_: form)
    now = read_run(where, run.name).state
    return _tell_standing(run, round_, now, transport, problems=reading.problems, notes=told)


def read_any_reply(
    round_: QuestionRound, open_: Sequence[str], reply: str, transport: TransportName
) -> ReplyReading:
    if transport == "text":
        return read_reply(round_, open_, reply)
    return read_tool_result(round_, open_, transport, reply)


def require_carried(round_: QuestionRound, transport: TransportName) -> None:
    """Refuse a tool that cannot show a question as it is; half a question is another question."""
    for question in round_.questions:
        if why := unfit_reason(question, TRANSPORTS[transport]):
            raise UsageError(
                f"{question.id} cannot be asked with --as {transport}: {why}",
                fix="ask it with --as text or --as mcp, or change its options",
                code="tool-cannot-ask",
            )


def _is_silent(reading: ReplyReading) -> bool:
    return not reading.answers and all(each.code in _SILENT for each in reading.problems)


def _clip(reply: str) -> str:
    return reply if len(reply) <= INSIDE else f"{reply[:_CLIP]}..."


def make_form(
    where: ProjectPaths,
    name: str,
    state: RunState,
    *,
    reading: ReplyReading,
    transport: TransportName,
) -> dict[str, Any]:
    """The reading as the machine takes it; long texts lie beside the journal."""
    store = payload_directory(where, name)
    open_ = open_ids(state)
    given = {id_: _slim_answer(store, answer) for id_, answer in reading.answers.items()}
    wrong = [each.question for each in reading.problems if each.question not in open_]
    known = recall_answers(state).get("answers", {})
    return {
        "answers": given,
        "withdrawn": [id_ for id_ in wrong if id_ in known],
        "problems": to_builtins(reading.problems[:_PROBLEMS_KEPT]),
        "notes": [slim_wish_text(store, note) for note in reading.notes[:_PROBLEMS_KEPT]],
        "transport": transport,
    }


def _slim_answer(store: str, answer: QuestionAnswer) -> dict[str, Any]:
    text = None if answer.text is None else slim_wish_text(store, answer.text)
    note = None if answer.note is None else slim_wish_text(store, answer.note)
    return {"options": list(answer.options), "text": text, "note": note}


def _tell_standing(
    run: AskRun,
    round_: QuestionRound,
    state: RunState,
    transport: TransportName,
    *,
    problems: Sequence[AnswerProblem] = (),
    notes: tuple[str, ...] = (),
) -> AskOutcome:
    known = expand_payloads(payload_directory(run.where, run.name), recall_answers(state))
    given = known.get("answers", {})
    answers = {id_: given[id_] for id_ in round_.ids if id_ in given}
    open_ = tuple(open_ids(state))
    told = problems or msgspec.convert(known.get("problems", ()), tuple[AnswerProblem, ...])
    is_parked = known.get("rounds", 0) >= MOST_ROUNDS
    return AskOutcome(
        run=run,
        round=round_,
        state="answered" if not open_ else "awaiting_answers" if is_parked else "asking",
        answers=msgspec.convert(answers, dict[str, QuestionAnswer]),
        problems=(*told, *_list_unanswered(open_, told)),
        open=open_,
        notes=notes,
        transport=_next_transport(transport, known.get("refused", {})),
    )


def _list_unanswered(open_: Sequence[str], told: Sequence[AnswerProblem]) -> list[AnswerProblem]:
    known = {each.question for each in told}
    missing = [id_ for id_ in open_ if id_ not in known]
    return [AnswerProblem(id_, "unanswered", "it has no answer yet") for id_ in missing]


def _next_transport(transport: TransportName, refused: Mapping[str, int]) -> TransportName:
    """A tool that brought what was not offered is tried once more; then text is asked for."""
    return "text" if refused.get(transport, 0) > 1 else transport


def read_typed_reply(
    where: ProjectPaths, state: RunState, _standing: Standing, text: str
) -> Mapping[str, Any]:
    """What somebody types behind `porch answer`, or into a page, for a round of questions."""
    name = state.run.name
    reading = read_reply(recall_round(where, name, state), open_ids(state), text)
    if reading.answers:
        return make_form(where, name, state, reading=reading, transport="text")
    raise UsageError(
        "; ".join(f"{each.question}: {each.message}" for each in reading.problems),
        fix="nothing was recorded; the questions are in `porch pending`",
        code="answer-not-read",
    )


def describe_open_questions(where: ProjectPaths, name: str) -> str:
    """After an answer: what of the round is still open, and why; nothing if nothing is."""
    state = read_run(where, name).state
    told = {
        str(each["question"]): str(each["message"])
        for each in recall_answers(state).get("problems", ())
    }
    lines = [f"{id_}: {told.get(id_, 'it has no answer yet')}" for id_ in open_ids(state)]
    return "\n".join(["still open:", *lines]) if lines else ""
