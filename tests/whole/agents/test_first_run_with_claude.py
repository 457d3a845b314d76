"""From nothing to a first run with a real agent: four commands, and nothing was set up before."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests import commands
from tests.real_agents import Room
from tests.repositories import GITCONFIG
from tests.standin.request import Request
from tests.standin.steps import Step, edit_file, read_file, say
from tests.standin.vendors import Vendors
from tests.whole.agents.shop import APPROVAL

REQUEST = "Greet people by their name"
SPEC = """# Greeter

## Problem
Nobody is greeted.

## Requirements
- R1: `greet(name)` returns a greeting with that name.

## Success criteria
- S1: `greet("Ada")` is "Hello, Ada!".

## Out of scope
Other languages.

## Open questions
None.
"""
FOUR = (
    ("codev init --yes --test true", 0),
    (f'porch run spider "{REQUEST}"', 3),
    ("porch approve 0001 specify_approval", 0),
    ("porch status 0001", 0),
)


def write_spec(root: Path) -> Callable[[Request], Step]:
    """A diligent model, for the author and for the reviewer."""

    def decide(request: Request) -> Step:
        if "## How to reply" in request.prompt:
            return say(APPROVAL)
        path = re.search(r"codev/projects/\S*?/spec\.md", request.prompt)
        assert path is not None
        spec = root / path[0]
        steps = [read_file(spec), edit_file(spec, SPEC), say("<signal>SPEC_DRAFTED</signal>")]
        return steps[min(len(request.results), 2)]

    return decide


def only_claude(room: Room) -> dict[str, str]:
    """A machine with claude and nobody else; what the command itself needs stays beside it."""
    names = room.place / "bin"
    for other in ("codex", "gemini"):
        (names / other).unlink()
    (names / "node").symlink_to(shutil.which("node") or "node")
    home = Path(room.environ["HOME"])
    (home / ".gitconfig").write_text(GITCONFIG)
    path = os.pathsep.join((str(names), os.defpath))
    return {**room.environ, "PATH": path, "XDG_CONFIG_HOME": str(home / "config")}


def test_four_commands_lead_from_an_empty_directory_to_a_first_run(
    tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    cli("claude")
    root = tmp_path / "shop"
    root.mkdir()
    place = root / "worktrees/spider_0001_greet-people-by-their-name"
    vendor.default = write_spec(place)
    environ = only_claude(clean_room)
    told = ""
    for command, code in FOUR:
        program, *words = shlex.split(command)
        done = commands.run(program, words, root, environ)
        told = done.stdout + done.stderr
        assert done.returncode == code, f"{command}\n{told}"
    assert f"    {REQUEST}\n" in told
    assert "specify_approval: approved by" in told
    assert (place / "codev/projects/0001-greet-people-by-their-name/spec.md").read_text() == SPEC
    asked = [each for each in vendor.requests if f"> {REQUEST}" in each.prompt]
    assert asked, "the request reached the agent"
    assert {each.vendor for each in vendor.requests} == {"anthropic"}
    git = subprocess.run(
        ["git", "log", "--format=%s %an"], cwd=root, capture_output=True, text=True, check=True
    )
    assert git.stdout.splitlines() == ["Set up codev Ann"]
