"""Files that hold a text are found as git knows them, and rewritten without a trace."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.plan.cleanup import source_files

WORD = "DEBUG" + "-TEMP"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def test_tracked_and_untracked_files_are_found_and_ignored_ones_are_not(repository: Path) -> None:
    names = ["tracked.py", "untracked.go", "sub/ü b.rs", "ignored.log", "node_modules/x.js"]
    for name in (*names, "without.py", "gone.py"):
        path = repository / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("nothing" if name == "without.py" else f"# {WORD}\n")
    (repository / ".gitignore").write_text("*.log\nnode_modules/\n")
    subprocess.run(["git", "add", "tracked.py", "gone.py"], cwd=repository, check=True)
    (repository / "gone.py").unlink()
    known = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    found = source_files.list_files_with(str(repository), WORD)
    assert found == ["sub/ü b.rs", "tracked.py", "untracked.go"]
    assert set(found) < set(known)


def test_nothing_found_is_no_failure(repository: Path) -> None:
    assert source_files.list_files_with(str(repository), WORD) == []


def test_a_place_without_git_is(tmp_path: Path) -> None:
    with pytest.raises(OutsideError):
        source_files.list_files_with(str(tmp_path), WORD)


def test_links_binary_files_and_large_ones_are_not_read(repository: Path) -> None:
    (repository / "text").write_text("a")
    (repository / "link").symlink_to("text")
    (repository / "binary").write_bytes(b"a\0b")
    with open(repository / "large", "wb") as file:
        file.truncate(source_files.LARGEST + 1)
    os.mkfifo(repository / "pipe")
    told = {
        name: source_files.read_source(str(repository), name)
        for name in ("link", "binary", "large", "pipe", "missing")
    }
    assert all(isinstance(why, str) for why in told.values())
    assert "binary" in str(told["binary"])
    assert "4 MB" in str(told["large"])
    assert "not a regular file" in str(told["pipe"])


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o444])
def test_a_rewritten_file_keeps_its_rights_and_leaves_nothing_beside(
    repository: Path, mode: int
) -> None:
    path = repository / "run.sh"
    path.write_bytes(b"a\r\nb")
    path.chmod(mode)
    source = source_files.read_source(str(repository), "run.sh")
    assert isinstance(source, source_files.SourceFile)
    assert source_files.write_source(source, b"a\r\n") == ""
    assert path.read_bytes() == b"a\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert sorted(os.listdir(repository)) == [".git", "run.sh"]


def test_a_file_that_somebody_else_has_changed_is_left_to_them(repository: Path) -> None:
    path = repository / "a.py"
    path.write_text("old")
    source = source_files.read_source(str(repository), "a.py")
    assert isinstance(source, source_files.SourceFile)
    path.write_text("theirs, and newer")
    assert "somebody else" in source_files.write_source(source, b"ours")
    assert path.read_text() == "theirs, and newer"
    assert sorted(os.listdir(repository)) == [".git", "a.py"]


def test_a_file_that_has_gone_is_refused_by_name(repository: Path) -> None:
    (repository / "a.py").write_text("old")
    source = source_files.read_source(str(repository), "a.py")
    assert isinstance(source, source_files.SourceFile)
    (repository / "a.py").unlink()
    with pytest.raises(OutsideError, match=r"a\.py"):
        source_files.write_source(source, b"ours")
    assert os.listdir(repository) == [".git"]


def test_n10_a_git_without_newer_patterns_finds_the_same(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("a.py", WORD), ("b.py", WORD.lower()), ("c.py", "nothing")):
        (repository / name).write_text(f"# {text}\n")
    for name, encoding in (("d.py", "utf-16-le"), ("e.py", "utf-16-be")):
        (repository / name).write_bytes(f"# {WORD}\n".encode(encoding))
    found = source_files.list_files_with(str(repository), WORD)
    assert found == ["a.py", "b.py", "d.py", "e.py"]
    real = shutil.which("git")
    old = tmp_path / "old" / "git"
    old.parent.mkdir()
    old.write_text(
        '#!/bin/sh\nfor word; do [ "$word" = -P ] && echo "fatal: no libpcre" >&2 && exit 128; done'
        f'\nexec {real} "$@"\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    assert source_files.list_files_with(str(repository), WORD) == found
