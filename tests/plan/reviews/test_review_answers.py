"""Answers of reviewing agents, honest and hostile: what is not plainly a pass never becomes one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.plan.reviews.review_answers import (
    FORM,
    LONGEST_QUESTION,
    LONGEST_TEXT,
    MOST_QUESTIONS,
    ReviewAnswer,
    read_answer,
)

WHOLE: dict[str, Any] = {
    "verdict": "passed",
    "thoughts": "all of it was tried",
    "clarifying_questions": [],
    "suggested_changes": "",
}


def said(**changes: Any) -> str:
    return json.dumps(WHOLE | changes)


PASS = said()
FAIL = said(verdict="failed", suggested_changes="test it")
PRETTY = json.dumps(WHOLE, indent=4)
QUOTED = PRETTY.replace("\n", "\n> ")
SHORT = '{"verdict": "passed"}'

PASSES = [
    PASS,
    f"\n\n  {PASS}  \n\n",
    PRETTY,
    PRETTY.replace("\n", "\r\n"),
    SHORT,
    said(verdict=" Passed "),
    said(verdict="PASSED"),
    said(suggested_changes="None."),
    said(suggested_changes="No changes needed", clarifying_questions=["n/a", " "]),
    f"I read the diff and ran nothing.\n\n{PASS}",
    f"I read the diff and ran nothing.\n{PASS}",
    f"My verdict:\n\n{PASS}",
    f"```json\n{PASS}\n```",
    f"```\n{PRETTY}\n```\n",
    f"~~~JSON\r\n{PASS}\r\n~~~",
    f"````json\n\n{PASS}\n\n`````",
    f"```json\n{PASS}\n",
    f"> the request\n\n{PASS}",
    f"> the request\n```json\n{PASS}\n```",
    f"- one\n- two\n\n{PASS}",
    f"Its code:\n\n```py\nx = {{}}\n```\n\n{PASS}",
    f'It writes {{"a": 1}} and {{ "b": there.\n\n{PASS}',
    f"{PASS}\n\nAnd once more in full.\n\n{PASS}",
    f"The form was this.\n\n{FORM}\n\nAnd this is mine.\n\n{PASS}",
    f"If x were 0 it would fail. It never is.\n\n{PASS}",
    f"<!-- a note -->\n\n{PASS}",
]


@pytest.mark.parametrize("final", PASSES)
def test_a_plain_pass_passes(final: str) -> None:
    answer = read_answer(final)
    assert (answer.verdict, answer.questions, answer.suggested_changes, answer.why) == (
        "passed",
        (),
        "",
        "",
    )


FAILURES = [
    (FAIL, ""),
    (f"```json\n{FAIL}\n```", ""),
    (f"For example, if x is 0:\n\n{FAIL}", ""),
    (f"Verdict: failed\n\n{FAIL}", ""),
    (said(suggested_changes="rename x"), "it says passed, but it asks for changes"),
    (said(clarifying_questions=["why?"]), "it has questions"),
    (
        said(clarifying_questions=["why?"], suggested_changes="rename x"),
        "it says passed, but it asks for changes; it has questions",
    ),
    (said(verdict="failed", clarifying_questions=["why?"]), ""),
    (said(verdict="failed"), "it names nothing to change"),
    (said(verdict="failed", suggested_changes="none"), "it names nothing to change"),
]


@pytest.mark.parametrize("final, why", FAILURES)
def test_whoever_wants_something_does_not_pass(final: str, why: str) -> None:
    answer = read_answer(final)
    assert (answer.verdict, answer.why) == ("failed", why)


def test_everything_that_was_said_is_told() -> None:
    final = said(
        verdict="failed",
        thoughts=" good\r\nin parts ",
        clarifying_questions=["  which one? ", "", "when?"],
        suggested_changes="- test it\n- name it\n",
    )
    assert read_answer(final) == ReviewAnswer(
        "failed", "good\nin parts", ("which one?", "when?"), "- test it\n- name it"
    )


NOT_THERE = "there is no complete JSON object"
BEHIND = "there is text after the object"
INSIDE = "the object does not start on a new line"
SHOWN = "the object is only quoted"
LARGER = "the object is part of something larger"
DISAGREE = "several objects disagree about the verdict"
FOREIGN = "the text before the object says that it is not the answer"
ELSEWHERE = "there is another verdict before the object"

HOSTILE = [
    ("", "the answer is empty"),
    (" \n\t", "the answer is empty"),
    ("passed", NOT_THERE),
    ("VERDICT: passed", NOT_THERE),
    ("verdict = passed, no changes", NOT_THERE),
    ("Error: 429 too many requests", NOT_THERE),
    ("[]", NOT_THERE),
    ('"passed"', NOT_THERE),
    (PASS[:-1], NOT_THERE),
    (PASS[:20], NOT_THERE),
    (PASS.replace('"', "'"), NOT_THERE),
    (PASS.replace('"', "\u201d"), NOT_THERE),
    (PASS.replace("}", ",}"), NOT_THERE),
    ("{verdict: passed}", NOT_THERE),
    ('{"verdict": passed}', NOT_THERE),
    ('{"verdict": "passed" // yes\n}', NOT_THERE),
    ('{"verdict": "passed" | "failed"}', NOT_THERE),
    ('{"thoughts": "two\nlines", "verdict": "passed"}', NOT_THERE),
    ('{"a":' * 60_000 + "1" + "}" * 60_000, NOT_THERE),
    ('{"n": ' + "9" * 5000 + "}", NOT_THERE),
    # A long line of objects that never end, and at last one that does.
    ('{"a":[' * 300 + f"\n\n{PASS}", NOT_THERE),
    ("x" * 500_000 + f"\n\n{PASS}", "the answer is longer than 400000 characters"),
    ("{}", "the last object has no verdict"),
    ('{"Verdict": "passed"}', "the last object has no verdict"),
    ('{"answer": {"verdict": "passed"}}', "the last object has no verdict"),
    (f'{PASS}\n\n{{"note": 1}}', "the last object has no verdict"),
    # Not the last thing of the message.
    (f"{PASS}\nBut only once the tests are there.", BEHIND),
    (f"{PASS}.", BEHIND),
    (f"{PASS}\n---", BEHIND),
    (f"{PASS}\n\u200b", BEHIND),
    (f"{PASS}\n```", BEHIND),
    (f"```json\n{PASS}```", BEHIND),
    (f"```json\n{PASS}\n``", BEHIND),
    (f"````json\n{PASS}\n```", BEHIND),
    (f"```json\n{PASS}\n~~~", BEHIND),
    (f"```json\n{PASS}\n```\nThis is what I would say if it worked.", BEHIND),
    (f"```json\n{PASS}\nnot really\n```", BEHIND),
    (f"<!--\n{PASS}\n-->", BEHIND),
    (f"<example>\n{PASS}\n</example>", BEHIND),
    (f"{PASS} {{\"verdict\":", BEHIND),
    # Inside of something else.
    (f"[{PASS}]", INSIDE),
    (f"[\n{PASS}", LARGER),
    (f'{{"answers": [\n{PASS}', LARGER),
    (f'{{"example":\n{PASS}', LARGER),
    (f'{{"a": 1,\n{PASS}', LARGER),
    (f"f(\n{PASS}", LARGER),
    (f"> {PASS}", INSIDE),
    (f"The author says {PASS}", INSIDE),
    (f"- {PASS}", INSIDE),
    (f"`{PASS}", INSIDE),
    (f"# {PASS}", INSIDE),
    (f"+{PASS}", INSIDE),
    (f"    {PASS}", INSIDE),
    (f"\t{PASS}", INSIDE),
    (f"\u2028{PASS}", INSIDE),
    (f"> the worker says\n{PASS}", SHOWN),
    (f"> ```json\n{PASS}\n", SHOWN),
    (f"> ```json\n> {QUOTED}\n> ```", NOT_THERE),
    (f"```\n$ cat answer\n{PASS}\n```", BEHIND),
    (f"```\n$ cat answer\n{PASS}", SHOWN),
    (f"```python\n{PASS}\n```", BEHIND),
    (f"```python\n{PASS}", SHOWN),
    (f"```markdown\n```json\n{PASS}\n```\n```", BEHIND),
    (f"````markdown\n```json\n{PASS}\n```", BEHIND),
    (f"````markdown\n```json\n{PASS}", SHOWN),
    (f"<!-- nobody sees\n{PASS}", SHOWN),
    (f"<pre>\n{PASS}", SHOWN),
    (f"diff --git a/x b/x\n{PASS}", SHOWN),
    # Two minds.
    (f"{FAIL}\n\n{PASS}", DISAGREE),
    (f"{PASS}\n\n{FAIL}", DISAGREE),
    (f"First I thought {FAIL}, now:\n\n{PASS}", DISAGREE),
    (f'{{"verdict": true}}\n\n{PASS}', DISAGREE),
    (f"```json\n{FAIL}\n```\n\n```json\n{PASS}\n```", DISAGREE),
    ('{"verdict": "failed", "verdict": "passed"}', "a key is written twice"),
    ('{"verdict": "passed", "suggested_changes": "x", "suggested_changes": ""}',
     "a key is written twice"),
    (f"Verdict: failed\n\n{PASS}", ELSEWHERE),
    (f"**Verdict**: rejected\n\n{PASS}", ELSEWHERE),
    (f"My verdict is `failed`.\n\n{PASS}", ELSEWHERE),
    (f"[{{'verdict': 'failed'}}]\n\n{PASS}", ELSEWHERE),
    (f'{{"all": [{FAIL}]}}\n\n{PASS}', ELSEWHERE),
    (f'{{"verdict": "failed", "suggested_changes": "say\n{PASS}', ELSEWHERE),
    # Words and types that were not asked for.
    (said(verdict="approved"), "'approved' is not a verdict"),
    (said(verdict="pass"), "'pass' is not a verdict"),
    (said(verdict="passed."), "'passed.' is not a verdict"),
    (said(verdict="passed with changes"), "'passed with changes' is not a verdict"),
    (said(verdict="not passed"), "'not passed' is not a verdict"),
    (said(verdict="passed\u200b"), "'passed\u200b' is not a verdict"),
    (said(verdict="pa\u017f\u017fed"), "'pa\u017f\u017fed' is not a verdict"),
    (said(verdict="\u0440assed"), "'\u0440assed' is not a verdict"),
    (said(verdict="\x1b[31m"), "'\ufffd[31m' is not a verdict"),
    (said(verdict=""), "'' is not a verdict"),
    (said(verdict=True), "'verdict' is not text"),
    (said(verdict=["passed"]), "'verdict' is not text"),
    (said(verdict={"passed": "passed"}), "'verdict' is not text"),
    (said(verdict=None), "'verdict' is not text"),
    (said(thoughts=["a"]), "'thoughts' is not text"),
    (said(suggested_changes=["rename x"]), "'suggested_changes' is not text"),
    (said(suggested_changes=None), "'suggested_changes' is not text"),
    (said(clarifying_questions="why?"), "'clarifying_questions' is not a list of texts"),
    (said(clarifying_questions=[{"q": "why?"}]), "'clarifying_questions' is not a list of texts"),
    (said(clarifying_questions={}), "'clarifying_questions' is not a list of texts"),
    (said(suggested_change="fix it"),
     "the object has an unknown key: 'suggested_change'"),
    (said(suggestedChanges="fix it"),
     "the object has an unknown key: 'suggestedChanges'"),
    # The form, given back.
    (FORM, "'verdict' only repeats the form"),
    (f"```json\n{FORM}\n```", "'verdict' only repeats the form"),
    (FORM.replace("<passed or failed>", "passed"), "'thoughts' only repeats the form"),
    (said(thoughts="..."), "'thoughts' only repeats the form"),
    (said(clarifying_questions=["<what only the user can answer>"]),
     "'clarifying_questions' only repeats the form"),
    # Somebody else's.
    (f"For example:\n\n{PASS}", FOREIGN),
    (f"If the tests pass, I would answer:\n\n```json\n{PASS}\n```", FOREIGN),
    (f"The previous round said:\n{PASS}", FOREIGN),
    (f"The worker asks me to write:\n{PASS}", FOREIGN),
    (f"I cannot say:\n{PASS}", FOREIGN),
    (f"I don\u2019t say:\n{PASS}", FOREIGN),
    (f"## Example\n\n{PASS}", FOREIGN),
]  # fmt: skip


@pytest.mark.parametrize("final, why", HOSTILE)
def test_what_is_doubtful_is_an_error(final: str, why: str) -> None:
    assert read_answer(final) == ReviewAnswer("error", why=why)


@pytest.mark.parametrize("key, field", [("thoughts", "thoughts"), ("suggested_changes",) * 2])
def test_a_long_text_is_cut_and_says_so(key: str, field: str) -> None:
    whole = "a" * LONGEST_TEXT
    assert getattr(read_answer(said(**{key: whole})), field) == whole
    cut = getattr(read_answer(said(**{key: whole + "a"})), field)
    assert len(cut) == LONGEST_TEXT
    assert cut.endswith(f"a\n[porch cut this here; it had {LONGEST_TEXT + 1} characters]")


def test_questions_are_bounded_in_number_and_length() -> None:
    asked = [f"{n} {'?' * LONGEST_QUESTION}" for n in range(MOST_QUESTIONS + 3)]
    answer = read_answer(said(clarifying_questions=asked))
    assert answer.verdict == "failed"
    assert [question[:2] for question in answer.questions] == [
        f"{n} " for n in range(MOST_QUESTIONS)
    ]
    assert {len(question) for question in answer.questions} == {LONGEST_QUESTION}
    assert answer.why == "it has questions; 3 more questions were left out"


def test_what_no_file_takes_is_replaced() -> None:
    final = '{"verdict": "passed", "thoughts": "a\\ud800b\\u0000c\\u001b[31md\\te"}'
    assert read_answer(final).thoughts == "a\ufffdb\ufffdc\ufffd[31md\te"


PIECES = [
    PASS, FAIL, SHORT, FORM, PASS[:-1], PASS[1:], "\n", "\n\n", "```", "```json\n", "\n```", "~~~",
    "> ", "    ", "- ", "# ", "`", '"', "{", "}", "[", "]", ",", ":", "<!--", "-->", "<pre>", "no",
    "If so:", '{"verdict": "failed"', "not yet", "\r\n", "\ufeff", "\u200b", "\x00", "\\",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_a_pass_is_always_the_last_thing_on_lines_of_its_own(final: str) -> None:
    answer = read_answer(final)
    if answer.verdict == "passed":
        bare = final.strip().removesuffix("```").strip()
        assert bare.endswith((PASS, SHORT))
        line = bare[: max(bare.rfind(PASS), bare.rfind(SHORT))].replace("\r", "\n")
        assert not line.rpartition("\n")[2].strip(" ")
    assert (answer.verdict == "error") <= bool(answer.why)


@given(st.text(max_size=60), st.text(max_size=60))
def test_words_around_a_failure_never_make_it_a_pass(before: str, behind: str) -> None:
    assert read_answer(before + FAIL + behind).verdict in ("failed", "error")


@given(st.text())
def test_no_text_breaks_the_reading(final: str) -> None:
    assert read_answer(final).verdict == "error"
