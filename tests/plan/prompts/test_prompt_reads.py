"""A command of a plan opens the files of the prompts that it is about, and no others."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.plan.claims import prompt_claims
from porch.plan.prompts import (
    plan_document,
    plan_merge,
    prompt_edits,
    prompt_queue,
    prompt_work,
)
from porch.plan.session import plan_session
from porch.store.where import ProjectPaths
from tests.plan.yards import carried_out, disagreements, fields, file, start, write

MANY = 50


class Opened:
    """The files of prompts that are opened while somebody looks; hooks cannot be taken out."""

    def __init__(self) -> None:
        self.names: list[str] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self.names is not None and event == "open" and isinstance(args[0], str):
            place, name = os.path.split(args[0])
            if os.path.basename(place) == "prompts":
                self.names.append(name.removesuffix(".tmp").removesuffix(".md"))

    def by(self, act: Callable[[], object]) -> set[str]:
        self.names = []
        try:
            act()
            return set(self.names)
        finally:
            self.names = None


OPENED = Opened()


@pytest.fixture
def many(where: ProjectPaths) -> ProjectPaths:
    """A plan with many prompts, the first of them merged, that has rested for a moment."""
    for number in range(1, MANY + 1):
        write(where, str(number), description=f"d{number}")
    carried_out(where, "1")
    plan_merge.merge_worktree(where, PromptId(1))
    rest(where)
    return where


def rest(where: ProjectPaths) -> None:
    """What was written a moment ago is read once more; then nobody needs to read it again."""
    time.sleep(0.12)
    with plan_session.hold_plan(where):
        pass


@pytest.mark.req("E-024")
def test_a_command_opens_only_the_prompts_that_it_is_about(many: ProjectPaths) -> None:
    seven = parse_prompt_id(["7"])
    commands: dict[str, tuple[Callable[[], object], set[str]]] = {
        "status": (lambda: plan_document.read_plan_status(many), set()),
        "next": (lambda: prompt_queue.list_next_prompts(many, 2), {"2", "3"}),
        "read-prompt": (lambda: prompt_edits.read_prompt(many, seven), {"7"}),
        "start-prompt": (lambda: start(many, "7"), {"7"}),
        "complete-prompt": (lambda: prompt_work.complete_prompt(many, PromptId(1)), {"1"}),
        "release-prompt": (lambda: prompt_claims.release_prompt(many, seven), {"7"}),
        "init": (lambda: plan_document.init_plan(many), set()),
    }
    seen = {}
    for name, (act, _) in commands.items():
        seen[name] = OPENED.by(act)
        rest(many)
    assert seen == {name: wanted for name, (_, wanted) in commands.items()}
    assert disagreements(many) == []


def test_what_was_written_a_moment_ago_is_read_once_more(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "2")
    assert OPENED.by(lambda: plan_document.init_plan(where)) == {"1", "2"}
    rest(where)
    assert OPENED.by(lambda: plan_document.init_plan(where)) == set()


# Within a tick a file is read in any case; behind it only how it looks can tell.
@pytest.mark.parametrize("age", [0, 0.12])
@pytest.mark.parametrize("how", ["in place", "another file", "same size and time"])
def test_an_edit_of_a_prompt_that_no_command_is_about_is_noticed(
    where: ProjectPaths, how: str, age: float
) -> None:
    for number in "123":
        write(where, number)
    rest(where)
    path = file(where, "2")
    edit(path, how)
    time.sleep(age)
    notes = start(where, "3").notes
    assert any("prompt 2 were changed by hand" in note for note in notes)
    assert fields(where, "2")["kind"] == "feature"
    assert disagreements(where) == []


def edit(path: Path, how: str) -> None:
    before = path.stat()
    text = path.read_text().replace("kind: feature", "kind: fixture")
    assert text != path.read_text()
    if how == "another file":
        path.unlink()
    path.write_text(text)
    if how == "same size and time":
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_change_of_the_journal_that_no_file_shows_is_drawn(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "2")
    rest(where)
    with plan_session.hold_plan(where) as held:
        held.move("test", {PromptId(1): {"kind": "debug"}})
    assert fields(where, "1")["kind"] == "feature"
    plan_document.init_plan(where)
    assert fields(where, "1")["kind"] == "debug"
