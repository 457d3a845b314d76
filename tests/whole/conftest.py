"""A small protocol that uses every part of the runner, and how a run of it ends undisturbed."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from porch.testing import Project, Result, result
from tests.commands import ForkedProject

PLAN = "# Plan\n\n## Implementation Phases\n\n### Phase 1: One\n- a\n\n### Phase 2: Two\n- b\n"

PROTOCOL: dict[str, Any] = {
    "name": "small",
    "subject": "project",
    "initial": "plan:draft",
    "templates": {"notes.md": "# Notes on {{title}}\n"},
    "phases": [
        {
            "id": "plan",
            "artifact": ["plan.md", "notes.md"],
            "substates": ["draft", "consult", "revise"],
            "signals": {"DRAFTED": "plan:consult"},
            "consultation": {
                "on": "consult",
                "models": ["one", "two"],
                "parallel": True,
                "max_rounds": 3,
                "next": "plan:revise",
            },
            "gate": {
                "name": "approval",
                "after": "revise",
                "type": "human",
                "artifacts": ["plan.md"],
                "next": "implement",
            },
            "on_complete": {"commit": True},
        },
        {
            "id": "implement",
            "phased": True,
            "phases_from": "plan",
            "signals": {"BUILT": "next_phase"},
            "checks": {
                "built": {
                    "command": "test -e work/$PLAN_PHASE_ID.ok",
                    "on_fail": "retry",
                    "max_retries": 3,
                    "retry_delay": 0,
                }
            },
        },
    ],
}

DOCUMENTS = {"{project_dir}/plan.md": PLAN, "{project_dir}/notes.md": "# Notes on t\n- none\n"}
# Each answer writes whole files, so that doing it twice is the same as doing it once.
SCRIPT: dict[str, Any] = {
    "agents": {
        "plan:draft": [{"write": DOCUMENTS, "signal": "DRAFTED"}],
        "plan:revise": [{"write": {"revision.txt": "{visit}\n"}, "signal": "DRAFTED"}],
        "implement:phase_1": [
            {"write": {"work/{item}.txt": "{visit}\n"}, "signal": "BUILT"},
            {"write": {"work/{item}.ok": "{visit}\n"}, "signal": "BUILT"},
        ],
        "implement": [{"write": {"work/{item}.ok": "{visit}\n"}, "signal": "BUILT"}],
    },
    "reviews": {
        "plan:consult": {
            "one": [
                {"verdict": "REQUEST_CHANGES", "summary": "vague", "findings": ["no limits"]},
                {"verdict": "APPROVE"},
            ],
            "*": [{"verdict": "APPROVE"}],
        }
    },
    "decisions": {"approval": [{"approve": True}]},
}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One run to its end that nobody killed; the points it passed are told in a file."""
    base = tmp_path_factory.mktemp("undisturbed")
    project = Project.make(str(base), PROTOCOL, SCRIPT)
    done = project.run(PORCH_CRASH_LOG=str(base / "points.txt"))
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture(scope="session")
def undisturbed(finished: Project) -> Result:
    return result(finished)


@pytest.fixture(scope="session")
def hits(finished: Project) -> Counter[str]:
    """How often the undisturbed run passed each crash point."""
    return Counter(Path(finished.base, "points.txt").read_text().splitlines())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return ForkedProject.make(str(tmp_path), PROTOCOL, SCRIPT)


@pytest.fixture(scope="session")
def is_full() -> bool:
    """Whether the large numbers were asked for."""
    return os.environ.get("PORCH_TORTURE") == "full"
