"""Worktrees of porch: found again after a crash, moved whole, never removed with work inside."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from porch.adapters import crash, git, gitdir
from porch.adapters.git_command import ask, attempt
from porch.adapters.worktree_lock import alone
from porch.errors import OutsideError

ARCHIVE = "refs/porch/archive/"
SALVAGE = "refs/porch/salvage/"
# Says where a branch stood while it and its files are being moved; see `settle`.
MOVING = "refs/porch/moving/"
# Git locks a worktree with this word while it makes it.
HALF_MADE = "initializing"
ASIDE = ".removing"


@dataclass(frozen=True, slots=True)
class Registered:
    """A worktree that the repository knows of, whether or not its directory is still there."""

    path: str
    branch: str | None
    half_made: bool


@dataclass(frozen=True, slots=True)
class Checkout:
    """Where a branch is checked out; `own` if porch made it and nobody else works there now."""

    path: str
    own: bool


def registered(common_repo: str) -> list[Registered]:
    """All worktrees that the repository knows of; its own checkout comes first."""
    common = common_dir(common_repo)
    linked = gitdir.worktrees(common)
    return [
        _own_checkout(common_repo, common),
        *(Registered(w.path, w.branch, w.locked == HALF_MADE) for w in linked),
    ]


def _own_checkout(common_repo: str, common: str) -> Registered:
    """Of a bare repository nobody has one, whatever its HEAD says."""
    home, here = gitdir.Gitdir(common, common), gitdir.of(common_repo)
    if here is not None and here.own == here.common:
        return Registered(common_repo, gitdir.branch(home), half_made=False)
    if os.path.basename(common) == ".git":
        return Registered(os.path.dirname(common), gitdir.branch(home), half_made=False)
    return Registered(common, None, half_made=False)


def ensure(common_repo: str, path: str, branch: str, base: str) -> None:
    """Have a worktree at path on branch; a branch that is missing begins at base."""
    if _is_ready(common_repo, path, branch):
        settle(Checkout(path, own=True), branch)
        return
    git.exclude(common_dir(common_repo), ("/worktrees/",))
    known = registered(common_repo)
    _refuse_taken(known, path, branch)
    here = at(known, path)
    if here is None or here.half_made or not os.path.isdir(path):
        _discard(common_repo, path, here)
        _add(common_repo, path, branch, base)
    stand(path, branch)
    if common_dir(path) != common_dir(common_repo):
        raise moved(path, branch, "belongs to another repository")
    settle(Checkout(path, own=True), branch)


def _is_ready(common_repo: str, path: str, branch: str) -> bool:
    """Whether everything is as it was left; told from files, since it nearly always is."""
    here, home = gitdir.of(path), gitdir.of(common_repo)
    if (
        here is None
        or home is None
        or os.path.realpath(here.common) != os.path.realpath(home.common)
    ):
        return False
    return gitdir.branch(here) == branch and gitdir.is_registered(path, here)


def archive(common_repo: str, branch: str, ref: str) -> None:
    """Keep the head of a branch under a ref; a different one kept there before is put beside."""
    head, earlier = git.resolve(common_repo, f"refs/heads/{branch}"), git.resolve(common_repo, ref)
    if head is not None:
        _keep(common_repo, head, earlier, ref)


def remove(common_repo: str, path: str, branch: str | None) -> None:
    """Remove a worktree, and its branch if named; uncommitted work and the head are kept first."""
    name = branch or os.path.basename(path)
    here = at(registered(common_repo), path)
    delete_tree(path + ASIDE)
    if os.path.lexists(path):
        _refuse_foreign(path, name, here)
        _keep_work(common_repo, path, name)
    if branch:
        archive(common_repo, branch, ARCHIVE + branch)
    crash.point("worktree.after-archive")
    if os.path.lexists(path):
        # By a rename, so that a half deleted worktree is never taken for one with deletions in it.
        os.rename(path, path + ASIDE)
    crash.point("worktree.after-aside")
    delete_tree(path + ASIDE)
    deregister(common_repo, here)
    crash.point("worktree.after-remove")
    if branch:
        _delete_branch(common_repo, path, branch)


def dirty(path: str) -> list[str]:
    """Paths that differ from HEAD, untracked ones too; one that ends in / is a repository."""
    return sorted({name for _, name in status(path)})


def unsaved(path: str) -> list[str]:
    """Tracked paths that differ from HEAD."""
    return sorted({name for state, name in status(path) if state != "??"})


def salvage(path: str, ref: str, message: str) -> str | None:
    """Keep everything uncommitted as a commit under a ref, without touching the worktree.

    What an earlier salvage kept under the same ref stays reachable as a parent.
    """
    head, earlier = git.head(path), git.resolve(path, ref)
    tree = _tree_of_all(path)
    if tree == git.tree_at(path, head):
        return None
    if earlier and tree == git.tree_at(path, earlier) and git.resolve(path, f"{ref}^1") == head:
        return earlier
    parents = [word for parent in (head, earlier) if parent for word in ("-p", parent)]
    words = ("commit-tree", tree, *parents, "-F", "-")
    commit = ask(path, *words, env=git.identity(path), stdin=f"{message.rstrip()}\n").strip()
    ask(path, "update-ref", "-m", "salvage (porch)", ref, commit)
    return commit


def commit_all(path: str, allowed: Callable[[str], bool], message: str, trailer: str) -> str | None:
    """Commit what is uncommitted and allowed; after a crash there is nothing left to commit.

    A repository inside the worktree is left alone: as a link in our commit its files would be lost.
    """
    taken = [name for name in dirty(path) if not name.endswith("/") and allowed(name)]
    if not taken:
        return None
    named, env = ("--pathspec-from-file=-", "--pathspec-file-nul"), {"GIT_LITERAL_PATHSPECS": "1"}
    ask(path, "add", "-A", *named, env=env, stdin="\0".join(taken))
    crash.point("git.before-update-ref")
    text = f"{message.rstrip()}\n\n{trailer}\n"
    # Only what is named: something that is staged may be somebody else's.
    words = ("-c", "commit.gpgSign=false", "commit", "-q", "--no-verify", "-m", text, *named)
    ask(path, *words, env={**env, **git.identity(path)}, stdin="\0".join(taken))
    crash.point("git.after-update-ref")
    return git.head(path)


def stand(path: str, branch: str) -> None:
    """Refuse a directory that is not the top of a worktree on this branch."""
    found = gitdir.of(path)
    if found is None:
        raise moved(path, branch, "is not the top of a worktree")
    if (stands := gitdir.branch(found)) != branch:
        raise moved(path, branch, f"stands on {stands or 'no branch'}")


def moved(path: str, branch: str, how: str) -> OutsideError:
    return OutsideError(
        f"{path} {how}; porch works there on branch '{branch}'",
        fix=f"bring it back with `git switch {branch}` there, or move the directory away",
        code="worktree-moved",
    )


def settle(checkout: Checkout, branch: str) -> None:
    """Finish the move that a crash cut short in this checkout, if there was one.

    A branch moves first and its files follow, so without the ref that says where it stood nobody
    could tell a checkout that lags behind from one in which somebody worked.
    """
    path = checkout.path
    if checkout.own:
        free_index(path)
    old, new = git.resolve(path, MOVING + branch), git.head(path)
    if old is None or new is None:
        return
    # The index is written last, so one that is not old any more means that the files are moved.
    if new != old and _index_is(path, old):
        _bring_files(checkout, branch, old, new)
    ask(path, "update-ref", "-d", MOVING + branch)


def free_index(path: str) -> None:
    """Remove the lock of a git that was killed; give one that lives its time first."""
    lock = git.git_path(path, "index.lock")
    deadline = time.monotonic() + git.INDEX_LOCK_S
    while os.path.exists(lock) and time.monotonic() < deadline:
        time.sleep(0.05)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(lock)


def status(path: str) -> list[tuple[str, str]]:
    """Each path that differs from HEAD, with git's two letters for how."""
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
    rows = ask(path, *words, "--ignore-submodules=none").split("\0")
    return [(row[:2], row[3:]) for row in rows if row]


