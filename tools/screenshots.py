"""Makes the pictures of the dashboard in docs/images: every page, in both themes, and narrow.

The scene is that of the tests, and its clock is not the machine's: what the pictures show changes
only with the pages.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from porch.store.where import ProjectPaths
from porch.system.clock import Clock, format_instant
from porch.web.server.dashboard import Dashboard
from porch.web.server.serve import open_port
from tests.repositories import ACCOUNT, at_home
from tests.web.browser.chromium import Chromium
from tests.web.browser.pages import PAGES, ShownPage
from tests.web.browser.scene import build_scene
from tests.web.browser.window import Window
from tests.web.conftest import answering
from tools.png import shrink_png

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
LARGEST = 60_000
_BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_NOW = _BEGAN + timedelta(minutes=25)
_EACH_S = 1.7
# What differs from one machine or moment to the next, and what the pictures have instead.
_REPLACED = (
    (r"/\S*/porch-pictures-\w+", "~"),
    (r"/\S*/src/porch/", "porch/"),
    (r"pid \d+ on \S+\)", "pid 4242 on laptop)"),
    (rf"\bby {ACCOUNT}\b", "by ann"),
    (r"since \d\d:\d\d", "since 09:02"),
    (r"\b\d+(\.\d)? s\b", "2 s"),
    (r"committed [0-9a-f]{12}", "committed 3cf9e67e4941"),
)
_REPLACE = """rows => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (const [old, fresh] of rows) {
      const text = node.nodeValue.replace(new RegExp(old, "g"), fresh);
      if (text !== node.nodeValue) node.nodeValue = text;
    }
  }
}"""
# Name, what the system of the reader wants, and the size of the window.
LOOKS = (
    ("light", "light", (1100, 760)),
    ("dark", "dark", (1100, 760)),
    ("phone", "light", (390, 760)),
)


class StoppedDashboard(Dashboard):
    """For its pages it is always the same time."""

    def now(self) -> datetime:
        return _NOW


def main() -> int:
    parser = argparse.ArgumentParser(description="make the pictures of the dashboard")
    parser.add_argument("page", nargs="*", help="only these pages; default: all")
    chosen = parser.parse_args().page
    pages = [page for page in PAGES if not chosen or page.name in chosen]
    place = Path(tempfile.mkdtemp(prefix="porch-pictures-"))
    with pytest.MonkeyPatch.context() as patch:
        scene = _build(place, patch)
        with _serve(scene) as dashboard:
            sizes = _take_all(dashboard, pages)
    shutil.rmtree(place)
    large = [f"{name} has {size:,} bytes" for name, size in sizes.items() if size > LARGEST]
    print("\n".join(large) or f"{len(sizes)} pictures, {sum(sizes.values()):,} bytes")
    return 1 if large else 0


def _build(place: Path, patch: pytest.MonkeyPatch) -> ProjectPaths:
    at_home(place / "home", patch)
    patch.setenv("XDG_STATE_HOME", str(place / "state"))
    seconds = count()
    patch.setattr(
        Clock, "now", lambda _: format_instant(_BEGAN.timestamp() + next(seconds) * _EACH_S)
    )
    return build_scene(place)


@contextmanager
def _serve(scene: ProjectPaths) -> Iterator[Dashboard]:
    listening = open_port("127.0.0.1", 0)
    dashboard = StoppedDashboard({"kitchen": scene}, int(listening.getsockname()[1]))
    with answering(dashboard, listening):
        yield dashboard


def _take_all(dashboard: Dashboard, pages: list[ShownPage]) -> dict[str, int]:
    IMAGES.mkdir(exist_ok=True)
    chromium = Chromium()
    sizes: dict[str, int] = {}
    try:
        for look, scheme, (width, height) in LOOKS:
            window = Window(
                chromium,
                color_scheme=scheme,
                viewport={"width": width, "height": height},
                reduced_motion="reduce",
            )
            window.start_at(dashboard, "/")
            for page in pages:
                sizes |= _take(window, page, look)
            window.close()
    finally:
        chromium.close()
    return sizes


def _take(window: Window, page: ShownPage, look: str) -> dict[str, int]:
    window.open(page.path)
    window.see(page.words)
    if window.count("#live"):
        window.wait_until_live()
    window.run(_REPLACE, _REPLACED)
    file = IMAGES / f"dashboard-{page.name}-{look}.png"
    picture = shrink_png(window.do(window.page.screenshot))
    file.write_bytes(picture)
    return {os.path.relpath(file, IMAGES.parent): len(picture)}


if __name__ == "__main__":
    sys.exit(main())
