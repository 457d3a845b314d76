"""From nothing to a merged change with the real claude alone, by the lines of the README."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house.pages import ROOT
from tests.real_agents import Room
from tests.repositories import GITCONFIG
from tests.standin.request import Request
from tests.standin.steps import Step, edit_file, read_file, say
from tests.standin.vendors import Vendors
from tests.whole.agents.shop import APPROVAL

REQUEST = "Greet people by their name"
CODE = "def greet(name):\n    return f'Hello, {name}!'\n"
SECTIONS = {
    "spec.md": ("Problem", "Requirements", "Success criteria", "Out of scope", "Open questions"),
    "plan.md": ("Approach", "Implementation Phases", "Risks"),
    "review.md": ("Summary", "Success criteria", "Deviations", "Lessons"),
}
PHASE = "### Phase 1: The greeting\n- Write greet.py\n**Done when** it greets.\n"
# The signal with which a phase ends, and the file that is written before.
WORK = {
    "SPEC_DRAFTED": "spec.md",
    "PLAN_DRAFTED": "plan.md",
    "PHASE_IMPLEMENTED": "greet.py",
    "TESTS_WRITTEN": "test_greet.py",
    "EVALUATION_COMPLETE": "",
    "REVIEW_COMPLETE": "review.md",
}


def work_diligently(place: Path) -> Callable[[Request], Step]:
    """A model that does what each phase asks for, and approves as a reviewer."""

    def decide(request: Request) -> Step:
        if "## How to reply" in request.prompt:
            return say(APPROVAL)
        signal = next(each for each in WORK if f"<signal>{each}" in request.prompt)
        steps = [*_write(place, WORK[signal], request.prompt), say(f"<signal>{signal}</signal>")]
        return steps[min(len(request.results), len(steps) - 1)]

    return decide


def _write(place: Path, name: str, prompt: str) -> list[Step]:
    if name in SECTIONS:
        found = re.search(rf"codev/projects/\S*?/{name}", prompt)
        assert found is not None
        bodies = {"Implementation Phases": PHASE}
        text = "\n".join(f"## {each}\n\n{bodies.get(each, 'None.')}" for each in SECTIONS[name])
        path = place / found[0]
        return [*([read_file(path)] if path.exists() else []), edit_file(path, f"# G\n\n{text}\n")]
    return [edit_file(place / name, CODE)] if name else []


def only_claude(room: Room) -> dict[str, str]:
    """A machine with claude and nobody else; what the command itself needs stays beside it."""
    names = room.place / "bin"
    for other in ("codex", "gemini"):
        (names / other).unlink()
    (names / "node").symlink_to(shutil.which("node") or "node")
    for program in ("porch", "af", "codev"):
        (names / program).symlink_to(Path(sys.executable).with_name(program))
    home = Path(room.environ["HOME"])
    (home / ".gitconfig").write_text(GITCONFIG)
    path = os.pathsep.join((str(names), os.defpath))
    return {**room.environ, "PATH": path, "XDG_CONFIG_HOME": str(home / "config")}


def read_lines_to_paste() -> list[str]:
    """The block of the README, with claude in the place of the scripted agent."""
    text = (ROOT / "README.md").read_text("utf-8")
    (block,) = re.findall(r"```sh\n(codev init .*?)```", text, re.DOTALL)
    assert REQUEST in block
    assert "--no-claude" in block
    return [str(line) for line in block.replace(" --no-claude", "").splitlines()]


@pytest.mark.timeout(300)
def test_the_lines_of_the_readme_lead_from_nothing_to_a_merged_change_of_claude(
    tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    cli("claude")
    root = tmp_path / "shop"
    root.mkdir()
    (root / "Makefile").write_text("test:\n\t@echo all good\n")
    vendor.default = work_diligently(root / "worktrees/spider_0001_greet-people-by-their-name")
    environ = only_claude(clean_room)
    told = ""
    for line, code in zip(read_lines_to_paste(), (0, 3, 3, 0, 0), strict=True):
        done = subprocess.run(
            ["sh", "-c", line],
            check=False,
            cwd=root,
            env=environ,
            capture_output=True,
            text=True,
            timeout=200,
        )
        told += f"$ {line}\n{done.stdout}{done.stderr}"
        assert done.returncode == code, told
    assert "Reviews: claude, in a fresh context. It is one model" in told
    assert "(codex, gemini are not installed)" in " ".join(told.split())
    # Nobody named a reviewer, so claude reviews what claude wrote: the specification and the plan.
    assert sum("## How to reply" in each.prompt for each in vendor.requests) == 2
    assert "0001-greet-people-by-their-name: merged into" in told
    assert (root / "greet.py").read_text() == CODE
    assert {each.vendor for each in vendor.requests} == {"anthropic"}
    assert any(f"> {REQUEST}" in each.prompt for each in vendor.requests)
