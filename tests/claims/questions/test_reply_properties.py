"""Any reply at all: answers that the questions allow or problems, never an exception, in line."""
# ruff: noqa: RUF001 - the wide forms are what people type

import json
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porch.claims.questions.question import Question, QuestionAnswer, QuestionRound, ReplyReading
from porch.claims.questions.reply_reader import read_reply
from porch.claims.questions.tool_results import read_tool_result
from porch.claims.questions.transports import NAMES, TransportName
from tests.claims.questions.rounds import CLOSED, FREE, MULTI, MULTI_FREE, OPEN, make_round
from tests.torture import FULL, choose_some

ROUNDS = (
    make_round(CLOSED),
    make_round(FREE),
    make_round(MULTI),
    make_round(OPEN),
    make_round(CLOSED, FREE),
    make_round(CLOSED, FREE, MULTI, OPEN, MULTI_FREE, more="max_questions: 5"),
)
WORDS = [
    *(
        "q1",
        "Q2",
        "q3",
        "q4",
        "q5",
        "q9",
        "ｑ１",
        ":",
        "：",
        ")",
        ".",
        "、",
        "\n",
        "\r\n",
        " ",
        "------",
    ),
    *(
        "A",
        "b",
        "C",
        "Ｄ",
        "Z",
        "A)",
        "B.",
        "c,",
        "(A)",
        "**",
        "__",
        '"',
        "'",
        "“",
        "”",
        "`",
        "```",
    ),
    *(
        "~~~",
        ">",
        "-",
        "*",
        ",",
        "，",
        "text:",
        "Redis",
        "memory",
        "One day",
        "other",
        "1",
        "３",
        "99",
    ),
    *(
        "Other (type your answer)",
        "because",
        "e.g. x",
        "A plan",
        "\ufeff",
        "\u200b",
        "\t",
        "\ud800",
    ),
]
REPLIES = st.lists(st.sampled_from(WORDS), max_size=25).map("".join) | st.text(max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("answers", "q1", "q2", "q3", "0", "1", "action", "content", "result"),
                    *("updatedInput", "Which store?", "How long?", "q2_text"),
                ]
            ),
            inner | st.just("accept"),
            max_size=4,
        )
    ),
    max_leaves=8,
)
MANY = 100_000 if FULL else 2_000
SIZE = 20_000 if FULL else 4_000
fuzz = settings(
    max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck), derandomize=not FULL
)


def check(round_: QuestionRound, read: ReplyReading) -> None:
    told = {each.question for each in read.problems}
    for question in round_.questions:
        assert (question.id in read.answers) is not (question.id in told)
    for id_, answer in read.answers.items():
        found = round_.find(id_)
        assert found is not None
        check_answer(found, answer)
    assert all(each.code and each.message for each in read.problems)


def check_answer(question: Question, answer: QuestionAnswer) -> None:
    numbers = answer.options
    assert list(numbers) == sorted(set(numbers))
    assert all(1 <= number <= len(question.options) for number in numbers)
    assert answer.text is None or (question.free and answer.text.strip())
    assert len(numbers) + (answer.text is not None) >= 1
    assert question.multi or len(numbers) + (answer.text is not None) == 1
    assert answer.note is None or (answer.note and numbers)


@pytest.mark.torture
@given(st.sampled_from(ROUNDS), REPLIES)
@fuzz
def test_any_reply_gives_answers_that_are_allowed_or_problems(
    round_: QuestionRound, reply: str
) -> None:
    check(round_, read_reply(round_, round_.ids, reply))


