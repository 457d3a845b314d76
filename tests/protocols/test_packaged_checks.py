"""The shell of the packaged checks, really run: good documents pass, and everything else fails."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, StrictUndefined

PROTOCOLS = Path(__file__).parents[2] / "src" / "porch" / "protocols"
NAMES = ("spider", "change", "tick", "bugfix")


def phases(name: str) -> list[dict[str, Any]]:
    text = (PROTOCOLS / name / "protocol.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text)["phases"]
    return found


def phase(name: str, phase_id: str) -> dict[str, Any]:
    return next(found for found in phases(name) if found["id"] == phase_id)


GOOD = {
    "spec.md": "# T\n## Problem\nx\n## Requirements\nR1\n## Success criteria\nS1\n"
    "## Out of scope\n-\n## Open questions\nNone\n",
    "plan.md": "# T\n## Approach\nx\n## Implementation Phases\n### Phase 1: Schema\n**Done when**\n"
    "- x\n### Phase 2: API\n**Done when**\n- y\n## Risks\nnone\n",
    "review.md": "# T\n## Summary\nx\n## Success criteria\nx\n## Deviations\nNone\n## Lessons\nx\n",
    "amendment.md": "# T\n## Change\nx\n## Why\nx\n## Affected\nx\n## Done when\n- x\n",
    "diagnosis.md": "# T\n## Symptom\nx\n## Reproduction\nx\n## Root cause\nx\n## Fix\nx\n",
    "pr.md": "# Stop losing rows\n\nFixes #142\n",
}
WITH_ARTIFACT = [
    (name, found["id"], key)
    for name in NAMES
    for found in phases(name)
    if "artifact" in found
    for key, check in found["checks"].items()
    if "command" in check and not key.endswith("_amended")
]


def run_check(
    name: str, phase_id: str, key: str, where: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    command = phase(name, phase_id)["checks"][key]["command"]
    given = {"PROJECT_ID": "142", "PROJECT_TITLE": "a 'quoted' title", "PROJECT_DIR": "codev/p q"}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=where,
        env={"PATH": os.environ["PATH"], "HOME": str(where), "LC_ALL": "C"} | given | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def artifact_of(name: str, phase_id: str, where: Path) -> Path:
    path = where / "codev" / "p q" / str(phase(name, phase_id)["artifact"])
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize("name, phase_id, key", WITH_ARTIFACT)
def test_a_structure_check_passes_a_good_document(
    name: str, phase_id: str, key: str, tmp_path: Path
) -> None:
    path = artifact_of(name, phase_id, tmp_path)
    path.write_text(GOOD[path.name])
    result = run_check(name, phase_id, key, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("content", [None, ""], ids=["missing", "empty"])
@pytest.mark.parametrize("name, phase_id, key", WITH_ARTIFACT)
def test_a_structure_check_fails_without_a_document(
    name: str, phase_id: str, key: str, content: str | None, tmp_path: Path
) -> None:
    path = artifact_of(name, phase_id, tmp_path)
    if content is not None:
        path.write_text(content)
    assert run_check(name, phase_id, key, tmp_path).returncode != 0


@pytest.mark.parametrize("name, phase_id", sorted({row[:2] for row in WITH_ARTIFACT}))
def test_an_untouched_template_is_refused_and_its_gaps_are_listed(
    name: str, phase_id: str, tmp_path: Path
) -> None:
    path = artifact_of(name, phase_id, tmp_path)
    template = PROTOCOLS / name / "templates" / path.name
    fresh = Environment(undefined=StrictUndefined).from_string(template.read_text("utf-8"))
    path.write_text(fresh.render(title="T", project_id="142"))
    keys = phase(name, phase_id)["checks"]
    (filled,) = [key for key in keys if key.endswith("_filled_in")]
    result = run_check(name, phase_id, filled, tmp_path)
    assert result.returncode != 0
    assert "[FILL IN" in result.stdout
    for key in (key for key in keys if key.endswith("_sections")):
        assert run_check(name, phase_id, key, tmp_path).returncode == 0


@pytest.mark.parametrize(
    "name, phase_id, key", [row for row in WITH_ARTIFACT if row[2].endswith("_sections")]
)
def test_every_missing_section_is_named(name: str, phase_id: str, key: str, tmp_path: Path) -> None:
    path = artifact_of(name, phase_id, tmp_path)
    sections = re.findall(r"^## (.+)$", GOOD[path.name], re.MULTILINE)
    path.write_text("# T\n" + "".join(f"{section}\n" for section in sections))
    result = run_check(name, phase_id, key, tmp_path)
    assert result.returncode == 1
    assert set(re.findall(r"'## (.+)'", result.stdout)) == set(sections)


@pytest.mark.parametrize(
    "plan, complaint",
    [
        ("## Implementation Phases\nAll at once.\n", "no heading"),
        ("```\n### Phase 1: Example\n**Done when**\n```\n", "no heading"),
        ("### Phase one: Schema\n**Done when**\n", "no heading"),
        ("### Phase 1: A\nx\n### Phase 2: B\n**Done when**\n", "Phase 1: A"),
        ("### Phase 1: A\n**Done when**\n### Phase 2: B\nx\n", "Phase 2: B"),
    ],
)
def test_a_plan_whose_phases_cannot_be_read_or_judged_is_refused(
    plan: str, complaint: str, tmp_path: Path
) -> None:
    artifact_of("spider", "plan", tmp_path).write_text(plan)
    result = run_check("spider", "plan", "plan_phases", tmp_path)
    assert result.returncode == 1
    assert complaint in result.stdout


@pytest.mark.parametrize("key", ["spec_amended", "plan_amended"])
def test_an_amendment_must_stand_in_the_existing_documents(key: str, tmp_path: Path) -> None:
    title = "a 'quoted' title"
    document = (
        tmp_path / "codev" / "projects" / "142-user auth" / f"{key.removesuffix('_amended')}.md"
    )
    document.parent.mkdir(parents=True)
    # A specification must be there to be amended; a project may have no plan.
    without = 1 if key == "spec_amended" else 0
    assert run_check("tick", "understand", key, tmp_path).returncode == without
    document.write_text(f"# T\n\n### {title}\n")
    assert run_check("tick", "understand", key, tmp_path).returncode == 1
    document.write_text("# T\n\n## Amendments\n\n### something else\n")
    assert run_check("tick", "understand", key, tmp_path).returncode == 1
    document.write_text(f"# T\n\n## Amendments\n\n### {title}\n")
    assert run_check("tick", "understand", key, tmp_path).returncode == 0
    assert run_check("tick", "understand", key, tmp_path, PROJECT_TITLE="").returncode == 1


def test_an_issue_is_named_only_by_its_whole_number(tmp_path: Path) -> None:
    path = artifact_of("bugfix", "pr", tmp_path)
    path.write_text("# Title\n\nFixes #1420\n")
    assert run_check("bugfix", "pr", "pr_issue", tmp_path).returncode == 1


def test_a_pull_request_begins_with_its_title(tmp_path: Path) -> None:
    artifact_of("bugfix", "pr", tmp_path).write_text("Fixes #142\n\n# Title\n")
    assert run_check("bugfix", "pr", "pr_title", tmp_path).returncode == 1


def git(where: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = ["git", *identity, *arguments]
    done = subprocess.run(
        command, cwd=where, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_every_command_line_says_that_it_is_about_files_alone() -> None:
    """Each of them only reads documents of the run, so what passed is not run again in vain."""
    checks = [
        (name, key, check.get("about"))
        for name in NAMES
        for found in phases(name)
        for key, check in found.get("checks", {}).items()
        if "command" in check
    ]
    assert len(checks) > 10
    assert [each for each in checks if each[2] not in ("files", "form")] == []
