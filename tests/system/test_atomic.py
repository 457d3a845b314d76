"""Replacing a file: whatever happens, one reads the old one or the new one."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from porch.errors import OutsideError
from porch.system import atomic, crash_points
from porch.testing import kill_python_at, unmeasured

OLD, NEW = b"state: specify:draft\n", b"state: plan:draft\n" * 100

REPLACE = f"""
import sys
from porch.system import atomic
atomic.replace_file(sys.argv[1], {NEW!r}, sync=True)
"""


def run(script: str, *arguments: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, env=unmeasured(), capture_output=True, check=False)


@pytest.mark.parametrize("command", [None, 51])
def test_without_fdatasync_the_drive_is_asked_to_empty_its_cache_or_else_fsync_must_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: int | None
) -> None:
    """macOS has a command for that, which this system refuses."""
    synced: list[int] = []
    sync = os.fsync

    def count(fd: int) -> None:
        synced.append(fd)
        sync(fd)

    monkeypatch.delattr(os, "fdatasync")
    monkeypatch.setattr(os, "fsync", count)
    if command:
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", command, raising=False)
    with (tmp_path / "file").open("wb") as file:
        file.write(NEW)
        file.flush()
        atomic.sync_file(file.fileno(), file.name)
        assert synced == [file.fileno()]


def test_where_the_drive_empties_its_cache_nothing_else_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fdatasync")
    monkeypatch.delattr(os, "fsync")
    # Any command that succeeds stands for it.
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", fcntl.F_GETFD, raising=False)
    with (tmp_path / "file").open("wb") as file:
        atomic.sync_file(file.fileno(), file.name)


POINTS = [name for name in crash_points.POINTS if name.startswith("atomic.")]


@pytest.mark.parametrize("sync", [True, False])
def test_a_replaced_file_holds_the_new_content_and_leaves_nothing_beside(
    tmp_path: Path, sync: bool
) -> None:
    status = tmp_path / "status.yaml"
    status.write_bytes(OLD)
    atomic.replace_file(str(status), NEW, sync=sync)
    assert status.read_bytes() == NEW
    assert os.listdir(tmp_path) == ["status.yaml"]


def test_a_path_without_a_directory_is_written_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    atomic.replace_file("status.yaml", NEW, sync=True)
    assert (tmp_path / "status.yaml").read_bytes() == NEW


@pytest.mark.req("P-111")
@pytest.mark.parametrize("point", POINTS)
def test_a_writer_killed_at_any_point_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, point: str
) -> None:
    status = tmp_path / "status.yaml"
    status.write_bytes(OLD)
    assert kill_python_at(point, REPLACE, str(status)).returncode == -signal.SIGKILL
    renamed = point in ("atomic.after-rename", "atomic.after-directory-sync")
    assert status.read_bytes() == (NEW if renamed else OLD)
    assert set(os.listdir(tmp_path)) <= {"status.yaml", "status.yaml.tmp"}
    atomic.replace_file(str(status), OLD, sync=False)
    assert os.listdir(tmp_path) == ["status.yaml"]


@pytest.mark.req("P-111")
def test_the_temporary_is_named_after_the_file_and_whole_and_synced_before_the_rename(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "calls"
    script = f"""
import os, sys
from porch.system import atomic
calls = []
def noting(name):
    real = getattr(os, name)
    def call(*arguments):
        calls.append(name)
        return real(*arguments)
    setattr(os, name, call)
for name in ("write", "fdatasync", "replace", "fsync"):
    noting(name)
atomic.replace_file(sys.argv[1], {NEW!r}, sync=True)
open(sys.argv[2], "w").write(" ".join(calls))
"""
    status = tmp_path / "status.yaml"
    run(script, status, trace)
    assert trace.read_text().startswith("write fdatasync replace fsync")
    kill_python_at("atomic.before-rename", REPLACE, str(status))
    assert (tmp_path / "status.yaml.tmp").read_bytes() == NEW


def test_a_planted_link_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(OLD)
    (tmp_path / "status.yaml.tmp").symlink_to(victim)
    atomic.replace_file(str(tmp_path / "status.yaml"), NEW, sync=False)
    assert victim.read_bytes() == OLD
    assert (tmp_path / "status.yaml").read_bytes() == NEW


def test_a_path_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "codev").write_text("a file")
    path = str(tmp_path / "codev" / "status.yaml")
    with pytest.raises(OutsideError, match=path) as caught:
        atomic.replace_file(path, NEW, sync=True)
    assert caught.value.exit_code == 6
    assert caught.value.findings[0].fix


def test_a_directory_in_the_way_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "status.yaml").mkdir()
    with pytest.raises(OutsideError, match=r"status\.yaml"):
        atomic.replace_file(str(tmp_path / "status.yaml"), NEW, sync=True)
    assert os.listdir(tmp_path) == ["status.yaml"]


def test_a_full_disk_keeps_the_old_file_and_leaves_nothing_beside(tmp_path: Path) -> None:
    script = f"""
