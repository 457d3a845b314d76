"""Two trees file by file: counted, measured, and each patch for itself."""

import os
from pathlib import Path

import pytest

from porch.git.file_changes import ChangedContent, list_changed_contents, read_blob, read_patches
from porch.git.measured_tree import measure_tree
from tests.repositories import make_repository


@pytest.fixture
def compared(tmp_path: Path) -> tuple[str, str, str, dict[str, ChangedContent]]:
    root = make_repository(
        tmp_path / "r", {"same": "x", "a.txt": "one\ntwo\n", "gone": "old\n", "kind": "file\n"}
    )
    old = measure_tree(str(root))
    (root / "a.txt").write_bytes(b"one\nTWO\r\nthree")
    (root / "gone").unlink()
    (root / "kind").unlink()
    (root / "kind").symlink_to("/etc/passwd")
    (root / "binary").write_bytes(b"\0" * 3_000)
    (root / "d").mkdir()
    (root / "d/diff --git a b").write_text("diff --git a/x b/x\n@@ -1 +1 @@\n")
    (root / os.fsdecode(b"\xff\nodd")).write_text("odd\n")
    new = measure_tree(str(root))
    found = list_changed_contents(str(root), old, new)
    return str(root), old, new, {each.path: each for each in found}


def test_each_file_is_told_with_lines_sizes_and_type(
    compared: tuple[str, str, str, dict[str, ChangedContent]],
) -> None:
    *_, files = compared
    told = {
        name: (file.status, file.added, file.removed, file.new_size, file.is_link)
        for name, file in files.items()
    }
    assert told == {
        "a.txt": ("M", 2, 1, 14, False),
        "binary": ("A", None, None, 3_000, False),
        "d/diff --git a b": ("A", 2, 0, 31, False),
        "gone": ("D", 0, 1, 0, False),
        "kind": ("T", 1, 1, 11, True),
        os.fsdecode(b"\xff\nodd"): ("A", 1, 0, 4, False),
    }
    assert (files["gone"].new, files["binary"].old) == ("", "")
    assert (files["gone"].size, files["binary"].size) == (4, 3_000)


def test_each_patch_belongs_to_its_file_whatever_is_in_it(
    compared: tuple[str, str, str, dict[str, ChangedContent]],
) -> None:
    root, old, new, files = compared
    patches = read_patches(root, old, new, [*files.values()])
    assert set(patches) == set(files)
    assert patches["a.txt"] == (
        "@@ -1,2 +1,3 @@\n one\n-two\n+TWO\r\n+three\n\\ No newline at end of file"
    )
    assert patches["binary"] == ""
    assert patches["d/diff --git a b"].endswith("\n+diff --git a/x b/x\n+@@ -1 +1 @@")
    assert "-file" in patches["kind"]
    assert "+/etc/passwd" in patches["kind"]
    assert patches[os.fsdecode(b"\xff\nodd")].endswith("+odd")
    some = [file for name, file in files.items() if name in ("gone", "kind")]
    assert read_patches(root, old, new, some) == {name: patches[name] for name in ("gone", "kind")}
    assert read_patches(root, old, new, []) == {}
    assert read_patches(root, old, new, [*files.values()][::-1]) == patches


def test_a_link_is_read_as_its_own_text_and_never_followed(
    compared: tuple[str, str, str, dict[str, ChangedContent]],
) -> None:
    root, _, _, files = compared
    assert read_blob(root, files["kind"].new) == b"/etc/passwd"
    assert read_blob(root, files["binary"].new) == b"\0" * 3_000
    assert list_changed_contents(root, files["kind"].new, files["kind"].new) == []
