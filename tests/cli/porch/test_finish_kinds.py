"""Each kind of run is merged only if the checks pass on the merged files (T1)."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.porch.test_finish_command import committed

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

EXAMPLES = Path(__file__).parents[3] / "examples"
SETTINGS = '[agent]\nback_off = 0.01\n\n[commands]\nbuild = "true"\n'


def settings(desk: "Desk", *lines: str) -> None:
    desk.write("codev/config.toml", "\n".join((SETTINGS, *lines, "")))
    desk.git("add", "-A")
    desk.git("commit", "-q", "--allow-empty", "-m", "more settings")


def refuse_merge(desk: "Desk", run: str, check: str) -> None:
    """Main has a file with which the merged files fail, and afterwards it has not."""
    assert "waits for   porch finish" in desk.porch("status", run).out
    committed(desk, "bad.txt", "together they fail\n")
    head = desk.git("rev-parse", "main")
    assert check in json.loads(desk.porch("finish", run, "--json").out)["checks"]
    refused = desk.porch("finish", run, "--merge", code=1).err
    assert f"nothing was merged: {check} failed on the merged files" in refused
    assert desk.git("rev-parse", "main") == head
    desk.git("rm", "-q", "bad.txt")
    desk.git("commit", "-qm", "without it")
    said = desk.porch("finish", run, "--merge").out
    assert f"{check} passed" in said
    assert "no check" not in said
    assert "porch finish" not in desk.porch("status", run).out


def test_a_spider_with_a_command_of_its_own_for_the_tests(desk: "Desk") -> None:
    """T1 (a): a protocol of the project that says itself how its tests are run."""
    command = "test ! -f bad.txt"
    desk.protocol(
        "spider",
        {"id": "plan", "artifact": "plan.md"},
        {
            "id": "defend",
            "phased": True,
            "phases_from": "plan",
            "checks": {"tests": {"command": command}},
        },
        {"id": "review"},
    )
    plan = {"write": {"{project_dir}/plan.md": "### Phase 1: one\n- a\n"}}
    script = desk.script(agents={"plan": [plan], "defend": [{"write": {"new.py": "x = 1\n"}}]})
    settings(desk)
    words = ("run", "spider", "0001", "--title", "x", "--script", script, "--worktree")
    desk.porch(*words)
    refuse_merge(desk, "0001", "tests")


def test_a_bugfix(desk: "Desk") -> None:
    desk.write("142.md", "The button is red.\n")
    settings(desk, 'test = "test ! -f bad.txt"')
    desk.porch("run", "bugfix", "--issue", "142.md", "--no-claude", "--worktree")
    refuse_merge(desk, "142", "test")


def test_a_spider_and_a_tick_behind_it(desk: "Desk") -> None:
    settings(desk, 'test = "test ! -f bad.txt"')
    given = ("0001", "--title", "x", "--no-claude", "--worktree")
    desk.porch("run", "spider", *given, code=3)
    for _gate in ("spec", "plan"):
        desk.porch("approve", "1", "--as-person")
        desk.porch("resume", "1", code=None)
    refuse_merge(desk, "0001-x", "test")
    desk.porch("run", "tick", *given)
    refuse_merge(desk, "tick_0001_x", "test")


def test_a_tree_of_v3(desk: "Desk") -> None:
    """T1 (b): graphs have no checks of their own, and were merged without any."""
    for name in ("spec.yaml", "script.yaml"):
        shutil.copy(EXAMPLES / "adder" / name, desk.root / name)
    settings(desk, 'test = "python -m pytest -q"', 'lint = "test ! -f bad.txt"')
    desk.porch("run", "v3", "spec.yaml", "--script", "script.yaml")
    refuse_merge(desk, "adder", "lint")


STEPS = """name: fixing
description: Fix one thing
outputs:
  - {value: "{ success: true }", description: done}
steps: {1: "Fix it"}
"""


def test_a_protocol_of_steps(desk: "Desk") -> None:
    """T1: a steps protocol has no checks of its own, so only the commands of the settings run."""
    desk.write(".claude/protocols/fixing.yaml", STEPS)
    settings(desk, 'test = "test ! -f bad.txt"')
    work = {"write": {"new.py": "x = 1\n"}, "signal": "SUCCESS_TRUE"}
    desk.porch("run", "fixing", "--script", desk.script(agents={"work": [work]}))
    (run,) = desk.porch("status", "--json").json["runs"]
    refuse_merge(desk, run["id"], "test")
