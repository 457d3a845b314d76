"""V4: an implementer writes its own part, and nothing that decides how its tests come out."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.machine import facts as f
from porch.model.definition import Definition
from porch.system import process_marks
from tests.tree.conftest import IMPL, SCAFFOLD, TESTS, TO_TESTS, Bench

COMMAND = (
    f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider tests"
    ' --junitxml="$PORCH_REPORT"'
)
WRONG = "def total(a, b):\n    return None\n"
RIGHT = "def total(a, b):\n    return a + b\n"
PATCH = "import _pytest.python as p\np.Function.runtest = lambda self: None\n"
CASE = "from src.sums import total\n\n\ndef test_there():\n    assert total(1, 2) == 3\n"


def writes(**files: str) -> dict[str, Any]:
    return {**IMPL, "write": {**IMPL["write"], **files}}


def refusals(bench: Bench, entry: dict[str, Any]) -> str:
    fact = bench.attempt("impl", entry)
    assert isinstance(fact, f.EffectFailed), fact
    return fact.detail


def test_v4_an_implementer_may_not_write_beside_its_target(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    said = refusals(bench, writes(**{"conftest.py": "x = 1\n"}))
    assert "'conftest.py' was changed, but you may change only src, src/shared.txt" in said


def test_v4_what_the_spec_names_besides_may_be_written(bench: Bench) -> None:
    bench.until(*TO_TESTS)
    assert bench.do("impl", writes(**{"src/shared.txt": "more\n"})).exit == "TestsPassed"


@pytest.fixture
def tested(tmp_path: Path, person: None, v3: Definition) -> Iterator[Bench]:
    """The same run with a suite of pytest."""
    made = Bench(tmp_path / "tested", v3)
    made.setting(commands={"test": COMMAND})
    contract = {"api.txt": "sum\n", "tests/sum/test_contract.py": "def test_api():\n    pass\n"}
    payload = {**SCAFFOLD["payload"], "contractSuite": "tests/sum/test_contract.py"}
    made.do("scaffold", {**SCAFFOLD, "write": contract, "payload": payload})
    made.do("contract")
    named = {**TESTS["payload"], "testFiles": ["tests/sum/test_sum.py"]}
    made.do("write_tests", {**TESTS, "write": {"tests/sum/test_sum.py": CASE}, "payload": named})
    made.do("integrate")
    yield made
    process_marks.reap_processes(f"{made.world.mark}:")


def test_v4_a_conftest_inside_the_target_is_refused_as_well(tested: Bench) -> None:
    said = refusals(tested, writes(**{"src/conftest.py": "x = 1\n", "src/sums.py": RIGHT}))
    assert "'src/conftest.py' decides how tests come out" in said


def test_v4_a_suite_of_pytest_runs_with_a_test_that_has_to_fail(tested: Bench) -> None:
    """The program patches the runner when it is imported; every test would be green."""
    said = refusals(tested, writes(**{"src/sums.py": PATCH + WRONG}))
    assert "something turns failures into passes" in said
    fact = tested.do("impl", writes(**{"src/sums.py": RIGHT}))
    assert fact.exit == "TestsPassed"
    [seen] = [each for each in fact.evidence if each["name"] == "tests"]
    assert seen["report"] == "2 passed"


def test_v4_a_suite_that_left_early_proves_nothing(tested: Bench) -> None:
    said = refusals(tested, writes(**{"src/sums.py": "import os\n\nos._exit(0)\n"}))
    assert "there are no results" in said


def test_v4_a_report_that_lies_there_already_is_not_read(tested: Bench) -> None:
    """Each run of a suite reports to a path that nobody could know before."""
    tested.setting(commands={"test": 'echo "$PORCH_REPORT" >> ../reports.txt; false'})
    refusals(tested, writes(**{"src/sums.py": RIGHT}))
    names = (tested.root / "worktrees" / "reports.txt").read_text().splitlines()
    assert len(names) == len(set(names)) > 0
    assert all(not name.startswith(str(tested.root)) for name in names)
