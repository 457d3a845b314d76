"""Findings in the directory of a plan: what commands write, read, refuse and put away."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from porch.errors import DefinitionError, FailedError, OutsideError, PorchError, UsageError
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.plan.files.plan_location import Plan
from porch.plan.findings import findings_files
from porch.store.where import ProjectPaths

Act = Callable[[], object]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    root, work = tmp_path / "project", tmp_path / "worktree"
    directory = root / ".claude" / "plans" / "feat"
    for each in (directory / "findings", work):
        each.mkdir(parents=True)
    where = ProjectPaths(str(root), str(work), str(root / ".git"), str(root / ".git" / "porch"))
    return Plan(where, "feat", str(directory))


def write(plan: Plan, id_: str = "1", specialist: str = "backend", **given: Any) -> dict[str, Any]:
    words = {"description": "d", **given}
    return dict(
        to_builtins(
            findings_files.write_approach(plan, specialist, parse_prompt_id([id_]), **words)
        )
    )


def text(plan: Plan, name: str = "backend") -> str:
    return (Path(plan.findings_dir) / f"{name}.yaml").read_text()


def code_of(error: pytest.ExceptionInfo[PorchError]) -> str:
    return error.value.findings[0].code


@pytest.mark.req("E-064")
def test_an_approach_is_written_and_read_back(plan: Plan) -> None:
    told = to_builtins(
        write(plan, "2A", context="All.\nOf it.", files="src/a.py, b.py,", questions="Why?| |How?")
    )
    assert told == {
        "specialist": "backend",
        "approach_id": "2_A",
        "approach_number": 2,
        "variant": "A",
        "created": True,
        "updated": False,
    }
    assert text(plan) == (
        "specialist_name: backend\n"
        'notes: ""\n'
        "approaches:\n"
        "- number: 2\n"
        "  variant: A\n"
        "  description: d\n"
        "  relevant_files:\n"
        "  - src/a.py\n"
        "  - b.py\n"
        "  required_clarifying_questions:\n"
        '  - question: "Why?"\n'
        '  - question: "How?"\n'
        "  user_addressed_questions: []\n"
        '  user_requested_changes: ""\n'
        "  approach_detail: |-\n"
        "    All.\n"
        "    Of it.\n"
    )


@pytest.mark.req("E-060")
def test_an_approach_is_told_with_every_key_and_without_what_the_specialist_asked(
    plan: Plan,
) -> None:
    write(plan, "1", questions="Why?")
    approach = {
        "approach_id": "1",
        "number": 1,
        "variant": None,
        "description": "d",
        "relevant_files": [],
        "user_addressed_questions": [],
        "user_requested_changes": "",
        "pending_refinement": "",
        "approach_detail": "",
    }
    assert to_builtins(findings_files.get_approach(plan, "backend", PromptId(1))) == {
        "specialist": "backend",
        "approach_id": "1",
        "approach": approach,
        "approaches": [approach],
    }


@pytest.mark.req("E-060")
def test_a_number_without_a_letter_means_all_its_variants(plan: Plan) -> None:
    write(plan, "1_B")
    alone = to_builtins(findings_files.get_approach(plan, "backend", PromptId(1)))
    assert alone["approach"]["approach_id"] == alone["approach_id"] == "1_B"
    write(plan, "1_A")
    both = to_builtins(findings_files.get_approach(plan, "backend", PromptId(1)))
    assert [each["approach_id"] for each in both["approaches"]] == ["1_A", "1_B"]
    assert (both["approach"], both["approach_id"]) == (None, "1")
    one = to_builtins(findings_files.get_approach(plan, "backend", PromptId(1, "B")))
    assert one["approach"] == one["approaches"][0] == both["approaches"][1]


@pytest.mark.req("E-061")
def test_what_the_user_wants_different_is_told_until_the_approach_is_written_again(
    plan: Plan,
) -> None:
    write(plan, "1", context="old", files="a.py", questions="Why?")
    said = {
        "user_required_changes": "Smaller.",
        "question_answers": [{"question": "Why?", "answer": "yes"}],
    }
    result = findings_files.apply_answers(
        plan, {"thoughts": "", "approach_feedback": {"backend_1": said}}
    )
    assert [str(key) for key in result.affected] == ["backend_1"]
    told = to_builtins(findings_files.get_approach(plan, "backend", PromptId(1)))["approach"]
    assert told["pending_refinement"] == told["user_requested_changes"] == "Smaller."
    assert told["user_addressed_questions"] == [{"question": "Why?", "answer": "yes"}]
    assert write(plan, "1", description="new")["updated"]
    told = to_builtins(findings_files.get_approach(plan, "backend", PromptId(1)))["approach"]
    assert (told["pending_refinement"], told["user_addressed_questions"]) == ("", [])
    assert (told["approach_detail"], told["relevant_files"]) == ("old", ["a.py"])
    assert "required_clarifying_questions: []" in text(plan)


@pytest.mark.req("E-065")
@pytest.mark.parametrize(
    "first, second, code", [("1", "1A", "standalone-exists"), ("1A", "1", "variants-exist")]
)
def test_a_number_is_never_both_alone_and_varied(
    plan: Plan, first: str, second: str, code: str
) -> None:
    write(plan, first)
    before = text(plan)
    with pytest.raises(FailedError) as caught:
        write(plan, second)
    assert code_of(caught) == code
    assert "clear-approach backend 1" in caught.value.findings[0].fix
    assert text(plan) == before


@pytest.mark.req("E-066")
def test_paths_are_stored_as_seen_from_the_project(plan: Plan) -> None:
    where = plan.where
    write(plan, files=f"{where.root}/src/a.py,{where.workspace}/b.py,./c/../d.py,src/a.py")
    told = to_builtins(findings_files.get_approach(plan, "backend", PromptId(1)))["approach"]
    assert told["relevant_files"] == ["src/a.py", "b.py", "d.py"]


@pytest.mark.req("E-066")
@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../../x", ".git/config", "a\nb"])
def test_a_path_outside_the_project_is_refused(plan: Plan, path: str) -> None:
    with pytest.raises(PorchError) as caught:
        write(plan, files=f"a.py,{path}")
    assert code_of(caught) == "bad-path"
    assert not os.listdir(plan.findings_dir)
    listed = [{"number": 1, "description": "d", "relevant_files": [path]}]
    with pytest.raises(DefinitionError) as wrong:
        findings_files.write_finding(plan, "backend", "", json.dumps(listed))
    assert code_of(wrong) == "bad-path"
    assert wrong.value.findings[0].message.startswith("approaches[0]: ")


def test_a_blank_path_in_a_list_is_refused(plan: Plan) -> None:
    listed = [{"number": 1, "description": "d", "relevant_files": [" "]}]
    with pytest.raises(DefinitionError) as caught:
        findings_files.write_finding(plan, "backend", "", json.dumps(listed))
    assert code_of(caught) == "bad-path"


def test_an_approach_needs_a_description(plan: Plan) -> None:
    with pytest.raises(UsageError) as caught:
        write(plan, description=" ")
    assert code_of(caught) == "missing-description"


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x", "_archive", "a.b", "a\n", "x" * 65])
def test_a_specialist_that_is_no_name_is_refused(plan: Plan, name: str) -> None:
    acts: list[Act] = [
        lambda: write(plan, specialist=name),
        lambda: findings_files.write_notes(plan, name, "n"),
        lambda: findings_files.write_finding(plan, name, "", "[]"),
        lambda: findings_files.clear_approach(plan, name, PromptId(1)),
        lambda: findings_files.get_approach(plan, name, PromptId(1)),
    ]
    for act in acts:
        with pytest.raises(UsageError) as caught:
            act()
        assert code_of(caught) == "invalid-specialist"
    assert not os.listdir(plan.findings_dir)


@pytest.mark.req("E-063")
def test_notes_come_with_all_or_alone_and_leave_the_rest(plan: Plan) -> None:
    assert findings_files.write_notes(plan, "backend", "Python 3.11").created
    write(plan)
    told = to_builtins(findings_files.write_notes(plan, "backend", "on"))
    assert told == {"specialist": "backend", "created": False, "updated": True}
    (whole,) = to_builtins(findings_files.get_findings(plan, full=True))["specialists"]
    assert (whole["notes"], len(whole["approaches"])) == ("on", 1)
    findings_files.write_finding(plan, "backend", "all new", "[]")
    (whole,) = to_builtins(findings_files.get_findings(plan, full=True))["specialists"]
    assert (whole["notes"], whole["approaches"]) == ("all new", [])


def test_a_whole_finding_replaces_what_was_said_and_keeps_what_others_wrote(plan: Plan) -> None:
    write(plan, "1", context="old")
    path = Path(plan.findings_dir) / "backend.yaml"
    path.write_text("# mine\nteam: x\n" + path.read_text() + "  owner: ada  # hers\n")
    listed: list[dict[str, Any]] = [
        {"number": 2, "variant": "a", "description": "e", "questions": ["Why?"]},
        {"number": 1, "description": "d2", "context": "new", "relevant_files": ["./x", "x"]},
    ]
    told = to_builtins(findings_files.write_finding(plan, "backend", "n", json.dumps(listed)))
    assert told == {"specialist": "backend", "created": False, "updated": True, "approach_count": 2}
    after = text(plan)
    assert after.startswith("# mine\nteam: x\n")
    assert "  owner: ada  # hers\n- number: 2\n" in after
    assert "old" not in after
    rows = to_builtins(findings_files.get_findings(plan))["approaches"]
    assert [(row["approach_id"], row["description"]) for row in rows] == [("1", "d2"), ("2_A", "e")]
    assert rows[0]["relevant_files"] == ["x"]


def test_clearing_takes_one_or_the_whole_number(plan: Plan) -> None:
    for id_ in ("1A", "1B", "1C", "2"):
        write(plan, id_)
    told = to_builtins(findings_files.clear_approach(plan, "backend", PromptId(1, "B")))
    assert told == {"specialist": "backend", "cleared": ["1_B"], "remaining_count": 3}
    told = to_builtins(findings_files.clear_approach(plan, "backend", PromptId(1)))
    assert told == {"specialist": "backend", "cleared": ["1_A", "1_C"], "remaining_count": 1}
    assert findings_files.clear_approach(plan, "backend", PromptId(2)).remaining_count == 0
    for name in ("backend", "nobody"):
        with pytest.raises(FailedError) as caught:
            findings_files.clear_approach(plan, name, PromptId(2))
        assert code_of(caught) == "not-found"
    assert "backend" in caught.value.findings[0].fix


def test_all_findings_are_told_by_specialist_number_and_letter(plan: Plan) -> None:
    assert to_builtins(findings_files.get_findings(plan)) == {"approaches": [], "specialists": []}
    for name, id_ in (("web", "10"), ("web", "2B"), ("web", "2A"), ("api_1", "1")):
        write(plan, id_, name)
    Path(plan.findings_dir, "no name.yaml").write_text("not ours: [\n")
    told = to_builtins(findings_files.get_findings(plan))
    assert told["specialists"] == []
    rows = [(row["specialist"], row["approach_id"]) for row in told["approaches"]]
    assert rows == [("api_1", "1"), ("web", "2_A"), ("web", "2_B"), ("web", "10")]
    assert list(told["approaches"][0]) == [
        "specialist",
        "approach_id",
        "number",
        "variant",
        "description",
        "relevant_files",
    ]
    full = to_builtins(findings_files.get_findings(plan, full=True))
    assert full["approaches"] == told["approaches"]
    assert [each["specialist"] for each in full["specialists"]] == ["api_1", "web"]
    assert "approach_detail" in full["specialists"][0]["approaches"][0]


def test_a_file_that_cannot_be_read_is_never_written_over(plan: Plan) -> None:
    broken = "notes: mine\napproaches:\n- number: one\n  what: [\n"
    path = Path(plan.findings_dir) / "backend.yaml"
    path.write_text(broken)
    Path(plan.findings_dir, "web.yaml").write_text("- a\n")
    acts: list[Act] = [
        lambda: write(plan),
        lambda: findings_files.write_notes(plan, "backend", "n"),
        lambda: findings_files.write_finding(plan, "backend", "n", "[]"),
        lambda: findings_files.clear_approach(plan, "backend", PromptId(1)),
        lambda: findings_files.get_approach(plan, "backend", PromptId(1)),
    ]
    for act in acts:
        with pytest.raises(DefinitionError) as caught:
            act()
        assert str(caught.value.findings[0].place).startswith(f"{path}:")
        assert path.read_text() == broken
    with pytest.raises(DefinitionError) as caught:
        findings_files.get_findings(plan)
    files = {found.place.file for found in caught.value.findings if found.place}
    assert files == {str(path), str(path.with_name("web.yaml"))}


def test_what_could_not_be_read_again_is_not_written(plan: Plan) -> None:
    write(plan)
    before = text(plan)
    with pytest.raises(DefinitionError) as caught:
        write(plan, context="x" * (1 << 20))
    assert code_of(caught) == "too-large"
    assert text(plan) == before


def test_saying_the_same_again_does_not_touch_the_file(plan: Plan) -> None:
    write(plan)
    path = Path(plan.findings_dir) / "backend.yaml"
    before = path.stat()
    write(plan)
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_an_answer_that_was_cut_short_is_finished(plan: Plan) -> None:
    for name in ("api", "web"):
        write(plan, "1A", name)
        write(plan, "1B", name)
    before = {name: text(plan, name) for name in ("api", "web")}
    feedback = {
        f"{name}_1_{letter}": {
            "rejected": letter == "A",
            "user_required_changes": letter if letter == "B" else "",
        }
        for name in before
        for letter in "AB"
    }
    form = {"approach_feedback": feedback}
    assert findings_files.list_answer_problems(plan, form) == ()
    whole = findings_files.apply_answers(plan, form)
    after = {name: text(plan, name) for name in before}
    # As if the machine had stopped between the two files.
    Path(plan.findings_dir, "web.yaml").write_text(before["web"])
    assert findings_files.apply_answers(plan, form) == whole
    assert findings_files.apply_answers(plan, form) == whole
    assert {name: text(plan, name) for name in before} == after
    assert [str(key) for key in whole.affected] == ["api_1", "web_1"]


@pytest.mark.parametrize(
    "more",
    [
        {"user_required_changes": "Less"},
        {"question_answers": [{"question": "Why?", "answer": "So"}]},
    ],
)
def test_k4_what_is_said_to_a_rejected_approach_is_a_contradiction(
    plan: Plan, more: dict[str, Any]
) -> None:
    write(plan, "1A")
    write(plan, "1B")
    feedback = {"backend_1_A": {"rejected": True, **more}, "backend_1_B": {}}
    wrong = findings_files.list_answer_problems(plan, {"approach_feedback": feedback})
    assert [found.code for found in wrong] == ["contradicting-answer"]
    assert "backend_1_A" in wrong[0].message


def test_feedback_that_cannot_be_taken_is_told_and_none_is_fine(plan: Plan) -> None:
    write(plan)
    wrong: dict[str, Any] = {"approach_feedback": {"backend_9": {}}}
    assert [found.code for found in findings_files.list_answer_problems(plan, wrong)] == [
        "unknown-approach"
    ]
    assert findings_files.list_answer_problems(plan, {"thoughts": "good"}) == ()


def test_archived_findings_never_cover_each_other(plan: Plan) -> None:
    assert findings_files.archive_findings(plan) == []
    home = Path(plan.directory)
    for turn in range(3):
        write(plan, description=f"turn {turn}")
        ending = f"-{turn + 1}" if turn else ""
        assert findings_files.archive_findings(plan) == [f"findings/_archive/backend{ending}.yaml"]
        assert f"turn {turn}" in (home / f"findings/_archive/backend{ending}.yaml").read_text()
    assert findings_files.read_all_findings(plan) == ()


def test_findings_that_cannot_be_put_away_stay_where_they_are(plan: Plan) -> None:
    write(plan)
    Path(plan.findings_dir, "_archive").write_text("in the way")
    with pytest.raises(OutsideError):
        findings_files.archive_findings(plan)
    assert len(findings_files.read_all_findings(plan)) == 1


def test_a_link_in_place_of_findings_is_not_followed(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text("notes: secret\n")
    Path(plan.findings_dir, "backend.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    acts: list[Act] = [lambda: findings_files.read_all_findings(plan), lambda: write(plan)]
    for act in acts:
        with pytest.raises(DefinitionError) as caught:
            act()
        assert code_of(caught) == "unreadable"


@pytest.mark.req("E-059")
def test_the_manifest_is_told_whole_or_for_one_picture(plan: Plan) -> None:
    empty = {"exists": False, "directory": plan.design_dir, "designs": []}
    assert to_builtins(findings_files.read_design_manifest(plan)) == empty
    home = Path(plan.design_dir)
    home.mkdir()
    (home / "manifest.yaml").write_text(
        "designs:\n"
        "- {screenshot_file_name: a.png, description: Login}\n"
        "- {screenshot_file_name: deep/b.png, description: no}\n"
    )
    login = {"file": "a.png", "description": "Login"}
    other = {"file": "deep/b.png", "description": "no"}
    assert to_builtins(findings_files.read_design_manifest(plan)) == {
        "exists": True,
        "directory": plan.design_dir,
        "designs": [login, other],
    }
    assert to_builtins(findings_files.read_design_manifest(plan, "a.png"))["designs"] == [login]
    assert to_builtins(findings_files.read_design_manifest(plan, "b.png"))["designs"] == [other]
    assert to_builtins(findings_files.read_design_manifest(plan, "c.png"))["designs"] == []
    (home / "manifest.yaml").write_text("designs:\n- screenshot_file_name: ../../x.png\n")
    with pytest.raises(DefinitionError) as caught:
        findings_files.read_design_manifest(plan)
    assert code_of(caught) == "bad-path"
