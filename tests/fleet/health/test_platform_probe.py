"""What the machine can do is tried out, and a machine that cannot is told from one that can."""

import os
import resource
import select
import subprocess
import sys
from pathlib import Path

import pytest

from porch.fleet.health import platform_probe


def test_a_sound_place_has_no_faults(tmp_path: Path) -> None:
    place = str(tmp_path)
    assert platform_probe.find_writing_fault(place) == ""
    assert platform_probe.find_lock_fault(place) == ""
    assert platform_probe.find_swap_fault(place) == ""
    assert platform_probe.find_watching_fault() == ""


def test_a_place_that_is_not_there_has_faults_in_words(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    assert platform_probe.find_writing_fault(gone) == "No such file or directory"
    assert platform_probe.find_lock_fault(gone) == "No such file or directory"


def test_a_lock_that_keeps_nobody_out_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcntl.flock", lambda *_: None)
    assert "two processes got" in platform_probe.find_lock_fault(str(tmp_path))


def test_a_disk_that_takes_nothing_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to("/dev/full")
    assert platform_probe.find_writing_fault(str(tmp_path)) == "No space left on device"


def test_a_place_that_forgets_what_is_written_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to("/dev/null")
    assert platform_probe.find_writing_fault(str(tmp_path)) != ""


def test_no_more_file_events_is_a_fault() -> None:
    code = "from porch.fleet.health import platform_probe as ground; import ctypes, fcntl, os\n"
    code += "ctypes.CDLL(None)\nopened = []\n"
    code += "try:\n    while True: opened.append(os.dup(0))\nexcept OSError: pass\n"
    code += "print(ground.find_watching_fault())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
    )
    assert done.stdout.strip() == "Too many open files"


def test_a_trial_place_lies_where_the_directory_would_be_and_goes_away(tmp_path: Path) -> None:
    with platform_probe.make_trial_directory(str(tmp_path / "not" / "yet" / "there")) as place:
        assert os.path.dirname(place) == str(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_version_is_the_first_line_and_nothing_where_a_program_fails() -> None:
    assert platform_probe.read_program_version(
        "git", "--version", "--build-options"
    ) == platform_probe.read_program_version("git", "version")
    assert platform_probe.read_program_version("false") == ""
    assert platform_probe.read_program_version("no-such-program") is None


def test_a_program_that_cannot_be_started_has_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd").write_text("#!/no/such/interpreter\n")
    (tmp_path / "odd").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert platform_probe.read_program_version("odd") == ""


def test_other_systems_tell_of_files_by_kqueue_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.delattr(select, "kqueue", raising=False)
    assert platform_probe.find_watching_fault() == "this system has neither inotify nor kqueue"
    monkeypatch.setattr(select, "kqueue", object, raising=False)
    assert platform_probe.find_watching_fault() == ""
