"""The floor under the coverage of the core: it holds when it should, and only then."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("text", "model", "dialects", "machine", "claims")


def floor(tmp_path: Path, missing: dict[str, list[int]]) -> subprocess.CompletedProcess[str]:
    files = {
        f"src/porch/{name}/x.py": {"missing_lines": missing.get(name, []), "missing_branches": []}
        for name in PACKAGES
        if name not in missing or missing[name] != [-1]
    }
    report = tmp_path / "coverage.json"
    report.write_text(json.dumps({"files": files}))
    words = [sys.executable, str(ROOT / "tools" / "coverage_floor.py"), str(report)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.req("P-201")
def test_a_single_line_of_the_machine_without_a_test_is_below_the_floor(tmp_path: Path) -> None:
    said = floor(tmp_path, {"machine": [7]})
    assert said.returncode == 1
    assert "src/porch/machine/x.py: 7" in said.stdout


@pytest.mark.req("P-201")
def test_a_package_of_which_nothing_was_measured_is_below_the_floor(tmp_path: Path) -> None:
    assert floor(tmp_path, {"machine": [-1]}).returncode == 1


def test_a_whole_core_is_above_the_floor(tmp_path: Path) -> None:
    assert floor(tmp_path, {}).returncode == 0


@pytest.mark.req("P-201")
def test_make_check_measures_and_demands_the_floor() -> None:
    words = ["make", "--dry-run", "--no-print-directory", "check"]
    recipe = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "coverage run -m tools.run_tests" in recipe
    assert "tools/coverage_floor.py" in recipe
