"""Reports of a real pytest, and reports that somebody wrote to do harm."""

import os
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.tree.suites import junit, suite_results
from porch.tree.suites.suite_results import SuiteCase, SuiteRun

MODULE = """
    import pytest

    def test_holds(): pass
    def test_breaks(): assert 1 == 2, "one is not two"

    @pytest.mark.skip(reason="not today")
    def test_waits(): pass

    @pytest.mark.xfail
    def test_is_expected_to_fail(): assert 0

    @pytest.fixture
    def broken(): raise ValueError("no world")

    def test_has_no_world(broken): pass

    @pytest.fixture
    def untidy():
        yield
        raise ValueError("left over")

    def test_breaks_twice(untidy): assert 0

    class TestShapes:
        @pytest.mark.parametrize("shape", ["round", "a::b"])
        def test_fits(self, shape): pass
"""


def run_pytest(place: Path, *words: str) -> SuiteRun:
    report = place / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += [f"--rootdir={place}", f"--junitxml={report}", *words]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=place, env=alone, capture_output=True, text=True, check=False
    )
    return suite_results.make_suite_run(
        done.returncode, junit.read_junit_report(str(report), str(place)), done.stdout
    )


def write(place: Path, name: str, text: str) -> None:
    file = place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text))


def read(place: Path, text: str | bytes) -> tuple[SuiteCase, ...] | None:
    file = place / "hand.xml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return junit.read_junit_report(str(file))


def one(place: Path, text: str | bytes) -> SuiteCase:
    cases = read(place, text)
    assert cases is not None
    (case,) = cases
    return case


def test_a_real_report_gives_every_case_its_result(tmp_path: Path) -> None:
    write(tmp_path, "tests/test_a.py", MODULE)
    suite = run_pytest(tmp_path)
    assert {case.id: case.result for case in suite.cases} == {
        "tests.test_a::test_holds": "passed",
        "tests.test_a::test_breaks": "failed",
        "tests.test_a::test_waits": "skipped",
        "tests.test_a::test_is_expected_to_fail": "skipped",
        "tests.test_a::test_has_no_world": "error",
        "tests.test_a::test_breaks_twice": "failed",
        "tests.test_a::test_breaks_twice[2]": "error",
        "tests.test_a.TestShapes::test_fits[round]": "passed",
        "tests.test_a.TestShapes::test_fits[a::b]": "passed",
    }
    texts = {case.id.rpartition("::")[2]: case.text for case in suite.cases}
    assert texts["test_breaks"] == "AssertionError: one is not two assert 1 == 2"
    assert "no world" in texts["test_has_no_world"]
    assert len(suite_results.find_named_cases(suite, "tests/test_a.py::TestShapes::test_fits")) == 2
    assert all(suite_results.is_case_of_path(case, "tests/test_a.py") for case in suite.cases)


@pytest.mark.req("V-044")
def test_a_missing_module_is_red_and_a_syntax_error_is_not(tmp_path: Path) -> None:
    write(tmp_path, "test_old.py", "def test_old(): pass")
    old = run_pytest(tmp_path)
    known = [case.id for case in old.cases]
    write(tmp_path, "sub/test_new.py", "from engine import start\ndef test_it(): start()")
    reasons, notes = suite_results.explain_not_red(run_pytest(tmp_path), old, known)
    assert reasons == []
    assert notes == ["older tests did not run because of the build error: test_old::test_old"]
    write(tmp_path, "sub/test_new.py", "def test_it(:")
    reasons, _ = suite_results.explain_not_red(run_pytest(tmp_path), old, known)
    (reason,) = reasons
    assert reason.startswith("sub.test_new could not be built")
    assert "SyntaxError" in reason


@pytest.mark.req("V-044")
@pytest.mark.parametrize("line", ["from json import nothing", "import json; json.nothing"])
def test_a_missing_symbol_is_red_whatever_else_is_collected(tmp_path: Path, line: str) -> None:
    write(tmp_path, "test_new.py", line)
    write(tmp_path, "test_old.py", "def test_old(): pass")
    old = run_pytest(tmp_path, "test_old.py")
    for words in ([], ["--continue-on-collection-errors", "-o", "junit_family=xunit1"]):
        new = run_pytest(tmp_path, *words)
        assert suite_results.explain_not_red(new, old, ["test_old::test_old"])[0] == []


