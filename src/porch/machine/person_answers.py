"""What a person has answered stands in every later prompt, so that nobody asks it again."""

from porch.machine.effects import QuotedInput
from porch.machine.state import RunState

LABEL = "What a person has answered in this run, the newest last"
FIELD = "answers"
MOST = 20  # the newest


def list_person_answers(
    state: RunState, instance: str = "", shown: tuple[QuotedInput, ...] = ()
) -> tuple[QuotedInput, ...]:
    """The answers in the order in which they were given; what is `shown` anyway is left out.

    In a tree each instance has its own, and everybody has those of the root.
    """
    told = [each.payload.get("text") for each in shown]
    answers = [
        {"question": answer.question, "answer": answer.text}
        for answer in state.past_answers.values()
        if answer.instance in ("", instance) and answer.text not in told
    ]
    return (QuotedInput(LABEL, {FIELD: answers[-MOST:]}),) if answers else ()
