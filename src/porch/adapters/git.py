"""What porch asks of git: where it is, what the files are, and commits of exactly named paths."""

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porch.adapters import crash, gitdir
from porch.adapters.git_command import ask, attempt, failure
from porch.errors import OutsideError

TRAILER = "Porch-Effect"
LOOK_BACK = 200
INDEX_LOCK_S = 3.0


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a directory stands. `toplevel` is None where there are no files: bare, or in .git."""

    toplevel: str | None
    common_dir: str
    branch: str | None
    bare: bool
    linked: bool


def find(start: str) -> Repository | None:
    """The repository around a directory, or None outside of any."""
    asked = ("--is-bare-repository", "--is-inside-work-tree", "--git-common-dir", "--git-dir")
    words = ("rev-parse", "--path-format=absolute", *asked)
    done = attempt(start, *words)
    if done.returncode:
        if "not a git repository" in done.stderr:
            return None
        raise failure(start, words, done)
    bare, inside, common_dir, git_dir = done.stdout.splitlines()
    toplevel = one_line(start, "rev-parse", "--show-toplevel") if inside == "true" else None
    branch = attempt(start, "symbolic-ref", "--short", "-q", "HEAD").stdout.strip()
    return Repository(toplevel, common_dir, branch or None, bare == "true", common_dir != git_dir)


def head(toplevel: str) -> str | None:
    """The commit of HEAD; None before the first commit."""
    return resolve(toplevel, "HEAD")


def tree(toplevel: str, exclude: Sequence[str] = ()) -> str:
    """The content of all tracked and all untracked, not ignored files, as one hash.

    `exclude` holds git globs from the toplevel: a file, a directory with all in it, or `a/*/b`.
    Submodules and embedded repositories count by the commit they are at, those without any
    commit not at all.
    """
    with snapshot(toplevel, exclude) as env:
        return ask(toplevel, "write-tree", "--missing-ok", env=env).strip()


def numstat(toplevel: str, base: str, exclude: Sequence[str] = ()) -> tuple[int, int] | None:
    """Lines added and removed since base, untracked files included; None if base is unknown.

    Everything is counted as text: an attribute that calls a file binary must not hide its lines.
    """
    commit = resolve(toplevel, base)
    if commit is None:
        return None
    with snapshot(toplevel, exclude) as env:
        out = ask(toplevel, *_DIFF, "--numstat", "-z", commit, env=env)
        rows = [row.split("\t", 2) for row in out.split("\0") if row]
        pairs = [(int(row[0]), int(row[1])) for row in rows if row[0] != "-"]
        binary = [f":(top,literal){row[2]}" for row in rows if row[0] == "-"]
        if binary:
            words = (*_DIFF, "--text", "-U0", "--no-color", commit, "--", *binary)
            pairs += _hunks(ask(toplevel, *words, env=env))
    return sum(added for added, _ in pairs), sum(removed for _, removed in pairs)


def find_commit(toplevel: str, trailer: str) -> str | None:
    """The newest of the last commits that carries this trailer line, such as `Porch-Effect: x`."""
    if head(toplevel) is None:
        return None
    log = ask(toplevel, "log", f"-{LOOK_BACK}", "--format=%H%n%B%x00", "HEAD")
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
    done = find_commit(toplevel, trailer) or _new_commit(toplevel, paths, message, trailer)
    # Behind a later commit the index has moved on, and so must not be taken back.
    if done is not None and done == head(toplevel):
        _settle_index(toplevel, done)
        crash.point("git.after-index")
    return done


def exclude(common_dir: str, patterns: Sequence[str]) -> None:
    """Have git overlook these patterns here, without a word in anybody's .gitignore."""
    path = os.path.join(common_dir, "info", "exclude")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a+", encoding="utf-8", errors="surrogateescape") as file:
        file.seek(0)
        text = file.read()
        known = text.splitlines()
        new = [p for p in dict.fromkeys(patterns) if p not in known]
        start = "\n" if new and text and not text.endswith("\n") else ""
        file.write(start + "".join(f"{pattern}\n" for pattern in new))