def test_a_suite_that_cannot_start_is_known_by_its_exit_code(tmp_path: Path) -> None:
    suite = run_pytest(tmp_path, "absent.py")
    assert (suite.has_cases, suite.code) == (False, 4)
    assert suite_results.explain_not_green(suite)


def test_a_mended_suite_shows_no_regression(tmp_path: Path) -> None:
    write(tmp_path, "test_a.py", "def test_a(): pass\ndef test_b(): assert 0")
    before = run_pytest(tmp_path)
    write(tmp_path, "test_a.py", "def test_a(): pass\ndef test_b(): assert 1")
    after = run_pytest(tmp_path)
    assert suite_results.list_regressions(before, after) == []
    assert suite_results.explain_not_green(after, ["test_b", "test_a.py::test_a"]) == []
    assert suite_results.list_regressions(after, before) == [
        "test_a::test_b passed before and now fails"
    ]


def test_suites_may_be_nested_and_lend_their_file(tmp_path: Path) -> None:
    text = """<testsuites><testsuite name="all" file="web/a.js"><properties/>
      <testsuite name="inner"><testcase name="adds"/></testsuite>
      <testcase name="takes" file="web/b.js"/><testcase classname="K" name="c"/>
    </testsuite><testsuite><testcase name="alone"/></testsuite></testsuites>"""
    cases = read(tmp_path, text) or ()
    assert [(case.id, case.file) for case in cases] == [
        ("web/a.js::adds", "web/a.js"),
        ("web/b.js::takes", "web/b.js"),
        ("K::c", "web/a.js"),
        ("alone", ""),
    ]


def test_the_worst_verdict_of_a_case_stands(tmp_path: Path) -> None:
    text = """<testsuite><testcase name="a"><skipped/><error message="e">why</error>
      <failure message="f"/><system-out>noise</system-out></testcase></testsuite>"""
    assert one(tmp_path, text) == SuiteCase("a", "error", "e: why")


def test_a_verdict_on_a_whole_suite_is_a_case(tmp_path: Path) -> None:
    text = '<testsuite name="s" file="f.go"><error type="panic"/></testsuite>'
    assert one(tmp_path, text) == SuiteCase("s", "error", "panic", "f.go")


def test_what_stands_inside_a_verdict_is_its_text(tmp_path: Path) -> None:
    text = """<testsuite><testcase name="a"><failure>x<testcase name="b"/><error>y</error>z
      </failure></testcase></testsuite>"""
    assert one(tmp_path, text) == SuiteCase("a", "failed", "xyz")


def test_a_disabled_case_did_not_pass(tmp_path: Path) -> None:
    assert one(
        tmp_path, '<testsuite><testcase name="a" status="notrun"/></testsuite>'
    ) == SuiteCase("a", "skipped")


def test_a_longer_message_is_not_said_twice(tmp_path: Path) -> None:
    text = (
        '<testsuite><testcase name="a"><failure message="a b c">b</failure></testcase></testsuite>'
    )
    assert one(tmp_path, text).text == "a b c"


def test_escapes_and_line_ends_do_not_reach_the_reader(tmp_path: Path) -> None:
    text = """<testsuite><testcase name="a&#10;b\u202e"><failure message="red"
      >\u009b31mx&#27;&#x0;\x1b y</failure></testcase></testsuite>"""
    case = one(tmp_path, text)
    assert (case.id, case.text) == ("a b", "red: ?31mx??? y")


def test_a_long_text_keeps_its_ends(tmp_path: Path) -> None:
    body = "first " + "x" * 5000 + " last"
    text = f'<testsuite><testcase name="a"><error>{body}</error></testcase></testsuite>'
    said = one(tmp_path, text).text
    assert len(said) == suite_results.MOST_TEXT
    assert said.startswith("first")
    assert said.endswith("last")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252", "gbk"]
)
def test_a_report_is_read_in_the_encoding_it_claims(tmp_path: Path, encoding: str) -> None:
    name = "\u4e2d" if encoding == "gbk" else "\u00e9"
    text = f'<?xml version="1.0" encoding="{encoding}"?><testsuite><testcase name="{name}"/>'
    assert one(tmp_path, (text + "</testsuite>").encode(encoding)).id == name


