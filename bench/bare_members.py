"""What git alone takes of a member of a tree, done by shell scripts as a reference."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import tree

_WHO = "-c user.name=bench -c user.email=bench@localhost"
# Porch does not tidy up in the middle of its work either.
_SETTINGS = "git config gc.auto 0; git config maintenance.auto false"
# The least that an instance can be: a worktree, one commit, one merge.
_LEAST = f"""
set -e
git worktree add -q -b main-$n w$n
echo $n > w$n/file$n
git -C w$n add file$n
git -C w$n {_WHO} commit -qm $n
git {_WHO} merge -q --squash main-$n >/dev/null
git {_WHO} commit -qm $n
"""
# What an instance of v3 leaves in git, and the checkouts that its readers and suites need.
_WORK = f"""
set -e
git worktree add -q -b main-$n w$n
mkdir -p w$n/src/n$n w$n/tests/n$n
echo api > w$n/src/n$n/api
echo contract > w$n/tests/n$n/contract
git -C w$n add -A
git -C w$n {_WHO} commit -qm scaffold
git worktree add -q -b tests-$n t$n main-$n
echo src/n$n/code > t$n/tests/n$n/need
git -C t$n add -A
git -C t$n {_WHO} commit -qm tests
git worktree add -q --detach r$n main-$n
git -C w$n {_WHO} merge -q --squash tests-$n >/dev/null
git -C w$n {_WHO} commit -qm integrate
echo code > w$n/src/n$n/code
git -C w$n add -A
git -C w$n {_WHO} commit -qm impl
git -C r$n checkout -q --detach main-$n
git {_WHO} merge -q --squash main-$n >/dev/null
git {_WHO} commit -qm merge
git -C r$n checkout -q --detach main
"""
_REMOVAL = """
set -e
git worktree remove --force w$n
git worktree remove --force t$n
git worktree remove --force r$n
git branch -q -D main-$n tests-$n
"""


@dataclass
class BareGit:
    """CPU of git for one member: the least, all of its work, and the removal of its worktrees."""

    least_s: float
    work_s: float
    removal_s: float


class BareMembers:
    """Two repositories in which git does what members need, one member after the other.

    Each begins with the work of other members, so that it has as many files on average as that of
    the tree: `before` is of how many at the beginning, `on_average` over the life of a tree. The
    least that a member can be adds next to nothing.
    """

    def __init__(self, place: Path, files: int, *, before: int, on_average: int):
        self._least = tree.make_repository(place / "least", files, on_average)
        self._work = tree.make_repository(place / "work", files, before)
        for each in (self._least, self._work):
            _run_script(each, _SETTINGS)
        self.count = 0
        self._totals = [0.0, 0.0, 0.0]

    @property
    def spent_s(self) -> float:
        """CPU of all scripts, which whoever measures this process has to leave out."""
        return sum(self._totals)

    def do_member(self) -> None:
        """What the next member takes; its files stay, so that they grow as they do in the tree."""
        steps = ((self._least, _LEAST), (self._work, _WORK), (self._work, _REMOVAL))
        for at, (repo, script) in enumerate(steps):
            self._totals[at] += _run_script(repo, f"n={self.count}{script}")
        self.count += 1

    def find_means(self, size: int) -> BareGit:
        """The reference of one member, of as many as the tree has."""
        while self.count < size:
            self.do_member()
        return BareGit(*(total / self.count for total in self._totals))


def _run_script(repo: Path, script: str) -> float:
    """CPU of the shell and of all that it waited for; other children of ours are not in it."""
    with subprocess.Popen(["sh", "-c", script], cwd=repo) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"a script of git ended with {process.returncode}")
    return used.ru_utime + used.ru_stime
