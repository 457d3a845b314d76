"""A directory goes with all in it, and nothing that a link in it leads to."""

import os
import shutil
from pathlib import Path

import pytest

from porch.system import delete_tree


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "place"
    for name in ("a/b/c/file", "a/.hidden", "top", "empty/x"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("x")
    (made / "empty/x").unlink()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("x")
    (made / "a/link").symlink_to(tmp_path / "kept")
    (made / "gone").symlink_to("nowhere")
    os.mkfifo(made / "pipe")
    return made


def test_everything_goes_but_what_links_lead_to(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        # Not even asked: nothing here is odd.
        patched.setattr(shutil, "rmtree", None)
        delete_tree.delete_tree(str(place))
    assert not place.exists()
    assert (place.parent / "kept/file").read_text() == "x"


def test_a_link_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to("kept")
    with pytest.raises(OSError, match=r"symbolic link|/link'"):  # newer ones name the file only
        delete_tree.delete_tree(str(tmp_path / "link"))
    assert (tmp_path / "kept").is_dir()


def test_what_is_not_there_is_said_as_the_library_says_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        delete_tree.delete_tree(str(tmp_path / "none"))


def test_a_directory_that_takes_the_place_of_another_meanwhile_is_left_to_the_library(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []
    monkeypatch.setattr(os.path, "samestat", lambda _first, _second: False)
    monkeypatch.setattr(shutil, "rmtree", left.append)
    delete_tree.delete_tree(str(place))
    assert left == [str(place)]
    assert (place / "a/b/c/file").exists()
