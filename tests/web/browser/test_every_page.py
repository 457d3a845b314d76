"""What holds for every page, wherever it is read: who cannot see well, on a telephone, enlarged."""

import pytest
from playwright.async_api import ViewportSize

from porch.web.server.dashboard import Dashboard
from tests.web.browser.conftest import OpenWindow
from tests.web.browser.pages import PAGES, ShownPage
from tests.web.browser.window import Window

# One worker has one browser, so all of them go to the same worker.
pytestmark = pytest.mark.xdist_group("chromium")
every_page = pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
# A telephone, and a usual window enlarged four times.
NARROW = (ViewportSize(width=360, height=740), ViewportSize(width=320, height=256))
TOO_WIDE = """() => {
  const edge = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= edge) return [];
  return [...document.querySelectorAll("body *")]
    .filter((each) => each.getBoundingClientRect().right > edge + 1)
    .map((each) => `${each.tagName} ${each.className} ${each.textContent.trim().slice(0, 40)}`);
}"""
# The rules whose verdict can be another in another theme.
OF_COLOURS = ("color-contrast", "link-in-text-block")
BACK = "getComputedStyle(document.documentElement).backgroundColor"
MOVING = """() => [...document.querySelectorAll("*")].filter((each) => {
  const style = getComputedStyle(each);
  return style.animationName !== "none" || style.transitionDuration !== "0s" ||
    style.scrollBehavior === "smooth";
}).map((each) => each.outerHTML.slice(0, 80))"""


def open_page(window: Window, shown: Dashboard, page: ShownPage) -> None:
    window.start_at(shown, page.path)
    window.see(page.words)
    if page.status != 200:
        assert [each for each in window.errors if str(page.status) not in each] == []
        window.errors.clear()


@every_page
def test_axe_finds_nothing_wrong_in_either_theme(
    shown: Dashboard, open_window: OpenWindow, axe: str, page: ShownPage
) -> None:
    window = open_window(color_scheme="light", reduced_motion="reduce")
    open_page(window, shown, page)
    light = window.run(BACK)
    assert window.judge(axe) == []
    window.choose_media(color_scheme="dark")
    assert window.run(BACK) != light
    assert window.judge(axe, *OF_COLOURS) == []
    assert window.run(MOVING) == []


@every_page
def test_no_page_is_wider_than_a_telephone_or_an_enlarged_window(
    shown: Dashboard, open_window: OpenWindow, page: ShownPage
) -> None:
    window = open_window(viewport=NARROW[0])
    open_page(window, shown, page)
    for size in NARROW:
        window.resize(size)
        assert window.run(TOO_WIDE) == [], size
        assert window.run("document.documentElement.scrollWidth") <= size["width"]


def test_a_theme_that_was_chosen_counts_more_than_that_of_the_system(
    shown: Dashboard, open_window: OpenWindow
) -> None:
    window = open_window(color_scheme="light")
    window.start_at(shown, "/protocols")
    window.wait(f"{BACK} === 'rgb(247, 247, 245)'")
    window.click(".theme >> text=Dark")
    window.wait(f"{BACK} === 'rgb(17, 17, 18)'")
    assert window.path == "/protocols", "and one stays on the page"
    window.choose_media(color_scheme="dark")
    window.click(".theme >> text=Light")
    window.wait(f"{BACK} === 'rgb(247, 247, 245)'")


def test_only_whoever_wants_motion_sees_the_mark_beat(
    shown: Dashboard, open_window: OpenWindow
) -> None:
    window = open_window(reduced_motion="no-preference")
    window.start_at(shown, "/")
    window.wait_until_live()
    window.run("document.getElementById('live').dataset.state = 'reconnecting'")
    beat = "getComputedStyle(document.querySelector('.live .dot')).animationName"
    assert window.run(beat) == "beat"
    window.choose_media(reduced_motion="reduce")
    assert window.run(beat) == "none"
