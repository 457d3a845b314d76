"""Questions to ask in tests, and what came of a reply in as few words as possible."""

from functools import cache
from typing import Any

from porch.claims.questions.question import QuestionRound, ReplyReading
from porch.claims.questions.question_file import read_questions
from porch.text.formats import read_yaml

CLOSED = "{id: q1, text: Which store?, options: [Redis, Memory, File]}"
FREE = "{id: q2, text: How long?, options: [One day, A week], free: true}"
MULTI = "{id: q3, text: Which platforms?, options: [Linux, macOS, Windows], multi: true}"
OPEN = "{id: q4, text: Anything else?, free: true}"
MULTI_FREE = "{id: q5, text: Which colours?, options: [Red, Blue], multi: true, free: true}"


@cache
def make_round(*questions: str, more: str = "") -> QuestionRound:
    listed = "\n".join(f"  - {each}" for each in questions)
    return read_questions(read_yaml(f"{more}\nquestions:\n{listed}\n", "q.yaml"), "q.yaml").round


def codes(read: ReplyReading) -> dict[str, str]:
    return {each.question: each.code for each in read.problems}


def said(read: ReplyReading) -> dict[str, Any]:
    """Numbers of options, else the text; with a note both."""
    told: dict[str, Any] = {}
    for id_, answer in read.answers.items():
        what: Any = list(answer.options) if answer.text is None else answer.text
        what = (list(answer.options), answer.text) if answer.options and answer.text else what
        told[id_] = (what, answer.note) if answer.note else what
    return told
