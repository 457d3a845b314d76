"""What an agent does by itself where a step asks for code or judgement: told beforehand."""

import os
import signal
import subprocess
from typing import Any


class Hands:
    """`told` has what to write by iteration, what to propose, and where to die."""

    def __init__(self, told: dict[str, Any], root: str):
        self.told = told
        self.root = root
        self.place = root

    def git(self, *words: str, is_sure: bool = True) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.place, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0 or not is_sure, done.stdout + done.stderr
        return done.stdout.strip()

    def has_branch(self, branch: str) -> bool:
        return bool(self.git("branch", "--list", branch))

    def enter(self, branch: str, start: str) -> None:
        """The worktree of the branch; made if it is not there, and the branch with it."""
        path = os.path.join(self.told["trees"], branch.replace("/", "~"))
        if not os.path.isdir(path):
            self.git("worktree", "prune")
            new = () if self.has_branch(branch) else ("-b", branch)
            self.git("worktree", "add", "-q", *new, path, *((start,) if new else (branch,)))
        self.place = path
        self.die("worktree")

    def write(self, what: str, iteration: int) -> None:
        """The n-th version of what is named; the last one goes on counting."""
        versions = self.told[what]
        for name, text in versions[min(iteration, len(versions)) - 1].items():
            self._put(name, text)
        self.die(f"{what}:{iteration}")

    def has_written(self, iteration: int) -> bool:
        versions = self.told["code"]
        wanted = versions[min(iteration, len(versions)) - 1]
        return all(self._text(name) == text for name, text in wanted.items())

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        if self.git("status", "--porcelain"):
            self.git("commit", "-q", "-m", message)

    def settle(self, feature: str) -> None:
        """Both sides by what their messages wanted; here somebody has thought about that before."""
        wanted = self.git("log", "--format=%s", f"HEAD...{feature}")
        self.git("merge", "-q", feature, is_sure=False)
        assert self.git("ls-files", "--unmerged"), "there was no conflict"
        for name, text in self.told["settled"].items():
            self._put(name, text)
        self.commit(f"Settle with {feature}\n\n{wanted}")

    def look_at(self, paths: list[str]) -> str:
        return "\n".join(self._text(path) for path in paths)

    def check(self) -> str:
        """The compiler and the linters; what they say, whether they like it or not."""
        done = subprocess.run(
            self.told["linter"], cwd=self.root, check=False, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    def die(self, point: str) -> None:
        """As agents die: in the middle of something, without a word."""
        if self.told.get("dies_at") == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def _put(self, name: str, text: str) -> None:
        path = os.path.join(self.place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _text(self, name: str) -> str:
        path = os.path.join(self.place, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()
