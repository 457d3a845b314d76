"""What porch asks of git: where it is, what the files are, and commits of exactly named paths."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from porch.errors import OutsideError
from porch.git import git_directory
from porch.git.command import call_git, git_error, run_git, try_git
from porch.git.index_lock import HeldIndex, hold_index
from porch.system import crash_points
from porch.system.regular_file import open_regular
from porch.system.scratch import copy_with_times, scratch_directory
from porch.text.late_pattern import late_pattern

TRAILER = "Porch-Effect"
LOOK_BACK = 200


class Repository(Struct, frozen=True):
    """Where a directory stands. `toplevel` is None where there are no files: bare, or in .git."""

    toplevel: str | None
    common_dir: str
    branch: str | None
    bare: bool
    linked: bool


def find_repository(start: str) -> Repository | None:
    """The repository around a directory, or None outside of any."""
    asked = ("--is-bare-repository", "--is-inside-work-tree", "--git-common-dir", "--git-dir")
    words = ("rev-parse", "--path-format=absolute", *asked)
    done = try_git(start, *words)
    if done.returncode:
        if "not a git repository" in done.stderr:
            return None
        raise git_error(start, words, done)
    bare, inside, common_dir, git_dir = done.stdout.splitlines()
    toplevel = read_git_line(start, "rev-parse", "--show-toplevel") if inside == "true" else None
    branch = try_git(start, "symbolic-ref", "--short", "-q", "HEAD").stdout.strip()
    return Repository(toplevel, common_dir, branch or None, bare == "true", common_dir != git_dir)


def read_checkout_branch(checkout: str) -> str:
    """The branch on which a checkout is; empty if it is on none."""
    known = git_directory.find_git_directory(checkout)
    if known is not None:
        return git_directory.read_branch(known) or ""
    found = find_repository(checkout)
    return (found.branch if found else None) or ""


def find_common_directory(workspace: str) -> str:
    """What all worktrees of the repository share, wherever a person chose to put it."""
    known = git_directory.find_git_directory(workspace)
    if known is not None:
        return os.path.realpath(known.common)
    found = find_repository(workspace)
    return os.path.realpath(found.common_dir) if found else ""


def read_head(toplevel: str) -> str | None:
    """The commit of HEAD; None before the first commit."""
    return resolve_commit(toplevel, "HEAD")


def find_commit_by_trailer(toplevel: str, trailer: str, start: str = "HEAD") -> str | None:
    """The newest of the last commits that carries this trailer line, such as `Porch-Effect: x`."""
    if resolve_commit(toplevel, start) is None:
        return None
    log = run_git(toplevel, "log", f"-{LOOK_BACK}", "--format=%H%n%B%x00", start)
    for entry in log.split("\0"):
        commit, _, message = entry.strip().partition("\n")
        if trailer in message.splitlines():
            return commit
    return None


def commit_paths(toplevel: str, paths: Sequence[str], message: str, trailer: str) -> str | None:
    """Commit the files at exactly these paths; None if they hold nothing new.

    What a person has staged stays staged and out of the commit. A commit that already carries the
    trailer is adopted, so that the same call after a crash finishes what was begun. Ignored files
    are left out. No hooks run.
    """
    done = find_commit_by_trailer(toplevel, trailer)
    if done is None:
        done = _create_commit(toplevel, paths, message, trailer)
        if done is None:
            _bring_index_along(toplevel, paths)
        return done
    # Behind a later commit the index has moved on, and so must not be taken back.
    if done == read_head(toplevel):
        update_user_index(toplevel, done)
    return done


def _bring_index_along(toplevel: str, paths: Sequence[str]) -> None:
    """Files that are as HEAD has them are not staged as anything else.

    Earlier releases moved the branch before they had the index, and then called it refused.
    """
    env = {"GIT_LITERAL_PATHSPECS": "1"}
    words = ("diff-index", "--cached", "--quiet", "HEAD", "--", *paths)
    if paths and try_git(toplevel, *words, env=env).returncode == 1:
        with hold_index(find_git_path(toplevel, "index")) as held:
            words = ("reset", "-q", "HEAD", "--", *paths)
            run_git(toplevel, *words, env={**env, "GIT_INDEX_FILE": held.copy})
            held.publish()


def untrack_file(toplevel: str, path: str) -> None:
    """Take a file out of the index; it stays where it is, and whatever else is staged stays so."""
    env = {"GIT_LITERAL_PATHSPECS": "1"}
    if run_git(toplevel, "ls-files", "-z", "--", path, env=env):
        with hold_index(find_git_path(toplevel, "index")) as held:
            words = ("update-index", "--force-remove", "--", path)
            run_git(toplevel, *words, env={"GIT_INDEX_FILE": held.copy})
            held.publish()


def add_local_excludes(common_dir: str, patterns: Sequence[str]) -> None:
    """Have git overlook these patterns here, without a word in anybody's .gitignore."""
    path = os.path.join(common_dir, "info", "exclude")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a+", encoding="utf-8", errors="surrogateescape", opener=open_regular) as file:
        file.seek(0)
        text = file.read()
        known = text.splitlines()
        new = [p for p in dict.fromkeys(patterns) if p not in known]
        start = "\n" if new and text and not text.endswith("\n") else ""
        file.write(start + "".join(f"{pattern}\n" for pattern in new))


