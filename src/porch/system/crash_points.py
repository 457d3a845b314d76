"""Named places where a test may kill the process, so that promises about crashes can be tried."""

from __future__ import annotations

import os

POINTS = (
    "atomic.before-write",
    "atomic.after-write",
    "atomic.after-sync",
    "atomic.before-rename",
    "atomic.after-rename",
    "atomic.after-directory-sync",
    "journal.after-create",
    "journal.before-cut",
    "journal.after-cut",
    "journal.after-cut-sync",
    "journal.before-write",
    "journal.after-write",
    "journal.after-sync",
    "repair.before-aside",
    "repair.after-aside",
    "repair.after-replace",
    "lock.after-take",
    "lock.after-sign",
    "wish.before-write",
    "wish.after-rename",
    "wish.before-refuse",
    "wish.after-refuse",
    "wish.before-unlink",
    "wish.after-unlink",
    "snapshot.before-write",
    "snapshot.after-rename",
    "payload.before-write",
    "payload.after-rename",
    "git.before-update-ref",
    "git.after-update-ref",
    "git.after-index",
    "worktree.after-record",
    "worktree.after-placed",
    "worktree.after-setup",
    "worktree.after-ready",
    "worktree.after-add",
    "worktree.after-archive",
    "worktree.after-aside",
    "worktree.after-remove",
    "merge.after-mark",
    "merge.after-lock",
    "merge.before-swap",
    "merge.after-swap",
    "merge.after-checkout",
    "migrate.after-decision",
    "migrate.worktree-recorded",
    "migrate.branch-renamed",
    "migrate.worktree-moved",
    "migrate.after-document",
    "migrate.after-status",
    "migrate.after-run",
    "migrate.before-end",
    "migrate.after-end",
    "finish.after-candidate",
    "finish.after-checks",
    "finish.before-record",
    "turn.before-spawn",
    "turn.after-spawn",
    "turn.after-end",
    "check.before-spawn",
    "check.after-spawn",
    "check.after-end",
    "takeover.before-reap",
    "takeover.after-reap",
    "takeover.after-settle",
)


def _parse_crash_setting(setting: str) -> dict[str, int]:
    if not setting:
        return {}
    name, _, nth = setting.partition(":")
    if name not in POINTS:
        # A misspelt point would kill nothing, and the test that set it would prove nothing.
        raise ValueError(f"PORCH_CRASH_AT={setting}: there is no crash point '{name}'")
    return {name: int(nth or 1)}


_hits_left = _parse_crash_setting(os.environ.get("PORCH_CRASH_AT", ""))
# A file that learns of every hit, so that a test knows which points a run passes, and how often.
_log_path = os.environ.get("PORCH_CRASH_LOG", "")


def reach_point(name: str) -> None:
    if _log_path:
        _log_hit(name)
    if name in _hits_left:
        _count_down(name)


def _log_hit(name: str) -> None:
    with open(_log_path, "a", encoding="ascii") as file:
        file.write(f"{name}\n")


def _count_down(name: str) -> None:
    _hits_left[name] -= 1
    if _hits_left[name] == 0:
        import signal

        os.kill(os.getpid(), signal.SIGKILL)
