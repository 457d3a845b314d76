"""Deciding in a browser: what a person clicks moves the run, and the page follows it."""

from collections.abc import Callable

import pytest

from porch.store.run_drivers import find_driver
from porch.web.server.dashboard import Dashboard
from tests.cli.conftest import Desk
from tests.repositories import ACCOUNT
from tests.web.browser.conftest import OpenWindow
from tests.web.conftest import GATED

# One worker has one browser, so all of them go to the same worker.
pytestmark = pytest.mark.xdist_group("chromium")
RUN = "/run/project/0001-x"
GATE = f"{RUN}/decision?at=one%3Agate%231"
SPEC = "codev/projects/0001-x/spec.md"


@pytest.fixture
def wait_for_end(desk: Desk) -> Callable[[], None]:
    """Until the run is over and its driver is gone: its directory is removed with the test."""

    def wait() -> None:
        desk.wait_for(lambda: desk.entered()[-1] == "complete")
        desk.wait_for(lambda: find_driver(str(desk.run_dir())).holder is None)

    return wait


@pytest.mark.req("P-044", "P-194")
def test_an_approval_on_the_page_moves_the_run_and_the_page_follows_without_a_reload(
    desk: Desk, served: Dashboard, open_window: OpenWindow, wait_for_end: Callable[[], None]
) -> None:
    desk.begin(*GATED, code=3)
    window = open_window()
    window.enter(served)
    window.click("#waiting >> text=Approve")
    window.see("Your answer")
    window.click("#answer-approved button")
    window.see("go: approve, recorded as event")
    window.mark()
    window.see("Over: complete")
    assert window.is_marked
    wait_for_end()


@pytest.mark.req("P-044")
def test_a_rejection_needs_a_reason_and_the_run_comes_back_with_a_new_question(
    desk: Desk, served: Dashboard, open_window: OpenWindow
) -> None:
    desk.begin(*GATED, code=3)
    window = open_window()
    window.start_at(served, GATE)
    window.click("#answer-rejected button")
    assert window.path == GATE, "the browser itself asks for the reason"
    assert window.focus == "answer-rejected-text"
    window.type("#answer-rejected textarea", "too long")
    window.click("#answer-rejected button")
    window.see("go: send back, recorded as event")
    window.mark()
    window.find("#asked a")
    assert window.is_marked
    assert [fact["wish"]["text"] for fact in desk.facts("WishTaken")] == ["too long"]
    window.click("#stop")
    window.see("stop")
    desk.wait_for(lambda: find_driver(str(desk.run_dir())).holder is None)


def test_a_question_is_answered_in_words_and_the_run_goes_on(
    desk: Desk, served: Dashboard, open_window: OpenWindow, wait_for_end: Callable[[], None]
) -> None:
    agents = {"one": [{"signal": "BLOCKED: Which colour?"}, {"signal": "PHASE_COMPLETE"}]}
    desk.begin({"id": "one", "signals": ["BLOCKED", "PHASE_COMPLETE"]}, code=3, agents=agents)
    window = open_window()
    window.enter(served)
    window.press("j", "Enter")
    window.see("Which colour?", "#decision")
    window.wait_until_live()  # from then on keys are heard
    window.press("q")
    window.press(*"blue", "Tab", "Enter")
    window.see("recorded as event")
    window.mark()
    window.see("Over: complete")
    assert window.is_marked
    assert desk.facts("WishTaken")[0]["wish"]["text"] == "blue"
    wait_for_end()


