"""Disks, people and other releases do their worst; nothing acknowledged is lost, and it is said."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from porch.machine import facts as f
from porch.show import status_yaml
from porch.store import chain
from porch.testing import COMMAND, Project, Result, distrust, result, unmeasured
from tests.commands import ForkedProject, run

GATED: dict[str, Any] = {
    "name": "gated",
    "subject": "project",
    "phases": [{"id": "write", "artifact": "text.md", "gate": "approval"}, {"id": "build"}],
}
TEXT = {"write": {"{project_dir}/text.md": "# Text\n"}}
# Without this right, root is a user like any other, whom a read-only directory stops.
DROP = "import ctypes; [ctypes.CDLL(None).prctl(24, right, 0, 0, 0) for right in (1, 2)]"


def _gated(tmp_path: Path, **agents: Any) -> Project:
    return ForkedProject.make(str(tmp_path), GATED, {"agents": {"write": [TEXT], **agents}})


def _porch(project: Project, *words: str, before: str) -> "subprocess.CompletedProcess[str]":
    """The command, after something was done to its process."""
    again = f"import os, sys; {before}; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    return subprocess.run(
        [sys.executable, "-c", again, "-c", COMMAND, *words],
        cwd=project.root,
        env=unmeasured(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def _facts(project: Project, *kinds: type) -> list[Any]:
    return [record.fact for record in project.records() if isinstance(record.fact, kinds)]


def _killed(project: Project, point: str) -> None:
    assert project.run(PORCH_CRASH_AT=point).returncode == -signal.SIGKILL


# -- the disk --------------------------------------------------------------------------------------


@pytest.mark.timeout(300)
@pytest.mark.parametrize("size", [3000, 11000])
def test_a_full_disk_stops_the_run_and_the_next_command_goes_on(
    project: Project, undisturbed: Result, size: int
) -> None:
    limit = f"import resource; resource.setrlimit({resource.RLIMIT_FSIZE}, ({size}, {size}))"
    full = _porch(project, *project.run_words, before=limit)
    assert full.returncode == 6, full.stdout + full.stderr
    assert "error[disk-full]" in full.stderr
    assert "Traceback" not in full.stderr
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert result(project) == undisturbed
    assert distrust(project) == []


@contextmanager
def _read_only(directory: str) -> Iterator[None]:
    found = [directory, *map(str, Path(directory).rglob("*"))]
    modes = {path: os.stat(path).st_mode for path in found}
    for path, mode in modes.items():
        os.chmod(path, mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            os.chmod(path, mode)


def test_a_read_only_state_directory_is_told_by_name_and_can_still_be_read(
    tmp_path: Path,
) -> None:
    gated = _gated(tmp_path)
    assert gated.run().returncode == 3
    with _read_only(gated.directory):
        for words in (gated.run_words, ("approve", gated.id)):
            refused = _porch(gated, *words, before=DROP)
            assert refused.returncode == 6, refused.stdout + refused.stderr
            assert "permission denied" in refused.stderr
            assert gated.directory in refused.stderr
        for words in (("status", gated.id), ("log", gated.id), ("pending",), ("explain", gated.id)):
            assert _porch(gated, *words, before=DROP).returncode == 0
    assert gated.porch("approve", gated.id).returncode == 0
    assert gated.run().returncode == 0


# -- the status file -------------------------------------------------------------------------------


def _status_directory(base: Path) -> str:
    """In the checkout of the project, whose runs work in worktrees."""
    return str(base / "repository" / "codev" / "projects" / "0001-t")


def _status_file(project: Project) -> str:
    return os.path.join(_status_directory(Path(project.base)), "status.yaml")


def _is_drawn(project: Project) -> bool:
    """Whether the status file is ours, and of the last record."""
    signed = status_yaml.parse_signature(Path(_status_file(project)).read_text())
    return signed == (len(project.records()), True)


def test_a_status_directory_that_is_removed_under_a_runner_is_made_again(tmp_path: Path) -> None:
    removal = {"run": ["rm", "-rf", _status_directory(tmp_path)]}
    project = _gated(tmp_path, build=[removal])
    assert project.run().returncode == 3
    assert project.porch("approve", project.id).returncode == 0
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert _is_drawn(project)


@pytest.mark.parametrize("is_live", [True, False], ids=["under a runner", "between two"])
def test_an_edited_status_file_is_kept_aside_reported_and_redrawn(
    tmp_path: Path, is_live: bool
) -> None:
    status = os.path.join(_status_directory(tmp_path), "status.yaml")
    edit = {"append": {status: "mine: yes\n"}} if is_live else {}
    project = _gated(tmp_path, build=[edit])
    assert project.run().returncode == 3
    if not is_live:
        with open(_status_file(project), "a", encoding="utf-8") as file:
            file.write("mine: yes\n")
    assert project.porch("approve", project.id).returncode == 0
    assert project.run().returncode == 0
    aside = Path(_status_file(project)).with_name("status.edited-1.yaml")
    assert aside.read_text().endswith("mine: yes\n")
    assert [fact.aside for fact in _facts(project, f.StatusEdited)] == [
        os.path.relpath(aside, project.root)
    ]
    assert aside.name in project.porch("log", project.id).stdout
    assert _is_drawn(project)


# -- pictures --------------------------------------------------------------------------------------


def _garbage(drawn: dict[str, Any]) -> dict[str, bytes]:
    frame = {"length": drawn["length"], "sum": drawn["sum"]}
    return {
        "empty": b"",
        "torn": b"{",
        "bytes": b"\xff\xfe",
        "list": b"[]",
        "frame only": json.dumps(frame).encode(),
        "of another journal": json.dumps({**drawn, "sum": "0" * 64, "status": {}}).encode(),
    }


def test_a_picture_that_is_garbage_changes_nothing_that_is_read(tmp_path: Path) -> None:
    gated = _gated(tmp_path)
    assert gated.run().returncode == 3
    picture = Path(gated.directory, "picture.json")
    commands = (("status", gated.id, "--json"), ("pending", "--json"))
    told = [gated.porch(*words).stdout for words in commands]
    for name, data in _garbage(json.loads(picture.read_text())).items():
        picture.write_bytes(data)
        assert [gated.porch(*words).stdout for words in commands] == told, name
    assert gated.porch("approve", gated.id).returncode == 0


# -- the journal -----------------------------------------------------------------------------------


def test_a_journal_damaged_in_the_middle_is_refused_repaired_and_goes_on(project: Project) -> None:
    _killed(project, "journal.after-sync:9")
    data = bytearray(Path(project.journal).read_bytes())
    fifth = bytes(data).split(b"\n")[4]
    data[bytes(data).index(fifth) + len(fifth) // 2] ^= 1
    Path(project.journal).write_bytes(data)
    Path(project.directory, "picture.json").unlink()
    told = ("status", project.id), ("log", project.id), ("explain", project.id)
    done = project.run_words, ("resume", project.id), ("approve", project.id), ("stop", project.id)
    for words in (*told, *done):
        refused = project.porch(*words)
        assert refused.returncode == 5, (words, refused.stdout, refused.stderr)
        assert "error[journal-damaged]" in refused.stderr
        assert "line 5" in refused.stderr
    assert Path(project.journal).read_bytes() == bytes(data), "a refusal changed the file"
    repaired = project.porch("repair", project.id)
    assert repaired.returncode == 0, repaired.stderr
    assert "4 records kept" in repaired.stdout
    assert f"{len(data) - sum(map(len, bytes(data).splitlines(True)[:4]))} bytes" in repaired.stdout
    aside = Path(project.directory, "journal.broken-1.jsonl")
    assert aside.read_bytes() == bytes(data)
    assert [fact.kept for fact in _facts(project, f.JournalRepaired)] == [4]
    assert project.run().returncode == 0
    assert "4 records" in project.porch("log", project.id).stdout


def test_a_repair_names_the_decisions_that_it_lost_and_keeps_the_rest_readable(
    tmp_path: Path,
) -> None:
    """R7: one bit in an early record, and nobody learned which approvals were gone."""
    gated = _gated(tmp_path, build=[{"say": "done"}])
    assert gated.run().returncode == 3
    assert gated.porch("approve", gated.id).returncode == 0
    assert gated.run().returncode == 0
    data = bytearray(Path(gated.journal).read_bytes())
    lines = bytes(data).splitlines(keepends=True)
    data[len(lines[0]) + len(lines[1]) // 2] ^= 1
    Path(gated.journal).write_bytes(data)
    repaired = gated.porch("repair", gated.id)
    assert repaired.returncode == 0, repaired.stderr
    assert "1 records kept" in repaired.stdout
    lost, unreadable = [line for line in repaired.stdout.splitlines() if line.startswith("lost: ")]
    assert "approved by" in lost
    assert unreadable.endswith("decisions in records that cannot be read: 2")
    assert f"{len(lines) - 2} of the lost records can still be read" in repaired.stdout
    assert lost in " ".join(gated.porch("log", gated.id, "--all").stdout.split("; "))
    shown = gated.porch("log", gated.id, "--lost").stdout
    assert len(shown.splitlines()) == len(lines) - 2
    assert "the run is complete" in shown
    records = json.loads(gated.porch("log", gated.id, "--lost", "--json").stdout)["records"]
    assert [each["seq"] for each in records] == list(range(3, len(lines) + 1))


def test_a_sound_journal_is_left_alone_by_a_repair(finished: Project) -> None:
    data = Path(finished.journal).read_bytes()
    told = finished.porch("repair", finished.id)
    assert (told.returncode, Path(finished.journal).read_bytes()) == (0, data)
    assert "nothing was changed" in told.stdout


def test_a_record_of_a_newer_release_is_refused_and_not_repaired(tmp_path: Path) -> None:
    gated = _gated(tmp_path)
    assert gated.run().returncode == 3
    found = chain.parse_records(Path(gated.journal).read_bytes())[0]
    body = json.dumps({"v": 4, "seq": found.seq + 1, "news": True}, separators=(",", ":")).encode()
    total = chain._chain_sum(found.sum.encode(), body)
    with open(gated.journal, "ab") as file:
        file.write(body[:-1] + b',"sum":"' + total + b'"}\n')
    data = Path(gated.journal).read_bytes()
    told = ("status", gated.id), ("explain", gated.id), ("log", gated.id), ("repair", gated.id)
    for words in (*told, gated.run_words, ("approve", gated.id)):
        refused = gated.porch(*words)
        assert refused.returncode == 5, (words, refused.stdout, refused.stderr)
        assert "newer version" in refused.stderr
    assert Path(gated.journal).read_bytes() == data


# -- other machines --------------------------------------------------------------------------------


def _as_if(project: Project, **runner: str) -> None:
    """The journal as another machine would have written it, chain and all."""
    data, total = b"", chain.START
    for raw in chain.parse_records(Path(project.journal).read_bytes())[0].records:
        if raw["fact"]["is"] == "RunnerStarted":
            raw["fact"].update(runner)
        body = {key: value for key, value in raw.items() if key != "sum"}
        line, total = chain.render_record_line(raw["seq"], total, body)
        data += line
    Path(project.journal).write_bytes(data)


@pytest.mark.parametrize(
    "elsewhere, said",
    [({"host": "attic"}, "on attic"), ({"boot": "before"}, "before this machine was restarted")],
    ids=["host", "boot"],
)
def test_what_was_begun_elsewhere_is_only_taken_over_when_a_person_says_so(
    project: Project, undisturbed: Result, elsewhere: dict[str, str], said: str
) -> None:
    _killed(project, "turn.after-spawn")
    _as_if(project, **elsewhere)
    for words in (project.run_words, ("resume", project.id)):
        refused = project.porch(*words)
        assert refused.returncode == 2, refused.stdout + refused.stderr
        assert "error[begun-elsewhere]" in refused.stderr
        assert said in refused.stderr
        assert "--take-over" in refused.stderr
    assert project.porch(*project.run_words, "--take-over").returncode == 0
    assert result(project) == undisturbed


def test_a_run_at_rest_needs_no_word_to_be_taken_over(tmp_path: Path) -> None:
    gated = _gated(tmp_path)
    assert gated.run().returncode == 3
    assert gated.porch("stop", gated.id).returncode == 0
    _as_if(gated, host="attic")
    assert gated.porch("resume", gated.id).returncode == 3


# -- the directory ---------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["resume", "doctor"])
def test_the_worktrees_of_a_project_that_was_moved_are_found_again(
    tmp_path: Path, how: str
) -> None:
    """W4: checks advised `git init` there, and doctor pruned what could be repaired."""
    old = _gated(tmp_path / "old", build=[{"say": "done"}])
    assert old.run().returncode == 3
    with open(f"{old.workplace}/draft.md", "w", encoding="utf-8") as file:
        file.write("not committed\n")
    (tmp_path / "old").rename(tmp_path / "new")
    (tmp_path / "old").mkdir()  # for the witness of the agents
    new = ForkedProject(str(tmp_path / "new"), old.protocol)
    inside = run("porch", ("check",), new.workplace, unmeasured())
    assert "worktree-moved" in inside.stderr
    assert "git init" not in inside.stderr
    assert run("porch", ("status", "1"), new.workplace, unmeasured()).returncode == 0
    if how == "doctor":
        for place in (new.root, new.workplace):
            asked = run("codev", ("doctor",), place, unmeasured())
            assert f"run `git worktree repair {new.workplace}`" in asked.stdout
            assert "prune" not in asked.stdout
        mended = run("codev", ("doctor", "--fix"), new.root, unmeasured())
        assert f"ran `git worktree repair {new.workplace}`" in mended.stdout
        assert new.git("-C", new.workplace, "status", "--porcelain") == "?? draft.md\n"
    assert new.porch("approve", new.id).returncode == 0
    done = new.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("the project was moved" in done.stdout + done.stderr) is (how == "resume")
    assert new.git("show", f"{new.protocol}_0001_t:draft.md") == "not committed\n"


# -- the caller ------------------------------------------------------------------------------------

IGNORE = (
    "import signal; [signal.signal(number, signal.SIG_IGN) for number in "
    "(signal.SIGCHLD, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)]; "
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])"
)
CHECKED: dict[str, Any] = {
    "name": "checked",
    "subject": "project",
    "phases": [{"id": "build", "checks": {"text": "test -f codev/projects/0001-t/text.md"}}],
}


def test_a_caller_that_ignores_signals_does_not_change_what_a_check_says(tmp_path: Path) -> None:
    """R0: a parent that ignores SIGCHLD made "exit code 255" of every check, and paid for it."""
    project = Project.make(str(tmp_path), CHECKED, {"agents": {"build": [TEXT]}})
    done = _porch(project, *project.run_words, before=IGNORE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [check.result for check in _facts(project, f.CheckEnded)] == ["passed"]
    assert len(project.starts()) == 1


@pytest.mark.parametrize("program", ["porch", "af", "codev", "envoy"])
def test_every_program_begins_with_signals_as_python_has_them(program: str) -> None:
    """R0: at its start, so that whatever it starts inherits them."""
    look = (
        f"import sys, signal; {IGNORE}; sys.argv = [{program!r}, '--version']\n"
        f"from porch.cli import dispatch; code = dispatch.{program}()\n"
        "names = ('SIGCHLD', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGPIPE')\n"
        "print([signal.getsignal(getattr(signal, name)) is signal.SIG_IGN for name in names], "
        "signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout.splitlines()[1:] == ["[False, False, False, False, True] set()"], done
