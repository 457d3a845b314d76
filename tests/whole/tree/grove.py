"""A repository with a tree to grow in it: three children, agents by script, a suite in shell."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.tree import SUITE
from tests import commands

CHILDREN = ("a", "b", "c")


@dataclass(frozen=True, slots=True)
class Grove:
    """The repository, and how to run the tree in it."""

    repo: Path

    def porch(self, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        return commands.run("porch", words, self.repo, {**os.environ, **environ}, timeout_s=300)

    @property
    def words(self) -> tuple[str, ...]:
        return ("run", "v3", "spec.json", "--into", "main", "--script", "script.json", "--plain")

    def run(self, **environ: str) -> "subprocess.CompletedProcess[str]":
        return self.porch(*self.words, **environ)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.repo, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def merges(self, branch: str) -> list[str]:
        """Subjects of all merges on a branch, oldest first."""
        subjects = self.git("log", "--reverse", "--format=%s", branch).splitlines()
        return [subject for subject in subjects if subject.startswith("feat(")]

    def result(self) -> dict[str, Any]:
        """What must be the same however often the run was killed."""
        worktrees = self.git("worktree", "list", "--porcelain").count("worktree ")
        return {
            "files": self.git("ls-tree", "-r", "main").splitlines(),
            "main": self.merges("main"),
            "root": sorted(self.merges("refs/porch/archive/porch/v3_root")),
            "worktrees": worktrees,
            "archived": self.git("for-each-ref", "--format=%(refname)", "refs/porch/archive"),
            "status": self.git("status", "--porcelain", "--untracked-files=no"),
        }


def planted(repo: Path) -> Grove:
    (repo / "codev").mkdir(parents=True)
    (repo / "suite.sh").write_text(SUITE)
    settings = "[commands]\ntest = 'sh ./suite.sh'\n[agent]\nback_off = 0\n"
    (repo / "codev" / "config.toml").write_text(settings)
    (repo / "spec.json").write_text(json.dumps(_spec("root", ["root", *CHILDREN])))
    (repo / "script.json").write_text(json.dumps({"agents": _agents()}))
    grove = Grove(repo)
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "ada"),
        ("config", "user.email", "ada@localhost"),
        ("add", "suite.sh", "codev"),
        ("commit", "-qm", "start"),
    ):
        grove.git(*words)
    return grove


def _spec(name: str, criteria: list[str]) -> dict[str, Any]:
    return {
        "id": name,
        "description": f"all of {name}",
        "acceptanceCriteria": [{"id": each, "text": f"{each} is there"} for each in criteria],
        "targetPath": f"src/{name}",
        "testPath": f"tests/{name}",
    }


def _agents() -> dict[str, Any]:
    agents: dict[str, Any] = {
        "merger": [
            {"exit": "MergeComplete", "payload": {"impactLevel": "Additive", "changes": []}}
        ],
        "judge": [{"exit": "Accepted", "payload": {"reason": "good"}}],
    }
    for place, name in (("./", "root"), *((f"{child}/", child) for child in CHILDREN)):
        agents.update({f"{place}{state}": [answer] for state, answer in _answers(name).items()})
    return agents


def _answers(name: str) -> dict[str, Any]:
    children = [_spec(child, [child]) for child in CHILDREN] if name == "root" else None
    plan = [{"criterionId": name, "plannedTestName": name, "approach": "look"}]
    start = {
        "interfaceFile": f"src/{name}/api",
        "contractSuite": f"tests/{name}/contract",
        "testPlan": plan,
        "childSpecs": children,
        "interfaces": None,
    }
    covered = {"criteriaWithTests": [[name, name]], "criteriaMissing": []}
    return {
        "scaffold": {
            "write": {f"src/{name}/api": "api\n", f"tests/{name}/contract": "contract\n"},
            "exit": "InitWork",
            "payload": start,
        },
        "write_tests": {
            "write": {f"tests/{name}/need": f"src/{name}/code"},
            "exit": "TestsReady",
            "payload": {"testFiles": [f"tests/{name}/need"], "pendingCriteria": [name]},
        },
        "impl": {
            "write": {f"src/{name}/code": "code\n"},
            "exit": "TestsPassed",
            "payload": {"iterations": 1, "passedTests": [name]},
        },
        "review": {
            "exit": "Approved",
            "payload": {"signOff": "good", "coverageReport": covered},
        },
    }
