"""Ways to hide a change from whoever measures; only a file that is ignored stays hidden."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.git import measured_tree
from tests.repositories import sh

pytestmark = pytest.mark.usefixtures("git_home")

Hide = Callable[[Path], object]
FILTER = "sh -c 'touch {mark}; echo constant'"


def configure(repo: Path, **keys: str) -> None:
    for key, value in keys.items():
        sh(repo, "config", key.replace("__", "."), value)


def say(repo: Path, name: str, text: str) -> None:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def change(repo: Path, text: str = "two\n") -> None:
    (repo / "a.txt").write_text(text)


def by_flag(flag: str) -> Hide:
    def hide(repo: Path) -> None:
        sh(repo, "update-index", flag, "a.txt")
        change(repo)

    return hide


def by_attribute(where: str, words: str, **keys: str) -> Hide:
    """The attribute stands there already; what is hidden is the change that comes after it."""

    def prepare(repo: Path) -> None:
        say(repo, where, f"a.txt {words}\n")
        configure(repo, **{k: v.format(mark=repo.parent / "ran") for k, v in keys.items()})

    return prepare


def and_change(prepare: Hide, old: str = "one\n", new: str = "two\n") -> tuple[Hide, Hide]:
    def first(repo: Path) -> None:
        change(repo, old)
        prepare(repo)

    return first, lambda repo: change(repo, new)


def nothing(_: Path) -> None:
    pass


def behind_a_lie_about_time(repo: Path) -> None:
    found = (repo / "a.txt").stat()
    change(repo)
    os.utime(repo / "a.txt", ns=(found.st_atime_ns, found.st_mtime_ns))


def by_monitor(repo: Path) -> None:
    hook = repo.parent / "monitor"
    hook.write_text(f"#!/bin/sh\ntouch {repo.parent}/ran\nprintf 'x\\0'\n")
    hook.chmod(0o755)
    configure(repo, core__fsmonitor=str(hook))
    sh(repo, "update-index", "--fsmonitor")
    change(repo)


def by_exclude(repo: Path) -> None:
    say(repo, ".git/info/exclude", "new.py\n")
    say(repo, "new.py", "x\n")


def by_excludes_file(repo: Path) -> None:
    say(repo, "../mine", "new.py\n")
    configure(repo, core__excludesFile=str(repo.parent / "mine"))
    say(repo, "new.py", "x\n")


def by_sparse_checkout(repo: Path) -> None:
    configure(repo, core__sparseCheckout="true")
    say(repo, ".git/info/sparse-checkout", "/.gitignore\n")
    change(repo)


def by_another_worktree(repo: Path) -> None:
    say(repo, "../elsewhere/a.txt", "one\n")
    say(repo, "../elsewhere/.gitignore", "*.log\n")
    configure(repo, core__worktree=str(repo.parent / "elsewhere"))
    change(repo)


def by_replacement(repo: Path) -> None:
    """The blob of the change is to be read as that of the original."""
    old = sh(repo, "rev-parse", "HEAD:a.txt")
    change(repo)
    new = sh(repo, "hash-object", "-w", "a.txt")
    sh(repo, "replace", "-f", new, old)


def by_force_and_ignore(repo: Path) -> None:
    say(repo, "lib.log", "x\n")
    sh(repo, "add", "-f", "lib.log")


def by_force_ignore_and_commit(repo: Path) -> None:
    by_force_and_ignore(repo)
    sh(repo, "commit", "-qm", "tracked, and ignored")


def by_mode(repo: Path) -> None:
    configure(repo, core__fileMode="false")
    (repo / "a.txt").chmod(0o755)


def by_link(repo: Path) -> None:
    configure(repo, core__symlinks="false")
    (repo / "a.txt").unlink()
    # Its content as a file would be the same text.
    (repo / "a.txt").symlink_to("one\n")


def by_letter_case(repo: Path) -> None:
    configure(repo, core__ignoreCase="true")
    say(repo, "A.TXT", "one\n")


def by_untracked_cache(repo: Path) -> None:
    configure(repo, core__untrackedCache="true", status__showUntrackedFiles="no")
    sh(repo, "update-index", "--force-untracked-cache")
    say(repo, "new.py", "x\n")


def by_split_index(repo: Path) -> None:
    configure(repo, core__splitIndex="true")
    sh(repo, "update-index", "--split-index")
    by_flag("--skip-worktree")(repo)


def by_unchecked_time(repo: Path) -> None:
    configure(repo, core__trustctime="false", core__checkStat="minimal")
    behind_a_lie_about_time(repo)


def by_alias_and_hook(repo: Path) -> None:
    for name in ("pre-commit", "post-index-change", "post-checkout"):
        hook = repo / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {repo.parent}/ran\n")
        hook.chmod(0o755)
    configure(repo, alias__add="!true", core__hooksPath=str(repo / ".git" / "hooks"))
    change(repo)


WAYS: dict[str, tuple[Hide, Hide]] = {
    "skip-worktree": (nothing, by_flag("--skip-worktree")),
    "assume-unchanged": (nothing, by_flag("--assume-unchanged")),
    "sparse checkout": (nothing, by_sparse_checkout),
    "split index": (nothing, by_split_index),
    "untracked cache": (nothing, by_untracked_cache),
    "file monitor": (nothing, by_monitor),
    "times set back": (nothing, behind_a_lie_about_time),
    "times not compared": (nothing, by_unchecked_time),
    "info/exclude": (nothing, by_exclude),
    "core.excludesFile": (nothing, by_excludes_file),
    "core.worktree": (nothing, by_another_worktree),
    "core.fileMode": (nothing, by_mode),
    "core.symlinks": (nothing, by_link),
    "core.ignoreCase": (nothing, by_letter_case),
    "replaced object": (nothing, by_replacement),
    "staged and ignored": (nothing, by_force_and_ignore),
    "committed and ignored": (nothing, by_force_ignore_and_commit),
    "hooks and aliases": (nothing, by_alias_and_hook),
    "clean filter in .gitattributes": and_change(
        by_attribute(".gitattributes", "filter=x", filter__x__clean=FILTER)
    ),
    "clean filter in info/attributes": and_change(
        by_attribute(".git/info/attributes", "filter=x", filter__x__clean=FILTER)
    ),
    "filter process": and_change(
        by_attribute(".gitattributes", "filter=x", filter__x__process=FILTER)
    ),
    "ident": and_change(by_attribute(".gitattributes", "ident"), "$Id: 1$\n", "$Id: 2$\n"),
    "ends of lines": and_change(by_attribute(".gitattributes", "text eol=lf"), "1\r\n", "1\n"),
    "core.autocrlf": and_change(
        by_attribute(".gitattributes", "text=auto", core__autocrlf="input"), "1\r\n", "1\n"
    ),
    "encoding": and_change(
        by_attribute(".git/info/attributes", "working-tree-encoding=UTF-7"), "+AGE-\n", "a\n"
    ),
}


# Also with an index that had time to trust what it knows of the files.
SETTLED = ("skip-worktree", "file monitor", "times set back", "ident")


@pytest.mark.parametrize(
    "way, is_settled", [*((way, False) for way in WAYS), *((way, True) for way in SETTLED)]
)
def test_v3_no_change_can_be_hidden_from_the_measured_tree(
    repo: Path, tmp_path: Path, way: str, is_settled: bool
) -> None:
    before, hide = WAYS[way]
    before(repo)
    room = str(tmp_path / "room")
    first = measured_tree.measure_tree(str(repo), room=room)
    if is_settled:
        _wait_for_next_second()
        assert measured_tree.measure_tree(str(repo), room=room) == first
    hide(repo)
    (repo.parent / "ran").unlink(missing_ok=True)
    assert measured_tree.measure_tree(str(repo), room=room) != first
    assert not (repo.parent / "ran").exists(), "something that the repository configures was run"


def _wait_for_next_second() -> None:
    """Long enough for what changed before not to be fresh any more."""
    time.sleep(1.3)


def test_v3_a_file_that_is_ignored_stays_hidden(repo: Path, tmp_path: Path) -> None:
    room = str(tmp_path / "room")
    first = measured_tree.measure_tree(str(repo), room=room)
    say(repo, "new.log", "x\n")
    assert measured_tree.measure_tree(str(repo), room=room) == first


def test_v3_a_rule_of_the_work_itself_hides_a_file_and_is_seen(repo: Path, tmp_path: Path) -> None:
    room = str(tmp_path / "room")
    first = measured_tree.measure_tree(str(repo), room=room)
    say(repo, ".gitignore", "new.py\n")
    second = measured_tree.measure_tree(str(repo), room=room)
    say(repo, "new.py", "x\n")
    assert first != second == measured_tree.measure_tree(str(repo), room=room)


def test_v3_what_somebody_writes_into_our_own_git_directory_does_not_stay(repo: Path) -> None:
    first = measured_tree.measure_tree(str(repo))
    own = repo / ".git" / "porch" / "tree.git"
    say(own, "config", f'[filter "x"]\n\tclean = touch {repo.parent}/ran\n')
    say(own, "info/attributes", "* filter=x\n")
    say(own, "info/exclude", "new.py\n")
    say(repo, "new.py", "x\n")
    assert measured_tree.measure_tree(str(repo)) != first
    assert not (repo.parent / "ran").exists()


def test_a_damaged_index_of_ours_is_made_anew(repo: Path) -> None:
    first = measured_tree.measure_tree(str(repo))
    (index,) = (repo / ".git" / "porch" / "tree.git" / "latest").glob("*.index")
    index.write_bytes(b"nonsense")
    assert measured_tree.measure_tree(str(repo)) == first
