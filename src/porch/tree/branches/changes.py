"""What differs between two states of a repository, measured by git and not told by an agent."""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from porch.git import repository
from porch.git.changed_paths import ChangedPath, parse_raw_diff
from porch.git.command import run_git, try_git
from porch.git.git_directory import is_whole_hash
from porch.git.merge import Conflict, cherry_pick_tree, has_ancestor
from porch.git.objects.loose_trees import compare_loose_trees
from porch.text.late_pattern import late_pattern
from porch.text.sha256 import sha256

LIMIT = 200_000
_RAW = ("--raw", "-z", "-r", "--no-renames", "--no-abbrev", "--no-ext-diff")
_UNBENT = ("--no-ext-diff", "--no-textconv")
# Everything a person's settings could bend is said, so that the text depends on the files alone.
_TEXT = (
    *("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-U3", "-M", "--full-index"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"),
)


def compare_commits(repo: str, old: str, new: str) -> list[ChangedPath]:
    raw = compare_loose_trees((repository.find_git_path(repo, "objects"),), old, new)
    if raw is None:
        raw = run_git(repo, "diff-tree", *_RAW, old, new)
    return parse_raw_diff(raw, lambda blob: run_git(repo, "cat-file", "blob", blob))


def render_diff(
    repo: str,
    old: str,
    new: str,
    *,
    first_parent_only: bool = False,
    limit: int = LIMIT,
    skip_trailer: str = "",
) -> tuple[str, bool]:
    """The difference as a patch, and whether it was cut at the limit.

    With `first_parent_only` only the branch's own commits count: those on its first-parent line
    whose message has no line that begins with `skip_trailer`. Their changes are replayed on old and
    shown as one patch; where they build on what came in between, one after the other. Of a merge
    only what its maker changed by hand is shown.
    """
    text = (
        _render_own_commits(repo, old, new, skip_trailer)
        if first_parent_only
        else _read_patch(repo, old, new)
    )
    if len(text) <= limit:
        return text, False
    kept = text[:limit]
    return kept[: kept.rfind("\n") + 1], True


class ListedCommit(Struct, frozen=True):
    """A commit with its parents and the lines of its message."""

    id: str
    parents: tuple[str, ...]
    lines: tuple[str, ...]

    def has_line(self, beginning: str) -> bool:
        """Whether a line begins so. Trailers are how porch knows its own commits again.

        An agent's commit that carries one is a forgery, and is found before anybody believes it.
        """
        return any(line.startswith(beginning) for line in self.lines)


def list_commits(repo: str, old: str, new: str) -> list[ListedCommit]:
    """All commits since old, with that at which new is first."""
    log = run_git(repo, "log", "--format=%H %P%n%B%x00", f"{old}..{new}")
    entries = [entry.strip().splitlines() for entry in log.split("\0") if entry.strip()]
    return [_make_listed_commit(*lines) for lines in entries]


def _make_listed_commit(first: str, *lines: str) -> ListedCommit:
    id_, *parents = first.split()
    return ListedCommit(id_, tuple(parents), lines)


def hash_patch(repo: str, old: str, new: str) -> str:
    """A name for what changed, wherever in its file it stands now; empty if nothing did.

    Unlike git's own, white space counts: in some languages it is the logic.
    """
    lines = _read_patch(repo, old, new, "--binary", "--no-renames").split("\n")
    kept = [line for line in lines if not line.startswith("index ")]
    kept = ["@@" if line.startswith("@@ ") else line for line in kept]
    text = "\n".join(kept).encode("utf-8", "surrogateescape")
    return sha256(text).hexdigest() if text else ""


def is_ancestor(repo: str, ancestor: str, commit: str) -> bool:
    return has_ancestor(repo, commit, ancestor)


def find_removed_exports(repo: str, old: str, new: str) -> list[str]:
    """`path: name` of each top-level name that a changed source file no longer has."""
    gone = []
    for change in compare_commits(repo, old, new):
        if change.status != "A" and _export_pattern(change.path):
            after = _read_exports(repo, new, change.path)
            before = _read_exports(repo, old, change.path)
            gone += [f"{change.path}: {name}" for name in before if name not in after]
    return gone


def _read_patch(repo: str, old: str, new: str, *flags: str) -> str:
    # Several are shown the same two commits one after the other, and commits never change.
    is_fixed = is_whole_hash(old) and is_whole_hash(new)
    return (_read_fixed_patch if is_fixed else _ask_patch)(repo, old, new, *flags)


def _ask_patch(repo: str, old: str, new: str, *flags: str) -> str:
    return run_git(repo, *_TEXT, *flags, old, new)


# Few, for they may be large.
_read_fixed_patch = lru_cache(maxsize=8)(_ask_patch)


def _render_own_commits(repo: str, old: str, new: str, skip_trailer: str) -> str:
    found = list_commits(repo, old, new)
    line = _list_first_parents(found)
    is_brought = bool(skip_trailer) and any(each.has_line(skip_trailer) for each in found)
    if not is_brought and all(len(each.parents) == 1 for each in line):
        return _read_patch(repo, old, new)
    single = [each for each in line if len(each.parents) == 1]
    own = [each.id for each in single if not (skip_trailer and each.has_line(skip_trailer))]
    merges = [each.id for each in line if len(each.parents) > 1]
    return _render_replayed_commits(repo, old, own) + "".join(
        _read_merge_edits(repo, merge) for merge in merges
    )


def _list_first_parents(found: list[ListedCommit]) -> list[ListedCommit]:
    """The line from the oldest of these to the first, by first parents."""
    known = {each.id: each for each in found}
    line, at = list[ListedCommit](), found[0] if found else None
    while at is not None:
        line.insert(0, at)
        at = known.get(at.parents[0]) if at.parents else None
    return line


def _render_replayed_commits(repo: str, old: str, commits: list[str]) -> str:
    tree = repository.read_commit_tree(repo, old)
    for commit in commits:
        result = cherry_pick_tree(repo, tree, commit)
        if isinstance(result, Conflict):
            return "".join(_read_patch(repo, f"{each}^1", each) for each in commits)
        tree = result
    return _read_patch(repo, old, tree)


def _read_merge_edits(repo: str, merge: str) -> str:
    # A git that does not know this option shows nothing of a merge.
    return try_git(
        repo, "show", "--remerge-diff", "--format=", "--no-color", *_UNBENT, merge
    ).stdout


_PYTHON = late_pattern(
    r"^(?:async\s+)?(?:def|class)\s+([A-Za-z]\w*)|^([A-Z][A-Z0-9_]*)\s*(?::[^=\n]+)?=", re.MULTILINE
)
_GENERAL = late_pattern(
    r"""^(?:export\s+(?:default\s+)?|pub(?:\([^)]*\))?\s+|public\s+|static\s+|final\s+|abstract\s+
         |async\s+|declare\s+|unsafe\s+|extern\s+|data\s+(?=class))*
        (?:function\*?|class|interface|type|enum|struct|trait|union|record|module|namespace
         |const|let|var|val|fn|func(?:\s*\([^)]*\))?|fun|def|data|newtype|\#define)\s+([A-Za-z_]\w*)
      |^([a-z_]\w*'*)\s*::
      |^(?!else\b|return\b)[A-Za-z_][\w\ \t*]*?\b([A-Za-z_]\w*)\s*\([^;\n]*\)\s*\{?\s*$
      |^\s+(?:public|protected)\s[^=;(\n]*?([A-Za-z_]\w*)\s*\(""",
    re.MULTILINE | re.VERBOSE,
)
_PATTERNS = {
    _PYTHON: "py pyi",
    _GENERAL: "js jsx mjs cjs ts tsx go rs java kt scala swift cs c h cc cpp hpp hs rb php",
}
_SOURCES = {kind: regex for regex, kinds in _PATTERNS.items() for kind in kinds.split()}


def _export_pattern(path: str) -> re.Pattern[str] | None:
    return _SOURCES.get(path.rpartition(".")[2])


def _read_exports(repo: str, commit: str, path: str) -> list[str]:
    regex = _export_pattern(path)
    text = try_git(repo, "cat-file", "blob", f"{commit}:{path}").stdout
    return list(dict.fromkeys(_find_names(regex, text))) if regex else []


def _find_names(regex: re.Pattern[str], text: str) -> Iterator[str]:
    for found in regex.finditer(text):
        yield from (name for name in found.groups() if name)
