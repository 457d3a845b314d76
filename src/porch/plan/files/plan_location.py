"""Where the plan of a branch lives: one directory in the main checkout, whoever asks from where."""

import os

from msgspec import Struct

from porch.errors import FailedError, UsageError
from porch.git import git_directory
from porch.plan.branches.branch_names import feature_of
from porch.store.where import ProjectPaths

PLANS = os.path.join(".claude", "plans")
RUN = "plan_"
# A file has a name of 255 bytes at most, and the name of the run and its drafts are longer.
LONGEST = 200


class Plan(Struct, frozen=True):
    """The plan of one feature branch; `directory` need not be there yet."""

    where: ProjectPaths
    branch: str
    directory: str

    @property
    def run(self) -> str:
        """The name of the run that holds its decisions and its life."""
        return RUN + branch_file_name(self.branch)

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


def branch_file_name(branch: str) -> str:
    """No two branches share it: git allows neither a tilde in their names, nor two slashes."""
    name = branch.replace("/", "~")
    if len(name.encode()) <= LONGEST:
        return name
    from porch.text.sha256 import sha256

    front = name.encode()[: LONGEST // 2].decode("utf-8", "ignore")
    return f"{front}~~{sha256(name.encode()).hexdigest()[:32]}"


def find_current_plan(where: ProjectPaths) -> Plan:
    """The plan of the branch we stand on; in a worktree of a prompt, of its feature branch.

    An agent of a run stands in the worktree of that run. If there is no plan for its branch, the
    plan of the branch from which the run started is meant.
    """
    branch = find_current_branch(where)
    known = feature_of(branch)
    plan = plan_of_branch(where, known[0] if known else branch)
    if where.workspace == where.base or os.path.isdir(plan.directory):
        return plan
    from porch.store.worktree_records import find_record_of  # few stand in such a worktree

    made = find_record_of(where, where.workspace)
    base = plan_of_branch(where, made.into) if made and made.into else plan
    return base if os.path.isdir(base.directory) else plan


def plan_of_branch(where: ProjectPaths, branch: str) -> Plan:
    # A bare repository has no main checkout; what all worktrees share is there all the same.
    home = os.path.join(where.state_dir, "plans") if where.is_bare else _plans_directory(where)
    return Plan(where, branch, os.path.join(home, branch_file_name(branch)))


def _plans_directory(where: ProjectPaths) -> str:
    return os.path.join(where.root, PLANS)


def require_plan(plan: Plan) -> Plan:
    """A plan that is there."""
    if not plan.exists:
        raise FailedError(
            f"the branch {plan.branch} has no plan",
            fix="make one with `envoy plan init`, or switch to the branch that has it",
            code="no-plan",
        )
    return plan


def _ask_git_for_branch(where: ProjectPaths) -> str | None:
    """Where the files alone do not tell it: in a submodule, or with a git directory elsewhere."""
    from porch.git import repository

    known = repository.find_repository(where.workspace)
    return known.branch if known and known.toplevel else None


def find_current_branch(where: ProjectPaths) -> str:
    if not where.common_dir:
        raise UsageError(
            f"{where.workspace} is not in a git repository",
            fix="go to the checkout of the plan's branch",
            code="no-repository",
        )
    found = git_directory.find_git_directory(where.workspace)
    branch = git_directory.read_branch(found) if found else _ask_git_for_branch(where)
    if branch and any("\ud800" <= each <= "\udfff" for each in branch):
        raise FailedError(
            f"the name of the branch is not UTF-8 text: {branch!r}",
            fix="rename the branch: git branch -m NAME",
            code="no-branch",
        )
    if not branch:
        raise FailedError(
            f"{where.workspace} is not on a branch, and a plan belongs to a branch",
            fix="switch to a branch: git switch NAME",
            code="no-branch",
        )
    return branch


def list_plan_names(where: ProjectPaths) -> list[str]:
    """The names of the runs of all plans: those that have begun, and those that only have files."""
    home = os.path.dirname(plan_of_branch(where, "x").directory)
    try:
        found = [RUN + entry.name for entry in os.scandir(home) if entry.is_dir()]
    except OSError:
        found = []
    begun = [name for name in where.runs() if name.startswith(RUN)]
    return sorted({*found, *begun})


def plan_of_run(where: ProjectPaths, name: str, branch: str = "") -> Plan:
    """The plan that a run holds; the run says its branch, else the name of its files does."""
    return plan_of_branch(where, branch or name.removeprefix(RUN).replace("~", "/"))