def test_of_two_browsers_at_one_gate_the_second_is_told_who_was_first(
    desk: Desk, served: Dashboard, open_window: OpenWindow
) -> None:
    desk.begin({**GATED[0], "gate": {"name": "go", "next": None}}, code=3)
    first, second, third = open_window(), open_window(), open_window(java_script_enabled=False)
    for window in (first, second, third):
        window.start_at(served, GATE)
    second.wait_until_live()
    first.click("#answer-approved button")
    first.see("Over: complete")
    second.see(f"go was already approved by {ACCOUNT}", "#moved")
    assert second.run("[...document.querySelectorAll('#answers button')].every(b => b.disabled)")
    third.click("#answer-rejected textarea")
    third.type("#answer-rejected textarea", "no")
    third.click("#answer-rejected button")
    third.see(f"go was already approved by {ACCOUNT}")
    third.see("Nothing was changed.")
    assert len(desk.facts("WishTaken")) == 1


def test_without_javascript_every_step_works_by_links_and_forms(
    desk: Desk, served: Dashboard, open_window: OpenWindow, wait_for_end: Callable[[], None]
) -> None:
    desk.begin(*GATED, code=3)
    window = open_window(java_script_enabled=False)
    window.enter(served)
    window.see("not live: reload for news")
    window.click("#waiting >> text=View")
    window.click("#answer-approved button")
    window.see("go: approve, recorded as event")
    wait_for_end()
    window.open(RUN)
    window.see("Over: complete")
    window.click(".theme >> text=Dark")
    window.find('html[data-theme="dark"]')
    window.click("nav >> text=Inbox")
    window.see("Nothing waits for you.")


def test_a_page_whose_content_moves_while_it_is_read_takes_no_answer_any_more(
    desk: Desk, served: Dashboard, open_window: OpenWindow
) -> None:
    desk.begin(*GATED, code=3)
    window = open_window()
    window.start_at(served, GATE)
    window.wait_until_live()
    window.type("#answer-approved textarea", "well done")
    before = window.text("#files")
    desk.write(SPEC, "# Another\n\nnobody has read this\n")
    window.see("The content changed while you read.", "#moved")
    assert window.text("#files") == before, "it is not exchanged under the eyes of its reader"
    assert window.run("document.querySelector('#answer-approved button').disabled")
    window.click("#moved a")
    window.see("nobody has read this", "#files")
    assert not window.run("document.querySelector('#answer-approved button').disabled")


def test_the_focus_and_what_was_typed_stay_when_news_come(
    desk: Desk, served: Dashboard, open_window: OpenWindow
) -> None:
    desk.begin(*GATED, code=3)
    window = open_window()
    window.enter(served)
    window.wait_until_live()
    window.type("#search", "0001")
    desk.porch("run", "p", "0002", "--title", "y", "--no-claude", "--worktree", code=3)
    window.see("2 decisions wait for you.")
    assert window.focus == "search"
    assert window.run("document.activeElement.value") == "0001"
    window.open(GATE)
    window.wait_until_live()
    window.type("#answer-rejected textarea", "because it")
    window.mark()
    before = len(window.addresses)
    desk.porch("resume", "1", code=3)
    desk.wait_for(lambda: f"{window.base}{GATE}" in window.addresses[before:])
    window.press(*" is")
    assert window.run("document.activeElement.value") == "because it is"
    assert window.focus == "answer-rejected-text"
    assert window.is_marked
    assert window.run("document.getElementById('moved').hidden")


def test_what_has_the_focus_in_a_list_keeps_it_when_rows_come_and_go_around_it(
    desk: Desk, served: Dashboard, open_window: OpenWindow
) -> None:
    desk.begin(*GATED, code=3)
    for number in ("0002", "0003"):
        desk.porch("run", "p", number, "--title", "y", "--no-claude", "--worktree", code=3)
    window = open_window()
    window.enter(served)
    window.wait_until_live()
    window.press("j", "j")
    row = "document.activeElement.closest('[data-item]').id"
    focus = window.run(row)
    assert "0002" in focus
    desk.porch("reject", "1", "go", "--reason", "again")
    window.see("2 decisions wait for you.")
    assert window.run(row) == focus
    desk.porch("run", "p", "0004", "--title", "z", "--no-claude", "--worktree", code=3)
    window.see("3 decisions wait for you.")
    assert window.run(row) == focus
