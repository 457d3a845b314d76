"""The content of a worktree, measured so that nothing in its repository can bend the answer.

Git does the work, in a git directory of our own: no configuration but ours, attributes that switch
every conversion off, an index in which nobody sets flags. So no filter, hook, monitor, attribute,
flag or exclude of the repository is honoured, and none is run. Ignored files stay unseen.

The trees are raw: under a filter or a conversion of line ends they are not those of a commit.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from porch.errors import OutsideError
from porch.git import git_directory, repository
from porch.git.command import TIMEOUT_S, git_error, run_exact_git, run_git, try_git
from porch.git.fresh.kept_index import (
    IndexNote,
    describe_time_since,
    forget_fresh_stats,
    read_clock,
    read_note,
    trust_times,
    write_note,
)
from porch.git.index.left_out import compile_left_out, is_pattern, may_leave_out
from porch.git.index.raw_index import (
    IndexEntry,
    find_repository_entries,
    list_few_names,
    may_have_repositories,
)
from porch.git.moved_worktrees import lost_repository_error
from porch.git.odd_files import (
    ODD_CODES,
    embedded_repository_error,
    refuse_odd_files,
    refuse_pipes,
)
from porch.git.own_git_directory import OWN_ENVIRONMENT, OwnGitDirectory, ensure_own_git_directory
from porch.git.tree_room import TreeRoom, open_latest_room, pin_tree_room
from porch.system import atomic
from porch.system.processes import is_suspended
from porch.text.sha256 import sha256

if TYPE_CHECKING:
    from porch.git.fresh.seen_files import SeenFiles

# To add more files by their names takes git as long as to look for them.
_FEW = 2000
# To read so many names out of an index takes as long as to ask git.
_FEW_NAMES = 5000
# Elsewhere the letters of a name may be large on the disk and small in a commit.
_IS_LINUX = sys.platform == "linux"


class _WorktreeIndex(Struct, frozen=True):
    """Our index of one worktree, with everything that measuring it needs."""

    toplevel: str
    own: OwnGitDirectory
    path: str
    room: TreeRoom
    exclude: tuple[str, ...]

    @property
    def env(self) -> dict[str, str]:
        own = own_environment(self.toplevel, self.own)
        return {**own, "GIT_INDEX_FILE": self.path}

    @property
    def without(self) -> tuple[str, ...]:
        # Of a plain name also what lies below it.
        below = [f"{each}/**" for each in self.exclude if not is_pattern(each)]
        return tuple(map(repository.exclude_from_add, (*self.exclude, *below)))

    @property
    def ignoring(self) -> tuple[str, ...]:
        return ("-c", f"core.excludesFile={self.room.ignore_file}")

    def run_git(self, *words: str, stdin: str = "") -> str:
        return run_git(self.toplevel, *self.ignoring, *words, env=self.env, stdin=stdin)

    def add_files(self, *words: str, stdin: str = "") -> None:
        words = (*self.ignoring, "add", *words)
        done = try_git(self.toplevel, *words, env=self.env, stdin=stdin)
        refuse_odd_files(self.toplevel, done.stderr)
        if done.returncode:
            raise git_error(self.toplevel, words, done)

    def list_new(self, meanwhile: Callable[[], object]) -> str:
        """The files that it lacks; each ends with a zero."""
        words = ("ls-files", "-z", "-o", "--exclude-standard", "--", ":/", *self.without)
        return run_exact_git(
            self.toplevel, *self.ignoring, *words, env=self.env, meanwhile=meanwhile
        )


def own_environment(toplevel: str, own: OwnGitDirectory) -> dict[str, str]:
    """What turns a call of git to our own git directory."""
    return {**OWN_ENVIRONMENT, "GIT_DIR": own.path, "GIT_WORK_TREE": toplevel}


def measure_tree(worktree: str, exclude: Sequence[str] = (), room: str = "") -> str:
    """The content of all tracked and all untracked, not ignored files, as the id of a tree.

    `exclude` holds git globs from the toplevel: a file, a directory with all in it, or `a/*/b`.
    `room` is a directory that keeps the rules of what is ignored as they were when it was made;
    without one they are as they are now. Submodules count by the commit they are at, and by what is
    changed in them. Any other repository inside is refused, for it would hide its files.
    """
    index = _find_index(worktree, tuple(exclude), room)
    refuse_pipes(index.toplevel)
    with _lock_index(index.path):
        is_kept = os.path.exists(index.path)
        try:
            return _measure_locked(index)
        except OutsideError as error:
            # What is refused must not stay in it; and a damaged one is only what we kept.
            _remove_file(index.path)
            _remove_file(f"{index.path}.lock")
            if not is_kept or error.findings[0].code in ODD_CODES:
                raise
            return _measure_locked(index)


def forget_measurements(worktree: str, room: str) -> None:
    """Keep nothing that was measured in a worktree that is gone: an index names all its files."""
    path = os.path.join(room, _name_index(os.path.abspath(worktree), ()))
    for end in ("", ".note", ".use"):
        # What cannot be removed is in nobody's way.
        with contextlib.suppress(OSError):
            os.unlink(path + end)


def _find_index(worktree: str, exclude: tuple[str, ...], room: str) -> _WorktreeIndex:
    toplevel = find_toplevel(worktree)
    own = ensure_own_git_directory(toplevel)
    found = pin_tree_room(toplevel, room) if room else open_latest_room(toplevel, own)
    path = os.path.join(found.path, _name_index(toplevel, exclude))
    return _WorktreeIndex(toplevel, own, path, found, exclude)


def _name_index(toplevel: str, exclude: tuple[str, ...]) -> str:
    name = sha256("\0".join((os.path.realpath(toplevel), *exclude)).encode()).hexdigest()[:20]
    return f"{name}.index"


def find_toplevel(worktree: str) -> str:
    """The top of the worktree around a directory."""
    here = os.path.abspath(worktree)
    if git_directory.find_git_directory(here) is not None:
        return here
    found = repository.find_repository(here)
    if found is None or found.toplevel is None:
        raise lost_repository_error(worktree)
    return found.toplevel


@contextlib.contextmanager
def _lock_index(path: str) -> Iterator[None]:
    """One measurement at a time; a lock that a killed git left is nobody's then."""
    with open(f"{path}.use", "a+b") as file:
        _wait_for_turn(file.fileno(), file.name)
        # So that who waits can say for whom; a full disk only keeps us anonymous.
        atomic.try_os_call(os.ftruncate, file.fileno(), 0)
        atomic.try_os_call(os.write, file.fileno(), b"%d\n" % os.getpid())
        _remove_file(f"{path}.lock")
        yield


