"""Files that a protocol names with variables and wildcards are found where they lie."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Said

PLAN = "# Plan\n\n### Phase 1: First\n\n- do it\n\n### Phase 2: Second\n\n- do the rest\n"


def begin(desk: "Desk", *phases: dict[str, Any], code: int = 3, **parts: Any) -> "Said":
    desk.protocol("p", *phases)
    script = desk.script(**parts)
    return desk.porch(
        "run", "p", "0001", "--title", "user auth", "--here", "--script", script, code=code
    )


def asked_files(desk: "Desk") -> list[str]:
    (decision,) = json.loads(desk.porch("pending", "--json").out)["decisions"]
    files: list[str] = decision["artifacts"]
    return files


def phase(artifact: str, **more: Any) -> dict[str, Any]:
    return {"id": "design", "artifact": artifact, "gate": {"name": "look"}, **more}


@pytest.mark.parametrize(
    "artifact",
    [
        "codev/specs/${PROJECT_TITLE}.md",
        "codev/specs/$PROJECT_TITLE.md",
        "codev/specs/{{title}}.md",
        "./codev/specs/user-*.md",
        "codev/**/user-auth.md",
        "codev/{plans,specs}/*.{txt,md}",
    ],
)
def test_a_gate_is_about_the_file_that_a_pattern_finds(desk: "Desk", artifact: str) -> None:
    written = {"codev/specs/user-auth.md": "# Auth\n"}
    begin(desk, phase(artifact), agents={"design": [{"write": written}]})
    assert asked_files(desk) == ["codev/specs/user-auth.md"]
    assert not list(desk.root.rglob("*{*"))


def test_a_pattern_in_the_project_directory_stays_there(desk: "Desk") -> None:
    written = {"{project_dir}/notes-1.md": "one\n", "notes-2.md": "not this one\n"}
    begin(desk, phase("notes-*.md"), agents={"design": [{"write": written}]})
    assert asked_files(desk) == ["codev/projects/0001-user-auth/notes-1.md"]


def test_what_was_approved_of_a_pattern_is_compared_later(desk: "Desk") -> None:
    """Q2: the real spec changed after its approval without a word."""
    spec = "codev/specs/user-auth.md"
    agents = {
        "design": [{"write": {spec: "# Auth\n"}}],
        "build": [{"append": {spec: "and a back door\n"}}],
    }
    begin(
        desk,
        phase("codev/specs/${PROJECT_TITLE}.md"),
        {"id": "build"},
        {"id": "last"},
        agents=agents,
    )
    desk.porch("approve", "1", "look")
    said = desk.porch("resume", "1", code=3)
    assert f"changed since look was approved: {spec}" in said.out


def test_a_pattern_that_no_file_fits_is_missing_under_its_name(desk: "Desk") -> None:
    begin(
        desk,
        {"id": "think"},
        {"id": "design", "gate": {"name": "look", "artifacts": ["codev/specs/${PROJECT_ID}-*.md"]}},
        agents={"*": [{"say": "Nothing was written."}]},
    )
    (asked,) = desk.facts("DecisionAsked", "0001-user-auth")
    assert asked["artifacts"] == {"codev/specs/0001-*.md": "missing"}


def test_a_file_that_comes_after_the_question_is_what_is_looked_at(tmp_path: Path) -> None:
    from porch.run.engine.artifacts import hash_artifacts

    asked = {"codev/specs/0001-*.md": "missing"}
    assert hash_artifacts(str(tmp_path), "", asked) == asked
    (tmp_path / "codev/specs").mkdir(parents=True)
    (tmp_path / "codev/specs/0001-late.md").write_text("# Late\n")
    assert list(hash_artifacts(str(tmp_path), "", asked)) == ["codev/specs/0001-late.md"]


def test_documents_in_the_layout_of_the_format_are_found_without_being_named(
    desk: "Desk",
) -> None:
    """Q3: after both gates the plan was looked for in codev/projects."""
    agents = {
        "specify": [{"write": {"codev/specs/0001-user-auth.md": "# Auth\n"}}],
        "plan": [{"write": {"codev/plans/0001-user-auth.md": PLAN}}],
    }
    begin(
        desk,
        {"id": "specify", "prompt": "specify.md", "gate": "spec-approval"},
        {"id": "plan", "prompt": "plan.md", "gate": "plan-approval"},
        {"id": "build", "type": "per_plan_phase"},
        agents=agents,
    )
    assert asked_files(desk) == ["codev/specs/0001-user-auth.md"]
    desk.porch("approve", "1", "spec-approval")
    desk.porch("resume", "1", code=3)
    assert asked_files(desk) == ["codev/plans/0001-user-auth.md"]
    desk.porch("approve", "1", "plan-approval")
    desk.porch("resume", "1")
    entered = desk.entered("0001-user-auth")
    assert [name for name in entered if name.startswith("build:")] == [
        "build:phase_1",
        "build:phase_2",
    ]


def test_a_plan_that_a_pattern_names_is_the_list_of_the_loop(desk: "Desk") -> None:
    begin(
        desk,
        {"id": "plan", "artifact": "codev/plans/${PROJECT_TITLE}.md", "gate": "plan-approval"},
        {"id": "build", "type": "per_plan_phase"},
        agents={"plan": [{"write": {"codev/plans/user-auth.md": PLAN}}]},
    )
    desk.porch("approve", "1", "plan-approval")
    desk.porch("resume", "1")
    assert len([n for n in desk.entered("0001-user-auth") if n.startswith("build:")]) == 2


def test_the_text_of_a_phase_without_a_prompt_names_the_file_to_write(desk: "Desk") -> None:
    check = {"there": "test -f codev/specs/${PROJECT_ID}-*.md"}
    begin(desk, {"id": "specify", "checks": check}, {"id": "plan"}, code=0)
    first, second = desk.prompts("0001-user-auth")
    assert "`codev/specs/0001-user-auth.md`" in first
    assert "`codev/plans/0001-user-auth.md`" in second
    assert (desk.root / "codev/specs/0001-user-auth.md").exists()


def test_a_prompt_that_does_not_name_the_file_of_its_phase_is_followed_by_it(desk: "Desk") -> None:
    """Q3: the agent was asked for a document, and nobody said where it belongs."""
    asked = {"prompt": "own.md", "checks": {"there": "test -f codev/specs/${PROJECT_ID}-*.md"}}
    begin(desk, phase("codev/specs/${PROJECT_ID}-*.md", **asked))
    (prompt,) = desk.prompts("0001-user-auth")
    assert "Do the work." in prompt
    assert "- `codev/specs/0001-user-auth.md`" in prompt


def test_a_title_never_leads_a_pattern_elsewhere(tmp_path: Path) -> None:
    from porch.machine.state import Run
    from porch.run.engine.artifacts import list_artifact_paths, name_artifact_file

    run = Run(id="1", title="../../../etc/*", project_dir="codev/projects/1-x")
    names = ("/codev/specs/${PROJECT_TITLE}.md", "/codev/specs/*-${PROJECT_TITLE}.md")
    (tmp_path / "codev/specs").mkdir(parents=True)
    (tmp_path / "codev/specs/a.md").write_text("a\n")
    for path in (
        *list_artifact_paths(str(tmp_path), run, names),
        *(name_artifact_file(str(tmp_path), run, name) for name in names),
    ):
        assert path.startswith("codev/specs/")
        assert path != "codev/specs/a.md"
        assert path.count("/") == 2


def test_a_linked_directory_is_not_searched(tmp_path: Path) -> None:
    from porch.machine.state import Run
    from porch.run.engine.artifacts import hash_artifacts, list_artifact_paths

    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "1-secret.md").write_text("secret\n")
    work = tmp_path / "work"
    (work / "codev").mkdir(parents=True)
    (work / "codev/specs").symlink_to(outside)
    run = Run(id="1", title="x", project_dir="codev/projects/1-x")
    found = list_artifact_paths(str(work), run, ("/codev/specs/${PROJECT_ID}-*.md",))
    assert found == ["codev/specs/1-*.md"]
    assert list(hash_artifacts(str(work), "", found).values()) != [""]
    assert not list_artifact_paths(str(work), run, ("/codev/**/${PROJECT_ID}-*.md|",))


@pytest.mark.parametrize(
    "artifact, code, fix",
    [
        ("codev/specs/${PROJECT_TITEL}.md", "unknown-variable", "did you mean 'PROJECT_TITLE'?"),
        ("../specs/${PROJECT_ID}.md", "outside-path", "relative to the project"),
        ("codev/specs/[0-9]*.md", "wrong-value", "codev/specs/${PROJECT_ID}-*.md"),
        ("codev/{specs/a,b}.md", "wrong-value", "codev/specs/${PROJECT_ID}-*.md"),
        ("codev/specs/", "it ends in a slash", "codev/specs/${PROJECT_ID}-*.md"),
    ],
)
def test_a_name_that_means_no_file_is_refused_with_its_place(
    desk: "Desk", artifact: str, code: str, fix: str
) -> None:
    desk.protocol("p", phase(artifact))
    said = desk.porch("protocols", "lint", "p", code=2).all
    for part in (code, fix, "protocol.json:"):
        assert part in said
