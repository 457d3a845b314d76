"""Files of a plan: read whole or not at all, added to without a touch, and never written over."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porch.errors import DefinitionError
from porch.plan.files import plan_files


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert plan_files.read_file_text(str(path)) is None
    assert plan_files.read_file_text(str(tmp_path / "no" / "where")) is None
    path.write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert plan_files.read_file_text(str(path)) == "\ufeffa\r\nb"
    assert plan_files.read_file_text(str(path / "below")) is None


def test_what_is_no_text_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "bytes").write_bytes(b"\xff")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(plan_files.MOST + 1)
    before = len(os.listdir("/proc/self/fd"))
    for name in ("dir", "pipe", "link", "bytes", "large"):
        with pytest.raises(DefinitionError) as caught:
            plan_files.read_file_text(str(tmp_path / name))
        (finding,) = caught.value.findings
        assert finding.code == "unreadable"
        assert finding.place is not None
        assert finding.place.file == str(tmp_path / name)
    assert len(os.listdir("/proc/self/fd")) == before, "a descriptor was left open"


def test_a_file_is_replaced_whole_and_its_directory_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "a.md"
    plan_files.write_file(str(path), "one\n")
    plan_files.write_file(str(path), "\u00e4\n")
    assert path.read_text() == "\u00e4\n"
    assert os.listdir(path.parent) == ["a.md"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(old=st.binary(max_size=40), new=st.text(st.characters(codec="utf-8"), max_size=20))
def test_what_is_added_leaves_every_byte_before_it(tmp_path: Path, old: bytes, new: str) -> None:
    path = tmp_path / "log.md"
    path.write_bytes(old)
    plan_files.append_to_file(str(path), f"{new}\n", "# Log\n")
    front = b"# Log\n" if not old else b"" if old.endswith(b"\n") else b"\n"
    assert path.read_bytes() == old + front + f"{new}\n".encode()
    path.unlink()


def test_a_link_is_not_added_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "log.md").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match=r"log\.md"):
        plan_files.append_to_file(str(tmp_path / "log.md"), "y", "")
    assert (tmp_path / "real").read_text() == "x"


def test_names_are_those_with_the_ending_that_are_not_hidden(tmp_path: Path) -> None:
    for name in ("2.md", "1.md", ".3.md", "_4.md", "5.yaml", ".md"):
        (tmp_path / name).write_text("")
    assert plan_files.list_file_names(str(tmp_path), ".md") == ["1", "2"]
    assert plan_files.list_file_names(str(tmp_path / "nowhere"), ".md") == []
    assert plan_files.list_file_names(str(tmp_path / "1.md"), ".md") == []


def test_what_is_kept_aside_covers_nothing(tmp_path: Path) -> None:
    path, aside = tmp_path / "1.md", tmp_path / "_edited"
    for turn in (1, 2, 3):
        path.write_text(f"turn {turn}")
        assert plan_files.copy_aside(str(path), str(aside)) == str(aside / f"1-{turn}.md")
    assert [(aside / f"1-{n}.md").read_text() for n in (1, 2, 3)] == [
        "turn 1",
        "turn 2",
        "turn 3",
    ]


def test_what_is_kept_already_is_not_kept_twice(tmp_path: Path) -> None:
    path, aside = tmp_path / "1.md", tmp_path / "_edited"
    path.write_bytes(b"same")
    first = plan_files.copy_aside(str(path), str(aside))
    assert plan_files.copy_aside(str(path), str(aside)) == first
    path.write_bytes(b"same, and longer")
    assert plan_files.copy_aside(str(path), str(aside)) == str(aside / "1-2.md")
    (aside / "1-3.md").mkdir()
    path.write_bytes(b"other")
    assert plan_files.copy_aside(str(path), str(aside)) == str(aside / "1-4.md")
