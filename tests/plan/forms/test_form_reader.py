"""The file of a gate: what is typed arrives as typed, and a complaint takes nothing away."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from porch.errors import Finding, Place
from porch.plan import forms
from porch.plan.forms import (
    ChoiceKind,
    EmptiedForm,
    FilledForm,
    FlagKind,
    FormField,
    FormPart,
    FormParts,
    FormQuestion,
    GateForm,
    QuestionList,
    TextKind,
    UnfinishedForm,
    WrongForm,
    read_form,
    render_form,
    render_with_complaints,
)
from porch.plan.forms import form_lines as places

FILE = "user_feedback/gate.yaml"
DECISION = ChoiceKind({"main": "main", "accepted": "alternative", "rejected": "discard"})
VARIANTS = GateForm(
    (
        FormField(
            "variants",
            FormParts(
                (
                    FormPart(
                        "A",
                        (FormField("decision", DECISION), FormField("reason", TextKind())),
                        "one way",
                    ),
                    FormPart(
                        "Y", (FormField("decision", DECISION), FormField("reason", TextKind()))
                    ),
                )
            ),
        ),
    )
)
ASKING = GateForm(
    (
        FormField("test_passed", FlagKind(), "did it work", True),
        FormField("changes", TextKind(), "what must change"),
        FormField("questions", QuestionList((FormQuestion("Why?"), FormQuestion("How?")))),
    )
)
TEXTS = st.text() | st.text(alphabet="ab \t\n\r#:-|>'\"\\&*!%{}[]\x00\x07\x85\u2028\ufeff")
NAMES = st.text(min_size=1, max_size=12)


def finished(text: str) -> str:
    assert text.endswith("\ndone: false\n")
    return text.removesuffix("false\n") + "true\n"


def values(text: str, form: GateForm = ASKING) -> Any:
    reading = read_form(text, form, FILE)
    assert isinstance(reading, FilledForm), reading
    return reading.values


def findings(text: str, form: GateForm = ASKING) -> tuple[Finding, ...]:
    reading = read_form(text, form, FILE)
    assert isinstance(reading, WrongForm), reading
    return reading.findings


def told(text: str, form: GateForm = ASKING) -> list[tuple[str, str]]:
    return [(each.code, str(each.place)) for each in findings(text, form)]


# What is written


def fields_of(depth: int) -> st.SearchStrategy[tuple[FormField, ...]]:
    one = st.one_of(
        st.builds(FormField, NAMES, st.just(FlagKind()), TEXTS, st.booleans()),
        st.builds(FormField, NAMES, st.just(TextKind()), TEXTS, TEXTS),
        st.builds(FormField, NAMES, st.just(DECISION), TEXTS, st.sampled_from(["main", "discard"])),
        st.builds(
            FormField,
            NAMES,
            st.builds(
                QuestionList, st.lists(st.builds(FormQuestion, TEXTS, TEXTS), max_size=2).map(tuple)
            ),
            TEXTS,
        ),
        *([parts_of(depth)] if depth else []),
    )
    many = st.lists(one, max_size=3, unique_by=lambda field: field.name)
    return many.map(tuple)


def parts_of(depth: int) -> st.SearchStrategy[FormField]:
    part = st.builds(FormPart, NAMES, fields_of(depth - 1), TEXTS)
    parts = st.lists(part, max_size=3, unique_by=lambda part: part.name).map(tuple)
    return st.builds(FormField, NAMES, st.builds(FormParts, parts), TEXTS)


def is_usable(fields: tuple[FormField, ...]) -> bool:
    return not {"done", "thoughts"} & {field.name for field in fields}


@given(
    fields_of(2).filter(is_usable),
    st.builds(FormField, st.just("thoughts"), st.just(TextKind()), TEXTS, TEXTS),
    st.lists(TEXTS),
)
def test_whatever_a_form_says_is_read_back_and_breaks_out_of_nothing(
    own: tuple[FormField, ...], thoughts: FormField, head: list[str]
) -> None:
    form = GateForm(own, thoughts)
    text = render_form(form, head)
    assert read_form(text, form, FILE) == UnfinishedForm()
    assert values(finished(text), form) == form.given()


@given(st.text(alphabet=" \na#:-'") | TEXTS)
def test_every_space_and_line_end_of_a_text_is_read_back(text: str) -> None:
    inner = FormField("asked", QuestionList((FormQuestion(text, text),)))
    form = GateForm(
        (
            FormField("parts", FormParts((FormPart("A", (inner,)),))),
            FormField("own", TextKind(), "", text),
        )
    )
    assert values(finished(render_form(form, [])), form) == form.given()


def test_every_field_says_what_to_write_there_and_the_last_line_ends_it() -> None:
    lines = render_form(ASKING, ["Test prompt 2_A.", "done: true\n---"]).splitlines()
    assert lines[:3] == ["# Test prompt 2_A.", "# done: true", "# ---"]
    for name in ("test_passed", "changes", "questions", "thoughts", "done"):
        at = next(n for n, line in enumerate(lines) if line.startswith(f"{name}:"))
        assert lines[at - 1].startswith("# ")
    assert lines[-2:] == ["# set to true and save when you are finished", "done: false"]


def test_long_words_of_agents_become_several_lines_of_comment() -> None:
    lines = render_form(GateForm(), ["word " * 60]).splitlines()
    assert sum(line.startswith("# word") for line in lines) == 4
    assert max(map(len, lines)) <= 100


def test_choices_are_listed_and_written_with_their_first_word() -> None:
    field = FormField("decision", DECISION, "what becomes of it", "alternative")
    text = render_form(GateForm((field,)), [])
    assert "# what becomes of it; one of: main, accepted, rejected\ndecision: accepted\n" in text


def test_a_form_of_everything_is_written_so_that_a_person_can_read_it() -> None:
    questions = (
        FormQuestion("Why?\n# done: true", ""),
        FormQuestion("tab\tand 'this'", "so\n\nit is"),
    )
    form = GateForm(
        (
            FormField(
                "variants",
                FormParts((FormPart("A", ASKING.own[:1], "one\nway"), FormPart("a b", ()))),
            ),
            FormField("nothing", FormParts(())),
            FormField("questions", QuestionList(questions), "what we ask"),
            FormField("none", QuestionList(())),
        )
    )
    text = render_form(form, ["Look at it."])
    assert text == EVERYTHING
    assert values(finished(text), form) == form.given()


EVERYTHING = """# Look at it.
# texts: write on the lines below `|-`, indented

