"""The real Claude Code in a project that `codev` set up: what it runs without asking."""

import json
import os
import sys
from pathlib import Path

import pytest

from porch.fleet.setup import project_setup
from tests.real_agents import MODELS, Room, Told
from tests.repositories import at_home, make_repository, sh
from tests.standin.steps import run_command, say
from tests.standin.vendors import Vendors

ALLOWED = (
    "envoy protocol implementation",
    "envoy plan write-notes backend --notes 'read the code first'",
    "git worktree add -b feature--implementation-1 ../made main",
)
REFUSED = "envoy gate answer plan --form 'a: b'"


@pytest.fixture
def project(tmp_path: Path, clean_room: Room, monkeypatch: pytest.MonkeyPatch) -> Path:
    # After the room, which looks for the command lines below the home of whoever runs the tests.
    at_home(tmp_path / "home", monkeypatch)
    return make_repository(tmp_path / "project", {"a.txt": "a\n"}, branch="feature")


def ask(room: Room, project: Path) -> Told:
    """By somebody who trusts this directory, as Claude Code asks once; nobody answers more."""
    known = {"projects": {str(project): {"hasTrustDialogAccepted": True}}}
    Path(room.environ["HOME"], ".claude.json").write_text(json.dumps(known))
    path = os.pathsep.join([str(Path(sys.executable).parent), room.environ["PATH"]])
    words = ("claude", "-p", "--model", MODELS["claude"], "--output-format", "json")
    return room.run(*words, cwd=project, stdin="Please do KEY.", PATH=path)


@pytest.mark.parametrize("is_agreed", [True, False])
def test_n2_specialists_run_what_their_protocols_name_once_a_person_agreed(
    project: Path, clean_room: Room, vendor: Vendors, is_agreed: bool
) -> None:
    chosen = project_setup.SetupChoices(permissions=is_agreed)
    project_setup.write_setup(str(project), project_setup.plan_setup(str(project), chosen))
    vendor.script("KEY", *map(run_command, (*ALLOWED, REFUSED)), say("done"))
    told = ask(clean_room, project)
    assert told.code == 0, told.stderr
    ended = json.loads(told.stdout)
    denied = [each["tool_input"]["command"] for each in ended["permission_denials"]]
    assert denied == ([REFUSED] if is_agreed else [*ALLOWED, REFUSED])
    results = vendor.asked("KEY")[-1].results
    assert ("Run `envoy plan read-prompt" in results[0]) is is_agreed
    assert (project.parent / "made").is_dir() is is_agreed
    assert sh(project, "branch", "--show-current") == "feature"
