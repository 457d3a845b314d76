"""The protocol of questions outside of a run: they stand until every one of them is answered."""

from porch.machine.budgets import ASK
from porch.model.protocol import Edge, End, Human, Join, Option, Protocol, Target
from porch.model.protocol import State as Kind

NAME = ASK
OPEN = "open"
QUESTIONS = "questions"
DONE = "done"
POSED = f"{QUESTIONS}.posed"
ANSWERS = f"{QUESTIONS}.answers"
ANSWERED = "answered"
_MEANING = "answer with a letter, or with one line `q1: ...` for each question"


def build_ask_protocol() -> Protocol:
    """Nothing leads to its one question but a command."""
    options = (Option(ANSWERED, _MEANING, True),)
    asked = Human("question", QUESTIONS, "Questions for you", options, shows=(POSED,))
    states = {
        OPEN: Kind(OPEN, OPEN, Join(), "Questions"),
        QUESTIONS: Kind(QUESTIONS, QUESTIONS, asked),
        DONE: Kind(DONE, DONE, End("complete")),
    }
    return Protocol(
        name=NAME,
        initial=Target(OPEN),
        states=states,
        edges=(Edge(QUESTIONS, ANSWERED, ()),),
        description="Questions that were asked outside of a run",
        subject=NAME,
    )
