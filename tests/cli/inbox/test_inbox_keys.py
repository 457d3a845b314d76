"""Everything that a person does in the inbox by keys, checked against the journal of the run."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from porch.cli.inbox.app import InboxApp
from porch.cli.inbox.inbox_rows import Inbox
from porch.machine.wishes import ACCEPTED
from porch.store.run_drivers import find_driver
from tests.cli.conftest import Desk
from tests.cli.inbox.conftest import GATED, LAST, SPEC, Person, Sit
from tests.cli.inbox.test_inbox_snapshots import ROWS, open_nothing

Play = Callable[[Person], Coroutine[Any, Any, None]]


def play(sit: Sit, scene: Play, **size: Any) -> None:
    async def run() -> None:
        async with sit(**size) as person:
            await scene(person)

    asyncio.run(run())


def wishes(desk: Desk) -> list[tuple[str, str, str]]:
    taken = [fact["wish"] for fact in desk.facts("WishTaken")]
    return [(each.get("exit", ""), each.get("text", ""), each["channel"]) for each in taken]


def end_driver(desk: Desk) -> None:
    desk.porch("stop", "1", code=None)
    desk.wait_for(lambda: find_driver(str(desk.run_dir())).holder is None)


def test_a_gate_is_opened_read_and_approved_and_the_run_goes_on(desk: Desk, sit: Sit) -> None:
    desk.begin(*GATED, code=3)

    async def scene(person: Person) -> None:
        seen = await person.until("Approve: spec.md is ready")
        assert "1 waits for you" in seen
        await person.press("enter")
        seen = await person.until("What you can do")
        assert "Approve: starts Implement" in seen
        assert "Send back: goes back to Specify" in seen
        await person.press("d")
        await person.until(SPEC)
        await person.press("a")
        await person.until(" y  Approve")
        await person.press("n", "escape", "m")
        await person.until("m merges a row of Ready to merge.")
        await person.press("enter")
        await person.until("What you can do")
        await person.press("a")
        await person.until(" y  Approve")
        assert wishes(desk) == []
        await person.press("y")
        await person.until("go: approved.")

    play(sit, scene)
    assert wishes(desk) == [("approved", "", "terminal")]
    desk.wait_for(lambda: desk.entered()[-1] == "complete")


def test_esc_leaves_every_question_as_it_is(desk: Desk, sit: Sit) -> None:
    desk.begin(*GATED, code=3)

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        await person.until("What you can do")
        await person.press("a")
        await person.until(" y  Approve")
        await person.press("n", "s")
        await person.until("Ctrl-J")
        await person.press("escape", "escape")
        await person.until("Waiting for you (1)")

    play(sit, scene)
    assert wishes(desk) == []


def test_send_back_asks_for_a_reason_and_refuses_none(desk: Desk, sit: Sit) -> None:
    desk.begin(LAST, code=3)

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        await person.until("What you can do")
        await person.press("s")
        await person.until("What must change")
        await person.press("space", "enter")
        await person.until("Nothing was written.")
        assert wishes(desk) == []
        await person.type("shorter")
        await person.press("ctrl+j")
        await person.type("please")
        await person.press("enter")
        await person.until("go: rejected.")

    play(sit, scene)
    assert wishes(desk) == [("rejected", "shorter\nplease", "terminal")]
    desk.wait_for(lambda: len(desk.facts("DecisionAsked")) == 2)
    end_driver(desk)


def test_a_question_takes_words_and_has_its_other_answers_by_number(desk: Desk, sit: Sit) -> None:
    desk.begin(
        {"id": "one"},
        agents={"one": [{"signal": "BLOCKED", "reason": "Which database?"}, {}]},
        code=3,
    )

    async def scene(person: Person) -> None:
        await person.until("Answer: Which database?")
        await person.press("enter")
        await person.until("What you can do")
        await person.press("a")
        await person.until("Your answer:")
        await person.type("the y one")
        await person.press("enter")
        seen = await person.until("Answered.")
        assert "blocked:" not in seen
        await person.press("j")
        await person.settle()
        assert "Answered." not in person.screen

    play(sit, scene)
    assert wishes(desk) == [("answered", "the y one", "terminal")]
    desk.wait_for(lambda: desk.entered()[-1] == "complete")


def test_an_approval_is_for_what_was_shown_and_changed_files_ask_again(
    desk: Desk, sit: Sit
) -> None:
    desk.begin(LAST, code=3)
    desk.write(SPEC, "# Spec\n\nlong words\n")

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        # Changed since porch asked, and before anybody looked: that is shown first.
        await person.until("+long words")
        await person.until("changed since porch asked. Read the difference.")
        await person.press("a")
        await person.until("y  Approve")
        desk.write(SPEC, "# Spec\n\nother words\n")
        await person.press("y")
        await person.until("changed after they were shown, so nothing was recorded")
        assert wishes(desk) == []
        await person.until("+other words")
        await person.press("a", "y")
        await person.until("go: approved.")

    play(sit, scene)
    assert wishes(desk) == [("approved", "", "terminal")]
    (fact,) = desk.facts("WishTaken")
    assert fact["wish"]["data"][ACCEPTED] == [SPEC]
    desk.wait_for(lambda: desk.entered()[-1] == "complete")


def test_files_that_change_while_they_are_read_are_said_to(desk: Desk, sit: Sit) -> None:
    desk.begin(LAST, code=3)

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        await person.until("What you can do")
        desk.write(SPEC, "others\n")
        await person.until("Press u to read them again.")
        await person.press("u")
        await person.until("+others")

    play(sit, scene)


def test_what_somebody_else_answered_is_said_and_nothing_is_changed(desk: Desk, sit: Sit) -> None:
    desk.begin(LAST, code=3)

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        await person.until("What you can do")
        desk.porch("approve", "1")
        await person.until("go was already approved by")
        await person.press("a", "y")
        await person.until("Nothing was changed.")

    play(sit, scene)
    assert wishes(desk) == [("approved", "", "cli")]


def test_a_run_at_work_is_paused_and_resumed(desk: Desk, sit: Sit) -> None:
    driven = desk.start(
        *desk._words(({"id": "one"},), {"agents": {"one": [{"hang": True}] * 3}}), "--here"
    )
    desk.wait_for_turn("one#1/agent/one/0", "0001-x")

    async def scene(person: Person) -> None:
        await person.until("Working (1)")
        await person.press("enter")
        await person.until("Pause: stops its agents")
        await person.press("p", "y")
        await person.until("0001-x is stopped.")
        await person.until("Paused: resume it")
        assert desk.facts("WishTaken")[0]["wish"]["kind"] == "stop"
        await person.press("enter")
        await person.until("Resume: continues")
        await person.press("r", "y")
        await person.until("0001-x continues (pid")
        await person.until("Working (1)")

    play(sit, scene)
    assert driven.wait() == 0
    assert len(desk.facts("RunnerStarted")) == 2
    end_driver(desk)


def test_finished_work_is_merged_after_a_second_question(desk: Desk, sit: Sit) -> None:
    desk.begin_in_worktree({"id": "one"}, agents={"one": [{"write": {"new.txt": "n\n"}}]}, code=0)

    async def scene(person: Person) -> None:
        await person.until("Ready to merge (1)")
        await person.press("enter")
        seen = await person.until("What you can do")
        assert "s  Squash and merge" in seen
        assert "Must pass on the merged files: build\n" in seen
        assert "Pull request" not in seen, "there is no remote"
        await person.press("escape", "m")
        await person.until("Merge 0001 now?")
        await person.press("enter")
        await person.until("Press y or n.")
        assert desk.facts("WorkFinished") == []
        await person.press("y")
        await person.until("0001-x: merged into main")
        await person.until("nothing is ready to merge")

    play(sit, scene)
    assert [fact["how"] for fact in desk.facts("WorkFinished")] == ["merged"]
    assert (desk.root / "new.txt").exists()


def test_a_key_before_the_runs_are_read_is_answered_and_an_empty_list_may_fill() -> None:
    may_read, inboxes = threading.Event(), [Inbox(), ROWS]

    def read() -> Inbox:
        may_read.wait()
        return inboxes.pop(0) if len(inboxes) > 1 else inboxes[0]

    long = "\n".join(f"line {number}" for number in range(10))

    async def scene() -> None:
        app = InboxApp("porch", "Start something", read, open_nothing)
        async with app.run_test(size=(80, 24)) as pilot:
            person = Person(app, pilot)
            await person.until("Reading the runs ...")
            await person.press("enter")
            may_read.set()
            await person.until("Waiting for you (6)")
            await person.press("m")
            await person.until("Choose one first.")
            app._list.say(long)
            await person.until("line 9")

    asyncio.run(scene())


def test_what_did_not_pass_is_shown_and_merged_only_with_a_reason(desk: Desk, sit: Sit) -> None:
    flag = desk.write("../flag", "")
    failing = {"id": "one", "checks": {"lint": {"command": f"test ! -e {flag}", "max_retries": 0}}}
    desk.begin_in_worktree(failing, agents={"one": [{"write": {"new.txt": "n\n"}}]}, code=3)
    desk.porch("skip", "1", "--reason", "later")
    desk.porch("resume", "1", code=0)
    flag.unlink()

    async def scene(person: Person) -> None:
        await person.until("Ready to merge (1)")
        await person.press("enter")
        await person.until("x Not passed: ")
        await person.press("K")
        assert "lint" not in (await person.until("Keep 0001 now?")).rpartition("╭")[2]
        await person.press("n", "s")
        await person.until("Why it may be delivered")
        await person.press("enter")
        await person.until("Nothing was written.")
        await person.type("the lint is wrong")
        await person.press("enter")
        await person.until("merged into main as one commit")

    play(sit, scene)
    (fact,) = desk.facts("WorkFinished")
    assert (fact["how"], fact["reason"]) == ("squashed", "the lint is wrong")


def test_work_that_changed_after_it_was_shown_is_not_merged(desk: Desk, sit: Sit) -> None:
    desk.begin_in_worktree({"id": "one"}, agents={"one": [{"write": {"new.txt": "n\n"}}]}, code=0)
    desk.git("remote", "add", "origin", "../elsewhere")

    async def scene(person: Person) -> None:
        await person.until("Ready to merge (1)")
        await person.press("enter")
        seen = await person.until("What you can do")
        assert "p  Pull request: pushes" in seen
        desk.write("worktrees/p_0001_x/new.txt", "other\n")
        await person.press("m", "y")
        await person.until("changed after it was shown, so nothing was done")
        await person.until("! ")

    play(sit, scene)
    assert desk.facts("WorkFinished") == []


@pytest.mark.parametrize("key", ["a", "p"])
def test_an_agent_cannot_decide_here_either(
    desk: Desk, sit: Sit, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin(LAST, code=3)
    if key == "p":
        desk.porch("stop", "1")
        key = "r"
    monkeypatch.setenv("CLAUDECODE", "1")

    async def scene(person: Person) -> None:
        await person.until("spec.md is ready")
        await person.press("enter")
        await person.until("What you can do")
        await person.press(key, "y")
        await person.until("only people can decide or steer a run")

    play(sit, scene)
    assert [exit_ for exit_, _, _ in wishes(desk) if exit_] == []
    assert len(desk.facts("RunnerStarted")) == 1


def test_an_agent_cannot_finish_here_either(
    desk: Desk, sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin_in_worktree({"id": "one"}, agents={"one": [{"write": {"new.txt": "n\n"}}]}, code=0)
    monkeypatch.setenv("CLAUDECODE", "1")

    async def scene(person: Person) -> None:
        await person.until("Ready to merge (1)")
        await person.press("enter")
        await person.until("What you can do")
        await person.press("m", "y")
        await person.until("only people can decide or steer a run")

    play(sit, scene)
    assert desk.facts("WorkFinished") == []
