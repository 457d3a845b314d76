"""A window of the browser, with the few things that a person does in it."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
)
from playwright.async_api import (
    TimeoutError as NeverSeen,
)

from porch.web.server.dashboard import Dashboard
from porch.web.server.serve import make_link
from tests.web.browser.chromium import Chromium

_LONGEST_MS = 60_000


ElementState = Literal["attached", "detached", "hidden", "visible"]


class Window:
    """One browser of one person: its own cookies, one page; what went wrong in it is kept."""

    def __init__(self, chromium: Chromium, **options: Any) -> None:
        self._chromium = chromium
        self.errors: list[str] = []
        self.addresses: list[str] = []
        self._context: BrowserContext
        self.page: Page
        chromium.do(lambda: self._open(chromium.browser, options))

    async def _open(self, browser: Browser, options: Mapping[str, Any]) -> None:
        self._context = await browser.new_context(**options)
        self._context.set_default_timeout(_LONGEST_MS)
        self.page = await self._context.new_page()
        self.page.on("console", self._keep_message)
        self.page.on("pageerror", self._keep_error)
        self._context.on("request", self._keep_request)

    def _keep_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.type}: {message.text}")

    def _keep_error(self, error: Error) -> None:
        self.errors.append(f"error: {error.message}")

    def _keep_request(self, request: Request) -> None:
        self.addresses.append(request.url)

    @property
    def outside(self) -> list[str]:
        """Addresses that are not of this machine; pictures in an address leave nothing."""
        return [
            each
            for each in self.addresses
            if urlsplit(each).scheme not in ("data", "about", "blob")
            and urlsplit(each).hostname != "127.0.0.1"
        ]

    def do(self, wanted: Callable[[], Awaitable[Any]]) -> Any:
        return self._chromium.do(wanted)

    def enter(self, dashboard: Dashboard) -> None:
        """By the link that the terminal shows."""
        self.base = f"http://127.0.0.1:{dashboard.port}"
        self.do(lambda: self.page.goto(make_link(dashboard, "127.0.0.1")))

    def start_at(self, dashboard: Dashboard, path: str) -> None:
        """On a page at once, with the cookie that the link would have brought."""
        self.base = f"http://127.0.0.1:{dashboard.port}"
        secret = dashboard.sessions.exchange(dashboard.sessions.token)
        self.do(
            lambda: self._context.add_cookies(
                [{"name": dashboard.cookie, "value": secret, "url": self.base}]
            )
        )
        self.open(path)

    def open(self, path: str) -> None:
        self.do(lambda: self.page.goto(f"{self.base}{path}"))

    @property
    def path(self) -> str:
        return self.page.url.removeprefix(self.base)

    def see(self, text: str, within: str = "body") -> None:
        """Wait until a text is there for a person to see."""
        found = self.page.locator(within).get_by_text(text).and_(self.page.locator(":visible"))
        try:
            self.do(found.first.wait_for)
        except NeverSeen as error:
            raise AssertionError(f"never saw {text!r} in:\n{self.text(within)}") from error

    def find(self, selector: str, state: ElementState = "visible") -> None:
        """Wait until an element is there; `state` can be hidden, attached or detached."""
        self.do(lambda: self.page.locator(selector).first.wait_for(state=state))

    def text(self, selector: str = "body") -> str:
        return str(self.do(self.page.locator(selector).first.inner_text))

    def count(self, selector: str) -> int:
        return int(self.do(lambda: self.page.locator(selector).count()))

    def click(self, selector: str) -> None:
        self.do(self.page.locator(selector).first.click)

    def type(self, selector: str, text: str) -> None:
        """Key by key, as a person types."""
        self.do(lambda: self.page.locator(selector).press_sequentially(text))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.do(partial(self.page.keyboard.press, key))

    def run(self, script: str, given: Any = None) -> Any:
        return self.do(lambda: self.page.evaluate(script, given))

    def wait(self, condition: str, given: Any = None) -> None:
        """Until an expression of the page is true; asked from outside: it allows no eval."""
        end = time.monotonic() + _LONGEST_MS / 1000
        while not self._is_true(condition, given):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.03)

    def _is_true(self, condition: str, given: Any) -> bool:
        try:
            return bool(self.run(condition, given))
        except Error:
            return False  # the page is just being exchanged for another one

    def wait_for_path(self, path: str) -> None:
        self.do(lambda: self.page.wait_for_url(f"{self.base}{path}"))

    def wait_until_live(self) -> None:
        self.find('#live[data-state="live"]')

    def mark(self) -> None:
        """A page that is loaded again does not have the mark any more."""
        self.run("window.isMarked = true")

    @property
    def is_marked(self) -> bool:
        return bool(self.run("window.isMarked === true"))

    @property
    def focus(self) -> str:
        """What has the focus: its id, or its words."""
        script = (
            "(e => e.id || e.name || e.textContent.trim() || e.tagName)(document.activeElement)"
        )
        return " ".join(str(self.run(script)).split())

    def choose_media(self, **media: Any) -> None:
        """What the system of a person asks for: `color_scheme`, `reduced_motion`."""
        self.do(lambda: self.page.emulate_media(**media))

    def resize(self, size: ViewportSize) -> None:
        self.do(lambda: self.page.set_viewport_size(size))

    def judge(self, axe: str, *rules: str) -> list[str]:
        """What axe-core finds wrong, one line for each element; by all rules, or by some."""
        # By the debugger, not as an element: the page itself allows no script of others.
        self.run(axe)
        found: Sequence[dict[str, Any]] = self.run(
            """rules => axe.run(document, {resultTypes: ["violations"],
              ...(rules.length ? {runOnly: rules} : {})}).then(r => r.violations)""",
            rules,
        )
        return [
            f"{each['id']}: {node['target']} {node['failureSummary']}"
            for each in found
            for node in each["nodes"]
        ]

    def close(self) -> None:
        self.do(self._context.close)