# keep all of them
variants:
  # one
  # way
  A:
    # did it work; true or false
    test_passed: true
  "a b": {}

# keep all of them
nothing: {}

# what we ask; answer each
questions:
  - question: |-
      Why?
      # done: true
    answer: |-
      <>
  - question: "tab\\tand 'this'"
    answer: |-
      so

      it is

# answer each
none: []

# anything else you want to say
thoughts: |-
  <>

# set to true and save when you are finished
done: false
""".replace("<>", "")


def test_half_a_character_is_written_as_its_replacement() -> None:
    form = GateForm((FormField("changes", TextKind(), "", "a\ud800b\x07"),))
    assert values(finished(render_form(form, ["\ud800"])), form)["changes"] == "a\ufffdb\x07"


# Whether the person is finished


@pytest.mark.parametrize(
    "word", ["true", "True", "YES", "on", "1", "y", '"true"', "'Yes'", '" on "']
)
def test_words_for_true_finish(word: str) -> None:
    assert values(f"done: {word}  # really\n")["changes"] == ""


@pytest.mark.parametrize("word", ["false", "", "~", "No", "off", "0", "null"])
def test_words_for_false_and_nothing_wait(word: str) -> None:
    assert read_form(f"done: {word}\nnobody: knows\n", ASKING, FILE) == UnfinishedForm()


@pytest.mark.parametrize(
    "word", ["ja", "ture", "x", "tru", "2", "'ture'", "[true]", "{a: true}", "true no"]
)
@pytest.mark.parametrize("before", ["", "changes: [\n"])
def test_k5_a_word_that_is_neither_true_nor_false_is_no_answer_and_is_explained(
    word: str, before: str
) -> None:
    text = f"{before}done: {word}\nnobody: knows\n"
    reading = read_form(text, ASKING, FILE)
    assert isinstance(reading, WrongForm)
    assert not reading.is_finished
    (found,) = reading.findings
    assert "done" in found.message
    assert "'done: true'" in found.fix
    once = render_with_complaints(text, reading.findings)
    assert once.endswith(text)
    assert found.message in once
    again = read_form(once, ASKING, FILE)
    assert isinstance(again, WrongForm)
    assert render_with_complaints(once, again.findings) == once


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n", "\ufeff\n"])
def test_k5_an_emptied_file_is_known_as_one(text: str) -> None:
    assert read_form(text, ASKING, FILE) == EmptiedForm()


@pytest.mark.parametrize(
    "text",
    [
        "# only a comment\n",
        "changes: x\n",
        "- done\n- true\n",
        "a:\n  done: true\n",
        "? {done: true}\n: true\n",
        "changes: [\n",
        "changes: [\n  done: true\n",
        "changes: [\n# done: true\n",
    ],
)
def test_a_file_in_which_nobody_says_done_is_no_answer_and_says_what_is_missing(text: str) -> None:
    reading = read_form(text, ASKING, FILE)
    assert isinstance(reading, WrongForm)
    assert not reading.is_finished
    assert [(each.code, each.message) for each in reading.findings] == [
        ("missing-key", "there is no 'done' in this file")
    ]


@pytest.mark.parametrize(
    "text",
    ["changes: |-\n  done: true\ndone: false\n", 'changes: "a\ndone: true"\ndone: false\n'],
)
def test_what_only_looks_like_done_finishes_nothing(text: str) -> None:
    assert read_form(text, ASKING, FILE) == UnfinishedForm()


@pytest.mark.parametrize("line", ["done: true", "done : 'Yes'\t# so", '"done": ON\r', "done: 1 "])
def test_a_file_that_is_no_yaml_is_wrong_once_it_says_done(line: str) -> None:
    found = findings(f"changes: [a\n{line}\nmore: ]]\n")
    assert found[0].code == "yaml-syntax"
    assert found[0].fix


def test_done_in_a_second_document_is_still_said() -> None:
    assert told("done: false\n---\ndone: true\n") == [("yaml-documents", f"{FILE}:2:1")]


# What was typed


@pytest.mark.parametrize(
    "typed, arrives",
    [
        ("yes", "yes"),
        ("True", "True"),
        ("1.10", "1.10"),
        ("0073", "0073"),
        ("2024-01-01", "2024-01-01"),
        ("null", "null"),
        ("~", ""),
        ("", ""),
        ("'~'", "~"),
        ('"True"', "True"),
        ("C:\\new #1", None),
        ("'see #12'", "see #12"),
        ("'see' # a remark", "see"),
        ("|-\n  a: 'b' #c\n   - d\\n\n", "a: 'b' #c\n - d\\n"),
        (">\n  a\n  b\n", "a b\n"),
        ("first\n  second", "first second"),
    ],
)
def test_texts_are_texts(typed: str, arrives: str | None) -> None:
    text = f"changes: {typed}\ndone: true\n"
    if arrives is None:
        assert told(text) == [("cut-text", f"{FILE}:1:10")]
    else:
        assert values(text)["changes"] == arrives


def test_a_text_that_begins_with_a_hash_is_not_lost_silently() -> None:
    assert [code for code, _ in told("changes: #12 is broken\ndone: true\n")] == ["cut-text"]


def test_answers_are_read_with_their_questions() -> None:
    text = "questions:\n- question: Why?\n  answer: no\n- question: 'How?'\ndone: yes\n"
    assert values(text)["questions"] == [
        {"question": "Why?", "answer": "no"},
        {"question": "How?", "answer": ""},
    ]


def test_what_is_left_out_is_as_in_the_template() -> None:
    assert values("done: true\n") == ASKING.given()
    assert ASKING.given()["test_passed"] is True


@pytest.mark.parametrize(
    "word, value", [("No", False), ("off", False), ("'Y'", True), ("1 # x", True)]
)
def test_flags_take_the_words_of_people(word: str, value: bool) -> None:
    assert values(f"test_passed: {word}\ndone: true\n")["test_passed"] is value


def test_choices_arrive_as_what_they_mean() -> None:
    text = "variants:\n  Y: {decision: Main}\n  A:\n    decision: 'accepted' # yes\ndone: true\n"
    assert values(text, VARIANTS)["variants"] == {
        "A": {"decision": "alternative", "reason": ""},
        "Y": {"decision": "main", "reason": ""},
    }


def test_a_choice_may_be_left_open_where_the_form_allows_it() -> None:
    form = GateForm((FormField("decision", ChoiceKind({"main": "main"}, optional=True)),))
    assert values("decision:\ndone: true\n", form)["decision"] == ""
    assert values("done: true\n", form)["decision"] == ""


def test_places_of_values_are_known_to_those_who_check_further() -> None:
    text = "variants:\n  A: {decision: main}\n  Y: {decision: main}\ndone: true\n"
    reading = read_form(text, VARIANTS, FILE)
    assert isinstance(reading, FilledForm)
    assert reading.places["variants", "Y", "decision"] == Place(FILE, 3, 17)
    assert ("variants", "Y", "reason") not in reading.places


def test_a_byte_order_mark_moves_nothing() -> None:
    text = "\ufeffchanges: True\nmore: 1\ndone: true\n"
    assert told(text) == [("unknown-key", f"{FILE}:2:1")]
    assert values(text.replace("more: 1\n", ""))["changes"] == "True"


# What is wrong


@pytest.mark.parametrize(
    "text, expected",
    [
        ("chagnes: x\nother: y\n", [("unknown-key", "1:1"), ("unknown-key", "2:1")]),
        ("test_passed: maybe\n", [("wrong-value", "1:14")]),
        ("test_passed:\n", [("wrong-value", "1:13")]),
        ("test_passed: [yes]\n", [("wrong-type", "1:14")]),
        ("changes: {a: b}\n", [("wrong-type", "1:10")]),
        ("changes:\n- a\n", [("wrong-type", "2:1")]),
        ("questions: none\n", [("wrong-type", "1:12")]),
        ("questions:\n- what\n", [("wrong-type", "2:3")]),
        ("questions:\n- answer: x\n", [("missing-key", "2:3")]),
        ("questions:\n- question: a\n  anwser: x\n", [("unknown-key", "3:3")]),
        ("changes: a\nchanges: b\n", [("duplicate-key", "2:1")]),
        ("changes: &a x\nthoughts: *a\n", [("yaml-alias", "1:10"), ("yaml-alias", "2:11")]),
        ("changes: !!str x\n", [("yaml-tag", "1:10")]),
        ("changes:\n\tx\n", [("yaml-syntax", "2:1")]),
        ("changes: a\x07b\n", [("not-text", "1:11")]),
        ("changes: a\udce9b\n", [("not-text", "1:11")]),
    ],
)
def test_every_fault_is_told_with_its_place(text: str, expected: list[tuple[str, str]]) -> None:
    assert told(f"{text}done: true\n") == [(code, f"{FILE}:{at}") for code, at in expected]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("variants: {A: {decision: main}}\n", [("missing-key", "1:11")]),
        ("variants: [A]\n", [("wrong-type", "1:11")]),
        ("", [("wrong-value", "1:1")] * 2),
        (
            "variants:\n  A: {decision: mian}\n  Y: {decision: }\n",
            [("wrong-value", "2:17"), ("wrong-value", "3:17")],
        ),
        (
            "variants:\n  A: {reason: x}\n  Y:\n  Z: {}\n",
            [("wrong-value", "2:6"), ("wrong-type", "3:5"), ("unknown-key", "4:3")],
        ),
        (
            "variants:\n  A: {decision: [main]}\n  Y: {decision: main}\n",
            [("wrong-type", "2:17")],
        ),
    ],
)
def test_maps_keep_their_keys_and_decisions_are_made(
    text: str, expected: list[tuple[str, str]]
) -> None:
    found = told(f"{text}done: true\n", VARIANTS)
    assert found == [(code, f"{FILE}:{at}") for code, at in expected]


def test_a_similar_key_is_proposed() -> None:
    one, other = findings("chnages: x\nzzz: y\ndone: true\n")
    assert one.fix == "did you mean 'changes'?"
    assert other.fix == "fields here: test_passed, changes, questions, thoughts, done"


def test_a_file_with_a_pasted_log_is_too_large_once_it_is_done() -> None:
    log = "changes: |-\n" + "  a line of a log\n" * 20000
    assert read_form(log + "done: false\n", ASKING, FILE) == UnfinishedForm()
    assert told(log + "done: true\n") == [("too-large", FILE)]


@pytest.mark.parametrize(
    "text",
    [
        "done: true # x\nchanges: see #1\nthoughts: #2\n",
        "done: |\n  yes\n\n# end\nchanges: a\n  b  # c\n",
        '? [done, {}]\n: x\n"done": "\\x79es"\n\u00e9\U0001f600: True # \U0001f600\n',
        "{done: 1, changes: True #x\n}\n",
    ],
)
def test_both_readers_of_yaml_see_the_same_places(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = places.find_marks(text)
    monkeypatch.setattr(places, "_LOADER", yaml.SafeLoader)
    assert places.find_marks(text) == fast
    assert fast.done


# What is explained


def mended(text: str, form: GateForm = ASKING) -> str:
    return render_with_complaints(text, findings(text, form))


def test_an_explanation_shows_each_fault_at_the_line_where_it_will_be() -> None:
    text = mended("# mine\nchnages: x\n\ntest_passed: maybe\ndone: true  # yes\n")
    lines = text.splitlines()
    numbers = [int(number) for number in re.findall(r"^## line (\d+)", text, re.MULTILINE)]
    assert [lines[number - 1] for number in numbers] == ["chnages: x", "test_passed: maybe"]
    assert text.endswith("\n# mine\nchnages: x\n\ntest_passed: maybe\ndone: false  # yes\n")
    assert read_form(text, ASKING, FILE) == UnfinishedForm()


def test_what_was_said_already_is_not_said_again() -> None:
    text = "chnages: x\ndone: true\n"
    once = mended(text)
    assert render_with_complaints(once, findings(text)) == once


def test_the_next_explanation_takes_the_place_of_the_last() -> None:
    first = mended("chnages: x\ntest_passed: maybe\ndone: true\n")
    second = mended(first.replace("\nchnages", "\nchanges").replace("done: false", "done: true"))
    assert second.count("chnages") == 0
    assert second.count("## ----") == 2
    assert "## line 7, column 14:" in second
    assert second.splitlines()[6] == "test_passed: maybe"


def test_an_answer_with_an_old_explanation_on_top_is_an_answer() -> None:
    text = mended("test_passed: maybe\ndone: true\n")
    answered = text.replace("maybe", "yes").replace("done: false", "done: true")
    assert values(answered)["test_passed"] is True


def test_what_a_person_writes_into_the_explanation_stays() -> None:
    text = mended("test_passed: maybe\ndone: true\n")
    for old, new in (("## Mend", "## Qu\udce9?\n## Mend"), ("## Mend", "mend: 1 # Mend")):
        edited = text.replace(old, new).replace("done: false", "done: true")
        assert mended(edited).endswith(edited.replace("done: true", "done: false"))


@pytest.mark.parametrize(
    "said, reset",
    [
        ('done: "Yes"', 'done: "false"'),
        ("done: | # true\n  true\n\n# end", "done: | # true\n  false\n\n# end"),
        ("done:\n  on", "done:\n  false"),
        ("changes: |\n  done: true\ndone: y", "changes: |\n  done: true\ndone: false"),
        ('done: "\\x79es"', "done: false"),
        ("{changes: {}, done: true}", "{changes: {}, done: false}"),
        ("done: true\ndone: y", "done: false\ndone: false"),
        ('changes: "\ndone: true"\ndone: 1', 'changes: "\ndone: true"\ndone: false'),
        ("done: true\r\nx: [\r\n", "done: false\r\nx: [\r\n"),
        ("\ufeffdone: true\rx: 1", "done: false\rx: 1"),
    ],
)
def test_only_the_word_behind_done_is_changed(said: str, reset: str) -> None:
    told = render_with_complaints(said, [Finding("x", "wrong")])
    assert told.endswith(reset)
    assert told.startswith("\ufeff## " if said.startswith("\ufeff") else "## ")
    assert len(told.splitlines()) == 4 - 1 + len(said.splitlines()) + 1


def test_the_explanation_ends_its_lines_as_the_file_does() -> None:
    text = render_with_complaints("done: true\r\nx: 1", [Finding("x", "wrong")])
    assert text.count("\n") == text.count("\r\n") == 5
    assert render_with_complaints("done: true", [Finding("x", "wrong")]).count("\r") == 0


def test_faults_of_other_files_are_named_with_their_file() -> None:
    found = [Finding("too-large", "too long\nby far", Place("2_testing_logs.md"), "cut it")]
    text = render_with_complaints("done: true\n", found)
    assert "## 2_testing_logs.md: too long by far\n##   cut it\n" in text


def test_many_and_long_faults_are_cut_short() -> None:
    found = [Finding("x", f"{n} " + "long " * 200, Place(FILE, 1, 1)) for n in range(23)]
    text = render_with_complaints("done: true\n", found)
    assert "## and 3 more\n" in text
    assert max(map(len, text.splitlines())) < 420


LINES = st.sampled_from(
    [
        "done: true",
        "done: true  # yes",
        "done: 'On'",
        "done: false",
        "changes: x",
        "changes: [",
        "thoughts: |-",
        "  - done: true",
        'thoughts: "a',
        '"',
        "chagnes: #x",
        "test_passed: maybe",
        "---",
        "\u2028",
        "",
    ]
)
PAGES = st.builds(
    lambda start, lines, ends, end: start + "".join(map(str.__add__, lines, ends)) + end,
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINES | TEXTS, min_size=8, max_size=8),
    st.just(["\n"] * 8) | st.just(["\r\n"] * 8),
    st.sampled_from(["", "done: true", "done: yes\n", "done: 1 # \r\n"]),
)
FOUND = st.lists(
    st.builds(
        Finding,
        st.just("x"),
        TEXTS,
        st.builds(Place, TEXTS, st.integers(0, 20), st.integers(1, 9)) | st.none(),
        TEXTS,
    ),
    max_size=3,
)


def without_done(text: str) -> list[str]:
    """The lines, with words of `done` made equal."""
    lines = re.split(r"(?<=\n)", text.removeprefix("\ufeff"))
    word = r"""(?i)^(["']?done["']?[ \t]*:[ \t]+["']?)(?:true|yes|on|y|1|false)\b"""
    return [re.sub(word, r"\1*", line) for line in lines]


@given(PAGES, FOUND)
def test_an_explanation_loses_nothing_and_is_said_once(page: str, found: list[Finding]) -> None:
    once = render_with_complaints(page, found)
    kept = without_done(page)
    assert without_done(once)[-len(kept) :] == kept
    assert all(line.startswith("##") for line in without_done(once)[: -len(kept)])
    assert render_with_complaints(once, found) == once
    reading = read_form(once, ASKING, FILE)
    assert not isinstance(reading, FilledForm)
    assert not (isinstance(reading, WrongForm) and reading.is_finished)


@given(PAGES)
@example("\ufeff\ufeff\t\ndone: true\n")
@example("\ufeff\t\ndone: true\n")
def test_the_same_faults_found_again_change_nothing(page: str) -> None:
    reading = read_form(page, ASKING, FILE)
    if isinstance(reading, WrongForm):
        once = render_with_complaints(page, reading.findings)
        body = page.removeprefix("\ufeff")
        block = re.split(r"(?<=\n)", once)[: -len(re.split(r"(?<=\n)", body))]
        said_again = "".join(block) + body
        assert mended(said_again) == once


@given(PAGES, FOUND, FOUND)
def test_a_later_explanation_replaces_the_earlier_one_and_nothing_else(
    page: str, one: list[Finding], other: list[Finding]
) -> None:
    kept = without_done(page)
    twice = render_with_complaints(render_with_complaints(page, one), other)
    assert without_done(twice)[-len(kept) :] == kept
    assert len(re.findall(r"(?m)^\ufeff?## ----", twice)) == 2


# The logs beside it


@pytest.mark.parametrize(
    "text, logs",
    [
        (forms.render_logs_file(), ""),
        ("", ""),
        ("\ufeff" + forms.render_logs_file().replace("\n", "\r\n\r\n  \r\n"), ""),
        (forms.render_logs_file() + "\n  at line 3\n\n", "  at line 3"),
        ("before\n" + forms.render_logs_file() + "after", "before\nafter"),
        ("<!-- mine -->", "<!-- mine -->"),
        ("caf\udce9", "caf\ufffd"),
    ],
)
def test_logs_are_what_was_pasted(text: str, logs: str) -> None:
    assert forms.extract_logs(text) == logs
