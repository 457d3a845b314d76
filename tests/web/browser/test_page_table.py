"""The table of pages knows every page that there is."""

import re

from porch.web.server.serve import ROUTES
from tests.web.browser.pages import PAGES


def test_every_page_of_the_dashboard_is_shown_in_the_browser() -> None:
    paths = [page.path.partition("?")[0] for page in PAGES]
    pages = [
        row.path
        for row in ROUTES
        if row.method == "GET"
        and not row.is_stream
        and not row.path.endswith(".svg")
        and not row.path.startswith("/static/")
    ]
    missing = [
        path
        for path in pages
        if not any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), shown) for shown in paths)
    ]
    assert missing == [], "add a line to tests/web/browser/pages.py"