_DIFF = ("diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-renames")
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", re.MULTILINE)


def _hunks(diff: str) -> list[tuple[int, int]]:
    """Added and removed of each hunk; content cannot forge one, for its lines begin with a sign."""
    return [(int(new or 1), int(old or 1)) for old, new in _HUNK.findall(diff)]


def one_line(directory: str, *words: str) -> str:
    return ask(directory, *words).removesuffix("\n")


def resolve(toplevel: str, name: str) -> str | None:
    """The commit that a name stands for; None if it stands for none."""
    known = gitdir.resolve(toplevel, name)
    if not isinstance(known, gitdir.Unknown):
        return known
    words = ("rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}")
    return attempt(toplevel, *words).stdout.strip() or None


def git_path(toplevel: str, name: str) -> str:
    """Where git keeps a file of this worktree, or the objects that all of them share."""
    found = gitdir.of(toplevel)
    if found is not None:
        return os.path.join(found.common if name == "objects" else found.own, name)
    return one_line(toplevel, "rev-parse", "--path-format=absolute", "--git-path", name)


_NO_COMMIT = re.compile(r"error: '.*/' does not have a commit checked out")


@contextlib.contextmanager
def snapshot(toplevel: str, exclude: Sequence[str]) -> Iterator[dict[str, str]]:
    """An environment in which the index holds the files as they are; the user's is not touched.

    New objects go to a directory that is thrown away, so measuring leaves nothing behind.
    """
    with tempfile.TemporaryDirectory(prefix="porch-tree-") as scratch:
        env = {
            "GIT_INDEX_FILE": os.path.join(scratch, "index"),
            "GIT_OBJECT_DIRECTORY": os.path.join(scratch, "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(git_path(toplevel, "objects")),
        }
        os.mkdir(env["GIT_OBJECT_DIRECTORY"])
        with contextlib.suppress(FileNotFoundError):
            # With its time: by it git knows which files may have changed since in the same tick.
            shutil.copy2(git_path(toplevel, "index"), env["GIT_INDEX_FILE"])
        if exclude:
            gone = [f":(top,glob){pattern}" for pattern in exclude]
            words = ("rm", "-r", "-f", "-q", "--cached", "--ignore-unmatch")
            ask(toplevel, *words, "--", *gone, env=env)
        add_all(toplevel, exclude, env)
        yield env


def _quoted(path: str) -> str:
    # The list of alternates is split at colons unless an entry is quoted.
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def add_all(toplevel: str, exclude: Sequence[str], env: dict[str, str]) -> None:
    without = [f":(top,exclude,glob){pattern}" for pattern in exclude]
    words = ("add", "-A", "--ignore-errors", "--", ":/", *without)
    done = attempt(toplevel, *words, env=env)
    errors = [line for line in done.stderr.splitlines() if line.startswith(("error:", "fatal:"))]
    if done.returncode and not (errors and all(map(_NO_COMMIT.match, errors))):
        raise failure(toplevel, words, done)


def _new_commit(toplevel: str, paths: Sequence[str], message: str, trailer: str) -> str | None:
    if resolve(toplevel, "MERGE_HEAD") is not None:
        raise OutsideError(
            f"a merge is going on in {toplevel}; porch does not commit into it",
            fix="finish it with `git commit`, or leave it with `git merge --abort`",
        )
    old = head(toplevel)
    with tempfile.TemporaryDirectory(prefix="porch-commit-") as scratch:
        new_tree = _tree_of_paths(toplevel, paths, old, os.path.join(scratch, "index"))
    if new_tree == tree_at(toplevel, old):
        return None
    parents = ("-p", old) if old else ()
    text = f"{message.rstrip()}\n\n{trailer}\n"
    words = ("commit-tree", new_tree, *parents, "-F", "-")
    new = ask(toplevel, *words, env=identity(toplevel), stdin=text).strip()
    crash.point("git.before-update-ref")
    # The old value is the fence: a HEAD that has moved meanwhile refuses.
    subject = message.strip().partition("\n")[0]
    fence = old or "0" * len(new)
    ask(toplevel, "update-ref", "-m", f"commit (porch): {subject}", "HEAD", new, fence)
    crash.point("git.after-update-ref")
    return new


def tree_at(toplevel: str, commit: str | None) -> str:
    """The files of a commit as one hash; without a commit, of no files."""
    if commit in _TREES:
        return _TREES[commit]
    if commit is None or not _FULL.fullmatch(commit):
        return _tree_at(toplevel, commit)
    # What a commit holds never changes.
    _TREES[commit] = gitdir.tree_of(toplevel, commit) or _tree_at(toplevel, commit)
    return _TREES[commit]


_FULL = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_TREES: dict[str | None, str] = {}


def _tree_at(toplevel: str, commit: str | None) -> str:
    name = f"{commit}^{{tree}}" if commit else None
    return one_line(toplevel, *(("rev-parse", name) if name else ("mktree",)))


def _tree_of_paths(toplevel: str, paths: Sequence[str], base: str | None, index: str) -> str:
    env = {"GIT_INDEX_FILE": index, "GIT_LITERAL_PATHSPECS": "1"}
    ask(toplevel, "read-tree", base or "--empty", env=env)
    known = [path for path in paths if _is_there(toplevel, path, env)]
    ignored = _ignored(toplevel, known, index)
    taken = [path for path in known if path not in ignored]
    if taken:
        words = ("add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul")
        ask(toplevel, *words, env=env, stdin="\0".join(taken))
    return ask(toplevel, "write-tree", env=env).strip()


def _ignored(toplevel: str, paths: Sequence[str], index: str) -> set[str]:
    # This command knows no literal paths; behind "./" nothing looks like magic.
    stdin = "".join(f"./{path}\0" for path in paths)
    words = ("check-ignore", "-z", "--stdin")
    done = attempt(toplevel, *words, env={"GIT_INDEX_FILE": index}, stdin=stdin)
    if done.returncode > 1:
        raise failure(toplevel, words, done)
    return {path.removeprefix("./") for path in done.stdout.split("\0")}


def _is_there(toplevel: str, path: str, env: dict[str, str]) -> bool:
    """On disk, or committed and deleted since; git refuses paths that are neither."""
    if os.path.lexists(os.path.join(toplevel, path)):
        return True
    return bool(ask(toplevel, "ls-files", "-z", "--", path, env=env))


def identity(toplevel: str) -> dict[str, str]:
    """The person's own name where git knows one; a machine without still can commit."""
    found = gitdir.of(toplevel)
    home = found.common if found else toplevel
    if home not in _IDENTITIES:
        _IDENTITIES[home] = _identity(toplevel)
    return _IDENTITIES[home]


_IDENTITIES: dict[str, dict[str, str]] = {}


def _identity(toplevel: str) -> dict[str, str]:
    if attempt(toplevel, "var", "GIT_COMMITTER_IDENT").returncode == 0:
        return {}
    who = {"NAME": "porch", "EMAIL": "porch@localhost"}
    return {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}


def _settle_index(toplevel: str, commit: str) -> None:
    """Move the user's index along for what the commit changed; else it would stage the undoing."""
    words = ("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", commit)
    fields = ask(toplevel, *words).split("\0")
    changes = dict(zip(fields[1::2], (field.split(" ") for field in fields[0::2]), strict=False))
    rows = [f"{new_mode} {new}\t{path}\0" for path, (_, new_mode, _, new, _) in changes.items()]
    _wait_for_index(toplevel)
    ask(toplevel, "update-index", "-z", "--index-info", stdin="".join(rows))
    attempt(toplevel, "update-index", "-q", "--refresh")


def _wait_for_index(toplevel: str) -> None:
    """A person's own git holds the lock for an instant only; give it that."""
    lock = git_path(toplevel, "index.lock")
    deadline = time.monotonic() + INDEX_LOCK_S
    while os.path.exists(lock) and time.monotonic() < deadline:
        time.sleep(0.05)
