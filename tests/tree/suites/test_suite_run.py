"""Running the project's own commands: what is believed of them, and for how long."""

import asyncio
import os
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.errors import UsageError
from porch.system import process
from porch.tree.suites import suite_run
from porch.tree.suites.suite_results import SuiteRun
from tests.tree.conftest import Bench

EFFECT = "impl#1/agent/impl/0"


def ran(bench: Bench, command: str, **settings: float) -> SuiteRun:
    bench.setting(commands={"test": command} if command else {}, **settings)
    return asyncio.run(suite_run.run_suite(bench.world, EFFECT, str(bench.root)))


def test_without_a_command_nothing_is_measured(bench: Bench) -> None:
    with pytest.raises(UsageError, match=r"there is no \[commands\] test"):
        ran(bench, "")


def test_a_suite_that_takes_too_long_is_killed_and_proves_nothing(bench: Bench) -> None:
    began = time.monotonic()
    found = ran(bench, "echo begun; sleep 60", check=0.3)
    assert found.status == "broken"
    assert "was killed after 0.3 s" in found.report
    assert "begun" in found.report
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("command", ["kill -9 $$", "sh -c 'kill -9 $$'; exit $?"])
def test_v7_a_suite_that_is_killed_proves_nothing(bench: Bench, command: str) -> None:
    found = ran(bench, f"echo begun; {command}")
    assert found.status == "broken"
    assert "killed by signal 9" in found.report


CASE = "<testcase name='t'><failure>password=Tr0ub4dor3</failure></testcase>"
LEAKING = f"""
echo password=Tr0ub4dor3
echo "<testsuite>{CASE}</testsuite>" > "$PORCH_REPORT"
exit 1
"""


def test_v14_what_a_suite_prints_and_reports_is_kept_without_secrets(bench: Bench) -> None:
    found = ran(bench, LEAKING)
    assert [case.text for case in found.cases] == ["password=[redacted]"]
    assert found.report.strip() == "password=[redacted]"
    files = [path for path in Path(bench.world.directory).rglob("*") if path.is_file()]
    assert not [path for path in files if "Tr0ub4dor3" in path.read_text(errors="replace")]


def test_the_same_content_is_not_run_twice_and_other_content_is(bench: Bench) -> None:
    counting = f"echo x >> {bench.base}/runs"
    runs = bench.base / "runs"
    assert ran(bench, counting) == ran(bench, counting)
    assert runs.read_text() == "x\n"
    bench.write("new.txt", "new\n")
    ran(bench, counting)
    assert runs.read_text() == "x\nx\n"
    fresh = suite_run.run_suite(bench.world, EFFECT, str(bench.root), fresh=True)
    asyncio.run(fresh)
    assert runs.read_text() == "x\nx\nx\n"


def test_another_command_is_another_question(bench: Bench) -> None:
    assert ran(bench, "true").code == 0
    assert ran(bench, "exit 3").code == 3


def test_a_suite_that_changes_files_is_not_remembered(bench: Bench) -> None:
    """Evidence is for one content (MODEL.md section 7)."""
    counting = f"echo x >> {bench.base}/runs; echo x >> made.txt"
    ran(bench, counting)
    (bench.root / "made.txt").unlink()
    ran(bench, counting)
    assert (bench.base / "runs").read_text() == "x\nx\n"


def test_what_was_measured_before_is_believed_only_if_it_lies_there_in_the_end(
    bench: Bench,
) -> None:
    bench.setting(commands={"test": f"echo x >> {bench.base}/runs"})
    old, runs = suite_run.hash_content(bench.world, str(bench.root)), bench.base / "runs"
    bench.write("new.txt", "new\n")
    new = suite_run.hash_content(bench.world, str(bench.root))
    for seen, count in ((old, 1), ("", 2), (new, 3), ("", 3)):
        asyncio.run(suite_run.run_suite(bench.world, EFFECT, str(bench.root), seen=seen))
        assert len(runs.read_text()) == 2 * count
    (bench.root / "new.txt").unlink()
    asyncio.run(suite_run.run_suite(bench.world, EFFECT, str(bench.root)))
    assert len(runs.read_text()) == 2 * 4


def test_a_memory_that_cannot_be_read_is_no_memory(bench: Bench) -> None:
    ran(bench, "true")
    (kept,) = Path(bench.world.directory, "suites").iterdir()
    kept.write_text("{half")
    assert ran(bench, "true").code == 0


def test_the_suite_sees_the_report_and_nothing_else_of_ours(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """V8: of the caller's environment only what is allowed.

    Hooks export GIT_*, and a suite that is porch's own must not think it runs inside a run.
    """
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("PORCH_SECRET", "1")
    monkeypatch.setenv("MY_TOKEN", "1")
    monkeypatch.setenv("USER", "ann")
    ran(bench, f"env > {bench.base}/env")
    told = dict(line.partition("=")[::2] for line in (bench.base / "env").read_text().splitlines())
    assert "GIT_DIR" not in told
    assert "PORCH_SECRET" not in told
    assert "MY_TOKEN" not in told
    assert told["USER"] == "ann"
    assert told["PORCH_REPORT"].startswith(bench.world.directory)


def test_the_environment_of_a_world_is_the_one_that_counts(bench: Bench) -> None:
    bench.world = replace(bench.world, environ={"PATH": os.environ["PATH"], "USER": "this"})
    ran(bench, f"echo $USER$HOME > {bench.base}/env")
    assert (bench.base / "env").read_text() == "this\n"


def test_stopping_a_suite_ends_what_it_started(bench: Bench) -> None:
    sign = bench.base / "sign"
    bench.setting(commands={"test": f"touch {sign}; sleep 60"})
    work = suite_run.run_suite(bench.world, EFFECT, str(bench.root))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(bench.stopped(work, sign))
    assert process.list_marked_processes(f"{bench.world.mark}:") == []


def test_a_project_without_a_build_step_builds(bench: Bench) -> None:
    built = asyncio.run(suite_run.run_build(bench.world, EFFECT, str(bench.root)))
    assert (built.ok, built.is_set) == (True, False)
