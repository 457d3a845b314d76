"""Running the project's own build and tests; results are kept by the content they are about.

In every run of a suite that pytest makes there are two tests of our own, by which the others are
believed or not.
"""

import asyncio
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from secrets import token_hex

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from porch.errors import UsageError
from porch.git import checkouts, measured_tree, repository
from porch.model.protection import find_runners
from porch.run.agents.turn_grants import watch_grants_of_check
from porch.run.agents.world import World
from porch.run.handlers import command_end, pytest_check
from porch.run.handlers.pytest_check import Canary
from porch.system import process
from porch.tree.suites import junit
from porch.tree.suites.suite_results import SuiteCase, SuiteRun, make_suite_run

REPORT_VARIABLE = "PORCH_REPORT"
SAID_KEPT = 3000


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


class BuildResult(Struct, frozen=True):
    """How a build came out; `is_set` is false where the project has no build step."""

    ok: bool
    report: str
    is_set: bool = True


async def run_build(world: World, effect: str, path: str) -> BuildResult:
    text = world.settings.commands.get("build", "")
    if not text:
        return BuildResult(True, "this project has no build step", is_set=False)
    code, said, _ = await _run_command(world, effect, path, text=text, name="build")
    return BuildResult(code == 0, said)


async def run_suite(
    world: World, effect: str, path: str, *, fresh: bool = False, key: str = "", seen: str = ""
) -> SuiteRun:
    """All tests as they come out in a directory; the same content is not run twice.

    `key` names the content of a scratch place, which nobody has to look at again afterwards.
    `seen` is what was measured there before: the tests are run, and how they come out is kept
    only if this still lies there in the end.
    """
    tree = key or seen or await asyncio.to_thread(hash_content, world, path)
    kept = None if fresh or seen else _read_kept_run(world, tree)
    if kept is not None:
        return kept
    text = world.settings.commands.get("test", "")
    if not text:
        # Nothing that an agent could answer better, so no answer is refused because of it.
        raise UsageError(
            "there is no [commands] test in codev/config.toml: porch cannot run the tests",
            fix="add it there, run `porch upgrade`, then answer this question",
            code="no-test-command",
        )
    canary = make_suite_canary(text, _new_canary_directory(world, effect))
    code, said, report = await _run_command(
        world, effect, path, text=text, name="test", canary=canary
    )
    if code is None:
        return SuiteRun("broken", report=said)
    found = make_suite_run(code, junit.read_junit_report(report, path), said)
    found = judge_suite_run(found, canary)
    if key or await asyncio.to_thread(hash_content, world, path) == tree:
        _write_kept_run(world, tree, found)
    return found


def hash_content(world: World, path: str) -> str:
    """What lies in a worktree, as one hash; without conversions, that of a commit of all of it."""
    return measured_tree.measure_tree(path, room=world.tree_room)


def recall_suite_at(world: World, commit: str) -> SuiteRun | None:
    """What is known of a commit without having it checked out."""
    return _read_kept_run(world, repository.read_commit_tree(world.workspace, commit))


async def run_suite_at(world: World, effect: str, commit: str, scratch: str) -> SuiteRun:
    """All tests as they come out at a commit."""
    known = await asyncio.to_thread(recall_suite_at, world, commit)
    if known is not None:
        return known
    await asyncio.to_thread(checkouts.ensure_read_checkout, world.workspace, scratch, commit)
    tree = await asyncio.to_thread(repository.read_commit_tree, world.workspace, commit)
    return await run_suite(world, effect, scratch, key=tree)


def _new_canary_directory(world: World, effect: str) -> str:
    return os.path.join(world.turn_directory(effect), f"canary-{token_hex(6)}")


async def _run_command(
    world: World, effect: str, path: str, *, text: str, name: str, canary: Canary | None = None
) -> tuple[int | None, str, str]:
    directory = world.turn_directory(effect)
    number = len(os.listdir(directory))
    output = os.path.join(directory, f"{name}-{number}.txt")
    # A name that nobody could know before: what lies there was written by this very run.
    report = os.path.join(directory, f"{name}-{number}-{token_hex(6)}.xml")
    command = process.OutsideCommand(
        argv=None,
        shell=text,
        cwd=path,
        env=add_canary_environment(
            {**world.check_environment(), REPORT_VARIABLE: report}, canary, world.directory
        ),
        stdin_file=None,
        output=output,
        errors=output,
        mark=world.effect_mark(effect),
    )
    limit = world.settings.check
    with watch_grants_of_check(world, effect):
        running = await process.start_command(command)
        try:
            ended = await running.wait(None, limit or None)
        except BaseException:
            await running.stop()
            raise
    said = command_end.redact_output(output, SAID_KEPT)
    command_end.redact_report(report)
    if ended.why != "exited":
        return None, f"`{text}` was killed after {limit:g} s\n{said}", report
    if killed := command_end.describe_kill(ended):
        return None, f"`{text}` was {killed}\n{said}", report
    return ended.code if ended.code is not None else 1, said, report


def _ensure_result_path(world: World, tree: str) -> str:
    directory = os.path.join(world.directory, "suites")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    # Another command is another question.
    command = sha256(world.settings.commands.get("test", "").encode()).hexdigest()[:8]
    return os.path.join(directory, f"{tree}-{command}.json")


def _read_kept_run(world: World, tree: str) -> SuiteRun | None:
    try:
        with open(_ensure_result_path(world, tree), encoding="utf-8") as file:
            raw = json.load(file)
        cases = tuple(SuiteCase(**case) for case in raw.pop("cases"))
        return SuiteRun(**raw, cases=cases)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write_kept_run(world: World, tree: str, found: SuiteRun) -> None:
    path = _ensure_result_path(world, tree)
    with open(path + ".tmp", "w", encoding="utf-8", errors="replace") as file:
        # Not straight into the file: the encoder for that is twenty times as slow.
        file.write(json.dumps(to_builtins(found)))
    os.replace(path + ".tmp", path)
