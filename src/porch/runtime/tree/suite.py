"""Running the project's own build and tests; results are kept by the content they are about."""

import asyncio
import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256

from porch.adapters import checkouts, git, junit, process, worktrees
from porch.adapters.follow import compact, head_and_tail
from porch.machine.suites import Case, Suite, ran
from porch.runtime.world import World

REPORT = "PORCH_REPORT"
OUTPUT_KEPT = 1 << 20
SAID_KEPT = 3000


@dataclass(frozen=True, slots=True)
class Built:
    """How a build came out; `is_set` is false where the project has no build step."""

    ok: bool
    report: str
    is_set: bool = True


async def build(world: World, effect: str, path: str) -> Built:
    text = world.settings.commands.get("build", "")
    if not text:
        return Built(True, "this project has no build step", is_set=False)
    code, said, _ = await _run(world, effect, path, text, "build")
    return Built(code == 0, said)


async def suite(world: World, effect: str, path: str, fresh: bool = False, key: str = "") -> Suite:
    """All tests as they come out in a directory; the same content is not run twice.

    `key` names the content of a scratch place, which nobody has to look at again afterwards.
    """
    tree = key or await asyncio.to_thread(content, world, path)
    kept = None if fresh else _recall(world, tree)
    if kept is not None:
        return kept
    text = world.settings.commands.get("test", "")
    if not text:
        return Suite("broken", report="there is no [commands] test in codev/config.toml")
    code, said, report = await _run(world, effect, path, text, "test")
    if code is None:
        return Suite("broken", report=said)
    found = ran(code, junit.read(report, path), said)
    if key or await asyncio.to_thread(content, world, path) == tree:
        _remember(world, tree, found)
    return found


def content(world: World, path: str) -> str:
    """What lies in a worktree, as one hash; where nothing is uncommitted, the commit tells."""
    if not worktrees.dirty(path):
        return git.tree_at(path, git.head(path))
    return git.tree(path, world.own_paths())


def known_at(world: World, commit: str) -> Suite | None:
    """What is known of a commit without having it checked out."""
    return _recall(world, git.tree_at(world.workspace, commit))


async def suite_at(world: World, effect: str, commit: str, scratch: str) -> Suite:
    """All tests as they come out at a commit."""
    known = await asyncio.to_thread(known_at, world, commit)
    if known is not None:
        return known
    await asyncio.to_thread(checkouts.reread, world.workspace, scratch, commit)
    tree = await asyncio.to_thread(git.tree_at, world.workspace, commit)
    return await suite(world, effect, scratch, key=tree)


async def _run(
    world: World, effect: str, path: str, text: str, name: str
) -> tuple[int | None, str, str]:
    directory = world.turn_directory(effect)
    number = len(os.listdir(directory))
    output = os.path.join(directory, f"{name}-{number}.txt")
    report = os.path.join(directory, f"{name}-{number}.xml")
    environ = world.environ if world.environ is not None else os.environ
    kept = {k: v for k, v in environ.items() if not k.startswith(("GIT_", "PORCH_"))}
    command = process.Command(
        argv=None,
        shell=text,
        cwd=path,
        env={**kept, REPORT: report},
        stdin_file=None,
        output=output,
        errors=output,
        mark=world.effect_mark(effect),
    )
    running = await process.start(command)
    limit = world.settings.check
    try:
        ended = await running.wait(None, limit or None)
    except BaseException:
        await running.stop()
        raise
    compact(output, OUTPUT_KEPT)
    said = head_and_tail(output, SAID_KEPT // 2)
    if ended.why != "exited":
        return None, f"`{text}` was killed after {limit:g} s\n{said}", report
    return ended.code if ended.code is not None else 1, said, report


def _path(world: World, tree: str) -> str:
    directory = os.path.join(world.directory, "suites")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    # Another command is another question.
    command = sha256(world.settings.commands.get("test", "").encode()).hexdigest()[:8]
    return os.path.join(directory, f"{tree}-{command}.json")


def _recall(world: World, tree: str) -> Suite | None:
    try:
        with open(_path(world, tree), encoding="utf-8") as file:
            raw = json.load(file)
        cases = tuple(Case(**case) for case in raw.pop("cases"))
        return Suite(**raw, cases=cases)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _remember(world: World, tree: str, found: Suite) -> None:
    path = _path(world, tree)
    with open(path + ".tmp", "w", encoding="utf-8", errors="replace") as file:
        json.dump(asdict(found), file)
    os.replace(path + ".tmp", path)