@pytest.mark.parametrize("encoding", ["punycode", "unicode_escape", "nonsense", "zip", "utf-7"])
def test_an_odd_encoding_and_bad_bytes_cost_only_letters(tmp_path: Path, encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'.encode()
    case = one(tmp_path, head + b'<testsuite><testcase name="a\xff\x00"/></testsuite>')
    assert case.id == "a\ufffd?"


ENTITIES = '<!DOCTYPE testsuite [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not xml",
        "<testsuite>",
        "<html/>",
        '<testsuite><testcase name="a"/></testsuite><x/>',
        ENTITIES + '<testsuite><testcase name="&b;"/></testsuite>',
        '<!DOCTYPE testsuite SYSTEM "other.dtd"><testsuite><testcase name="a"/></testsuite>',
        '<testsuite><testcase name="&unknown;"/></testsuite>',
        "<testsuite>" + '<testcase name="a">' * 2 + "</testcase>" * 2 + "</testsuite>",
        "<testsuite>" * 200_000,
        "<testsuite>" * 101 + "</testsuite>" * 101,
        "<testsuite>&#9999999;&#99999999999;</testsuite>",
    ],
    ids=range(12),
)
def test_what_is_no_plain_report_is_not_read(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) is None


def test_an_external_entity_is_never_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    head = f'<!DOCTYPE t [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    text = '<testsuite><testcase name="a"><error>&s;</error></testcase></testsuite>'
    assert read(tmp_path, head + text) is None


def test_depth_is_allowed_up_to_its_limit(tmp_path: Path) -> None:
    deep = junit.MOST_DEPTH - 1
    text = "<testsuite>" * deep + '<testcase name="a"/>' + "</testsuite>" * deep
    assert one(tmp_path, text) == SuiteCase("a", "passed")


def test_too_many_cases_are_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MOST_CASES", 3)
    for count, is_read in ((3, True), (4, False)):
        text = f"<testsuite>{'<testcase/>' * count}</testsuite>"
        assert (read(tmp_path, text) is not None) is is_read


def test_too_large_a_file_is_no_report(tmp_path: Path) -> None:
    file = tmp_path / "large.xml"
    file.write_text("<testsuite/>")
    assert junit.read_junit_report(str(file)) == ()
    os.truncate(file, junit.MOST_BYTES + 1)
    assert junit.read_junit_report(str(file)) is None


@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", ["\u0090", "&#144;", "\u202e", "E \n", "a "])
def test_a_large_hostile_text_is_read_in_its_stride(tmp_path: Path, piece: str) -> None:
    body = piece * (2_000_000 // len(piece))
    text = f'<testsuite><testcase name="a"><error>{body}</error></testcase></testsuite>'
    assert one(tmp_path, text).result == "error"


@pytest.mark.timeout(10)
def test_what_is_no_file_is_no_report(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    for name in ("pipe", "endless", "absent", ".", "a\0b"):
        assert junit.read_junit_report(str(tmp_path / name)) is None


def test_two_worktrees_give_the_same_ids(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        place = tmp_path / name
        (place / "real").mkdir(parents=True)
        (place / "link").symlink_to(place / "real")
        file = place / "report.xml"
        paths = [place / "real" / "a.js", place / "link" / "b.js"]
        cases = "".join(f'<testcase file="{path}" name="n"/>' for path in paths)
        file.write_text(f"<testsuite>{cases}</testsuite>")
        found.append(junit.read_junit_report(str(file), str(place / "link")))
    assert found[0] == found[1]
    assert [case.id for case in found[0] or ()] == ["a.js::n", "b.js::n"]


def test_the_root_of_the_disk_makes_nothing_relative(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    file.write_text('<testsuite><testcase file="/a/b.js" name="n"/></testsuite>')
    assert [case.id for case in junit.read_junit_report(str(file), "/") or ()] == ["/a/b.js::n"]


@given(st.lists(st.sampled_from(["a", "a[2]", "a[3]", "a[2][2]", "b"]), max_size=12))
def test_ids_are_unique_and_the_first_of_each_keeps_its_own(names: list[str]) -> None:
    numbered = [
        case.id
        for case in junit._number_repeated_ids([SuiteCase(name, "passed") for name in names])
    ]
    assert max(Counter(numbered).values(), default=1) == 1
    assert all(new.startswith(name) for new, name in zip(numbered, names, strict=True))
    assert all(numbered[names.index(name)] == name for name in names)
