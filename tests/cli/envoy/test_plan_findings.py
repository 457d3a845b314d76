"""`envoy plan` as a specialist types it, in a real repository."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.cli.dispatch import run_words as run_command

Told = dict[str, Any]
Envoy = Callable[..., Told]
HOME = Path(".claude/plans/feat~x")


def git(root: Path, *words: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *names, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "repo"
    home.mkdir()
    git(home, "init", "-q", "-b", "feat/x")
    git(home, "commit", "-q", "--allow-empty", "-m", "first")
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def envoy(root: Path, capsys: pytest.CaptureFixture[str]) -> Envoy:
    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        left = run_command("envoy", ["plan", *words])
        told: Told = json.loads(capsys.readouterr().out)
        assert left == code, told
        assert told["status"] == ("error" if code else "success")
        answer: Told = told["error"] if code else told["data"]
        return answer

    return type_


@pytest.mark.req("E-060", "E-063", "E-064")
def test_a_specialist_follows_discovery(root: Path, envoy: Envoy) -> None:
    told = envoy("write-notes", "backend", "--notes", "Only SQLite", "--agent", "backend")
    assert told == {"specialist": "backend", "created": True, "updated": False, "notes": []}
    words = ("--description", "cache", "--context", "All of it", "--files", f"a.py,{root}/b.py")
    told = envoy("write-approach", "backend", "1", *words, "--variant", "b", "--questions", "A?|B?")
    assert (told["approach_id"], told["variant"], told["created"]) == ("1_B", "B", True)
    envoy("write-approach", "backend", "1_A", *words)
    told = envoy("get-finding-approach", "backend", "1")
    assert [each["approach_id"] for each in told["approaches"]] == ["1_A", "1_B"]
    told = envoy("get-finding-approach", "backend", "1", "b")
    assert told["approach"]["relevant_files"] == ["a.py", "b.py"]
    assert told["approach"]["approach_detail"] == "All of it"
    assert len(envoy("get-findings")["approaches"]) == 2
    assert envoy("get-findings", "--full")["specialists"][0]["notes"] == "Only SQLite"
    assert envoy("clear-approach", "backend", "1", "A")["cleared"] == ["1_A"]
    assert (root / HOME / "findings/backend.yaml").read_text().count("number: 1") == 1
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, check=True, capture_output=True, text=True
    )
    assert status.stdout == ""


@pytest.mark.req("E-065", "E-066")
def test_what_is_refused_is_told_with_a_way_out_and_leaves_the_file(
    root: Path, envoy: Envoy
) -> None:
    envoy("write-finding", "web", "--approaches", '[{"number": 1, "description": "d"}]')
    before = (root / HOME / "findings/web.yaml").read_bytes()
    refused: list[tuple[tuple[str, ...], str, int]] = [
        (
            ("write-approach", "web", "1", "--variant", "A", "--description", "d"),
            "standalone_exists",
            1,
        ),
        (("write-approach", "web", "0", "--description", "d"), "invalid_number", 2),
        (
            ("write-approach", "web", "2", "--variant", "AB", "--description", "d"),
            "invalid_variant",
            2,
        ),
        (("write-approach", "web", "2"), "missing_description", 2),
        (("write-approach", "web", "2", "--description", "d", "--files", "/etc/x"), "bad_path", 2),
        (("write-approach", "../web", "2", "--description", "d"), "invalid_specialist", 2),
        (("write-notes", "web", "--notes", " "), "empty_content", 2),
        (("write-finding", "web", "--approaches", "{"), "invalid_json", 2),
        (("write-finding", "web", "--approaches", '[{"number": 1}]'), "missing_key", 2),
        (("clear-approach", "web", "7"), "not_found", 1),
        (("get-finding-approach", "web", "1", "A"), "not_found", 1),
        (("get-finding-approach", "nobody", "1"), "not_found", 1),
    ]
    for words, type_, code in refused:
        error = envoy(*words, code=code)
        assert error["type"] == type_, words
        assert error["message"]
        assert error["suggestion"], words
    assert (root / HOME / "findings/web.yaml").read_bytes() == before


@pytest.mark.req("E-059")
def test_the_designs_of_the_plan_are_told(root: Path, envoy: Envoy) -> None:
    assert envoy("read-design-manifest", code=1)["type"] == "no_plan"
    envoy("write-notes", "web", "--notes", "n")
    assert envoy("read-design-manifest")["exists"] is False
    (root / HOME / "design/manifest.yaml").write_text(
        "designs:\n"
        "- {screenshot_file_name: a.png, description: A}\n"
        "- {screenshot_file_name: b.png}\n"
    )
    told = envoy("read-design-manifest", "a.png", "--agent", "web")
    assert told["designs"] == [{"file": "a.png", "description": "A"}]
    (root / HOME / "design/manifest.yaml").write_text("designs: [{screenshot_file_name: ../a}]\n")
    error = envoy("read-design-manifest", code=2)
    assert error["type"] == "bad_path"
    assert error["findings"][0]["line"] == 1


def test_without_a_plan_nothing_is_read_or_cleared(root: Path, envoy: Envoy) -> None:
    for words in (
        ("get-findings",),
        ("get-finding-approach", "web", "1"),
        ("clear-approach", "web", "1"),
    ):
        assert envoy(*words, code=1)["type"] == "no_plan"
    git(root, "checkout", "-q", "--detach")
    assert envoy("get-findings", code=1)["type"] == "no_branch"


def test_in_the_worktree_of_a_prompt_the_findings_are_those_of_its_feature(
    root: Path, envoy: Envoy, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(root, "worktree", "add", "-q", "../one", "-b", "feat/x--implementation-1")
    monkeypatch.chdir(root.parent / "one")
    envoy("write-approach", "web", "1", "--description", "d", "--files", str(root.parent / "one/a"))
    monkeypatch.chdir(root)
    told = envoy("get-finding-approach", "web", "1")
    assert told["approach"]["relevant_files"] == ["a"]


def test_specialists_who_write_at_once_lose_nothing(root: Path, envoy: Envoy) -> None:
    script = (
        "import sys; from porch.cli.dispatch import run_words;"
        "exit(run_words('envoy', sys.argv[1:]))"
    )
    command = (sys.executable, "-c", script, "plan", "write-approach", "web")
    envoy("write-notes", "web", "--notes", "n")
    started = [
        subprocess.Popen(
            [*command, str(number), "--description", f"d{number}"],
            stdout=subprocess.DEVNULL,
        )
        for number in (3, 1, 2)
    ]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    rows = envoy("get-findings")["approaches"]
    assert [row["description"] for row in rows] == ["d1", "d2", "d3"]
