"""Whether what is merged was tried: the tested files themselves, or those without their logs."""

from collections.abc import Sequence

from porch.errors import PorchError
from porch.git import tree_changes, tree_files
from porch.machine.plan.prompt_lifecycle import Condition, Prompt, outdated_conditions
from porch.plan.cleanup.debug_cleanup import judge_source
from porch.plan.cleanup.debug_markers import remove_blocks
from porch.plan.cleanup.source_text import decode_source
from porch.plan.files.plan_location import Plan
from porch.plan.prompts.branch_contents import find_checkout, hash_branch_files

_REGULAR = ("100644", "100755")


def list_outdated_conditions(plan: Plan, prompt: Prompt) -> Sequence[Condition]:
    """What reviewers or people have seen other files of than those that lie on the branch."""
    branch = prompt.worktree_branch_name
    now = hash_branch_files(plan, branch)
    checkout = find_checkout(plan, branch) if prompt.kind == "debug" and branch else None
    is_same = bool(checkout and prompt.tested_tree) and _differs_by_logs(
        str(checkout), prompt.tested_tree, now
    )
    return outdated_conditions(prompt, now, is_without_logs=is_same)


def _differs_by_logs(worktree: str, tested: str, now: str) -> bool:
    """Whether the tested files without their marked blocks are exactly these; if unsure, no."""
    try:
        changes = tree_changes.list_changed_paths(worktree, tested, now)
        paths = [each.path for each in changes]
        before = tree_files.read_entries(worktree, tested, paths)
        after = tree_files.read_entries(worktree, now, paths)
        return all(
            each.status == "M"
            and _is_without_blocks(worktree, each.path, before[each.path], after[each.path])
            for each in changes
        )
    except (PorchError, KeyError):
        return False


def _is_without_blocks(worktree: str, path: str, before: str, after: str) -> bool:
    is_same_mode = before.split(" ", maxsplit=1)[0] == after.split(" ", maxsplit=1)[0]
    if not is_same_mode or before.split(" ", maxsplit=1)[0] not in _REGULAR:
        return False
    tested, now = (tree_files.read_tree_bytes(worktree, entry) for entry in (before, after))
    source = decode_source(tested)
    if source is None:
        return False
    # A block that cleaning up refuses may be more than logs.
    blocks = [block for block in judge_source(path, source).blocks if not block.refusal]
    return source.encode(remove_blocks(source.text, blocks)) == now
