"""What a person has answered to a question stands in every later prompt of the run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

LABEL = "What a person has answered in this run"
FIRST = "Which database?"
SECOND = "Which port?"


def ask(question: str) -> dict[str, str]:
    return {"signal": "BLOCKED", "reason": question}


def test_an_answer_stands_in_the_prompts_after_a_second_question_and_in_later_phases(
    desk: "Desk",
) -> None:
    """X14: 1 of 4 prompts had it."""
    script = {"design": [ask(FIRST), ask(SECOND), {"signal": "PHASE_COMPLETE"}]}
    desk.begin({"id": "design"}, {"id": "build"}, agents=script, code=3)
    desk.porch("answer", "1", "blocked:design", "Postgres, please")
    desk.porch("resume", "1", code=3)
    desk.porch("answer", "1", "blocked:design", "5432, as always")
    desk.porch("resume", "1")
    first, second, third, later = desk.prompts()
    assert "Postgres" not in first
    for prompt in (second, third, later):
        assert prompt.count("Postgres, please") == 1
    assert LABEL not in second, "it is the answer to what was just asked"
    assert f"> asked: {FIRST}\n> answered: Postgres, please" in third
    order = [later.index(text) for text in (LABEL, FIRST, "Postgres", SECOND, "5432, as always")]
    assert order == sorted(order)


def test_the_newest_answers_stand_in_a_prompt_and_long_ones_are_cut(desk: "Desk") -> None:
    from porch.machine.person_answers import MOST, list_person_answers
    from porch.machine.state import PastAnswer, RunState
    from porch.show import prompt

    answers = {
        f"blocked:a#{n}": PastAnswer(n, "", "me", f"question {n}?", f"{n}:" + "x" * 5000)
        for n in range(30)
    }
    (told,) = list_person_answers(RunState(past_answers=answers))
    text = "\n".join(prompt.render_answers("", told.payload["answers"]))
    assert f"question {30 - MOST}?" in text
    assert f"question {30 - MOST - 1}?" not in text
    assert text.index("question 10?") < text.index("question 29?")
    assert len(text.encode()) < prompt.SHOWN_BYTES
    other = PastAnswer(1, "child", "me", "of another instance?", "yes")
    assert list_person_answers(RunState(past_answers={"x": other})) == ()
