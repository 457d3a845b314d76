"""What an approval and the end of a run rest on: only what is about files alone is carried over."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


def gated(checks: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    review = {
        "id": "review",
        "verification": {"checks": checks},
        "gate": {"name": "merge-ok", "after": "review"},
    }
    return review, {"id": "publish"}


def results(desk: "Desk") -> list[tuple[str, str, bool]]:
    return [
        (each["effect"].partition("#")[0], each["result"], each.get("reused", False))
        for each in desk.facts("CheckEnded")
    ]


def count_runs(witness: Path) -> int:
    return len(witness.read_text().splitlines()) if witness.exists() else 0


@pytest.mark.req("F-045")
def test_what_changed_outside_between_gate_and_approval_is_seen(
    desk: "Desk", tmp_path: Path
) -> None:
    """T5: the comments of a pull request are no files of the project."""
    comments = tmp_path / "comments"
    comments.write_text("Gemini\nCodex\nClaude\n")
    asks = f"grep -c -e Gemini -e Codex -e Claude {comments} | grep -q 3"
    desk.begin(*gated({"pr_has_3way": asks}), code=3)
    comments.write_text("Gemini\n")
    desk.porch("approve", "1", "merge-ok")
    told = desk.porch("resume", "1", code=3).out
    assert "no file changed since" not in told
    assert results(desk)[:2] == [
        ("review:verification", "passed", False),
        ("review:recheck", "failed", False),
    ]
    assert "publish" not in desk.entered()


@pytest.mark.parametrize(
    "about, is_reused", [({}, False), ({"about": "files"}, True), ({"about": "outside"}, False)]
)
def test_only_a_check_that_says_that_it_is_about_files_is_carried_over_at_an_approval(
    desk: "Desk", tmp_path: Path, about: dict[str, str], is_reused: bool
) -> None:
    """T5"""
    witness = tmp_path / "witness"
    desk.begin(*gated({"look": {"command": f"echo ran >> {witness}", **about}}), code=3)
    assert count_runs(witness) == 1
    desk.porch("approve", "1", "merge-ok")
    told = desk.porch("resume", "1", code=0).out
    assert results(desk)[1] == ("review:recheck", "passed", is_reused)
    assert ("still passed (no file changed since)" in told) is is_reused
    last = [place for place, _, _ in results(desk)[2:]]
    assert last == ([] if about.get("about") == "outside" else ["complete:checks"])
    assert count_runs(witness) == {"files": 1, "outside": 2}.get(about.get("about", ""), 3)


def test_a_check_of_documents_that_git_ignores_is_not_carried_over(desk: "Desk") -> None:
    """No tree has them: "no file changed since" was said of a changed document."""
    desk.write(".gitignore", "codev/projects/\n")
    desk.git("add", ".gitignore")
    desk.git("commit", "-qm", "ignore")
    look = {"command": 'grep -q Risks "$PROJECT_DIR/text.md"', "about": "files", "max_retries": 0}
    write = {"id": "write", "artifact": "text.md", "checks": {"look": look}}
    agents = {"write": [{"write": {"{project_dir}/text.md": "Risks\n"}}]}
    gate = {"name": "go", "next": "publish"}
    desk.begin({**write, "gate": gate}, {"id": "publish"}, agents=agents, code=3)
    desk.write("codev/projects/0001-x/text.md", "nothing\n")
    desk.porch("approve", "1", code=1)
    desk.porch("approve", "1", "--accept-changes")
    told = desk.porch("resume", "1", code=3).out
    assert "no file changed since" not in told
    assert results(desk)[1] == ("write:recheck", "failed", False)


def test_what_porch_compares_by_itself_is_about_files_alone(desk: "Desk") -> None:
    """T5"""
    desk.begin(*gated({"small": {"net_lines_below": 300}}), code=3)
    desk.porch("approve", "1", "merge-ok")
    desk.porch("resume", "1", code=0)
    assert results(desk)[1] == ("review:recheck", "passed", True)
