"""A check that calls pytest, measured so that the files an agent wrote cannot decide the result.

It runs in a copy of the workspace in which everything protected is as the phase found it, with an
environment in which nothing of the workspace takes the place of an installed module, and with two
tests of our own: one has to pass and one has to fail.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from random import SystemRandom

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from porch.errors import OutsideError
from porch.git import tree_files
from porch.machine import facts as f
from porch.machine.effects import RunCheck
from porch.machine.state import Standing
from porch.model.path_globs import matches_any
from porch.model.protection import MADE_BY_RUNS
from porch.run.agents.world import World
from porch.run.handlers import protected_files, pytest_skips
from porch.system.process import OutsideCommand
from porch.text.late_pattern import late_pattern

Change = Callable[[OutsideCommand], OutsideCommand]
RunShell = Callable[[World, RunCheck, str, int, Change], Awaitable[f.CheckEnded]]
_COMPILED = "__pycache__"
_SETS_PATH = late_pattern(r"(?:^|[\s;&|(])PYTHONPATH=")
_MOST_NAMED = 20
# Not imported here: porch needs no pytest, only the interpreter of the tests does.
_PLUGIN = os.path.join(os.path.dirname(__file__), "canary_plugin.py")


class Canary(Struct, frozen=True):
    """Two tests under names that nobody could know before, and where the results will be."""

    directory: str
    module: str
    passes: str
    fails: str

    @property
    def results(self) -> str:
        return os.path.join(self.directory, f"{self.module}-results.json")


class TestResults(Struct, frozen=True):
    """What the plugin wrote at the end of a run."""

    __test__ = False

    results: dict[str, str]
    code: int
    # Where pytest read its settings, and which directory it took for the top.
    read: tuple[str, ...] = ()


class PytestRun(Struct, frozen=True):
    """Which check calls pytest with which text, at which attempt, on which files."""

    effect: RunCheck
    text: str
    time: int
    tree: str


async def run_pytest_check(world: World, run: PytestRun, run_shell: RunShell) -> f.CheckEnded:
    effect, text = run.effect, run.text
    if sets_python_path(text):
        said = "the command sets PYTHONPATH, so porch cannot protect its tests from changes"
        fix = "set it elsewhere, for example with `pythonpath` in the settings of pytest"
        return f.CheckEnded(effect=effect.id, result="unmeasured", report=f"{said}; {fix}")
    with tempfile.TemporaryDirectory(prefix="porch-tests-") as scratch:
        copy = os.path.join(scratch, "copy")
        canary = make_canary(os.path.join(scratch, "canary"), copy)
        try:
            restored = await asyncio.to_thread(_copy_workspace, world, run, copy, scratch)
        except OutsideError as error:
            return f.CheckEnded(effect=effect.id, result="unmeasured", report=str(error))

        def change(command: OutsideCommand) -> OutsideCommand:
            place = os.path.normpath(os.path.join(copy, effect.command.cwd))
            env = canary_environment(command.env or {}, canary, effect.command.plugins)
            return replace(command, cwd=place, env=env)

        ended = await run_shell(world, effect, text, run.time, change)
        skips = pytest_skips.read_skips(canary.results)
        skipped = await asyncio.to_thread(_list_skipped, world, run, skips)
        foreign = list_foreign_places(canary, copy, text)
        return judge_pytest_run(ended, canary, Circumstances(restored, skipped, foreign))


def _list_skipped(world: World, run: PytestRun, skips: pytest_skips.Skips) -> list[str]:
    if not skips:
        return []
    standing = world.state().positions[run.effect.position]
    rules = protected_files.find_protected_paths(world, standing)
    return pytest_skips.list_skipped_by_program(world, rules, skips, run.tree)


def sets_python_path(text: str) -> bool:
    """Whether a command keeps us from loading a plugin of ours."""
    return bool(_SETS_PATH.search(text))


class Circumstances(Struct, frozen=True):
    """What was put back, which tests the program itself skipped, and what lay elsewhere."""

    restored: list[str]
    skipped: list[str]
    foreign: list[str]


def make_canary(directory: str, root: str = "") -> Canary:
    """The plugin and what it needs, in a new directory outside the workspace `root`."""
    words = [f"{SystemRandom().getrandbits(48):012x}" for _ in range(3)]
    module, passes, fails = (f"{front}_{word}" for front, word in zip(_FRONTS, words, strict=True))
    canary = Canary(directory, module, passes, fails)
    os.makedirs(directory, mode=0o700)
    shutil.copyfile(_PLUGIN, os.path.join(directory, f"{module}.py"))
    told = {"passes": passes, "fails": fails, "results": canary.results, "root": root}
    with open(os.path.join(directory, "canary.json"), "wb") as file:
        file.write(json.encode(told))
    return canary


FORGED = "a test that has to fail was passed: something turns failures into passes"
_FRONTS = ("runs", "test", "test")


def canary_environment(
    env: Mapping[str, str], canary: Canary, plugins: tuple[str, ...] = ()
) -> dict[str, str]:
    """What keeps files of the workspace from standing in for the runner, and loads the canary."""
    paths = [canary.directory, *filter(None, [env.get("PYTHONPATH", "")])]
    options = [env.get("PYTEST_ADDOPTS", ""), f"-p {canary.module}", *(f"-p {p}" for p in plugins)]
    safe = {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTEST_ADDOPTS": " ".join(filter(None, options)),
    }
    if plugins:
        safe["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return {**env, **safe}


def read_canary_results(canary: Canary) -> TestResults | None:
    try:
        with open(canary.results, "rb") as file:
            return json.decode(file.read(), type=TestResults)
    except (OSError, DecodeError):
        return None


def is_forged(canary: Canary, found: TestResults) -> bool:
    ours = f"::{canary.fails}"
    return any(
        name.endswith(ours) and outcome == "passed" for name, outcome in found.results.items()
    )


def find_canary_problem(canary: Canary, found: TestResults) -> str:
    """Why the results of a run cannot be believed; empty if the canary says that they can."""
    if is_forged(canary, found):
        return FORGED
    ends = {name.rpartition("::")[2]: outcome for name, outcome in found.results.items()}
    if (ends.get(canary.passes), ends.get(canary.fails)) != ("passed", "failed"):
        return "the two tests that porch adds to every run were not run as they should"
    return ""


def list_foreign_places(canary: Canary, copy: str, text: str) -> list[str]:
    """What pytest read outside the workspace although the command does not name it."""
    found = read_canary_results(canary)
    top = os.path.realpath(copy)
    return [
        place
        for place in (found.read if found else ())
        if os.path.commonpath([top, os.path.realpath(place)]) != top and place not in text
    ]


def judge_pytest_run(ended: f.CheckEnded, canary: Canary, around: Circumstances) -> f.CheckEnded:
    """The exit code alone proves nothing: what became of each test has to be known too."""
    found = read_canary_results(canary)
    note = f"{canary.fails} is a test of porch that has to fail; it is not counted"
    report = "\n".join([ended.report, *_describe_restored(around.restored), note])
    if ended.result != "passed" and (found is None or list_failed_tests(found, canary)):
        return replace(ended, report=report)
    problem = explain_unproved(found, canary) or _describe_foreign(around.foreign)
    if problem:
        return replace(ended, result="unmeasured", report=f"{problem}\n{report}")
    failed = list_failed_tests(found, canary) if found else []
    if failed and ended.result == "passed":
        said = f"exit code 0, but these tests failed: {', '.join(failed[:_MOST_NAMED])}"
        return replace(ended, result="failed", report=f"{said}\n{report}")
    if around.skipped:
        said = f"skipped by the program that they test: {', '.join(around.skipped[:_MOST_NAMED])}"
        return replace(ended, result="failed", report=f"these tests were {said}\n{report}")
    return replace(ended, report=report)


def _describe_foreign(places: list[str]) -> str:
    if not places:
        return ""
    said = f"pytest took its settings or its top directory from outside: {', '.join(places)}"
    return f"{said}; give the project settings of its own, such as a pytest.ini"


def explain_unproved(found: TestResults | None, canary: Canary) -> str:
    if found is None:
        return "pytest did not finish: there are no results of its tests"
    return "" if list_failed_tests(found, canary) else find_canary_problem(canary, found)


def list_failed_tests(found: TestResults, canary: Canary) -> list[str]:
    ours = f"::{canary.fails}"
    return [n for n, outcome in found.results.items() if outcome == "failed" and ours not in n]


def _describe_restored(restored: list[str]) -> Iterator[str]:
    names = ", ".join(restored[:_MOST_NAMED])
    more = f" and {len(restored) - _MOST_NAMED} more" if len(restored) > _MOST_NAMED else ""
    if restored:
        yield f"measured without the changes of: {names}{more}"


def _copy_workspace(world: World, run: PytestRun, copy: str, scratch: str) -> list[str]:
    """The workspace as it was measured, with what is protected put back; says what was."""
    standing = world.state().positions[run.effect.position]
    index, workspace, now = os.path.join(scratch, "index"), world.workspace, run.tree
    old = protected_files.find_entry_tree(world, standing) or now
    wrong = protected_files.list_refused_changes(world, standing, now)
    before = tree_files.read_entries(workspace, old, wrong)
    gone = [path for path in wrong if path not in before]
    mixed = tree_files.write_mixed_tree(workspace, now, before, gone=gone, index=index)
    tree_files.copy_tree(workspace, mixed, copy, index)
    _remove_compiled_files(copy)
    for name in _list_links(world, standing):
        _link_file(os.path.join(workspace, name), os.path.join(copy, name))
    return sorted(wrong)


def _remove_compiled_files(copy: str) -> None:
    """What is compiled anew in the copy cannot be of other sources."""
    for directory, names, _ in os.walk(copy):
        for name in [each for each in names if each == _COMPILED]:
            shutil.rmtree(os.path.join(directory, name))
            names.remove(name)


def _list_links(world: World, standing: Standing) -> Iterator[str]:
    """Ignored files that a test run may need, such as an environment; nothing that decides it."""
    rules = protected_files.find_protected_paths(world, standing)
    for name in tree_files.list_ignored_paths(world.workspace):
        plain = name.rstrip("/")
        if not matches_any(plain, MADE_BY_RUNS) and not rules.is_protected(plain):
            yield plain


def _link_file(source: str, target: str) -> None:
    if not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(source, target)