import resource, sys
from porch.system import atomic
from porch.errors import OutsideError
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    atomic.replace_file(sys.argv[1], {NEW!r}, sync=True)
except OutsideError as error:
    sys.exit(error.findings[0].code + " " + error.findings[0].message)
"""
    status = tmp_path / "status.yaml"
    status.write_bytes(OLD)
    done = run(script, status)
    assert done.stderr.startswith(b"disk-full could not write " + os.fsencode(status))
    assert status.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["status.yaml"]


def test_a_directory_that_may_not_be_written_is_refused_by_name(tmp_path: Path) -> None:
    script = f"""
import os, sys
from porch.system import atomic
from porch.errors import OutsideError
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setuid(65534)
try:
    atomic.replace_file("status.yaml", {NEW!r}, sync=True)
except OutsideError as error:
    sys.exit(str(error))
"""
    tmp_path.chmod(0o555)
    done = run(script, tmp_path)
    tmp_path.chmod(0o755)
    assert done.stderr.startswith(
        b"error[disk-denied]: could not write status.yaml: permission denied\n  fix: "
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "number, code",
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EDQUOT, "disk-full"),
        (errno.EROFS, "disk-denied"),
        (errno.EIO, "disk"),
    ],
)
def test_a_refusal_names_the_path_the_reason_and_what_to_do(number: int, code: str) -> None:
    error = atomic.disk_error("/runs/0073/x", "write", OSError(number, os.strerror(number)))
    (finding,) = error.findings
    assert finding.code == code
    assert finding.message.startswith("could not write /runs/0073/x: ")
    assert finding.fix


@pytest.mark.parametrize("call, synced", [("fdatasync", "file"), ("fsync", "directory")])
def test_a_failed_sync_ends_the_process_at_once(tmp_path: Path, call: str, synced: str) -> None:
    script = f"""
import errno, os, sys
from porch.system import atomic
def fail(fd):
    raise OSError(errno.EIO, "Input/output error")
os.{call} = fail
try:
    atomic.replace_file(sys.argv[1], {NEW!r}, sync=True)
finally:
    print("went on")
"""
    done = run(script, tmp_path / "x")
    assert done.returncode == 6, synced
    assert done.stdout == b""
    assert b"error[disk-sync]" in done.stderr
    assert b"Input/output error" in done.stderr


def test_a_file_system_that_cannot_sync_directories_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)
    atomic.replace_file(str(tmp_path / "x"), NEW, sync=True)
    assert (tmp_path / "x").read_bytes() == NEW


def test_a_directory_that_is_gone_cannot_be_synced(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="gone"):
        atomic.sync_directory(str(tmp_path / "gone"))


def test_directories_are_made_with_their_parents_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "porch" / "runs" / "0073"
    atomic.ensure_directory(str(path))
    atomic.ensure_directory(str(path))
    assert path.stat().st_mode & 0o777 == 0o700


def test_a_directory_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "porch").write_text("a file")
    with pytest.raises(OutsideError, match="porch/runs"):
        atomic.ensure_directory(str(tmp_path / "porch" / "runs"))


def test_whoever_holds_the_old_file_open_reads_it_to_its_end(tmp_path: Path) -> None:
    path = str(tmp_path / "status.yaml")
    atomic.replace_file(path, b"old" * 1000, sync=False)
    with open(path, "rb") as reader:
        assert reader.read(3) == b"old"
        atomic.replace_file(path, b"new", sync=False)
        atomic.replace_file(path, b"newer", sync=False)
        assert reader.read() == b"old" * 999
