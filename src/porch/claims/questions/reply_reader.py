"""A whole reply in words: which lines answer which question, and what is left to be asked."""
# ruff: noqa: RUF001 - the wide forms are what people type

from collections.abc import Sequence

from msgspec import Struct, field

from porch.claims.questions.answer_reader import problem_of, read_answer
from porch.claims.questions.letter_forms import drop_invisible, lone_letter
from porch.claims.questions.question import (
    AnswerProblem,
    Question,
    QuestionAnswer,
    QuestionRound,
    ReplyReading,
)
from porch.text.late_pattern import late_pattern

_LINE_END = late_pattern(r"\r\n|\n|\r")
_BLANKS = " \t\u3000\u00a0\ufeff"
_LABEL = late_pattern(
    r"(?:[-*•+] |#{1,6} )?(?:\*\*|__|[\"'`“‘「＂])?[qQｑＱ] ?([0-9０-９]+)"
    r" ?(?:\*\*|__|[\"'`”’」＂])? ?(?:[:：)）、]|[.．](?![0-9０-９]))(?:\*\*|__)?"
)
_LABEL_BEGINS = frozenset("qQｑＱ-*•+#_\"'`“‘「＂")
# A label is short; behind so many characters nobody looks for one.
_LABEL_WITHIN = 80
_HYPHENS = late_pattern(r"[-－]{6,}")
_FENCE = late_pattern(r"(?:`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = late_pattern(r"(?:`{3,}|~{3,})")
_LIST = late_pattern(r"[,，、;；\s]+")
_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF10, 0xFF1A)}


class _Part(Struct, frozen=True):
    """The lines of one answer; those in front of the first label belong to nobody."""

    id: str
    is_quoted: bool = False
    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        """Of an answer that is quoted as a whole, the marks of the quote are no part of it."""
        quoted = line.lstrip(_BLANKS)
        is_mark = self.is_quoted and quoted.startswith(">")
        self.lines.append(quoted[1:].removeprefix(" ") if is_mark else line)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


def read_reply(round_: QuestionRound, open_: Sequence[str], reply: str) -> ReplyReading:
    """The answers in a reply to the open questions; others of the round may be answered anew."""
    outside, *parts = _split_reply(drop_invisible(reply))
    asked = round_.only(open_)
    if not parts:
        return _read_bare(asked, outside.text)
    read = _read_parts(round_, parts)
    missing = [
        each for each in asked if each.id not in read.answers and not _has_problem(read, each)
    ]
    problems = [problem_of(each, "unanswered", "it has no answer yet") for each in missing]
    notes = [f"text outside of any answer: {outside.text}"] if outside.text else []
    return ReplyReading(read.answers, (*read.problems, *problems), (*notes, *read.notes))


def _has_problem(read: ReplyReading, question: Question) -> bool:
    return any(each.question == question.id for each in read.problems)


def _split_reply(reply: str) -> list[_Part]:
    """What stands in front, then one part for each label."""
    parts = [_Part("")]
    fence, lines = "", _LINE_END.split(reply)
    ends = _find_terminators(lines)
    for at, line in enumerate(lines):
        label = None if fence else split_label(line)
        if label is None and not fence and at in ends:
            continue
        if label is not None:
            parts.append(_Part(label[0], line.lstrip(_BLANKS).startswith(">")))
        text = label[1] if label else line
        parts[-1].add(text)
        fence = _next_fence(fence, text)
    return parts


def split_label(line: str) -> tuple[str, str] | None:
    """`q1` and what stands behind the colon, if this line begins an answer."""
    text = line.lstrip(f"{_BLANKS}>")
    found = _LABEL.match(text[:_LABEL_WITHIN]) if text[:1] in _LABEL_BEGINS else None
    if found is None:
        return None
    digits = found[1].translate(_WIDE).lstrip("0") or "0"
    return f"q{digits}", text[found.end() :].strip(_BLANKS)


def _find_terminators(lines: Sequence[str]) -> set[int]:
    """Six hyphens end an answer only where a label or nothing follows; else they are text."""
    found, is_last = set(), True
    for at in range(len(lines) - 1, -1, -1):
        text = lines[at].strip()
        if not text:
            continue
        if is_last and _HYPHENS.fullmatch(text):
            found.add(at)
        is_last = split_label(lines[at]) is not None
    return found


def _next_fence(fence: str, line: str) -> str:
    """The fence in which the next line stands, if it stands in one."""
    text = line.lstrip(f"{_BLANKS}>").rstrip()
    if not fence:
        opens = _FENCE.match(text)
        return opens[0] if opens else ""
    closes = _FENCE_END.fullmatch(text)
    return "" if closes and closes[0].startswith(fence) else fence


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


def _read_parts(round_: QuestionRound, parts: Sequence[_Part]) -> ReplyReading:
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
