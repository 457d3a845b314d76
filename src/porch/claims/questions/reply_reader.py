"""A whole reply in words: what each of its parts answers, and what is left to be asked."""
# ruff: noqa: RUF001 - the wide forms are what people type

from collections.abc import Sequence

from msgspec.structs import replace

from porch.claims.questions.answer_reader import problem_of, read_answer
from porch.claims.questions.letter_forms import drop_invisible, lone_letter
from porch.claims.questions.question import (
    AnswerProblem,
    Question,
    QuestionAnswer,
    QuestionRound,
    ReplyReading,
)
from porch.claims.questions.reply_parts import ReplyPart, SplitReply, split_reply
from porch.text.late_pattern import late_pattern

_LIST = late_pattern(r"[,，、;；\s]+")


def read_reply(round_: QuestionRound, open_: Sequence[str], reply: str) -> ReplyReading:
    """The answers in a reply to the open questions; others of the round may be answered anew."""
    split = split_reply(drop_invisible(reply))
    asked = round_.only(open_)
    if split.parts and not split.is_loose:
        notes = (f"text outside of any answer: {split.outside}",) if split.outside else ()
        read = _add_unanswered(asked, _read_parts(round_, split.parts))
        return replace(read, notes=(*notes, *read.notes))
    bare = _read_bare(asked, split.outside)
    if not {part.id for part in split.parts} <= {each.id for each in asked}:
        return bare
    loose = _read_parts(round_, split.parts)
    if loose.problems or not loose.answers:
        return bare
    return _refuse_two_readings(asked, split) if bare.answers else _add_unanswered(asked, loose)


def _add_unanswered(asked: Sequence[Question], read: ReplyReading) -> ReplyReading:
    """With a problem for each question of which the reply says nothing."""
    named = {*read.answers, *(each.question for each in read.problems)}
    missing = [each for each in asked if each.id not in named]
    problems = [problem_of(each, "unanswered", "it has no answer yet") for each in missing]
    return replace(read, problems=(*read.problems, *problems))


def _refuse_two_readings(asked: Sequence[Question], split: SplitReply) -> ReplyReading:
    """Loose labels in an answer to the only question: all of it may be the text."""
    told = (
        f"'{split.parts[0].text}' or all of the reply may be the answer; "
        f"write {asked[0].id}: and the answer, or text: and the text"
    )
    return ReplyReading(problems=(problem_of(asked[0], "several_readings", told),))


def _read_bare(asked: Sequence[Question], text: str) -> ReplyReading:
    """Without labels: the answer to the only question, or one letter for each of them."""
    if len(asked) == 1 or not text:
        return _gather([(each, read_answer(each, text)) for each in asked])
    letters = [lone_letter(each) for each in _LIST.split(text.strip(",，、;； \n"), len(asked))]
    is_list = len(letters) == len(asked) and all(letters)
    if not is_list or any(each.multi for each in asked):
        told = f"several questions are open: begin each answer with its label, as {asked[0].id}:"
        problems = [problem_of(each, "no_labels", told) for each in asked]
        return ReplyReading(problems=tuple(problems))
    pairs = list(zip(asked, letters, strict=True))
    read = _gather([(each, read_answer(each, letter)) for each, letter in pairs])
    echo = "read in order: " + ", ".join(f"{each.id}: {letter}" for each, letter in pairs)
    return ReplyReading(read.answers, read.problems, (echo,))


def _gather(read: Sequence[tuple[Question, QuestionAnswer | AnswerProblem]]) -> ReplyReading:
    answers = {each.id: said for each, said in read if isinstance(said, QuestionAnswer)}
    problems = (said for _, said in read if isinstance(said, AnswerProblem))
    return ReplyReading(answers, tuple(problems))


def _read_parts(round_: QuestionRound, parts: Sequence[ReplyPart]) -> ReplyReading:
    """Equal answers to one question are one; different ones are none."""
    read: dict[str, QuestionAnswer | AnswerProblem] = {}
    notes: list[str] = []
    for part in parts:
        question = round_.find(part.id)
        if question is None:
            read[part.id] = _refuse_unknown(round_, part.id)
            notes += [f"text for {part.id}, which was not asked: {part.text}"] if part.text else []
            continue
        said = read_answer(question, part.text)
        known = read.setdefault(part.id, said)
        if known != said:
            told = "it is answered in several ways; answer it once"
            read[part.id] = problem_of(question, "conflicting_answers", told)
    answers = {id_: said for id_, said in read.items() if isinstance(said, QuestionAnswer)}
    problems = tuple(said for said in read.values() if isinstance(said, AnswerProblem))
    return ReplyReading(answers, problems, tuple(notes))


def _refuse_unknown(round_: QuestionRound, id_: str) -> AnswerProblem:
    told = f"there is no question {id_}; the questions are: {', '.join(round_.ids)}"
    return AnswerProblem(id_, "unknown_question", told)
