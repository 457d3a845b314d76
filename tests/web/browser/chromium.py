"""One chromium for all tests of a process, driven from a thread of its own.

The driver needs an event loop, and a test that calls `asyncio.run` must not find one running.
"""

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

from playwright.async_api import Browser, async_playwright

from tools import browser as installed

_T = TypeVar("_T")
_LONGEST_S = 120.0
_UNWANTED = (
    "AutofillServerCommunication",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "Translate",
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # What chromium asks for on its own all the same: the accounts of a person, the time, updates.
    "--disable-extensions",
    "--disable-domain-reliability",
    f"--disable-features={','.join(_UNWANTED)}",
    "--gaia-url=http://127.0.0.1:9/",
    "--component-updater=url-source=http://127.0.0.1:9/",
    # Texts have the same pixels on every machine that has the same fonts.
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
)


# Whom a browser of this kind asks on its own, such as for a dictionary when somebody types. No page
# of ours may: what pages ask for is noted by each window.
_VENDOR = (".google.com", ".googleapis.com", ".gvt1.com")


class OutsideTrap:
    """Stands where the way out would be: whatever is not for this machine comes here and ends."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        threading.Thread(target=self._note_all, daemon=True).start()

    def _note_all(self) -> None:
        while True:
            try:
                came, _ = self._socket.accept()
            except OSError:
                return
            with came:
                came.settimeout(5)
                try:
                    line = came.recv(4096).split(b"\r\n", 1)[0]
                except OSError:
                    line = b"a connection that said nothing"
                self._note(line.decode("latin-1"))

    def _note(self, line: str) -> None:
        if not line:
            return  # chromium opens connections ahead, and closes those that nobody needed
        host = line.partition(" ")[2].partition(" ")[0].removeprefix("http://").partition("/")[0]
        if not host.rpartition(":")[0].endswith(_VENDOR) and not host.endswith(_VENDOR):
            self.asked.append(line)

    def close(self) -> None:
        # A thread that waits in `accept` keeps the port open unless it is told.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class Chromium:
    """The browser and the loop that speaks with it; its profile is new and empty."""

    def __init__(self, *more_flags: str) -> None:
        self.trap = OutsideTrap()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._driver = self.do(lambda: async_playwright().start())
        self.browser: Browser = self.do(lambda: self._launch(*more_flags))

    def do(self, wanted: Callable[[], Awaitable[_T]]) -> _T:
        """Ask for something in the thread of the browser, and wait until it is done."""

        async def ask() -> _T:
            return await wanted()

        return asyncio.run_coroutine_threadsafe(ask(), self._loop).result(_LONGEST_S)

    async def _launch(self, *more_flags: str) -> Browser:
        return await self._driver.chromium.launch(
            executable_path=installed.find_chromium(),
            # As a flag of chromium: from then on, loopback is left out.
            args=[*FLAGS, f"--proxy-server=http://127.0.0.1:{self.trap.port}", *more_flags],
            # A person has started it: nothing of an agent that may have started the tests.
            env={
                name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ
            },
        )

    def close(self) -> None:
        self.do(self.browser.close)
        self.do(self._driver.stop)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_LONGEST_S)
        self._loop.close()
        self.trap.close()