def _wait_for_turn(fd: int, path: str) -> None:
    """As long as a git may take, unless the other one has been halted."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        said = os.pread(fd, _LONGEST_PID, 0).strip()
        pid = int(said) if said.isdigit() else 0
        halted = is_suspended(pid)
        if halted or time.monotonic() >= deadline:
            who = f"process {pid}" if pid else "another process"
            how = ", and is suspended" if halted else ""
            raise OutsideError(
                f"{who} is measuring the same files{how} ({path})",
                fix=f"continue it with `kill -CONT {pid}`, or end it; then try again"
                if halted
                else "wait until it has ended, or end it, then try again",
            )
        time.sleep(_PAUSE_S)


_LONGEST_PID = 20
_PAUSE_S = 0.02


def _measure_locked(index: _WorktreeIndex) -> str:
    began, seen, note = read_clock(index.toplevel), None, read_note(index.path)
    if note.is_ended and note.stamp == git_directory.stamp_file(index.path):
        note = forget_fresh_stats(index.toplevel, index.path, index.own.id_bytes, note)
    else:
        # A measurement that did not come to its end proves nothing of what it left.
        _remove_file(index.path)
        _remove_file(f"{index.path}.note")
        seen = _seed_index(index)
        note = read_note(index.path)
    if seen is None or not _add_few(index, seen):
        index.add_files("-A", "--", ":/", *index.without)
    tracked = _describe_tracked(index)
    if tracked != note.tracked:
        _add_ignored_but_tracked(index)
    elif note.is_whole and git_directory.stamp_file(index.path) == note.stamp:
        # Git writes another file whenever it has learnt anything new.
        return note.tree
    trust_times(index.path)
    tree, data = index.run_git("write-tree").strip(), _read_bytes(index.path)
    inner = list(find_repository_entries(data, index.own.id_bytes))
    if inner and _measure_inner_repositories(index, inner):
        tree = index.run_git("write-tree").strip()
    fresh = describe_time_since(began)
    # Of what lies in submodules the index does not tell.
    is_whole = "" if inner else "whole"
    write_note(
        index.path, IndexNote(tracked, git_directory.stamp_file(index.path), tree, fresh, is_whole)
    )
    return tree


def _seed_index(index: _WorktreeIndex) -> "SeenFiles | None":
    """The files that may differ from it, where all others are known to be as it says."""
    from porch.git.fresh.checkout_index import keep_date, take_fresh_index

    fresh = take_fresh_index(index.toplevel)
    seen = None
    if fresh is not None:
        from porch.git.fresh.seen_files import look_at_files

        # What is left out of the index later is not among its new files now either.
        args = (index.toplevel, fresh, index.own.id_bytes, index.path)
        seen = look_at_files(*args, index.list_new)
    if fresh is not None and seen is not None:
        # Whatever git tracked when it made the worktree is in it.
        write_note(index.path, IndexNote(_describe_head_and(index, fresh.stamp)))
        if may_leave_out(index.exclude, fresh.data):
            with keep_date(index.path):
                _leave_out(index)
    elif not _may_begin_empty(index):
        index.run_git("read-tree", repository.read_head(index.toplevel) or "--empty")
        _leave_out(index)
    return seen


def _may_begin_empty(index: _WorktreeIndex) -> bool:
    """Of a file whose status is unknown git reads all, and so it is for each file of a seed."""
    theirs = _read_bytes(repository.find_git_path(index.toplevel, "index"))
    is_plain = _IS_LINUX and bool(theirs) and not may_have_repositories(theirs)
    return is_plain and not index.exclude


def _leave_out(index: _WorktreeIndex) -> None:
    if index.exclude:
        gone = [f":(top,glob){pattern}" for pattern in index.exclude]
        index.run_git("rm", "-r", "-f", "-q", "--cached", "--ignore-unmatch", "--", *gone)


def _add_few(index: _WorktreeIndex, seen: "SeenFiles") -> bool:
    """Add these files; False where git has to look through everything."""
    from porch.git.fresh.checkout_index import keep_date

    touched, new = seen
    if len(new) + len(touched) > _FEW or any(name.endswith("/") for name in new):
        return False  # of a repository inside, only the whole command says what is to be said
    try:
        with keep_date(index.path):
            _add_named(index, [*touched, *new]) if touched else _add_new(index, new)
    except OutsideError:
        return False  # one is gone again or in the way, and git complains of names
    return True


def _add_new(index: _WorktreeIndex, names: Sequence[str]) -> None:
    """Add files that are not left out; `git add` would compare each with every file there is."""
    if names:
        stdin = "".join(f"{name}\0" for name in names)
        index.run_git("update-index", "--add", "-z", "--stdin", stdin=stdin)


def _add_named(index: _WorktreeIndex, names: Sequence[str], *words: str) -> None:
    if names:
        wanted = [*(f":(top,literal){name}" for name in names), *index.without]
        named = ("--pathspec-from-file=-", "--pathspec-file-nul")
        index.add_files(*words, "-A", *named, stdin="\0".join(wanted))


def _describe_tracked(index: _WorktreeIndex) -> str:
    """Another text whenever what the repository calls tracked may have changed."""
    return _describe_head_and(
        index, git_directory.stamp_file(repository.find_git_path(index.toplevel, "index"))
    )


def _describe_head_and(index: _WorktreeIndex, stamp: str) -> str:
    return f"{repository.read_head(index.toplevel)} {stamp}"


def _add_ignored_but_tracked(index: _WorktreeIndex) -> None:
    """A file that git tracks counts, whatever the rules for ignoring say."""
    if _holds_all_tracked(index):
        return
    names = _list_staged_and_ignored(index)
    _add_named(index, [name for name in names if name and _is_file(index.toplevel, name)], "-f")


def _holds_all_tracked(index: _WorktreeIndex) -> bool:
    """Whether our index has every name of theirs that counts; git is asked where there are many."""
    theirs = _read_bytes(repository.find_git_path(index.toplevel, "index"))
    known = list_few_names(theirs, index.own.id_bytes, _FEW_NAMES)
    if known is None:
        return False
    ours = list_few_names(_read_bytes(index.path), index.own.id_bytes, 2 * _FEW_NAMES)
    return ours is not None and all(map(compile_left_out(index.exclude).fullmatch, known - ours))


def _list_staged_and_ignored(index: _WorktreeIndex) -> list[str]:
    theirs = repository.find_git_path(index.toplevel, "index")
    words = ("ls-files", "-z", "-c")
    env = {**index.env, "GIT_INDEX_FILE": theirs}
    done = try_git(index.toplevel, *index.ignoring, *words, "-i", "--exclude-standard", env=env)
    if done.returncode:
        # Only its own repository can read an index that is split over several files.
        return run_git(index.toplevel, *words).split("\0")
    return done.stdout.split("\0")


def _is_file(toplevel: str, name: str) -> bool:
    path = os.path.join(toplevel, name)
    return os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path))


def _measure_inner_repositories(index: _WorktreeIndex, inner: Sequence[IndexEntry]) -> bool:
    """Whether the index says more of submodules now; repositories that are none are refused."""
    names = [entry.name for entry in inner]
    base = index.room.base or repository.read_head(index.toplevel)
    rows = index.run_git("ls-tree", "-z", base, "--", *names).split("\0") if base else []
    known = _read_submodules(rows)
    foreign = [name for name in names if name not in known]
    if foreign:
        raise embedded_repository_error(index.toplevel, foreign[0])
    now = {entry.name: entry.id for entry in inner}
    found = ((name, _measure_submodule(index, name, known[name])) for name in names)
    changed = [f"160000 {id_} 0\t{name}\0" for name, id_ in found if id_ and id_ != now[name]]
    if changed:
        index.run_git("update-index", "-z", "--index-info", stdin="".join(changed))
    return bool(changed)


def _read_submodules(rows: Sequence[str]) -> dict[str, str]:
    """The commit of each, as a tree names it."""
    parts = (row.partition("\t") for row in rows if row.startswith("160000 "))
    return {name: front.split(" ")[2] for front, _, name in parts}


def _measure_submodule(index: _WorktreeIndex, name: str, commit: str) -> str:
    """What its files are, if they are not those of the commit it is at; empty if they are."""
    place = os.path.join(index.toplevel, name)
    if os.path.lexists(os.path.join(place, ".git")):
        tree = measure_tree(place, room=_find_submodule_room(index, name))
        head = repository.read_head(place)
        return "" if tree == repository.read_commit_tree(place, head) else tree
    # Git looks for no files where a repository should be and none is, also if there are some.
    has_files = os.path.isdir(place) and bool(os.listdir(place))
    return (_hash_plain_files(index, place) if has_files else "") or commit


def _find_submodule_room(index: _WorktreeIndex, name: str) -> str:
    """What it ignores is pinned where what its worktree ignores is."""
    short = sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return os.path.join(index.room.path, f"{short}.module") if index.room.is_pinned else ""


def _hash_plain_files(index: _WorktreeIndex, place: str) -> str:
    inside = replace(index, toplevel=place, path=f"{index.path}.plain", exclude=())
    inside.run_git("read-tree", "--empty")
    inside.add_files("-A", "--", ":/")
    for entry in find_repository_entries(_read_bytes(inside.path), index.own.id_bytes):
        raise embedded_repository_error(place, entry.name)
    return "" if _has_no_files(inside) else inside.run_git("write-tree").strip()


def _has_no_files(index: _WorktreeIndex) -> bool:
    return not index.run_git("ls-files", "-z")


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _remove_file(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
