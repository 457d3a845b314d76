"""What a careful reader would ask about a plan, before its gate and as a command."""

from pathlib import Path

import pytest

from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.machine.plan.prompt_lifecycle import Prompt
from porch.plan.files import plan_snapshot
from porch.plan.gate_files.form_paths import form_file
from porch.plan.gates import form_answers
from porch.plan.prompts import plan_audit, plan_document, prompt_edits
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.session import plan_session
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.repositories import at_home, make_repository


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProjectPaths:
    at_home(tmp_path / "home", monkeypatch)
    root = make_repository(tmp_path / "repo", {"a.py": "1\n", "b.py": "2\n"}, "feat/x")
    monkeypatch.chdir(root)
    found = places.find_project(str(root))
    plan_document.init_plan(found)
    plan_document.write_plan(found, "T", "o", "c")
    return found


def write(where: ProjectPaths, id_: str, **words: object) -> None:
    given = {"criteria": "green", "context": "All of it.", "depends_on": (), **words}
    prompt_edits.write_prompt(where, parse_prompt_id([id_]), PromptWords(**given))  # type: ignore[arg-type]


def codes(where: ProjectPaths) -> dict[str, list[str]]:
    notes = plan_audit.audit_current_plan(where).notes
    return {note.code: list(note.prompts) for note in notes}


def test_n11_a_plan_in_order_has_nothing_to_ask_about(where: ProjectPaths) -> None:
    write(where, "1", files=["a.py"])
    write(where, "2", files=["a.py"], depends_on=(1,))
    write(where, "3", files=["a.py"], depends_on=(2,))
    write(where, "4A", files=["b.py"])
    write(where, "4B", files=["b.py"])
    assert plan_audit.audit_current_plan(where).clean


def test_n11_what_is_missing_is_named_with_what_would_settle_it(where: ProjectPaths) -> None:
    write(where, "1", files=["a.py", "src/new.py"], criteria="")
    write(where, "3", files=["a.py"], context="")
    assert codes(where) == {
        "no-criteria": ["1"],
        "no-context": ["3"],
        "number-gap": [],
        "shared-files": ["1", "3"],
        "missing-files": ["1"],
    }
    notes = plan_audit.audit_current_plan(where).notes
    assert all(note.suggestion for note in notes)
    assert "1 and 3 may run at once and both name a.py" in [note.message for note in notes]
    assert "numbers without a prompt: 2" in [note.message for note in notes]


def test_n11_dependencies_that_are_gone_or_go_round_are_named(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "2", depends_on=(1,))
    prompt_edits.clear_prompt(where, parse_prompt_id(["1"]), force=True)
    assert codes(where)["unknown-dependency"] == ["2"]
    plan = plan_snapshot.read_current_plan(where).plan
    ring = {parse_prompt_id([n]): Prompt(depends_on=(m,)) for n, m in (("2", 7), ("7", 2))}
    notes = {note.code: note.message for note in plan_audit.audit_plan(plan, ring)}
    assert notes["dependency-cycle"] == "prompts depend on each other: 2 -> 7 -> 2"
    assert "prompt 7 cannot be read" in notes["unreadable"]


def test_n11_the_file_of_the_gate_shows_what_to_check(where: ProjectPaths) -> None:
    for number in range(1, 14):
        write(where, str(number), files=[f"src/{number}.py"])
    with plan_session.hold_plan(where, "") as held:
        form_answers.offer_form(held, "plan", "")
        text = Path(form_file(held.plan, "plan", "")).read_text()
    told = [line for line in text.split("\n") if "to check:" in line]
    assert len(told) == 11
    assert told[0].startswith("#")
    assert "prompt 1 names files that do not exist yet: src/1.py" in told[0]
    assert told[-1].endswith("to check: 3 more: envoy plan audit")
