"""V4: fifteen ways to turn a wrong program green with pytest, and which of them still do.

Each way is tried three times: with the bare command, with the protected files put back and the
results of the tests read, and with the canary besides. The table says what is green.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

COMMAND = f"{sys.executable} -m pytest -q -p no:cacheprovider tests"
# Loading every plugin that is installed here would take longer than the tests do.
LEAN = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {COMMAND}"
WRONG = "def add(a, b):\n    return 5\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
HOOK = (
    "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n"
    "    done = yield\n    done.get_result().outcome = 'passed'\n"
)
PATCH = "import _pytest.python as p\np.Function.runtest = lambda self: None\n"
EQUAL = "class Any:\n    def __eq__(self, other):\n        return True\n\n    __hash__ = None\n"
CALLED = (
    "def add(a, b):\n    import _pytest.runner as r\n\n    import _pytest.reports as p\n"
    "    old = p.TestReport.from_item_and_call.__func__\n\n    def forged(cls, item, call):\n"
    "        call.excinfo = None\n        return old(cls, item, call)\n\n"
    "    p.TestReport.from_item_and_call = classmethod(forged)\n    return 5\n"
)
SHADOW = (
    "import sys\n\n\ndef main(*a):\n    sys.exit(0)\n\n\nif __name__ == '__main__':\n    main()\n"
)


class Way(NamedTuple):
    """Files that an agent writes, and whether the result is green: bare, restored, with canary."""

    files: Mapping[str, str]
    bare: bool
    restored: bool
    canary: bool
    command: str = LEAN


WAYS: Mapping[str, Way] = {
    "a conftest forges reports": Way({"conftest.py": HOOK}, True, False, False),
    "a conftest beside the tests": Way({"tests/conftest.py": HOOK}, True, False, False),
    "a conftest drops tests": Way(
        {
            "conftest.py": "def pytest_collection_modifyitems(items):\n    items[:] = items[:1]\n",
            "tests/test_b.py": "def test_b():\n    pass\n",
        },
        True,
        False,
        False,
    ),
    "options in pytest.ini": Way(
        {
            "pytest.ini": "[pytest]\naddopts = --ignore=tests/test_calc.py\n",
            "tests/test_b.py": "def test_b():\n    pass\n",
        },
        True,
        False,
        False,
    ),
    "options in pyproject.toml": Way(
        {
            "pyproject.toml": "[tool.pytest.ini_options]\npython_functions = 'check_*'\n",
            "tests/test_b.py": "def check_b():\n    pass\n",
        },
        True,
        False,
        False,
    ),
    "an edited test": Way(
        {"tests/test_calc.py": "def test_add():\n    pass\n"}, True, False, False
    ),
    "a test that is skipped": Way(
        {"tests/test_calc.py": f"import pytest\n\npytestmark = pytest.mark.skip\n{TEST}"},
        True,
        False,
        False,
    ),
    "a package of tests that patches": Way({"tests/__init__.py": PATCH}, True, False, False),
    "a module instead of the runner": Way({"pytest.py": SHADOW}, True, False, False),
    "a module instead of its parts": Way({"_pytest/__init__.py": ""}, False, False, False),
    "a plugin of the checkout": Way(
        {
            "evil.py": HOOK,
            "evil.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
            "evil.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
        },
        True,
        False,
        False,
        COMMAND,
    ),
    "the program leaves at once": Way(
        {"calc.py": "import os\n\nos._exit(0)\n"}, True, False, False
    ),
    "the program leaves at the end": Way(
        {"calc.py": f"import atexit\nimport os\n\natexit.register(os._exit, 0)\n{WRONG}"},
        True,
        False,
        False,
    ),
    "the program skips its test": Way(
        {"calc.py": "import unittest\n\n\ndef add(a, b):\n    raise unittest.SkipTest\n"},
        True,
        False,
        False,
    ),
    "the program patches the runner": Way({"calc.py": PATCH + WRONG}, True, True, False),
    "a function patches the runner": Way({"calc.py": CALLED}, True, True, False),
    "an answer that equals everything": Way(
        {"calc.py": f"{EQUAL}\n\ndef add(a, b):\n    return Any()\n"}, True, True, True
    ),
}


@pytest.fixture
def tested(desk: "Desk") -> "Desk":
    desk.write("calc.py", "def add(a, b):\n    return a + b\n")
    desk.write("tests/test_calc.py", TEST)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "tests")
    return desk


def begin(desk: "Desk", files: Mapping[str, str], command: str = LEAN) -> dict[str, Any]:
    """How the check ends after an agent wrote a wrong program and these files."""
    tests = {"command": command, "runner": "pytest", "retry_delay": 0, "max_retries": 0}
    entry = {"write": {"calc.py": WRONG, **files}}
    desk.begin({"id": "build", "checks": {"tests": tests}}, agents={"build": [entry]}, code=None)
    [fact] = desk.facts("CheckEnded")
    return fact


def test_v4_a_right_program_passes_and_a_wrong_one_fails(tested: "Desk") -> None:
    right = begin(tested, {"calc.py": "def add(a, b):\n    return b + a\n"})
    assert (right["result"], right["report"].splitlines()[0]) == ("passed", "exit code 0")
    assert not (tested.root / ".pytest_cache").exists()
    assert tested.git("status", "--porcelain", "calc.py") == "M calc.py"


def test_v4_the_failure_of_a_wrong_program_is_the_agents_to_read(tested: "Desk") -> None:
    wrong = begin(tested, {"conftest.py": HOOK})
    assert wrong["result"] == "failed"
    assert "test_add" in wrong["report"]
    assert "measured without the changes of: conftest.py" in wrong["report"]


@pytest.mark.parametrize("name", WAYS)
def test_v4_ways_to_turn_a_wrong_program_green(tested: "Desk", name: str) -> None:
    way = WAYS[name]
    fact = begin(tested, way.files, way.command)
    assert (fact["result"] == "passed") is way.canary, fact["report"]
    # Only the canary found it: everything else about this run was green.
    assert ("has to fail was passed" in fact["report"]) is (way.restored and not way.canary)
    bare = subprocess.run(
        way.command, shell=True, cwd=tested.root, capture_output=True, check=False, timeout=60
    )
    assert (bare.returncode == 0) is way.bare, bare.stdout + bare.stderr


def test_v4_at_most_three_ways_are_left_and_one_with_the_canary() -> None:
    green = [sum(getattr(way, kind) for way in WAYS.values()) for kind in Way._fields[1:4]]
    assert len(WAYS) >= 15
    assert (green[0] >= 12, green[1] <= 3, green[2] <= 1) == (True, True, True)


SKIPPING = """\
import pytest


