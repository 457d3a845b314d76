"""`codev doctor`: what is broken is named with its fix, and the exit code says if porch can run."""

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words as run_command
from tests import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

Put = Callable[[str, str], Path]
Doctor = Callable[..., dict[str, Any]]


@pytest.fixture
def doctor(desk: "Desk", capsys: pytest.CaptureFixture[str]) -> Doctor:
    def examine(code: int = 0) -> dict[str, Any]:
        capsys.readouterr()
        left = run_command("codev", ["doctor", "--json"])
        out, err = capsys.readouterr()
        assert left == code, out + err
        told = json.loads(out)
        assert told["can_run"] is (code == 0)
        return {line["what"]: line for line in told["lines"]}

    return examine


def one(lines: dict[str, Any], word: str) -> dict[str, Any]:
    (found,) = [line for what, line in lines.items() if word in what]
    assert isinstance(found, dict)
    assert found["status"] == "ok" or found["fix"], found
    return found


def codev(desk: "Desk", *words: str) -> subprocess.CompletedProcess[str]:
    return commands.run("codev", words, desk.root, os.environ)


@pytest.mark.req("P-052")
def test_a_sound_project_can_run_porch(doctor: Doctor) -> None:
    told = doctor()
    for word in ("Python", "git version", "is writable", "file locks", "codev/config.toml"):
        assert one(told, word)["status"] == "ok"
    assert one(told, "agent scripted")["status"] == "ok"


def test_a_look_at_the_project_leaves_nothing_in_it(desk: "Desk", doctor: Doctor) -> None:
    before = sorted(desk.root.rglob("*"))
    doctor()
    assert sorted(desk.root.rglob("*")) == before


@pytest.mark.req("P-052")
def test_without_git_porch_cannot_run(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = doctor(code=6)
    assert told["git"]["status"] == told["node"]["status"] == "missing"
    assert told["git"]["fix"]


def test_an_old_git_is_a_warning(doctor: Doctor, command: Put) -> None:
    command("git", "echo git version 2.30.1")
    assert one(doctor(), "git version 2.30.1")["status"] == "warning"


def test_a_git_that_fails_counts_as_none(doctor: Doctor, command: Put) -> None:
    command("git", "exit 1")
    assert doctor(code=6)["git"]["status"] == "missing"


def test_a_place_that_cannot_be_written_stops_porch(desk: "Desk", doctor: Doctor) -> None:
    shutil.rmtree(desk.root / ".git")
    # In /proc not even root makes directories.
    (desk.root / ".git").symlink_to("/proc/self/fdinfo")
    told = doctor(code=6)
    assert one(told, "is not writable")["stops"]


def test_faults_of_the_settings_are_named_with_their_lines(desk: "Desk", doctor: Doctor) -> None:
    desk.write("codev/config.toml", '[agent]\nnmae = "claude"\n[timeouts]\ncheck = "soon"\n')
    told = doctor()
    assert "did you mean 'name'" in one(told, "codev/config.toml:2:1")["fix"]
    assert one(told, "codev/config.toml:4:1")["status"] == "warning"


def test_a_word_of_the_project_that_only_a_person_may_say_is_a_warning(
    desk: "Desk", doctor: Doctor
) -> None:
    desk.write("codev/config.toml", "[agent]\ntrusted = true\n")
    assert one(doctor(), "agent.trusted")["status"] == "warning"


def test_settings_of_ones_own_are_found_too(home: Path, doctor: Doctor) -> None:
    own = home / ".config" / "porch" / "config.toml"
    assert "no file" in one(doctor(), str(own))["what"]
    own.parent.mkdir(parents=True)
    own.write_text("[agent]\ntrusted = true\n")
    told = doctor()
    assert one(told, str(own))["status"] == "ok"
    assert "allowed by default: all" in one(told, "agent scripted")["more"]


def test_an_agent_is_told_with_what_it_gets_and_cannot_be_held_to(
    doctor: Doctor, command: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("claude", "echo '9.9.9 (Claude Code)'")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-value-that-is-nobodys-business")
    line = one(doctor(), "agent claude (default) 9.9.9")
    assert line["status"] == "ok"
    assert any("ANTHROPIC_API_KEY" in more for more in line["more"])
    assert any(more.startswith("cannot be enforced: ") for more in line["more"])
    assert "nobodys-business" not in str(line)


def test_an_agent_that_is_not_installed_is_missing_and_stops_nothing(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(tmp_path / "only"))
    line = one(doctor(), "agent claude")
    assert line["status"] == "missing"
    assert "npm install" in line["fix"]


def test_an_agent_that_does_not_answer_is_a_warning(doctor: Doctor, command: Put) -> None:
    command("claude", "exit 3")
    line = one(doctor(), "agent claude")
    assert line["status"] == "warning"
    assert "--version" in line["fix"]


def test_a_name_of_the_settings_that_is_nobodys_is_said(desk: "Desk", doctor: Doctor) -> None:
    desk.write("codev/config.toml", '[roles.builder]\nagent = "cluade"\n')
    assert one(doctor(), "agent cluade (role builder)")["status"] == "missing"


def test_a_person_reads_a_line_for_each_thing_and_its_fix(desk: "Desk") -> None:
    desk.write("codev/config.toml", '[agent]\nname = "mine"\n')
    done = codev(desk, "doctor")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok       Python 3.")
    at = lines.index("missing  agent mine (default): unknown agent")
    assert lines[at + 1].startswith("         fix: ")
    assert lines[-1] == "porch can run here"


def test_codev_alone_prints_its_help(desk: "Desk") -> None:
    done = codev(desk)
    assert done.returncode == 2
    assert "doctor" in done.stdout
    assert codev(desk, "--help").returncode == 0


@pytest.mark.req("P-001")
def test_codev_porch_is_no_command(desk: "Desk") -> None:
    done = codev(desk, "porch")
    assert done.returncode == 2
    assert "error[usage]" in done.stderr


def test_codev_is_a_command_of_the_package() -> None:
    root = Path(__file__).resolve().parents[3]
    scripts = tomllib.loads((root / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["codev"] == "porch.cli.dispatch:codev"