def _tree_of_all(path: str) -> str:
    with tempfile.TemporaryDirectory(prefix="porch-salvage-") as scratch:
        env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(git.git_path(path, "index"), env["GIT_INDEX_FILE"])
        git.add_all(path, (), env)
        return ask(path, "write-tree", env=env).strip()


def _index_is(path: str, commit: str) -> bool:
    return attempt(path, "diff-index", "--cached", "--quiet", commit, "--").returncode == 0


def _bring_files(checkout: Checkout, branch: str, old: str, new: str) -> None:
    path = checkout.path
    if not checkout.own:
        ask(path, "read-tree", "-m", "-u", old, new)
        return
    with git.snapshot(path, ()) as env:
        names = [set(differing(path, commit, env)) for commit in (old, new)]
    # Neither old nor new: a file that git had half written, or somebody's work.
    if names[0] & names[1]:
        salvage(path, SALVAGE + branch, f"Left in the checkout of {branch} when its move was cut")
    ask(path, "read-tree", "--reset", "-u", new)


def differing(path: str, commit: str, env: dict[str, str]) -> list[str]:
    """Paths in which the index of this environment is not the commit; see `git.snapshot`."""
    words = ("diff", "--cached", "--no-renames", "--no-ext-diff", "--name-only", "-z", commit)
    return ask(path, *words, env=env).split("\0")[:-1]


