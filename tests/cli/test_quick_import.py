"""Programs find their own modules quickly, and each is the one that Python would have found."""

import os
import py_compile
import subprocess
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

import pytest

from porch.cli import quick_import

SOURCE = Path(quick_import.__file__).parent.parent
COMPARED = """
import sys
from importlib.machinery import PathFinder
from porch.cli import quick_import
quick_import.find_own_modules_quickly()
before = set(sys.modules)
from porch.cli import products
from porch.run.verbs import launch
new = [name for name in sys.modules if name.startswith("porch.") and name not in before]
for name in new:
    mine = sys.modules[name].__spec__
    theirs = PathFinder.find_spec(name, sys.modules[name.rpartition(".")[0]].__path__)
    for told in ("name", "origin", "cached", "parent", "has_location"):
        assert getattr(mine, told) == getattr(theirs, told), (name, told)
    assert mine.submodule_search_locations == theirs.submodule_search_locations, name
    assert type(mine.loader).__name__ == "_QuickLoader", name
print(len(new) > 100)
"""
STARTED = """
import atexit, sys
from porch.cli import scripts
def tell():
    print(type(sys.modules["porch.cli.dispatch"].__spec__.loader).__name__)
atexit.register(tell)
sys.argv = ["porch", "--version"]
scripts.porch()
"""


def run_python(*words: str) -> str:
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPYCACHEPREFIX"}
    done = subprocess.run(
        [sys.executable, *words], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def load(place: Path, name: str = "porch.x") -> ModuleType:
    spec = quick_import._QuickFinder.find_spec(name, [str(place)])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_file(file: Path) -> Path:
    return Path(str(py_compile.compile(str(file), doraise=True)))


def test_each_module_is_the_one_that_python_would_have_found() -> None:
    assert run_python("-c", COMPARED) == "True"


@pytest.mark.parametrize("words, loader", [((), "_QuickLoader"), (("-O",), "SourceFileLoader")])
def test_programs_find_their_modules_quickly_unless_python_compiles_otherwise(
    words: tuple[str, ...], loader: str
) -> None:
    assert run_python(*words, "-c", STARTED).splitlines()[1:] == [loader]


def test_code_that_was_compiled_before_is_used(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("said = 1\n")
    seen, compiled = file.stat(), compile_file(file)
    file.write_text("said = 2\n")
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert load(tmp_path).said == 1, "as Python does it: the file has the same time and size"
    compiled.unlink()
    assert load(tmp_path).said == 2


@pytest.mark.parametrize("way", ["later", "longer", "by its content", "of another Python", "cut"])
def test_code_that_was_not_compiled_from_the_file_as_it_is_now_is_left_to_python(
    tmp_path: Path, way: str
) -> None:
    file = tmp_path / "x.py"
    file.write_text("said = 1\n")
    seen, compiled = file.stat(), compile_file(file)
    if way == "by its content":
        by_hash = py_compile.PycInvalidationMode.CHECKED_HASH
        py_compile.compile(str(file), invalidation_mode=by_hash, doraise=True)
    elif way == "of another Python":
        compiled.write_bytes(b"\0" + compiled.read_bytes()[1:])
    elif way == "cut":
        compiled.write_bytes(compiled.read_bytes()[:10])
    file.write_text("said = 22\n" if way == "longer" else "said = 2\n")
    later = seen.st_mtime_ns + 2_000_000_000 * (way == "later")
    os.utime(file, ns=(seen.st_atime_ns, later))
    assert load(tmp_path).said == (22 if way == "longer" else 2)


def test_a_package_is_found_with_the_place_of_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room/__init__.py").write_text("said = 1\n")
    module = load(tmp_path, "porch.room")
    assert (module.said, module.__path__) == (1, [str(tmp_path / "room")])
    assert isinstance(module.__loader__, SourceFileLoader)


@pytest.mark.parametrize("name", ["porch", "json", "porches.x", "porch.none"])
def test_whatever_is_not_plainly_ours_is_left_to_python(tmp_path: Path, name: str) -> None:
    (tmp_path / "x.py").write_text("")
    path = None if "." not in name else [str(tmp_path)]
    assert quick_import._QuickFinder.find_spec(name, path) is None


def test_no_module_lies_beside_a_package_of_its_name() -> None:
    """Python takes the package, and whoever looks quickly the module."""
    twins = [each for each in SOURCE.rglob("*.py") if each.with_suffix("").is_dir()]
    assert twins == []
    assert PathFinder.find_spec("porch.cli", [str(SOURCE)]) is not None