@pytest.mark.torture
@given(st.sampled_from(ROUNDS), st.sampled_from(NAMES), VALUES)
@settings(fuzz, max_examples=MANY // 4)
def test_any_result_of_a_tool_gives_answers_that_are_allowed_or_problems(
    round_: QuestionRound, name: TransportName, value: object
) -> None:
    check(round_, read_tool_result(round_, round_.ids, name, json.dumps(value)))


ASKED = ROUNDS[-1]
# Words that begin no other form: what else a text may hold is in the tests of the readers.
TEXTS = st.lists(st.sampled_from(["two", "weeks", "三天", "über", "ok"]), min_size=1).map(" ".join)
LETTERS = {"q1": "ABC", "q2": "AB", "q3": "ABC", "q4": "", "q5": "AB"}
Said = dict[str, QuestionAnswer]


def draw_answer(draw: st.DrawFn, id_: str) -> QuestionAnswer:
    letters, is_multi = LETTERS[id_], id_ in ("q3", "q5")
    if not letters or (id_ == "q2" and draw(st.booleans())):
        return QuestionAnswer(text=draw(TEXTS))
    numbers = st.sets(st.integers(1, len(letters)), min_size=1, max_size=3 if is_multi else 1)
    return QuestionAnswer(tuple(sorted(draw(numbers))))


def write_answer(answer: QuestionAnswer) -> str:
    return answer.text or ", ".join("ABC"[number - 1] for number in answer.options)


@st.composite
def labelled_replies(draw: st.DrawFn) -> tuple[str, Said]:
    ids = draw(st.permutations(ASKED.ids))[: draw(st.integers(2, 5))]
    answers = {id_: draw_answer(draw, id_) for id_ in ids}
    told = [(id_[1:], write_answer(answer)) for id_, answer in answers.items()]
    label = draw(
        st.sampled_from(
            [
                *("q{0}: {1}", "Q{0}) {1}", "q{0}={1}", "问题{0}：{1}", "Question {0}. {1}"),
                *("Q{0} {1}", "{0}. {1}", "{0}) {1}", "{0}、{1}", "- **{0}:** {1}"),
            ]
        )
    )
    lines = [label.format(*each) for each in told]
    parts = [draw(st.sampled_from(["\n", "\n\n", ", ", "；"])) for _ in lines[1:]]
    if label.startswith("-"):
        parts = ["\n" for _ in parts]
    keys, said = zip(*told, strict=True)
    forms = [
        lines[0] + "".join(part + line for part, line in zip(parts, lines[1:], strict=True)),
        "| ? | ! |\n|---|---|\n" + "\n".join(f"| {key} | {text} |" for key, text in told),
        f"| {' | '.join(keys)} |\n|{'-|' * len(keys)}\n| {' | '.join(said)} |",
        json.dumps({f"q{key}": text for key, text in told}),
        json.dumps({"answers": dict(told)}, ensure_ascii=False),
    ]
    return draw(st.sampled_from(forms)), answers


@pytest.mark.torture
@given(labelled_replies())
@fuzz
def test_e13_answers_that_are_written_in_any_accepted_form_are_read_back(
    case: tuple[str, Said],
) -> None:
    reply, answers = case
    read = read_reply(ASKED, ASKED.ids, reply)
    assert (read.answers, read.notes) == (answers, ())
    assert {each.question for each in read.problems} == {*ASKED.ids} - {*answers}


@given(st.sampled_from(["Q2 {0}", "2. {0}", "2) {0}", '{{"2": "{0}"}}']), TEXTS | st.just("A"))
@fuzz
def test_e13_a_reply_that_reads_two_ways_is_refused(form: str, text: str) -> None:
    round_ = ROUNDS[1]
    read = read_reply(round_, round_.ids, form.format(text))
    assert (read.answers, [each.code for each in read.problems]) == ({}, ["several_readings"])


PATTERNS = [
    *(" ", "\n", ">", "q", "q1", "q1: A\n", "1", "A,", "A, ", "- ", "**", "`", "```\n", "------\n"),
    *(
        "(",
        "[",
        '"',
        "Redis, ",
        "text:",
        "\t\n",
        "A)",
        "q1:\n```\n",
        "（",
        ", q1: A",
        ", q1",
        "1. A\n",
        "1. A ",
        "Q1 ",
        "|",
        "| q1 ",
        "| q1 | A |\n",
        '{"q1":',
        "Other: ",
        "Ａ、",
        "q9: x\n",
        "\ufb03",
    ),
]


@pytest.mark.torture
@pytest.mark.parametrize("pattern", choose_some(PATTERNS, 5))
@pytest.mark.parametrize("front", ["", "q1: ", "q2: A) ", "q3: A, "])
def test_a_reply_is_read_in_linear_time_whatever_it_repeats(pattern: str, front: str) -> None:
    """Of eight times the text; a square would take sixty-four times as long."""
    small = front + pattern * (SIZE // len(pattern))
    large = front + pattern * (8 * SIZE // len(pattern))
    before, after = _cpu_s(small), _cpu_s(large)
    assert after < 24 * before + 0.05, (before, after)


def _cpu_s(reply: str) -> float:
    """The least of three: what else the machine does only ever adds."""
    times = []
    for _ in range(3):
        began = time.process_time()
        read_reply(ROUNDS[-1], ROUNDS[-1].ids, reply)
        times.append(time.process_time() - began)
    return min(times)


def count_calls(reply: str) -> int:
    """How many functions are called to read it: work that no machine speeds up."""
    calls = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read_reply(ROUNDS[-1], ROUNDS[-1].ids, reply)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("front", ["", "q1: ", "q2: A) ", "q3: A, "])
def test_work_grows_as_the_reply_does(pattern: str, front: str) -> None:
    """Twice the reply is at most twice the work, and a little."""
    count_calls(front + pattern)  # what is loaded late is loaded now
    small, large = (count_calls(front + pattern * size) for size in (200, 400))
    assert large < 2.4 * small + 50, (small, large)
