"""The settings of a project in a commit and in the checkout: which of them a new run uses.

A run in a worktree uses those of the commit that it starts from, as it does with all other files.
One that works in the checkout uses those that lie there. A person is told what is different.
"""

from collections.abc import Collection, Iterable

from porch.git import repository
from porch.run.pinned_settings import list_setting_values
from porch.run.settings import (
    PROJECT_FILE,
    is_same_in_commit,
    load_settings,
    read_written_settings,
)
from porch.run.trust_requests import TrustRequest
from porch.store.where import ProjectPaths

COMMIT_SETTINGS = f"git add {PROJECT_FILE} && git commit -m settings {PROJECT_FILE}"
_SHORT = 12


def list_trust_requests(where: ProjectPaths) -> tuple[TrustRequest, ...]:
    """What needs a person's trust before a run can start here, in a worktree or with `--here`."""
    known = (load_settings(where.root, commit=each) for each in ("", read_start_commit(where)))
    return _without_doubles(request for each in known for request in each.requests)


def list_untrusted(
    where: ProjectPaths, commit: str, trust: Collection[str] = ()
) -> tuple[TrustRequest, ...]:
    """What nobody has trusted: in the commit, and in the checkout, whose settings count later.

    `[worktree]` is read again when a worktree has to be restored, and `porch upgrade` takes all.
    """
    known = (load_settings(where.root, trust=trust, commit=each) for each in ("", commit))
    return _without_doubles(request for each in known for request in each.untrusted)


def _without_doubles(requests: Iterable[TrustRequest]) -> tuple[TrustRequest, ...]:
    return tuple({each.digest: each for each in requests}.values())


def describe_other_settings(where: ProjectPaths, commit: str) -> list[str]:
    """Which settings are others in the checkout than in the commit, and which of them count."""
    head = commit or read_start_commit(where)
    if not head or is_same_in_commit(where.root, head):
        return []
    here, there = (
        list_setting_values(read_written_settings(where.root, commit=each)) for each in ("", head)
    )
    keys = sorted(key for key in {*here, *there} if here.get(key) != there.get(key))
    if not keys:
        return []
    names = f"{PROJECT_FILE} differs from commit {head[:_SHORT]} ({', '.join(keys)})"
    if commit:
        return [f"{names}; the run uses the commit. To use your file: {COMMIT_SETTINGS}"]
    return [f"{names}; with --here, the run uses your file"]


def read_start_commit(where: ProjectPaths) -> str:
    """The commit that a worktree would be made from; empty if there is none."""
    return (repository.read_head(where.workspace) or "") if where.common_dir else ""
