"""A failed test runs once more, alone: what passes then is flaky, and nothing else is forgiven."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The first call of `is_first` with a name says yes, all later ones say no, in any process.
HELPERS = """
import os, pathlib, time
import pytest

def is_first(name):
    mark = pathlib.Path(__file__).with_name(name)
    first = not mark.exists()
    mark.touch()
    return first
"""
FLAKY = """
def test_flaky():
    assert not is_first("flaky")
"""
WORKERS = ("-n", "1", "--dist", "loadgroup")
Suite = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_suite(tmp_path: Path) -> Suite:
    """Runs tests with this text with these options of pytest, and a failed one again."""

    def run(
        text: str, *options: str, runner: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "test_suite.py").write_text(HELPERS + text)
        settings = "[pytest]\nxfail_strict = true\naddopts = -p no:hypothesispytest\n"
        (tmp_path / "pytest.ini").write_text(settings)
        return subprocess.run(
            [sys.executable, "-m", *runner, "tools.run_tests", *options],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def read_report(tmp_path: Path) -> str:
    report = tmp_path / "build" / "rerun.txt"
    return report.read_text() if report.exists() else ""


def test_a_test_that_fails_only_once_is_listed_as_flaky_at_the_end_of_a_green_run(
    run_suite: Suite, tmp_path: Path
) -> None:
    groups = """
@pytest.mark.xdist_group("pair")
@pytest.mark.parametrize("word", ["a b", "x@y::z"])
def test_in_a_group(word):
    assert not is_first(str(len(word)))
"""
    run = run_suite(FLAKY + groups, *WORKERS)
    assert run.returncode == 0, run.stdout
    assert "3 failed" in run.stdout
    report = read_report(tmp_path)
    assert report.startswith(
        "\nFLAKY (3): these tests failed, then passed alone. Fix them first.\n"
    )
    assert set(report.splitlines()[2:]) == {
        "  test_suite.py::test_flaky",
        "  test_suite.py::test_in_a_group[a b]",
        "  test_suite.py::test_in_a_group[x@y::z]",
    }
    assert run.stdout.endswith(report)


def test_a_test_that_fails_twice_fails_the_run_and_is_listed_apart_from_a_flaky_one(
    run_suite: Suite, tmp_path: Path
) -> None:
    others = """
def test_broken():
    assert False

def test_fine():
    assert is_first("fine")
"""
    # The path must not bring back tests that passed.
    run = run_suite(FLAKY + others, "test_suite.py", "--tb=no")
    assert run.returncode == 1
    assert read_report(tmp_path) == (
        "\nFAILED TWICE (1): these tests failed again when they ran alone.\n"
        "  test_suite.py::test_broken\n"
        "\nFLAKY (1): these tests failed, then passed alone. Fix them first.\n"
        "  test_suite.py::test_flaky\n"
    )


TEARDOWN = """
@pytest.fixture
def guest():
    yield
    assert not is_first("guest")

def test_guest(guest):
    pass
"""
SKIPPED = """
def test_skipped():
    if not is_first("skipped"):
        pytest.skip()
    assert False
"""
SEED = """
import random

def test_seed():
    seen = pathlib.Path(__file__).with_name("seen")
    is_same_seed = not seen.exists() or seen.read_text() == str(random.getstate())
    seen.write_text(str(random.getstate()))
    assert not is_same_seed
"""
CRASH = """
def test_crash():
    if is_first("crash"):
        os._exit(3)
"""
TIMEOUT = """
@pytest.mark.timeout(0.2)
def test_slow():
    if is_first("slow"):
        time.sleep(60)
"""
MANY = """
@pytest.mark.parametrize("number", range(20))
def test_many(number):
    assert not is_first(str(number))
"""


@pytest.mark.parametrize(
    "text, reason",
    [
        (TEARDOWN, ""),
        (SKIPPED, "FAILED TWICE"),
        (SEED, "FAILED TWICE"),
        (CRASH, "a worker crashed in test_suite.py::test_crash"),
        (TIMEOUT, "test_suite.py::test_slow timed out"),
        (MANY, "21 tests failed, more than 20"),
    ],
    ids=["teardown", "skipped", "seed", "crash", "timeout", "many"],
)
def test_only_a_plain_failure_is_forgiven(run_suite: Suite, text: str, reason: str) -> None:
    run = run_suite(FLAKY + text, *("-n", "1") if text is CRASH else ())
    assert run.returncode == (1 if reason else 0), run.stdout
    assert reason in run.stdout
    assert ("No failed test runs again" in run.stdout) == (reason not in ("", "FAILED TWICE"))


def test_after_a_collection_error_nothing_runs_again(run_suite: Suite, tmp_path: Path) -> None:
    # A session that goes on after the error ends like one with failed tests.
    (tmp_path / "test_unreadable.py").write_text("import nothing_like_it\n")
    run = run_suite(FLAKY, *WORKERS, "--continue-on-collection-errors")
    assert run.returncode == 1
    assert "No failed test runs again: test_unreadable.py could not be collected" in run.stdout
    assert read_report(tmp_path) == ""
    assert run_suite(FLAKY).returncode != 0


def test_after_a_run_that_was_cut_short_nothing_runs_again(run_suite: Suite) -> None:
    text = (
        "def test_a():\n    assert not is_first('a')\ndef test_b():\n    assert not is_first('b')\n"
    )
    run = run_suite(text, "-x")
    assert run.returncode == 1
    assert "No failed test runs again: 1 of 2 tests finished." in run.stdout


def test_what_the_second_run_reaches_counts_for_coverage(run_suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "product.py").write_text("def answer():\n    return 42\n")
    (tmp_path / ".coveragerc").write_text("[run]\nparallel = true\npatch = subprocess\n")
    text = "import product\ndef test_late():\n    assert not is_first('l')\n    product.answer()\n"
    run = run_suite(text, *WORKERS, runner=("coverage", "run", "-m"))
    assert run.returncode == 0, run.stdout
    for words in (("combine", "-q"), ("json", "-q", "-o", "coverage.json")):
        subprocess.run([sys.executable, "-m", "coverage", *words], cwd=tmp_path, check=True)
    files = json.loads((tmp_path / "coverage.json").read_text())["files"]
    assert files["product.py"]["missing_lines"] == []


@pytest.mark.parametrize("status", [0, 2])
def test_the_list_is_the_last_that_the_landing_prints(tmp_path: Path, status: int) -> None:
    (tmp_path / ".ci").mkdir()
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "rerun.txt").write_text("FLAKY of an earlier run\n")
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "Makefile").write_text(
        "check:\n\t@test ! -e build/rerun.txt\n\t@echo '=== 1 failed, 9 passed in 1s ==='\n"
        f"\t@printf '\\nFLAKY (1)\\n' > build/rerun.txt\n\t@echo 'a report'; exit {status}\n"
    )
    run = subprocess.run([tmp_path / ".ci" / "run"], capture_output=True, text=True, check=False)
    assert run.returncode == status
    assert run.stdout.endswith("=== 1 failed, 9 passed in 1s ===\n\nFLAKY (1)\n")
