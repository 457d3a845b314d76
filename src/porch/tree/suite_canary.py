"""Two tests of our own in every run of a suite that pytest makes; what they say of the others."""

import os
from collections.abc import Mapping

from msgspec.structs import replace

from porch.model.protection import find_runners
from porch.run.handlers import pytest_check
from porch.run.handlers.pytest_check import Canary
from porch.tree.suite_results import SuiteRun


def make_suite_canary(text: str, directory: str) -> Canary | None:
    """The canary of a test command; none where it is not pytest, or cannot be reached."""
    names = [runner.name for runner in find_runners([text])]
    if names != ["pytest"] or pytest_check.sets_python_path(text):
        return None
    return pytest_check.make_canary(directory)


def add_canary_environment(
    env: Mapping[str, str], canary: Canary | None, home: str
) -> dict[str, str]:
    """A suite runs where agents work, so nothing that was compiled there is used."""
    if canary is None:
        return dict(env)
    safe = pytest_check.canary_environment(env, canary)
    # Where somebody keeps compiled modules aside already, they stay there.
    return {"PYTHONPYCACHEPREFIX": os.path.join(home, "bytecode"), **safe}


def judge_suite_run(found: SuiteRun, canary: Canary | None) -> SuiteRun:
    """A run that cannot be believed is a broken one; the canary's own cases are nobody's tests."""
    if canary is None or found.status == "broken":
        return found
    problem = _find_problem(found, canary)
    if problem:
        return SuiteRun("broken", found.code, report=f"{problem}\n{found.report}")
    ours = (f"::{canary.passes}", f"::{canary.fails}")
    cases = tuple(case for case in found.cases if not case.id.endswith(ours))
    return replace(found, cases=cases)


def _find_problem(found: SuiteRun, canary: Canary) -> str:
    told = pytest_check.read_canary_results(canary)
    if told is None:
        # A runner that was called wrongly, or a suite that could not be collected, says so itself.
        return "" if found.code else "pytest did not finish: there are no results"
    problem = pytest_check.find_canary_problem(canary, told)
    is_forged = any(
        case.id.endswith(f"::{canary.fails}") and case.result == "passed" for case in found.cases
    )
    if is_forged or pytest_check.is_forged(canary, told):
        return pytest_check.FORGED
    return problem if not found.code else ""
