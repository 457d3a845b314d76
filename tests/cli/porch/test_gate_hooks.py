"""Hooks that tell an agent of open decisions: the simplest one greps, the installed one asks."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

# Knows nothing of porch but where status files lie.
GREP = """
for file in codev/projects/*/status.yaml codev/executions/*/status.yaml; do
  if grep -q "status: pending" "$file" 2>/dev/null; then echo "Gate pending: $file"; fi
done
"""
WRITE = {"id": "write", "gate": {"name": "ready", "next": "more"}}
MORE = {"id": "more", "gate": {"name": "out"}}


def find_by_grep(root: Path) -> list[str]:
    done = subprocess.run(
        ["bash", "-c", GREP], cwd=root, capture_output=True, text=True, check=False
    )
    return [line.split("/")[-2] for line in done.stdout.splitlines()]


@pytest.mark.req("P-184", "P-185")
def test_a_search_for_pending_finds_exactly_the_gates_that_are_asked(desk: "Desk") -> None:
    desk.protocol("p", WRITE, MORE)
    desk.protocol("q", WRITE, MORE, subject="issue")
    assert find_by_grep(desk.root) == []
    desk.porch("run", "p", "0001", "--title", "status: pending", "--no-claude", code=3)
    desk.porch("run", "q", "142", "--no-claude", "--worktree", code=3)
    assert find_by_grep(desk.root) == ["0001-status-pending", "q_142"]
    for id_ in ("0001", "142"):
        desk.porch("approve", id_, "ready")
    assert find_by_grep(desk.root) == [], "between two gates nobody is asked"
    desk.porch("resume", "142", code=3)
    assert find_by_grep(desk.root) == ["q_142"]
    desk.porch("approve", "142", "out")
    desk.porch("resume", "142")
    assert find_by_grep(desk.root) == [], "at the end nobody is asked"


@pytest.mark.req("P-185")
def test_the_hook_shows_a_bugfix_that_waits_for_an_answer(desk: "Desk") -> None:
    script = desk.script(agents={"diagnose": [{"say": "", "signal": "BLOCKED: which button?"}]})
    desk.porch("run", "bugfix", "142", "--here", "--script", script, code=3)
    said = desk.porch("pending", "--hook").out
    assert said == "Question pending: 142 blocked:diagnose\n"
