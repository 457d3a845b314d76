"""The lists that people type for most: every run, everything that waits for them."""

import subprocess
import sys
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.show import board
from porch.show.board import text_width
from porch.show.shapes import RunRowShape

AT = "2026-01-19T10:15:00.123Z"


def run_called(title: str, **changes: str) -> RunRowShape:
    row = {"id": "0073", "title": title, "protocol": "spider", "state": "s:draft", "waits": "you"}
    row |= {"waiting": [], "wants_driver": True}  # type: ignore[dict-item]
    covered = {"v": 1, "seq": 1, "length": 1, "sum": "0" * 64}
    return cast("RunRowShape", {**covered, "row": {**row, **changes}, "decisions": []})


def decision(**changes: Any) -> dict[str, Any]:
    option = {"answer": "approved", "meaning": "planning starts", "needs_text": False}
    values = {
        "id": "0073",
        "title": "user-auth",
        "name": "specify_approval",
        "kind": "gate",
        "asked_at": AT,
        "position": "specify:gate#1",
        "question": "Approve?",
        "description": "",
        "options": [{**option, "command": "porch approve 0073 specify_approval"}],
    }
    return {**values, **changes}


def test_each_run_is_a_row_in_aligned_columns() -> None:
    assert board.render_board(
        [run_called("user-auth"), run_called("billing", id="74", waits="")]
    ) == (
        "ID    TITLE      PROTOCOL  STATE    WAITING FOR\n"
        "0073  user-auth  spider    s:draft  you\n"
        "74    billing    spider    s:draft\n"
    )


def test_wide_characters_take_two_columns_and_the_table_stays_aligned() -> None:
    table = board.render_board([run_called("日本語"), run_called("abcdef", id="74")])
    _, wide, plain, _ = table.split("\n")
    assert text_width(wide[: wide.index("spider")]) == plain.index("spider")


def test_a_table_is_as_wide_as_the_terminal() -> None:
    long = run_called("word " * 30, waits="you: specify_approval")
    assert max(map(len, board.render_board([long], 120).split("\n"))) == 120


def test_r11_a_table_fits_forty_columns_and_keeps_what_must_be_typed() -> None:
    waits = "you: specify_approval (not running)"
    run = run_called("Greet people by name", waits=waits, state="specify:gate")
    table = board.render_board([run], 40)
    assert all(len(line) <= 40 for line in table.split("\n"))
    assert "specify:gate" in table
    assert "0073" in table
    assert "PROTOCOL" not in table


def test_where_there_are_no_runs_the_board_says_how_to_start_one() -> None:
    assert 'porch run spider "what you want"' in board.render_board([])


def test_a_long_title_is_shortened_and_nothing_else() -> None:
    last = board.render_board([run_called("word " * 30, waits="you: specify_approval")]).split(
        "\n"
    )[1]
    assert len(last) == board.WIDTH
    assert "word..." in last.replace(" ...", "...")
    assert last.endswith("  spider    s:draft  you: specify_approval")


@given(st.lists(st.text(max_size=120), min_size=3, max_size=3))
def test_a_row_fits_eighty_columns_by_shortening_titles_before_anything_else(
    texts: list[str],
) -> None:
    title, waits, protocol = texts
    table = board.render_board([run_called(title, waits=waits, protocol=protocol)])
    assert all(text_width(line) <= board.WIDTH for line in table.split("\n"))
    assert table.count("\n") == 2
    assert "0073" in table
    assert "s:draft" in table


@pytest.mark.req("F-028")
def test_pending_shows_the_description_and_the_command_of_each_answer() -> None:
    asked = decision(description="Is this the right problem?", artifacts=["spec.md"])
    assert board.render_pending_decisions([asked]) == (
        "0073 user-auth: specify_approval (gate)\n"
        "  waiting since 2026-01-19 10:15:00Z\n"
        "  Approve?\n"
        "  Is this the right problem?\n"
        "  read: spec.md\n"
        "  Approve: planning starts\n"
        "      porch approve 0073 specify_approval\n"
        "\n"
        "A careless agent cannot decide this; a malicious one that runs as you could\n"
        "forge it (see the security model in porch's documentation).\n"
    )


def test_what_only_malice_can_do_is_said_once_and_only_where_a_gate_is_shown() -> None:
    shown = board.render_pending_decisions([decision(), decision()])
    assert shown.count("malicious") == 1
    assert "malicious" not in board.render_pending_decisions([decision(kind="question")])


def test_pending_shows_what_was_found_and_the_end_of_each_report() -> None:
    asked = decision(
        findings=[{"by": "codex", "finding": "vague"}],
        reports={"build": "noise\nE: broken\n"},
        needs_override=True,
    )
    lines = board.render_pending_decisions([asked]).split("\n")
    assert lines[3:6] == [
        "    codex: vague",
        "    build: E: broken",
        "  A check or review failed. To approve anyway, give a reason.",
    ]


