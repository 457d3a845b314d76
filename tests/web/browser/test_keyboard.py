"""Everything can be done by keyboard, and a letter does nothing where it might decide."""

import pytest

from porch.web.server.dashboard import Dashboard
from tests.web.browser.conftest import OpenWindow
from tests.web.browser.pages import PAGES
from tests.web.browser.window import Window

# One worker has one browser, so all of them go to the same worker.
pytestmark = pytest.mark.xdist_group("chromium")
DECISION = next(page.path for page in PAGES if page.name == "decision")
QUESTION = next(page.path for page in PAGES if page.name == "question")


@pytest.fixture
def window(shown: Dashboard, open_window: OpenWindow) -> Window:
    opened = open_window()
    opened.start_at(shown, "/")
    return opened


def test_j_and_k_walk_through_the_rows_and_enter_opens_one(window: Window) -> None:
    window.press("j")
    first = window.focus
    window.press("j", "j")
    assert window.focus != first
    window.press("k", "k", "k")
    assert window.focus == first, "the first row is the end"
    window.press("Enter")
    window.find("#decision")


def test_g_and_a_letter_go_to_a_page_and_question_mark_to_the_keys(window: Window) -> None:
    for letter, path in (("p", "/protocols"), ("w", "/worktrees"), ("d", "/doctor"), ("i", "/")):
        window.press("g", letter)
        window.wait_for_path(path)
    window.press("?")
    window.wait_for_path("/keys")


def test_slash_goes_to_the_search_and_escape_leaves_it(window: Window) -> None:
    window.press("/")
    assert window.focus == "search"
    window.press("j", "a")
    assert window.run("document.activeElement.value") == "ja", "letters are text here"
    window.press("Escape")
    assert window.run("document.activeElement === document.body")


def test_a_letter_acts_only_on_the_page_of_a_decision_and_never_decides(window: Window) -> None:
    window.press("a", "r", "q", "Enter")
    assert window.path == "/"
    assert window.run("document.activeElement === document.body")
    window.open(DECISION)
    window.press("a")
    assert window.run("document.activeElement.closest('form').id") == "answer-approved"
    window.press("r")
    assert window.focus == "answer-rejected-text"
    window.press("a")
    assert window.run("document.activeElement.value") == "a"
    window.press("Escape", "l")
    window.wait("document.activeElement === document.body")
    assert window.path == DECISION
    window.open(QUESTION)
    window.press("q")
    assert window.focus == "answer-answered-text"


def test_d_goes_to_the_next_difference(window: Window) -> None:
    window.open(DECISION)
    window.run(
        """() => {
          const parts = ["", "one", "", "two", ""].map((name) => {
            const part = document.createElement("pre");
            part.id = name;
            part.className = name ? "diff" : "";
            part.style.height = "3000px";
            return part;
          });
          document.getElementById("main").replaceChildren(...parts);
        }"""
    )
    for name in ("one", "two", "one"):
        window.press("d")
        window.wait(
            "name => Math.abs(document.getElementById(name).getBoundingClientRect().top) < 200",
            name,
        )


def test_l_loads_the_page_again(window: Window) -> None:
    window.mark()
    window.press("l")
    window.wait("window.isMarked === undefined && document.readyState === 'complete'")


def test_single_letters_can_be_switched_off_and_tab_and_enter_still_work(window: Window) -> None:
    window.open("/keys")
    window.click("#switch-keys")
    window.see("Single letters are switched off.")
    window.open("/")
    for key in ("j", "/", "?", "g", "p"):
        window.press(key)
    assert window.path == "/"
    assert window.run("document.activeElement === document.body")
    window.press("Tab")
    assert window.focus == "Skip to the content"
    window.press("Enter", "Tab")
    assert window.run("document.getElementById('main').contains(document.activeElement)")


def test_a_letter_with_ctrl_or_alt_is_left_to_the_browser(window: Window) -> None:
    for key in ("Control+j", "Alt+j", "Control+/"):
        window.press(key)
    assert window.run("document.activeElement === document.body")