def read_git_line(directory: str, *words: str) -> str:
    return run_git(directory, *words).removesuffix("\n")


def resolve_commit(toplevel: str, name: str) -> str | None:
    """The commit that a name stands for; None if it stands for none."""
    known = git_directory.read_ref(toplevel, name)
    if not isinstance(known, git_directory.Unknown):
        return known
    if git_directory.is_whole_hash(name) and git_directory.read_loose_tree(toplevel, name):
        return name
    words = ("rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}")
    return try_git(toplevel, *words).stdout.strip() or None


@lru_cache(maxsize=8)
def read_committed_file(toplevel: str, commit: str, path: str) -> bytes:
    """What a commit has at a path, also through links that stay inside it; empty without a file."""
    words = ("cat-file", "--batch", "--follow-symlinks")
    done = call_git(toplevel, words, {}, stdin=f"{commit}:{path}\n", is_exact=True)
    if done.returncode:
        raise git_error(toplevel, words, done)
    head, _, content = done.stdout.encode("utf-8", "surrogateescape").partition(b"\n")
    kind, _, size = head.partition(b" ")[2].partition(b" ")
    return content[: int(size)] if kind == b"blob" else b""


def resolve_branch_or_commit(toplevel: str, name: str) -> str:
    """The commit of a branch, or that which a name stands for otherwise."""
    found = resolve_commit(toplevel, f"refs/heads/{name}") or resolve_commit(toplevel, name)
    if found is None:
        raise OutsideError(f"there is no commit {name} in {toplevel}", fix="fetch it first")
    return found


def find_git_path(toplevel: str, name: str) -> str:
    """Where git keeps a file of this worktree, or the objects that all of them share."""
    found = git_directory.find_git_directory(toplevel)
    if found is not None:
        return os.path.join(found.common if name == "objects" else found.own, name)
    return read_git_line(toplevel, "rev-parse", "--path-format=absolute", "--git-path", name)


_NO_COMMIT = late_pattern(r"error: '.*/' does not have a commit checked out")