def test_pending_shows_the_line_that_says_why_and_not_that_of_make() -> None:
    """T12: the line that was picked was `make: *** [Makefile:8: build] Error 1`."""
    report = "cc a.c\nSyntaxError: invalid syntax\nmake: *** [Makefile:8: build] Error 1\n"
    lines = board.render_pending_decisions([decision(reports={"build": report})]).split("\n")
    assert "    build: SyntaxError: invalid syntax" in lines


def test_t9_pending_shows_a_reason_whole_and_not_only_its_fix() -> None:
    reason = "error[template]: 'x' is undefined\n  --> t.j2:3:1\n  fix: fix the template"
    lines = board.render_pending_decisions([decision(reason=f"plan: {reason}")])
    told = " ".join(lines.split())
    assert "plan: error[template]: 'x' is undefined --> t.j2:3:1 fix: fix the template" in told
    assert board.render_pending_decisions([decision(reports={"report": ""})])


def test_e14_a_report_of_one_line_is_shown_once() -> None:
    """E14"""
    failure = {"checks": [], "attempt": "attempt 1", "claim": "", "denied": []}
    asked = decision(failure=failure, reports={"diagnosis": "no library", "log": "one\nthe end"})
    shown = board.render_pending_decisions([asked])
    assert shown.count("no library") == 1
    assert "      | one\n      | the end" in shown


def test_lines_of_a_reason_stay_lines_each_of_them_wrapped() -> None:
    long = "word " * 20
    asked = decision(reason=f"2_A: short\n\n2_B: {long}\n\x1b[1manswer in a.yaml")
    assert board.render_pending_decisions([asked]).split("\n")[3:7] == [
        "  2_A: short",
        f"  2_B: {'word ' * 13}word",
        f"  {'word ' * 5}word",
        "  [1manswer in a.yaml",
    ]


def test_questions_are_parted_by_an_empty_line_and_none_is_said() -> None:
    asked = decision(kind="question")
    assert board.render_pending_decisions([asked, asked]).count("\n\n") == 1
    assert board.render_pending_decisions([]) == "No decision is waiting for you.\n"


def test_the_hook_names_project_and_gate_and_nothing_else() -> None:
    asked = [
        decision(question="SECRET", description="SECRET", reason="SECRET"),
        decision(kind="question", name="blocked:implement"),
        decision(kind="failure", name="failed:implement", id="0074"),
        decision(kind="undecided", name="specify_undecided"),
        decision(kind="of tomorrow", name="new"),
    ]
    assert board.render_hook_lines(asked) == (
        "Gate pending: 0073 specify_approval\n"
        "Question pending: 0073 blocked:implement\n"
        "Failure pending: 0074 failed:implement\n"
        "Decision pending: 0073 specify_undecided\n"
        "Decision pending: 0073 new\n"
    )


def test_the_hook_is_silent_when_nothing_is_asked() -> None:
    assert board.render_hook_lines([]) == ""


@given(st.text(), st.integers(0, 20))
def test_wrapped_text_keeps_every_word_and_no_control_character(text: str, indent: int) -> None:
    lines = board.wrap_text(text, indent)
    assert " ".join(lines).split() == board.one_line(text).split()
    assert all(line.isprintable() and line.startswith(" " * indent) for line in lines)
    for line in lines:
        assert text_width(line) <= board.WIDTH or " " not in line.strip()


def test_a_short_instant_is_left_as_it_is() -> None:
    assert board.format_moment("soon") == "soon"


@pytest.mark.parametrize("module", ["board", "records.timeline"])
def test_the_quick_views_import_nothing_but_themselves(module: str) -> None:
    code = (
        "import sys; before = set(sys.modules); "
        f"import porch.show.{module}; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    ours = {"board", "place_words", "records", "records.timeline"}
    allowed = {"__future__", "porch", "porch.show", *(f"porch.show.{name}" for name in ours)}
    assert set(done.stdout.split()) <= allowed


@given(st.text("ab éc  \u4e00", max_size=40), st.integers(0, 5), st.integers(-3, 20))
def test_a_line_takes_as_many_words_as_fit_and_at_least_one(
    text: str, indent: int, width: int
) -> None:
    words, lines = text.split(), board.wrap_text(text, indent, width)
    assert [word for line in lines for word in line.split()] == words
    taken = [line[indent:] for line in lines]
    assert all(line[:indent] == " " * indent for line in lines)
    for line, after in pairwise(taken):
        more = f"{line} {after.split()[0]}"
        assert indent + board.text_width(more) > width
    for line in taken:
        assert len(line.split()) == 1 or indent + board.text_width(line) <= width