def at(known: list[Registered], path: str) -> Registered | None:
    real = os.path.realpath(path)
    return next((each for each in known if os.path.realpath(each.path) == real), None)


def common_dir(directory: str) -> str:
    known = gitdir.of(directory)
    if known is not None:
        return os.path.realpath(known.common)
    found = git.find(directory)
    if found is None:
        raise OutsideError(f"{directory} is in no git repository", fix="run `git init` first")
    return os.path.realpath(found.common_dir)


def _refuse_taken(known: list[Registered], path: str, branch: str) -> None:
    here = at(known, path)
    for each in known:
        if each.branch == branch and each is not here:
            raise OutsideError(
                f"branch '{branch}' is checked out in {each.path}; porch needs it for {path}",
                fix=f"switch {each.path} to another branch, or `git worktree remove` it",
            )


def _add(common_repo: str, path: str, branch: str, base: str) -> None:
    with alone(common_dir(common_repo)):
        _added(common_repo, path, branch, base)


def _added(common_repo: str, path: str, branch: str, base: str) -> None:
    made = git.resolve(common_repo, f"refs/heads/{branch}") is None
    if made:
        ask(common_repo, "branch", "--no-track", "--", branch, base)
    crash.point("worktree.after-branch")
    try:
        ask(common_repo, "worktree", "add", "-q", path, branch)
    except OutsideError:
        _discard(common_repo, path, at(registered(common_repo), path))
        if made:
            ask(common_repo, "update-ref", "-d", f"refs/heads/{branch}")
        raise
    crash.point("worktree.after-add")


def _discard(common_repo: str, path: str, here: Registered | None) -> None:
    """Make room where a worktree is gone or was never finished; nobody's files are removed."""
    if here is not None and here.half_made:
        delete_tree(path)
    deregister(common_repo, here)


def _refuse_foreign(path: str, branch: str, here: Registered | None) -> None:
    found = gitdir.of(path) if here is not None and os.path.isdir(path) else None
    if found is None or found.own == found.common:
        raise moved(path, branch, "is not a worktree that porch could remove")


def _keep_work(common_repo: str, path: str, name: str) -> None:
    left = dirty(path)
    inner = [each for each in left if each.endswith("/")]
    if inner:
        raise OutsideError(
            f"{path} holds a repository of its own ({inner[0]}), which cannot be kept",
            fix="move it away, and try again",
        )
    if left:
        salvage(path, SALVAGE + name, f"Left uncommitted in {name}")
    head = git.head(path)
    if head and not _is_held(path, head, name):
        _keep(common_repo, head, git.resolve(path, ARCHIVE + name), ARCHIVE + name)


def _is_held(path: str, head: str, branch: str) -> bool:
    if git.resolve(path, f"refs/heads/{branch}") == head:
        return True
    words = ("for-each-ref", "--count=1", "--contains", "HEAD", "refs/heads", "refs/porch/archive")
    return bool(ask(path, *words))


def _keep(common_repo: str, head: str, earlier: str | None, ref: str) -> None:
    if earlier and ask(common_repo, "rev-list", "--count", f"{head}..{earlier}").strip() != "0":
        ask(common_repo, "update-ref", f"{ref}--{earlier[:12]}", earlier)
    ask(common_repo, "update-ref", ref, head)


def _delete_branch(common_repo: str, path: str, branch: str) -> None:
    _refuse_taken(registered(common_repo), path, branch)
    head = git.resolve(common_repo, ARCHIVE + branch)
    if head and git.resolve(common_repo, f"refs/heads/{branch}"):
        # The archived head is the fence: a branch that has moved since is not deleted.
        ask(common_repo, "update-ref", "-d", f"refs/heads/{branch}", head)


def deregister(common_repo: str, here: Registered | None) -> None:
    if here is not None:
        with alone(common_dir(common_repo)):
            ask(common_repo, "worktree", "remove", "--force", "--force", here.path)


def delete_tree(path: str) -> None:
    try:
        if os.path.lexists(path):
            shutil.rmtree(path)
    except OSError as error:
        raise OutsideError(f"{path} cannot be removed: {error}", fix="remove it by hand") from error