def skips():
    pytest.skip("later")


def expects():
    pytest.xfail("later")
"""
ASKED = """\
import pytest
from calc import add
from helper import look
from parts import expects, skips


def test_skips():
    skips()


def test_expects():
    expects()


def test_helper():
    look()


def test_own():
    pytest.skip("here")
"""


def test_v4_a_test_may_skip_itself_and_the_program_may_not_skip_it(tested: "Desk") -> None:
    """What the run did not change skips as it always did, and with it a whole module."""
    tested.write("helper.py", "import pytest\n\n\ndef look():\n    pytest.skip('no database')\n")
    tested.write("tests/test_parts.py", ASKED)
    tested.write("tests/test_whole.py", "import whole\n\n\ndef test_whole():\n    assert whole.x\n")
    tested.git("add", "-A")
    tested.git("commit", "-qm", "more tests")
    right = "def add(a, b):\n    return a + b\n"
    whole = "import pytest\n\npytest.skip('later', allow_module_level=True)\n"
    fact = begin(tested, {"calc.py": right, "parts.py": SKIPPING, "whole.py": whole})
    assert fact["result"] == "failed"
    assert fact["report"].splitlines()[0] == (
        "these tests were skipped by the program that they test: tests/test_whole.py (whole.py), "
        "tests/test_parts.py::test_skips (parts.py), tests/test_parts.py::test_expects (parts.py)"
    )


def test_v4_a_program_that_its_own_tests_replace_is_tested_once_more(tested: "Desk") -> None:
    """What the second run says is said of the files as the first one left them."""
    place = str(tested.root / "calc.py")
    replaces = f"open({place!r}, 'w').write({WRONG!r})\n"
    fact = begin(tested, {"calc.py": f"{replaces}\n\ndef add(a, b):\n    return a + b\n"})
    assert (tested.root / "calc.py").read_text() == WRONG
    assert fact["result"] == "failed"


def test_v4_settings_of_pytest_outside_the_workspace_decide_nothing(
    tested: "Desk", tmp_path: "Path", monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy lies where anybody may write, and pytest looks for settings further up."""
    above = tmp_path / "above"
    above.mkdir()
    (above / "pytest.ini").write_text("[pytest]\naddopts = --deselect tests/test_calc.py\n")
    monkeypatch.setattr(tempfile, "tempdir", str(above))
    fact = begin(tested, {"calc.py": "def add(a, b):\n    return b + a\n"})
    assert fact["result"] == "unmeasured"
    assert f"from outside: {above / 'pytest.ini'}" in fact["report"]


def test_v4_a_command_that_sets_the_path_of_modules_is_not_measured(tested: "Desk") -> None:
    tests = {"command": f"PYTHONPATH=. {LEAN}", "runner": "pytest"}
    tested.begin({"id": "build", "checks": {"tests": tests}}, agents={"build": [{}]}, code=3)
    [fact] = tested.facts("CheckEnded")
    assert fact["result"] == "unmeasured"
    assert "sets PYTHONPATH" in fact["report"]


def test_v4_what_the_command_does_after_pytest_goes_on(tested: "Desk") -> None:
    """The test that has to fail leaves no trace in the exit code."""
    tests = {"command": f"{LEAN} -x && echo went on", "runner": "pytest"}
    tested.begin({"id": "build", "checks": {"tests": tests}}, agents={"build": [{}]}, code=0)
    [fact] = tested.facts("CheckEnded")
    assert "went on" in fact["report"]


def test_v4_ignored_files_that_tests_need_are_there_and_ignored_conftests_are_not(
    tested: "Desk",
) -> None:
    tested.write(".gitignore", "*.local\nconftest.py\n")
    tested.write("data.local", "3")
    tested.write("conftest.py", HOOK)
    tested.write("tests/test_calc.py", TEST + "\n\ndef test_data():\n    open('data.local')\n")
    tested.git("add", "-A")
    tested.git("commit", "-qm", "more")
    fact = begin(tested, {})
    assert fact["result"] == "failed"
    assert "1 passed" not in fact["report"].partition("failed")[2].partition(",")[0]
    assert "test_add" in fact["report"]
    assert "FAILED tests/test_calc.py::test_data" not in fact["report"]
