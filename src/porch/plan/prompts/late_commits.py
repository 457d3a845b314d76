"""Commits on the branch of a prompt that its merge did not bring along, because they came later."""

from collections.abc import Iterator

from msgspec import Struct

from porch.git import repository
from porch.git.command import run_git
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.prompt_lifecycle import Condition, Prompt, Prompts
from porch.plan.branches.merged_branches import is_contained
from porch.plan.files.plan_location import Plan


class LateCommits(Struct, frozen=True, kw_only=True):
    """A merged prompt whose branch has more than was merged."""

    prompt_id: str
    branch: str
    commits: int

    def say(self, feature: str) -> str:
        what = describe_late_commits(self.commits, self.branch, feature)
        return f"prompt {self.prompt_id}: {what}"


def describe_late_commits(commits: int, branch: str, feature: str) -> str:
    nouns = "commit" if commits == 1 else "commits"
    return f"{commits} {nouns} on {branch} came after its merge and not into {feature}"


def list_late_commits(plan: Plan, prompts: Prompts) -> list[LateCommits]:
    """Nearly always there are none, and that is one question to git for all prompts together."""
    feature = repository.resolve_commit(plan.where.base, f"refs/heads/{plan.branch}")
    heads = dict(_list_merged_heads(plan, prompts))
    if not feature or not heads:
        return []
    asked = "".join(f"{line}\n" for line in (*heads.values(), f"^{feature}"))
    words = ("rev-list", "--count", "--max-count=1", "--stdin")
    if run_git(plan.where.base, *words, stdin=asked).strip() == "0":
        return []
    counted = {id_: count_late_commits(plan, prompts[id_]) for id_ in heads}
    return [
        LateCommits(prompt_id=str(id_), branch=prompts[id_].worktree_branch_name, commits=commits)
        for id_, commits in counted.items()
        if commits
    ]


def _list_merged_heads(plan: Plan, prompts: Prompts) -> Iterator[tuple[PromptId, str]]:
    for id_, prompt in prompts.items():
        if head := _find_merged_head(plan, prompt):
            yield id_, head


def _find_merged_head(plan: Plan, prompt: Prompt) -> str:
    branch = prompt.worktree_branch_name
    if prompt.status != "merged" or not prompt.merge_commit_hash or not branch:
        return ""
    return repository.resolve_commit(plan.where.base, f"refs/heads/{branch}") or ""


def count_late_commits(plan: Plan, prompt: Prompt) -> int:
    """How many commits of a merged prompt the feature branch has not got, in whatever form."""
    repo = plan.where.base
    feature = repository.resolve_commit(repo, f"refs/heads/{plan.branch}")
    head = _find_merged_head(plan, prompt)
    if not feature or not head or is_contained(repo, plan.branch, prompt.worktree_branch_name):
        return 0
    words = ("rev-list", "--count", "--cherry-pick", "--right-only", f"{feature}...{head}")
    return int(run_git(repo, *words))


def late_commit_conditions(plan: Plan, prompts: Prompts) -> list[Condition]:
    """Nobody is done with these prompts while a part of their work is on their branches only."""
    return [
        Condition(
            "commits-not-merged",
            lambda *_: False,
            each.say(plan.branch),
            f"merge them: `envoy git merge-worktree {each.prompt_id}`",
        )
        for each in list_late_commits(plan, prompts)
    ]
