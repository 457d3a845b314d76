"""What suites prove, case by case, and the laws that hold for every suite."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert, to_builtins

from porch.tree.suites import suite_results
from porch.tree.suites.suite_results import CaseResult, SuiteCase, SuiteRun

OLD = SuiteRun("ran", 0, (SuiteCase("t.a::old", "passed"), SuiteCase("t.a::shaky", "failed")))
KNOWN = ("t.a::old", "t.a::shaky")
BROKEN = SuiteRun("broken", report="no such command: nose")
BY_CODE_GREEN = suite_results.make_suite_run(0, None, "ok")
BY_CODE_RED = suite_results.make_suite_run(2, None, "2 tests, 1 failed")


def suite(*cases: tuple[str, CaseResult] | SuiteCase, code: int = 1) -> SuiteRun:
    return suite_results.make_suite_run(
        code, tuple(c if isinstance(c, SuiteCase) else SuiteCase(*c) for c in cases), ""
    )


def new(*cases: tuple[str, CaseResult] | SuiteCase) -> SuiteRun:
    return suite(("t.a::old", "passed"), ("t.a::shaky", "failed"), *cases)


# --- red


@pytest.mark.req("V-044")
def test_new_tests_that_fail_beside_old_ones_that_hold_are_red() -> None:
    assert suite_results.explain_not_red(new(("t.b::fresh", "failed")), OLD, KNOWN) == ([], [])


@pytest.mark.req("V-044")
@pytest.mark.parametrize("result, words", [("passed", "passes already"), ("skipped", "is skipped")])
def test_a_new_test_that_does_not_fail_is_not_red(result: CaseResult, words: str) -> None:
    reasons, _ = suite_results.explain_not_red(
        new(("t.b::one", "failed"), ("t.b::two", result)), OLD, KNOWN
    )
    assert [reason.startswith(f"t.b::two {words}") for reason in reasons] == [True]


def test_without_a_new_test_nothing_is_red() -> None:
    assert suite_results.explain_not_red(new(), OLD, KNOWN)[0] == [
        "no new test was run: every test existed before"
    ]


def test_t10_a_failing_test_whose_file_was_changed_is_as_good_as_new() -> None:
    now = suite(("t/a.py::old", "passed"), ("t/a.py::shaky", "failed"))
    old = SuiteRun("ran", 1, now.cases)
    known = [case.id for case in now.cases]
    assert suite_results.explain_not_red(now, old, known, changed=["t/a.py"]) == ([], [])
    assert suite_results.explain_not_red(now, old, known, changed=["t/b.py"])[0] != []
    weak = suite(("t/a.py::old", "passed"), ("t/a.py::shaky", "passed"))
    assert suite_results.explain_not_red(weak, old, known, changed=["t/a.py"])[0] == [
        "t/a.py::shaky passes already: a new test must fail until the work is done"
    ]
    lost = suite(("t/a.py::old", "failed"), ("t/a.py::shaky", "failed"))
    assert suite_results.explain_not_red(lost, old, known, changed=["t/a.py"])[0] == [
        "t/a.py::old passed before and now fails"
    ]


@pytest.mark.parametrize(
    "after, words",
    [
        ([("t.a::old", "failed")], "fails"),
        ([("t.a::old", "error")], "ends in an error"),
        ([("t.a::old", "skipped")], "is skipped"),
        ([], "is missing"),
    ],
)
def test_an_old_test_must_still_pass(after: list[tuple[str, CaseResult]], words: str) -> None:
    now = suite(("t.b::fresh", "failed"), *after)
    assert suite_results.explain_not_red(now, OLD, KNOWN)[0] == [
        f"t.a::old passed before and now {words}"
    ]
    assert suite_results.explain_not_red(now, None, KNOWN)[0] == []
    assert suite_results.explain_not_red(now, BY_CODE_GREEN, KNOWN)[0] == []


MISSING = [
    "ModuleNotFoundError: No module named 'engine'",
    "ImportError: cannot import name 'start' from 'engine'",
    "NameError: name 'start' is not defined",
    "AttributeError: module 'engine' has no attribute 'start'",
    "./a_test.go:5:2: undefined: Start",
    "error[E0425]: cannot find function `start` in this scope",
    "A.java:3: error: cannot find symbol",
    "A.hs:3:1: error: Variable not in scope: start",
    "e: A.kt: (3, 1): Unresolved reference: start",
    "a.swift:1:8: error: no such module 'Engine'",
    "a.cpp:3:1: error: 'start' was not declared in this scope",
    "Cannot find module './engine' from 'a.test.js'",
    "NameError: uninitialized constant Engine",
]


@pytest.mark.req("V-044")
@pytest.mark.parametrize("text", MISSING)
def test_a_build_error_that_names_what_is_missing_is_red(text: str) -> None:
    unbuilt = SuiteCase("t.b", "error", f"collection failure: {text}")
    assert suite_results.explain_not_red(new(unbuilt), OLD, KNOWN) == ([], [])
    assert (
        suite_results.explain_not_red(suite_results.make_suite_run(1, None, text), OLD, KNOWN)[0]
        == []
    )


@pytest.mark.req("V-044")
@pytest.mark.parametrize(
    "case",
    [
        SuiteCase("t.b", "error", "SyntaxError: invalid syntax"),
        SuiteCase("t.b", "error", "ImportError: Failed to import test module. SyntaxError: bad"),
        SuiteCase("t.b::m", "error", "IndentationError: unexpected indent"),
        SuiteCase("t.b::m", "error", "collection failure: ValueError: 3"),
        SuiteCase("t.b", "error", "ZeroDivisionError: division by zero"),
        SuiteCase(
            "pkg::", "failed", "a.go:3:4: syntax error: unexpected } FAIL pkg [build failed]"
        ),
        SuiteCase("web::all", "failed", "Test suite failed to run: out of memory"),
    ],
)
def test_a_build_error_that_names_nothing_missing_is_not_red(case: SuiteCase) -> None:
    reasons, _ = suite_results.explain_not_red(new(case), OLD, KNOWN)
    assert [reason.startswith(f"{case.id} could not be built") for reason in reasons] == [True]
    assert case.text in reasons[0]


def test_an_error_while_a_test_is_prepared_is_red_and_noted() -> None:
    case = SuiteCase("t.b::fresh", "error", 'failed on setup with "KeyError: 1"')
    note = "t.b::fresh ended in an error, not in a failure"
    assert suite_results.explain_not_red(new(case), OLD, KNOWN) == ([], [note])


def test_a_failure_that_only_speaks_of_syntax_is_red() -> None:
    case = SuiteCase("t.b::test_syntax_error", "failed", "SyntaxError: expected it, got none")
    assert suite_results.explain_not_red(new(case), OLD, KNOWN) == ([], [])


UNBUILT = SuiteCase("t.b", "error", "collection failure: NameError: name 'x' is not defined")


def test_a_runner_that_stopped_at_a_build_error_leaves_a_note() -> None:
    note = "older tests did not run because of the build error: t.a::old"
    assert suite_results.explain_not_red(suite(UNBUILT), OLD, KNOWN) == ([], [note])


def test_a_runner_that_went_on_hides_only_the_tests_of_that_file() -> None:
    old = SuiteRun(
        "ran", 0, (SuiteCase("t.a::old", "passed"), SuiteCase("t.b.TestX::old[1]", "passed"))
    )
    now = suite(UNBUILT, ("t.c::other", "failed"))
    reasons, notes = suite_results.explain_not_red(now, old, [case.id for case in old.cases])
    assert reasons == ["t.a::old passed before and now is missing"]
    assert notes == ["older tests did not run because of the build error: t.b.TestX::old[1]"]


def test_an_old_test_that_was_seen_to_fail_is_not_hidden_by_a_build_error() -> None:
    old = SuiteRun("ran", 0, (SuiteCase("t.b::old", "passed"),))
    now = suite(UNBUILT, ("t.b::old", "failed"))
    lost = ["t.b::old passed before and now fails"]
    assert suite_results.explain_not_red(now, old, ["t.b::old"]) == (lost, [])


def test_a_suite_that_could_not_be_run_is_not_red() -> None:
    why = "the suite could not be run: no such command: nose"
    assert suite_results.explain_not_red(BROKEN, OLD, KNOWN) == ([why], [])


def test_with_an_exit_code_alone_failing_is_red_and_noted() -> None:
    reasons, notes = suite_results.explain_not_red(BY_CODE_RED, BY_CODE_GREEN, ())
    assert (reasons, len(notes)) == ([], 1)
    assert suite_results.explain_not_red(BY_CODE_RED, None, ()) == suite_results.explain_not_red(
        BY_CODE_RED, BROKEN, ()
    )
    assert suite_results.explain_not_red(BY_CODE_GREEN, None, ())[0] != []


def test_a_report_that_vanished_is_not_red() -> None:
    reasons, notes = suite_results.explain_not_red(BY_CODE_RED, OLD, KNOWN)
    assert (len(reasons), notes) == (1, [])
    assert "2 tests, 1 failed" in reasons[0]


def test_a_syntax_error_in_the_output_is_not_red() -> None:
    assert suite_results.explain_not_red(
        suite_results.make_suite_run(1, None, "b.rb:3: syntax error, unexpected end"), None, ()
    )[0]
    assert not suite_results.explain_not_red(
        suite_results.make_suite_run(1, None, "FAIL test_syntax_error"), None, ()
    )[0]


# --- green


@pytest.mark.req("V-051")
def test_cases_that_passed_or_were_skipped_are_green() -> None:
    assert (
        suite_results.explain_not_green(
            suite(("a::b", "passed"), ("a::c", "skipped"), code=0), ["b"]
        )
        == []
    )
    assert suite_results.explain_not_green(BY_CODE_GREEN, ["b"]) == []


@pytest.mark.req("V-051")
@pytest.mark.parametrize(
    "of, reasons",
    [
        (suite(("a::b", "passed"), SuiteCase("a::c", "failed", "no")), ["a::c failed: no"]),
        (suite(("a::b", "passed"), ("a::c", "error")), ["a::c ended in an error"]),
        (suite(("a::b", "skipped"), code=0), ["no test passed, so nothing is proved"]),
        (suite(code=0), ["no test passed, so nothing is proved"]),
        (
            suite(("a::b", "passed"), code=3),
            ["no test failed, but the suite command ended with code 3"],
        ),
        (BROKEN, ["the suite could not be run: no such command: nose"]),
    ],
)
def test_anything_else_is_not_green(of: SuiteRun, reasons: list[str]) -> None:
    assert suite_results.explain_not_green(of) == reasons


def test_a_needed_test_must_have_run() -> None:
    of = suite(("a::b", "passed"), ("a::c", "skipped"), code=0)
    assert suite_results.explain_not_green(of, ["b", "c", "d"]) == [
        "c was skipped, but it is required",
        "d was not run: no case of the report has this name",
    ]


def test_a_failing_suite_without_cases_says_what_it_printed() -> None:
    assert suite_results.explain_not_green(BY_CODE_RED)[0] == "suite failed: 2 tests, 1 failed"


# --- regressions


@pytest.mark.req("V-062")
@pytest.mark.parametrize(
    "result, words", [("failed", "fails"), ("error", "ends in an error"), (None, "is missing")]
)
def test_what_passed_and_does_no_longer_is_a_regression(
    result: CaseResult | None, words: str
) -> None:
    before = suite(("a::b", "passed"), ("a::c", "failed"))
    after = suite(("a::c", "failed"), ("a::d", "failed"), *([("a::b", result)] if result else []))
    assert suite_results.list_regressions(before, after) == [f"a::b passed before and now {words}"]


@pytest.mark.req("V-062")
def test_a_red_test_of_the_target_does_not_stop_a_merge() -> None:
    red = suite(("parent::contract", "failed"), ("child::own", "passed"))
    assert suite_results.list_regressions(red, red) == []
    assert suite_results.explain_not_green(suite_results.select_cases(red, ["child"])) == []


@pytest.mark.parametrize(
    "before, after, count",
    [
        (OLD, BROKEN, 1),
        (BROKEN, OLD, 0),
        (OLD, BY_CODE_RED, 1),
        (OLD, BY_CODE_GREEN, 1),
        (suite(("a::b", "failed")), BY_CODE_RED, 0),
        (BY_CODE_GREEN, BY_CODE_RED, 1),
        (BY_CODE_RED, BY_CODE_GREEN, 0),
        (BY_CODE_RED, suite(("a::b", "failed")), 0),
        (BY_CODE_GREEN, suite(("a::b", "passed"), code=0), 0),
        (BY_CODE_GREEN, suite(("a::b", "failed"), code=0), 1),
        (BY_CODE_GREEN, suite(("a::b", "passed"), code=1), 1),
        (suite(("a::b", "passed")), suite(("a::b", "skipped")), 0),
    ],
)
def test_suites_without_cases_are_compared_by_what_they_have(
    before: SuiteRun, after: SuiteRun, count: int
) -> None:
    assert len(suite_results.list_regressions(before, after)) == count


# --- names

ID = "tests.sub.test_a.TestX::test_m[a::b-1.5]"


@pytest.mark.parametrize(
    "name",
    [
        ID,
        "test_m",
        "test_m[a::b-1.5]",
        "TestX::test_m",
        "TestX.test_m",
        "TestX#test_m",
        "tests.sub.test_a.TestX::test_m",
        "tests/sub/test_a.py::TestX::test_m[a::b-1.5]",
        "test_a.py::TestX::test_m",
        "sub/test_a.py::TestX::test_m",
    ],
)
def test_a_case_is_found_by_every_name_people_use(name: str) -> None:
    of = suite((ID, "passed"), ("tests.sub.test_a.TestX::test_more", "passed"))
    assert [case.id for case in suite_results.find_named_cases(of, name)] == [ID]
    assert suite_results.list_missing_names(of, [name]) == []


@pytest.mark.parametrize(
    "name", ["", "::", "m", "est_m", "test_m[2]", "TestY::test_m", "other/test_a.py::TestX::test_m"]
)
def test_a_case_is_not_found_by_the_name_of_another(name: str) -> None:
    of = suite((ID, "passed"))
    assert suite_results.find_named_cases(of, name) == []
    assert suite_results.list_missing_names(of, [name]) == [name]


def test_names_that_are_sentences_and_paths_are_found() -> None:
    of = suite(("web/a.test.ts::adds 1.5 to [x] y", "passed"), ("pkg::mod::it_works", "passed"))
    assert len(suite_results.find_named_cases(of, "adds 1.5 to [x] y")) == 1
    assert len(suite_results.find_named_cases(of, "a.test.ts::adds 1.5 to [x] y")) == 1
    assert len(suite_results.find_named_cases(of, "mod::it_works")) == 1
    assert len(suite_results.find_named_cases(of, "web/[id].ts::x[1]")) == 0


def test_nothing_is_missing_where_only_the_exit_code_is_known() -> None:
    assert suite_results.list_missing_names(BY_CODE_GREEN, ["x"]) == []


@pytest.mark.parametrize(
    "case, path",
    [
        (SuiteCase("tests.test_a.TestX::m", "passed"), "tests/test_a.py"),
        (SuiteCase("tests.test_a.TestX::m", "passed"), "./tests/"),
        (SuiteCase("tests.test_a::m", "passed"), "."),
        (SuiteCase("tests.test_a", "error"), "tests/test_a.py"),
        (SuiteCase("test_a.TestX::m[x::y]", "passed"), "pkg/tests/test_a.py"),
        (SuiteCase("v1.2.test_a::m", "passed"), "v1.2/test_a.py"),
        (SuiteCase("com.acme.ATest::m", "passed"), "src/test/java/com/acme/ATest.java"),
        (SuiteCase("com.acme.ATest::m", "passed"), "mod/src/test/kotlin/com/acme"),
        (SuiteCase("web/a.test.ts::adds", "passed"), "web/a.test.ts"),
        (SuiteCase("web/a.test.ts::adds", "passed"), "web"),
        (SuiteCase("a/b.ts::adds", "passed"), "web/a/b.ts"),
        (SuiteCase("K::m", "passed", "", "./tests/test_a.py"), "tests/test_a.py"),
    ],
)
def test_a_case_belongs_to_its_file_and_directory(case: SuiteCase, path: str) -> None:
    assert suite_results.is_case_of_path(case, path)


@pytest.mark.parametrize(
    "case, path",
    [
        (SuiteCase("tests.test_ab::m", "passed"), "tests/test_a.py"),
        (SuiteCase("other.test_a::m", "passed"), "tests/test_a.py"),
        (SuiteCase("tests.test_a::m", "passed"), "child/tests"),
        (SuiteCase("tests.test_a::m", "passed"), "test"),
        (SuiteCase("web/ab.ts::adds", "passed"), "web/a"),
        (SuiteCase("tests.test_a::m", "passed", "", "tests/test_b.py"), "tests/test_a.py"),
    ],
)
def test_a_case_does_not_belong_to_a_neighbour(case: SuiteCase, path: str) -> None:
    assert not suite_results.is_case_of_path(case, path)


def test_a_part_is_judged_by_its_own_cases() -> None:
    whole = suite(("a.x::m", "passed"), ("b.x::m", "failed"), ("c.x::m", "passed"), code=1)
    green, red = (
        suite_results.select_cases(whole, ["a", "c/x.py"]),
        suite_results.select_cases(whole, ["b"]),
    )
    assert ([case.id for case in green.cases], green.code) == (["a.x::m", "c.x::m"], 0)
    assert (suite_results.list_failing_ids(red), red.code) == (["b.x::m"], 1)
    assert suite_results.explain_not_green(suite_results.select_cases(whole, ["absent"])) != []
    assert suite_results.select_cases(BROKEN, ["a"]) is BROKEN
    assert suite_results.select_cases(BY_CODE_RED, ["a"]) is BY_CODE_RED


# --- words


def test_a_summary_counts_and_names_the_failures() -> None:
    passed = [SuiteCase(f"a::{n}", "passed") for n in range(12)]
    assert suite_results.describe_suite_run(suite(*passed, code=0)) == "12 passed"
    with_one = suite(*passed, SuiteCase("a::b", "failed", "no"), ("a::s", "skipped"))
    assert suite_results.describe_suite_run(with_one) == "12 passed, 1 failed, 1 skipped: a::b (no)"
    many = suite(*[(f"a::{n}", "error") for n in range(7)])
    assert (
        suite_results.describe_suite_run(many)
        == "7 in error: a::0, a::1, a::2, a::3, a::4 and 2 more"
    )
    assert suite_results.describe_suite_run(suite(code=0)) == "no cases"
    assert (
        suite_results.describe_suite_run(BROKEN)
        == "the suite could not be run: no such command: nose"
    )
    assert suite_results.describe_suite_run(BY_CODE_RED) == (
        "the suite ended with code 2, without a report of its cases"
    )


def test_an_empty_report_of_a_failure_is_no_report() -> None:
    assert suite_results.make_suite_run(4, (), "usage").has_cases is False
    assert suite_results.make_suite_run(0, (), "") == SuiteRun("ran")


@given(st.text())
def test_a_clip_is_one_short_line(text: str) -> None:
    line = suite_results.clip_text(text)
    assert len(line) <= suite_results.MOST_TEXT
    assert line.split() == line.split(" ") or line == ""


def test_a_clip_keeps_more_of_the_end() -> None:
    line = suite_results.clip_text("a" * 1000 + "b" * 1000)
    assert (len(line), line.count("b") > line.count("a") > 100) == (suite_results.MOST_TEXT, True)


# --- laws

RESULTS: st.SearchStrategy[CaseResult] = st.sampled_from(["passed", "failed", "error", "skipped"])
IDS = st.text("ab.:[]/ ", min_size=1, max_size=8)
CASES = st.lists(st.builds(SuiteCase, IDS, RESULTS, st.text(max_size=5)), unique_by=lambda c: c.id)
SUITES = st.one_of(
    st.builds(
        suite_results.make_suite_run,
        st.integers(0, 3),
        CASES.map(tuple) | st.none(),
        st.text(max_size=9),
    ),
    st.builds(lambda report: SuiteRun("broken", report=report), st.text(max_size=9)),
)


@given(SUITES)
def test_a_suite_is_no_regression_of_itself(of: SuiteRun) -> None:
    assert suite_results.list_regressions(of, of) == []


@given(SUITES, SUITES)
def test_a_green_suite_that_has_lost_nothing_stays_green(before: SuiteRun, after: SuiteRun) -> None:
    if (
        suite_results.list_regressions(before, after) == []
        and suite_results.explain_not_green(after) == []
    ):
        passed = {case.id for case in before.cases if case.result == "passed"}
        kept = {case.id for case in after.cases}
        assert before.status == "broken" or not before.has_cases or passed <= kept


@given(SUITES, SUITES)
def test_no_suite_is_red_and_green_at_once(new: SuiteRun, old: SuiteRun) -> None:
    reasons, _ = suite_results.explain_not_red(new, old, [])
    assert reasons or suite_results.explain_not_green(new)


@given(SUITES)
def test_every_case_answers_to_its_own_id(of: SuiteRun) -> None:
    assert all(case in suite_results.find_named_cases(of, case.id) for case in of.cases)
    assert suite_results.list_missing_names(of, [case.id for case in of.cases]) == []


@given(SUITES)
def test_nothing_is_red_when_everything_is_known(of: SuiteRun) -> None:
    known = [case.id for case in of.cases]
    assert suite_results.explain_not_red(of, of, known)[0] or not of.has_cases


@given(SUITES)
def test_a_suite_survives_the_journal(of: SuiteRun) -> None:
    assert convert(to_builtins(of), SuiteRun) == of


def test_paths_with_a_case_that_failed_are_listed() -> None:
    cases = (
        SuiteCase("a/x.py::one", "failed", file="a/x.py"),
        SuiteCase("a/x.py::two", "passed", file="a/x.py"),
        SuiteCase("b/y.py::one", "passed", file="b/y.py"),
    )
    red = SuiteRun("ran", 1, cases)
    assert suite_results.list_failing_paths(red, ["a", "b", "absent", ""]) == ["a"]
    assert suite_results.list_failing_paths(SuiteRun("ran", 0, cases[1:]), ["a", "b"]) == []
    # Of a run that broke nobody knows whose part it was; of an exit code nobody knows more.
    assert suite_results.list_failing_paths(SuiteRun("broken", 1, cases), ["b", ""]) == ["b"]
    assert suite_results.list_failing_paths(BY_CODE_RED, ["a"]) == []
