"""The file of a conversation is found where claude keeps it, and nothing else is taken for one."""

import os
from pathlib import Path

import pytest

from porch.agents.claude import conversation_files
from porch.agents.claude.conversation_files import find_conversation, find_elsewhere

SESSION = "03a5cf7d-50d3-4b74-b400-bff9a10282fc"


def held(home: Path, folder: str = "-work-a", text: str = "{}\n") -> Path:
    path = home / ".claude" / "projects" / folder / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(home: Path, **more: str) -> str:
    return find_conversation(SESSION, {"HOME": str(home), **more})


def test_it_is_found_in_whatever_folder_it_lies(tmp_path: Path) -> None:
    """E3."""
    path = held(tmp_path)
    assert found(tmp_path) == str(path)
    assert found(tmp_path / "nowhere", CLAUDE_CONFIG_DIR=str(tmp_path / ".claude")) == str(path)
    assert found(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "other")) == ""


def test_of_copies_the_one_that_went_on_counts(tmp_path: Path) -> None:
    older, newer = held(tmp_path, "-b"), held(tmp_path, "-a")
    os.utime(older, (1, 1))
    assert found(tmp_path) == str(newer)


@pytest.mark.parametrize("name", ["", "../-work-a/x", "-" * 35, f"{SESSION}/", "x" * 36])
def test_a_name_that_is_none_is_never_part_of_a_path(name: str, tmp_path: Path) -> None:
    held(tmp_path)
    assert find_conversation(name, {"HOME": str(tmp_path)}) == ""


def test_no_link_below_its_directory_is_followed(tmp_path: Path) -> None:
    """E3: an agent could lay one there; what a person linked above is theirs to link."""
    secret = tmp_path / "secret"
    secret.write_text("the word is hush\n")
    link = held(tmp_path)
    link.unlink()
    link.symlink_to(secret)
    assert found(tmp_path) == ""
    link.unlink()
    held(tmp_path / "elsewhere", "-x")
    (link.parent.parent / "-linked").symlink_to(tmp_path / "elsewhere/.claude/projects/-x")
    assert found(tmp_path) == ""
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere/.claude")
    assert found(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "linked"))


@pytest.mark.parametrize("kind", ["fifo", "directory", "too large", "missing"])
def test_only_a_file_of_a_usual_size_is_one(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = held(tmp_path)
    if kind == "too large":
        monkeypatch.setattr(conversation_files, "LARGEST", 2)
    else:
        path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    if kind == "directory":
        path.mkdir()
    assert found(tmp_path) == ""


def test_where_claude_finds_it_by_its_name_no_path_is_needed(tmp_path: Path) -> None:
    odd = tmp_path / "a_b.c é"
    folder = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(odd.resolve()))
    path, environ = held(tmp_path, folder), {"HOME": str(tmp_path)}
    assert find_elsewhere(SESSION, str(odd), environ) == ""
    assert find_elsewhere(SESSION, str(tmp_path), environ) == str(path)


def test_the_folder_of_a_long_name_is_cut_and_numbered(tmp_path: Path) -> None:
    long = Path("/" + "a" * 250)
    held(tmp_path, f"-{'a' * 199}-1k2j3h")
    assert find_elsewhere(SESSION, str(long), {"HOME": str(tmp_path)}) == ""


def test_a_file_that_goes_while_one_looks_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = held(tmp_path)

    def lose(each: str) -> float:
        path.unlink()
        return os.stat(each).st_mtime

    monkeypatch.setattr(os.path, "getmtime", lose)
    assert found(tmp_path) == ""
