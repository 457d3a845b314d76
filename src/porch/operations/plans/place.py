"""Where the plan of a branch lives: one directory in the main checkout, whoever asks from where."""

import hashlib
import os
from dataclasses import dataclass

from porch.adapters import git, gitdir
from porch.adapters.implementation_branches import feature_of
from porch.adapters.where import Where
from porch.errors import FailedError, UsageError

PLANS = os.path.join(".claude", "plans")
RUN = "plan_"
# A file has a name of 255 bytes at most, and the name of the run and its drafts are longer.
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one feature branch; `directory` need not be there yet."""

    where: Where
    branch: str
    directory: str

    @property
    def run(self) -> str:
        """The name of the run that holds its decisions and its life."""
        return RUN + file_name(self.branch)

    @property
    def exists(self) -> bool:
        return os.path.isdir(self.directory)

    @property
    def relative(self) -> str:
        """As the digests of decisions name files: from the main checkout."""
        return os.path.relpath(self.directory, self.where.base)

    @property
    def prompts_dir(self) -> str:
        return os.path.join(self.directory, "prompts")

    @property
    def findings_dir(self) -> str:
        return os.path.join(self.directory, "findings")

    @property
    def design_dir(self) -> str:
        return os.path.join(self.directory, "design")

    @property
    def feedback_dir(self) -> str:
        return os.path.join(self.directory, "user_feedback")

    def file(self, name: str) -> str:
        return os.path.join(self.directory, name)


def file_name(branch: str) -> str:
    """No two branches share it: git allows neither a tilde in their names, nor two slashes."""
    name = branch.replace("/", "~")
    if len(name.encode()) <= LONGEST:
        return name
    front = name.encode()[: LONGEST // 2].decode("utf-8", "ignore")
    return f"{front}~~{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def current(where: Where) -> Plan:
    """The plan of the branch we stand on; in a worktree of a prompt, of its feature branch."""
    branch = standing_on(where)
    known = feature_of(branch)
    return of(where, known[0] if known else branch)


def of(where: Where, branch: str) -> Plan:
    # A bare repository has no main checkout; what all worktrees share is there all the same.
    home = os.path.join(where.state_dir, "plans") if where.is_bare else _home(where)
    return Plan(where, branch, os.path.join(home, file_name(branch)))


def _home(where: Where) -> str:
    return os.path.join(where.root, PLANS)


def demand(plan: Plan) -> Plan:
    """A plan that is there."""
    if not plan.exists:
        raise FailedError(
            f"the branch {plan.branch} has no plan",
            fix="make one with `envoy plan init`, or switch to the branch that has it",
            code="no-plan",
        )
    return plan


def _asked(where: Where) -> str | None:
    """Where the files alone do not tell it: in a submodule, or with a git directory elsewhere."""
    known = git.find(where.workspace)
    return known.branch if known and known.toplevel else None


def standing_on(where: Where) -> str:
    if not where.common_dir:
        raise UsageError(
            f"{where.workspace} is in no git repository",
            fix="go to the checkout of the branch that the plan is for",
            code="no-repository",
        )
    found = gitdir.of(where.workspace)
    branch = gitdir.branch(found) if found else _asked(where)
    if branch and any("\ud800" <= each <= "\udfff" for each in branch):
        raise FailedError(
            f"the name of the branch is not UTF-8 text: {branch!r}",
            fix="give it another one: git branch -m NAME",
            code="no-branch",
        )
    if not branch:
        raise FailedError(
            f"{where.workspace} stands on no branch, and plans belong to branches",
            fix="switch to a branch: git switch NAME",
            code="no-branch",
        )
    return branch
