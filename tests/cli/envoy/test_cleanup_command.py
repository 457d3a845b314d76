"""`envoy plan cleanup-debug-logs` in a real repository."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words as run_command

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

Told = dict[str, Any]
Cleanup = Callable[..., Told]
# In pieces, so that cleaning this project finds nothing here.
OPEN = "[" + "DEBUG-TEMP]"
BLOCK = f"    # {OPEN}\n    print(x)\n    print(2)\n\n"
PYTHON = f"def f(x):\n{BLOCK}    return x\n"
CLEAN = "def f(x):\n\n    return x\n"


def stamp(path: Path) -> tuple[int, int, int]:
    """What a file that nobody wrote keeps; when it was last read is no part of that."""
    known = path.stat()
    return known.st_ino, known.st_mtime_ns, known.st_ctime_ns


@pytest.fixture
def cleanup(desk: "Desk", capsys: pytest.CaptureFixture[str]) -> Cleanup:
    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        left = run_command("envoy", ["plan", "cleanup-debug-logs", *words])
        told: Told = json.loads(capsys.readouterr().out)
        assert left == code, told
        assert told["status"] == ("error" if code else "success")
        return told

    return type_


@pytest.mark.req("E-078", "E-079")
def test_all_blocks_of_all_files_go_and_are_told(desk: "Desk", cleanup: Cleanup) -> None:
    desk.write("src/a.py", PYTHON + BLOCK)
    script = desk.write("web/b.ts", f"let a;\r\n// {OPEN}\r\nlog(a);\r\n\r\n")
    other = desk.write("c.go", "package c\n")
    before = stamp(other)
    desk.git("add", "src/a.py")
    told = cleanup()
    assert told["data"] == {
        "success": True,
        "dry_run": False,
        "files_modified": ["src/a.py", "web/b.ts"],
        "markers_removed": 3,
        "lines_removed": 8,
        "unmatched_markers": [],
        "refused_blocks": [],
        "skipped_files": [],
        "mentions": 0,
        "message": "3 markers removed from 2 files",
    }
    assert (desk.root / "src/a.py").read_text() == CLEAN + "\n"
    assert script.read_bytes() == b"let a;\r\n\r\n"
    assert stamp(other) == before


@pytest.mark.req("E-080")
def test_a_second_time_removes_nothing(desk: "Desk", cleanup: Cleanup) -> None:
    path = desk.write("a.py", PYTHON)
    assert cleanup()["data"]["markers_removed"] == 1
    known = stamp(path)
    told = cleanup("--json")["data"]
    assert (told["markers_removed"], told["files_modified"]) == (0, [])
    assert stamp(path) == known


@pytest.mark.req("E-074")
def test_only_the_worktree_one_stands_in_is_cleaned(
    desk: "Desk", cleanup: Cleanup, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = desk.write("a.py", PYTHON)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "debugging")
    desk.git("worktree", "add", "-q", "../other", "-b", "other")
    there = desk.root.parent / "other"
    (there / "deep").mkdir()
    monkeypatch.chdir(there / "deep")
    assert cleanup()["data"]["files_modified"] == ["a.py"]
    assert (there / "a.py").read_text() == CLEAN
    assert here.read_text() == PYTHON


def test_a_dry_run_tells_the_same_and_changes_nothing(desk: "Desk", cleanup: Cleanup) -> None:
    path = desk.write("a.py", PYTHON)
    known = stamp(path)
    dry = cleanup("--dry-run")["data"]
    assert stamp(path) == known
    wet = cleanup()["data"]
    assert dry | {"dry_run": False, "message": wet["message"]} == wet
    assert dry["message"] == "1 markers would be removed from 1 files"


def test_ignored_files_are_left_alone(desk: "Desk", cleanup: Cleanup) -> None:
    path = desk.write("node_modules/a.py", PYTHON)
    desk.write(".gitignore", "node_modules\n")
    assert cleanup()["data"]["markers_removed"] == 0
    assert path.read_text() == PYTHON


@pytest.mark.req("E-076")
def test_a_block_that_could_be_code_is_refused_and_force_takes_it(
    desk: "Desk", cleanup: Cleanup
) -> None:
    path = desk.write("a.py", f"{PYTHON}# {OPEN}\nprint(1)\ndef real_code(): ...\n")
    told = cleanup(code=1)
    assert told["error"]["type"] == "refused_blocks"
    assert told["error"]["suggestion"]
    assert told["data"]["success"] is False
    assert told["data"]["files_modified"] == ["a.py"]
    (refused,) = told["data"]["refused_blocks"]
    # Where it stands now that the other block is gone.
    assert (refused["path"], refused["line"], refused["lines"]) == ("a.py", 4, 3)
    assert path.read_text() == f"{CLEAN}# {OPEN}\nprint(1)\ndef real_code(): ...\n"
    # E10: the marker of a refused block is left, too.
    left = "1 markers removed from 1 files; 1 markers left: 1 of refused blocks, 0 of no block"
    assert told["data"]["message"] == left
    assert cleanup("--force")["data"]["markers_removed"] == 1
    assert path.read_text() == CLEAN


def test_leftovers_are_reported_and_fail(desk: "Desk", cleanup: Cleanup) -> None:
    desk.write("a.py", f"{PYTHON}x = 1  # {OPEN} é\n")
    told = cleanup(code=1)
    assert told["error"]["type"] == "unmatched_markers"
    assert told["data"]["markers_removed"] == 1
    assert told["data"]["unmatched_markers"] == [
        {
            "path": "a.py",
            "line": 4,
            "text": f"x = 1  # {OPEN} é",
            "reason": "there is code before the marker",
        }
    ]
    assert cleanup("--force", code=1)["data"]["unmatched_markers"]


def test_pages_that_explain_the_marker_do_not_fail(desk: "Desk", cleanup: Cleanup) -> None:
    page = desk.write("docs/debug.md", f"# Debugging\n\n```py\n# {OPEN}\nprint(1)\n\n```\n")
    text = f'MARK = "{OPEN}"\n'
    tool = desk.write("tool.py", text)
    known = page.read_text()
    told = cleanup()["data"]
    assert (told["markers_removed"], told["mentions"]) == (0, 2)
    assert (page.read_text(), tool.read_text()) == (known, text)


def test_the_packaged_protocols_may_lie_in_the_project(desk: "Desk", cleanup: Cleanup) -> None:
    packaged = Path(__file__).parents[3] / "src/porch/protocols/steps/debugging.yaml"
    for place in (".claude/protocols", "elsewhere"):
        desk.write(f"{place}/debugging.yaml", packaged.read_text())
    told = cleanup()["data"]
    assert (told["markers_removed"], told["mentions"] > 0) == (0, True)


def test_what_is_not_looked_at_is_said(desk: "Desk", cleanup: Cleanup) -> None:
    data = f"# {OPEN}\nprint(1)\n\n".encode()
    (desk.root / "image.bin").write_bytes(data + b"\0")
    (desk.root / "large.py").write_bytes(data + b"#" * (4 * 1024 * 1024))
    path = desk.write("a.py", PYTHON)
    (desk.root / "link.py").symlink_to("a.py")
    told = cleanup()["data"]
    assert [row["path"] for row in told["skipped_files"]] == ["image.bin", "large.py"]
    assert told["files_modified"] == ["a.py"]
    assert (desk.root / "link.py").is_symlink()
    assert path.read_text() == CLEAN


def test_bytes_of_any_encoding_stay(desk: "Desk", cleanup: Cleanup) -> None:
    path = desk.root / "a.py"
    odd = bytes(range(1, 256)).replace(b"\n", b"")
    path.write_bytes(odd + b"\n" + PYTHON.encode() + odd)
    path.chmod(0o755)
    cleanup()
    assert path.read_bytes() == odd + b"\n" + CLEAN.encode() + odd
    assert path.stat().st_mode & 0o777 == 0o755


def test_outside_of_a_repository_nothing_is_touched(
    desk: "Desk", cleanup: Cleanup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.py").write_text(PYTHON)
    monkeypatch.chdir(tmp_path / "plain")
    assert cleanup(code=2)["error"]["type"] == "no_repository"
    assert (tmp_path / "plain/a.py").read_text() == PYTHON
    assert os.listdir(tmp_path / "plain") == ["a.py"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_n10_debug_lines_go_in_every_encoding_and_nothing_else_does(
    desk: "Desk", cleanup: Cleanup, encoding: str
) -> None:
    path = desk.root / "a.py"
    first = f"# {OPEN}\r\nprint('ä')\r\n\r\nend\r\n"
    path.write_bytes(first.encode(encoding))
    told = cleanup()["data"]
    assert (told["markers_removed"], told["skipped_files"]) == (1, [])
    assert path.read_bytes() == "\r\nend\r\n".encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_n10_small_letters_are_no_success(desk: "Desk", cleanup: Cleanup, encoding: str) -> None:
    text = f"# {OPEN.lower()}\nprint(1)\n\n"
    (desk.root / "a.py").write_bytes(text.encode(encoding))
    told = cleanup(code=1)
    (left,) = told["data"]["unmatched_markers"]
    assert (left["path"], left["line"]) == ("a.py", 1)
    assert (desk.root / "a.py").read_bytes() == text.encode(encoding)


def test_n10_markers_in_a_submodule_are_reported_with_the_way_there(
    desk: "Desk", cleanup: Cleanup, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    desk.git("init", "-q", str(inner))
    desk.git("-C", str(inner), "commit", "-q", "--allow-empty", "-m", "first")
    desk.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib/in")
    (desk.root / "lib/in/a.py").write_text(f"{PYTHON}x = 1  # {OPEN}\n")
    told = cleanup(code=1)["data"]
    (block,) = told["refused_blocks"]
    (left,) = told["unmatched_markers"]
    assert (block["path"], block["line"], left["line"]) == ("lib/in/a.py", 2, 7)
    assert "submodule lib/in" in block["reason"]
    # Not even force touches what has commits of its own.
    assert cleanup("--force", code=1)["data"]["markers_removed"] == 0