@contextlib.contextmanager
def snapshot_index(toplevel: str, exclude: Sequence[str]) -> Iterator[dict[str, str]]:
    """An environment in which the index holds the files as they are; the user's is not touched.

    New objects go to a directory that is thrown away, so measuring leaves nothing behind.
    """
    with scratch_directory("porch-tree-") as scratch:
        env = {
            "GIT_INDEX_FILE": os.path.join(scratch, "index"),
            "GIT_OBJECT_DIRECTORY": os.path.join(scratch, "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quote_path(find_git_path(toplevel, "objects")),
        }
        os.mkdir(env["GIT_OBJECT_DIRECTORY"])
        with contextlib.suppress(FileNotFoundError):
            # With its time: by it git knows which files may have changed since in the same tick.
            copy_with_times(find_git_path(toplevel, "index"), env["GIT_INDEX_FILE"])
        if exclude:
            gone = [f":(top,glob){pattern}" for pattern in exclude]
            words = ("rm", "-r", "-f", "-q", "--cached", "--ignore-unmatch")
            run_git(toplevel, *words, "--", *gone, env=env)
        stage_all_files(toplevel, exclude, env)
        yield env


def _quote_path(path: str) -> str:
    # The list of alternates is split at colons unless an entry is quoted.
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def stage_all_files(toplevel: str, exclude: Sequence[str], env: dict[str, str]) -> None:
    globs = [each for glob in exclude for each in (glob, f"{glob.rstrip('/')}/**")]
    words = ("add", "-A", "--ignore-errors", "--", ":/", *map(exclude_from_add, globs))
    done = try_git(toplevel, *words, env=env)
    errors = [line for line in done.stderr.splitlines() if line.startswith(("error:", "fatal:"))]
    if done.returncode and not (errors and all(map(_NO_COMMIT.match, errors))):
        raise git_error(toplevel, words, done)


def quote_glob(name: str) -> str:
    """The name of one file as a pattern that fits it and nothing else."""
    return "".join(f"\\{sign}" if sign in "*?[\\" else sign for sign in name)


def exclude_from_add(glob: str) -> str:
    """Tell `git add` to pass a path over.

    Git refuses to add a path that it ignores, even if that is named only to be left out; with a
    sign in front of it, the name is no longer a path but a pattern.
    """
    pattern = glob if glob[0] in "*?[\\" else f"\\{glob}"
    return f":(top,exclude,glob){pattern}"


def _create_commit(toplevel: str, paths: Sequence[str], message: str, trailer: str) -> str | None:
    def write_tree(old: str | None) -> str:
        with scratch_directory("porch-commit-") as scratch:
            return write_tree_of_paths(toplevel, paths, old, os.path.join(scratch, "index"))

    return commit_tree_on_head(toplevel, write_tree, message, trailer)


def commit_tree_on_head(
    toplevel: str, write_tree: Callable[[str | None], str], message: str, trailer: str
) -> str | None:
    """Commit a tree made for the present head; None if it is the tree of that head.

    The index follows at once. Its lock is taken first, so that both move or neither does; a kill
    between the two leaves the lock, and nobody commits from the old index until porch looks again.
    Somebody else may commit meanwhile. Then the tree is made again for the new head, because the
    old one would take their changes back.
    """
    if resolve_commit(toplevel, "MERGE_HEAD") is not None:
        raise OutsideError(
            f"a merge is in progress in {toplevel}; porch cannot commit now",
            fix="finish it with `git commit`, or cancel it with `git merge --abort`",
        )
    for pause in (*_PAUSES_S, None):
        old = read_head(toplevel)
        tree = write_tree(old)
        if tree == read_commit_tree(toplevel, old):
            return None
        new = _write_commit(toplevel, tree, old, f"{message.rstrip()}\n\n{trailer}\n")
        with hold_index(find_git_path(toplevel, "index")) as held:
            _stage_commit(toplevel, new, held)
            crash_points.reach_point("git.before-update-ref")
            try:
                _move_head(toplevel, new, old, message)
            except OutsideError:
                if pause is None:
                    raise
                time.sleep(pause)
                continue
            crash_points.reach_point("git.after-update-ref")
            held.publish()
        crash_points.reach_point("git.after-index")
        return new
    raise AssertionError("the last try ends or raises")


# Between tries to move HEAD: another commit takes an instant, a lock of git a little more.
_PAUSES_S = (0.02, 0.1, 0.3, 1.0)


def _write_commit(toplevel: str, tree: str, parent: str | None, text: str) -> str:
    words = ("commit-tree", tree, *(("-p", parent) if parent else ()), "-F", "-")
    return run_git(toplevel, *words, env=read_commit_identity(toplevel), stdin=text).strip()


def _move_head(toplevel: str, new: str, old: str | None, message: str) -> None:
    # The old value is the fence: a HEAD that has moved meanwhile refuses.
    subject = message.strip().partition("\n")[0]
    fence = old or "0" * len(new)
    run_git(toplevel, "update-ref", "-m", f"commit (porch): {subject}", "HEAD", new, fence)


def read_commit_tree(toplevel: str, commit: str | None) -> str:
    """The files of a commit as one hash; without a commit, of no files."""
    if commit in _TREES:
        return _TREES[commit]
    if commit is None or not git_directory.is_whole_hash(commit):
        return _ask_commit_tree(toplevel, commit)
    # What a commit holds never changes.
    _TREES[commit] = git_directory.read_loose_tree(toplevel, commit) or _ask_commit_tree(
        toplevel, commit
    )
    return _TREES[commit]


_TREES: dict[str | None, str] = {}


def _ask_commit_tree(toplevel: str, commit: str | None) -> str:
    name = f"{commit}^{{tree}}" if commit else None
    return read_git_line(toplevel, *(("rev-parse", name) if name else ("mktree",)))


def write_tree_of_paths(toplevel: str, paths: Sequence[str], base: str | None, index: str) -> str:
    env = {"GIT_INDEX_FILE": index, "GIT_LITERAL_PATHSPECS": "1"}
    run_git(toplevel, "read-tree", base or "--empty", env=env)
    known = [path for path in paths if _is_known_path(toplevel, path, env)]
    ignored = _find_ignored_paths(toplevel, known, index)
    taken = [path for path in known if path not in ignored]
    if taken:
        words = ("add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul")
        run_git(toplevel, *words, env=env, stdin="\0".join(taken))
    return run_git(toplevel, "write-tree", env=env).strip()


def _find_ignored_paths(toplevel: str, paths: Sequence[str], index: str) -> set[str]:
    # This command knows no literal paths; behind "./" nothing looks like magic.
    stdin = "".join(f"./{path}\0" for path in paths)
    words = ("check-ignore", "-z", "--stdin")
    done = try_git(toplevel, *words, env={"GIT_INDEX_FILE": index}, stdin=stdin)
    if done.returncode > 1:
        raise git_error(toplevel, words, done)
    return {path.removeprefix("./") for path in done.stdout.split("\0")}


def _is_known_path(toplevel: str, path: str, env: dict[str, str]) -> bool:
    """On disk, or committed and deleted since; git refuses paths that are neither."""
    if os.path.lexists(os.path.join(toplevel, path)):
        return True
    return bool(run_git(toplevel, "ls-files", "-z", "--", path, env=env))


def read_commit_identity(toplevel: str) -> dict[str, str]:
    """The person's own name where git knows one; a machine without still can commit."""
    found = git_directory.find_git_directory(toplevel)
    home = found.common if found else toplevel
    if home not in _IDENTITIES:
        _IDENTITIES[home] = _ask_commit_identity(toplevel)
    return _IDENTITIES[home]


_IDENTITIES: dict[str, dict[str, str]] = {}


def _ask_commit_identity(toplevel: str) -> dict[str, str]:
    if try_git(toplevel, "var", "GIT_COMMITTER_IDENT").returncode == 0:
        return {}
    who = {"NAME": "porch", "EMAIL": "porch@localhost"}
    return {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}


def update_user_index(toplevel: str, commit: str) -> None:
    """Move the user's index along for what the commit changed; else it would stage the undoing."""
    with hold_index(find_git_path(toplevel, "index")) as held:
        _stage_commit(toplevel, commit, held)
        held.publish()
    crash_points.reach_point("git.after-index")


def _stage_commit(toplevel: str, commit: str, held: HeldIndex) -> None:
    words = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", commit)
    fields = run_git(toplevel, *words).split("\0")
    changes = dict(zip(fields[1::2], (field.split(" ") for field in fields[0::2]), strict=False))
    rows = [f"{new_mode} {new}\t{path}\0" for path, (_, new_mode, _, new, _) in changes.items()]
    env = {"GIT_INDEX_FILE": held.copy}
    run_git(toplevel, "update-index", "-z", "--index-info", env=env, stdin="".join(rows))
    try_git(toplevel, "update-index", "-q", "--refresh", env=env)
