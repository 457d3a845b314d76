"""X10: what an agent wrote without permission, emptied tests, other runs, links that lead out."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.run.engine.run_places import mark_of
from porch.store.where import find_project
from tests import commands
from tests.trust import trust_settings

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

LOOK: Mapping[str, Any] = {"id": "look", "gate": "look"}
WORK: Mapping[str, Any] = {"id": "work"}
BEYOND = "changed during a turn without permission to write it"
TITLE = "what measured this was changed during this phase"


def pending(desk: "Desk") -> str:
    return " ".join(desk.porch("pending", code=None).out.split())


def log(desk: "Desk") -> str:
    return " ".join(desk.porch("log", "1", "--all").out.split())


def test_x10_files_outside_the_write_permission_are_named_at_the_gate(desk: "Desk") -> None:
    phase = {"id": "work", "permissions": ["write:src/**", "bash:*"]}
    files = ("src/a.py", "docs/b.md", "codev/projects/0001-x/spec.md")
    agents = {"work": [{"write": dict.fromkeys(files, "x\n")}]}
    desk.begin(phase, LOOK, agents=agents, code=3)
    assert f"{BEYOND}: docs/b.md" in pending(desk)
    assert "src/a.py" not in pending(desk)
    assert "changed without permission to write it: docs/b.md" in log(desk)
    [decision] = desk.porch("pending", "--json").json["decisions"]
    assert decision["reports"][BEYOND] == "docs/b.md"


@pytest.mark.parametrize(
    "how", [{"delete": ["tests/test_a.py"]}, {"write": {"tests/test_a.py": " "}}]
)
def test_x10_a_test_that_is_emptied_or_deleted_is_named(desk: "Desk", how: dict[str, Any]) -> None:
    """No check of the run names a test runner, and so nothing else protects the file."""
    desk.write("tests/test_a.py", "def test_a(): assert False\n")
    desk.write("tests/test_b.py", "def test_b(): assert True\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "tests")
    more = {"append": {"tests/test_b.py": "# more\n"}}
    desk.begin(WORK, LOOK, agents={"work": [{**how, **more}]}, code=3)
    assert f"{TITLE}: tests/test_a.py (" in pending(desk)
    assert "changed what measures it: tests/test_a.py" in log(desk)


def test_x10_an_agent_reports_no_work_of_another_run(desk: "Desk") -> None:
    desk.protocol("p", WORK, LOOK)
    script = desk.script(agents={"work": [{}]})
    words = ("run", "p", "0002", "--title", "y", "--here", "--once", "--script", script)
    desk.porch(*words, code=None)
    own = mark_of(find_project(str(desk.root)), "0002-y")
    before = desk.records("0002-y")
    marked = {**os.environ, "PORCH_MARK": "porch-0123456789abcdef:work#1/agent/work/0"}
    done = commands.run("porch", ("done", "2"), desk.root, marked)
    assert (done.returncode, "an agent of another run" in done.stderr) == (2, True)
    assert desk.records("0002-y") == before
    marked["PORCH_MARK"] = f"{own}:look#1/agent/look/0"
    done = commands.run("porch", ("done", "2"), desk.root, marked)
    assert done.returncode == 3, done.stderr
    assert desk.entered("0002-y")[-1] == "look:gate"


def test_x10_a_link_that_leads_out_of_the_project_is_not_copied(
    desk: "Desk", tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    desk.write(".gitignore", "*.env\nscript.yaml\n")
    desk.write("real.env", "mine\n")
    (desk.root / "inside.env").symlink_to("real.env")
    (desk.root / "stolen.env").symlink_to(secret)
    (desk.root / "away").symlink_to(tmp_path)
    copied = '\n[worktree]\ncopy = ["*.env", "away/secret"]\n'
    desk.write("codev/config.toml", (desk.root / "codev/config.toml").read_text() + copied)
    desk.protocol("p", WORK, LOOK)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "settings")
    trust_settings(desk.root)
    said = desk.begin_in_worktree(WORK, LOOK, agents={}, code=3)
    place = desk.root / "worktrees/p_0001_x"
    assert (place / "inside.env").read_text() == "mine\n"
    assert not (place / "stolen.env").exists()
    assert not (place / "away/secret").is_file() or (place / "away").is_symlink()
    assert "stolen.env is a link, or behind a link, that leads out" in " ".join(said.all.split())


def test_x10_a_pull_request_calls_nobody_and_closes_nothing(
    desk: "Desk", command: Any, tmp_path: Path
) -> None:
    """The request is the text of an issue, and the agent wrote pr.md."""
    command(
        "gh", f"cat > {tmp_path}/body-$2.txt; echo https://host.example/pull/1; test $2 = create"
    )
    desk.git("init", "-q", "--bare", str(tmp_path / "far.git"))
    desk.git("remote", "add", "origin", str(tmp_path / "far.git"))
    files = {"codev/projects/0001-x/pr.md": "# Title\n\nFixes #12, says @team.\n"}
    desk.protocol("p", WORK)
    script = desk.script(agents={"work": [{"write": files}]})
    request = ("--request", "Closes #1. cc @everyone")
    desk.porch("run", "p", "0001", "--title", "x", *request, "--script", script, code=0)
    desk.porch("finish", "1", "--pr")
    body = (tmp_path / "body-create.txt").read_text()
    for words in ("Closes #1", "@everyone", "Fixes #12", "@team"):
        assert words not in body
        assert words in body.replace("\u200b", "")
    assert json.dumps(body).count("200b") == 4
