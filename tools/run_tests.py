"""Runs pytest, and runs each failed test once more, alone, to tell a flaky test from a broken one.

    python -m tools.run_tests [options and paths of pytest]

A test that passes the second time is flaky: it is listed, and does not fail the run. A test gets
its second chance only if the first run was complete and its failures are plain ones. After a
collection error, an internal error, a crashed worker, a timeout, or more than 20 failures, nothing
runs again and pytest's exit status stands.

Each second run is a process of its own without xdist, with the same options and the same random
seed, so what fails because of the seed fails again. It starts with the environment of the first
run. Where coverage measures child processes, it therefore measures the second runs, too.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

REPORT = Path("build", "rerun.txt")
MOST_FAILURES = 20
_ALONE = "--alone"
# xdist adds the name of a group to the id of a test; parameters end with a bracket.
_GROUP = re.compile(r"@[^@\]]*$")


class Outcomes:
    """A plugin of pytest that notes what happened to the tests; with xdist, in the main process."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.passed = 0
        self.finished = 0
        self.collected = 0
        # Why a second run could hide something.
        self.obstacles: list[str] = []
        self.options: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.obstacles.append(f"{report.nodeid or 'pytest'} could not be collected")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed:
            self.passed += report.when == "call"
        if not report.failed:
            return
        test = _GROUP.sub("", report.nodeid)
        if test not in self.failed:
            self.failed.append(test)
        if report.when not in ("setup", "call", "teardown"):
            self.obstacles.append(f"a worker crashed in {test}")
        if "from pytest-timeout" in report.longreprtext:
            self.obstacles.append(f"{test} timed out")

    def pytest_runtest_logfinish(self) -> None:
        self.finished += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.collected = session.testscollected
        config = session.config
        from_command_line = config.args_source is pytest.Config.ArgsSource.ARGS
        paths = config.args if from_command_line else []
        options = [str(word) for word in config.invocation_params.args if word not in paths]
        seed = config.getoption("randomly_seed", None)
        self.options = options if seed is None else [*options, f"--randomly-seed={seed}"]

    def find_obstacles(self) -> list[str]:
        """Why the failed tests must not run again; empty if they may."""
        obstacles = list(self.obstacles)
        if self.finished != self.collected:
            obstacles.append(f"{self.finished} of {self.collected} tests finished")
        if not self.failed:
            obstacles.append("pytest failed, but no test did")
        if len(self.failed) > MOST_FAILURES:
            obstacles.append(f"{len(self.failed)} tests failed, more than {MOST_FAILURES}")
        return obstacles


def run_again(tests: Sequence[str], options: Sequence[str], environment: dict[str, str]) -> bool:
    """Runs each test alone and reports which of them are flaky; true if all of them are."""
    flaky, broken = list[str](), list[str]()
    for number, test in enumerate(tests, 1):
        print(
            f"\nRunning a failed test again, alone ({number} of {len(tests)}): {test}", flush=True
        )
        command = [sys.executable, "-m", "tools.run_tests", _ALONE, *options, "-q", "-n", "0", test]
        process = subprocess.run(command, env=environment, check=False)
        (broken if process.returncode else flaky).append(test)
    lines = list[str]()
    if broken:
        lines += [
            "",
            f"FAILED TWICE ({len(broken)}): these tests failed again when they ran alone.",
        ]
        lines += [f"  {test}" for test in broken]
    if flaky:
        lines += [
            "",
            f"FLAKY ({len(flaky)}): these tests failed, then passed alone. Fix them first.",
        ]
        lines += [f"  {test}" for test in flaky]
    report = "\n".join(lines)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(f"{report}\n", encoding="utf-8")
    print(report, flush=True)
    return not broken


def main(argv: list[str]) -> int:
    is_alone = argv[:1] == [_ALONE]
    # Tests change the environment of the process in which they run.
    environment = dict(os.environ)
    outcomes = Outcomes()
    if is_alone:
        status = int(pytest.main(argv[1:], plugins=[outcomes]))
        # A test that is skipped now has not passed.
        return status or int(outcomes.passed != 1)
    REPORT.unlink(missing_ok=True)
    status = int(pytest.main(argv, plugins=[outcomes]))
    if status != pytest.ExitCode.TESTS_FAILED:
        return status
    if obstacles := outcomes.find_obstacles():
        print(f"\nNo failed test runs again: {'; '.join(obstacles)}.", flush=True)
        return status
    return 0 if run_again(outcomes.failed, outcomes.options, environment) else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
