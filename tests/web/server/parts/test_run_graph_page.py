"""The graph and the tree of a run, as pages."""

import re

from starlette.testclient import TestClient

from tests.cli.conftest import Desk
from tests.cli.porch.test_v3_commands import QUESTION, SPEC
from tests.web.conftest import GATED

RUN = "/run/project/0001-x"


def test_the_graph_is_a_picture_with_the_run_on_it_and_the_same_as_a_list(
    desk: Desk, browser: TestClient
) -> None:
    desk.begin(*GATED, code=3)
    page = browser.get(f"{RUN}/graph").text
    assert "<code>one:gate</code>" in page
    assert re.search(r"here now</span> <span[^>]+>entered once", page)
    assert "to one:gate <strong>taken once</strong>" in page
    assert "porch protocols graph p --run 0001 --format svg" in page
    assert "flowchart TD" in page
    assert "states; the first way through" in page
    address = re.search(r'src="([^"]+graph\.svg[^"]+)"', page)
    assert address
    drawn = browser.get(address[1].replace("&amp;", "&"))
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.text.startswith("<svg")
    assert 'class="node human here"' in drawn.text
    desk.porch("approve", "1")
    desk.porch("resume", "1")
    later = browser.get(f"{RUN}/graph").text
    assert "here now" not in later
    assert re.search(r"approved[^<]* to [^<]+ <strong>taken once</strong>", later)


def test_the_picture_has_the_colours_that_a_person_chose(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    both = browser.get(f"{RUN}/graph.svg").text
    browser.post("/theme", data={"theme": "dark", "back": "/"})
    dark = browser.get(f"{RUN}/graph.svg").text
    assert ("prefers-color-scheme" in both, "prefers-color-scheme" in dark) == (True, False)
    assert "color-scheme:dark" in dark


def test_a_run_without_a_tree_has_no_tab_and_says_so(desk: Desk, browser: TestClient) -> None:
    desk.begin(*GATED, code=3)
    assert f'href="{RUN}/tree"' not in browser.get(RUN).text
    assert "This run has no tree" in browser.get(f"{RUN}/tree").text
    assert browser.get(f"{RUN}/graph?instance=x").status_code == 404


def test_the_instances_of_a_tree_are_boxes_and_drawn_on_the_graph(
    desk: Desk, browser: TestClient
) -> None:
    desk.write("spec.yaml", SPEC)
    script = desk.script(agents={"./scaffold": [QUESTION]})
    desk.porch("run", "v3", "spec.yaml", "--script", script, "--plain", code=3)
    run = f"/run/project/{next((desk.root / '.git/porch/runs').iterdir()).name}"
    page = browser.get(f"{run}/tree").text
    assert "waits for you" in page
    assert '<span class="tree-name">sum</span>' in page
    assert '<span class="count">1 instance</span>' in page
    picture = re.search(r'src="([^"]+instance=[^"]*)"', page)
    assert picture
    assert "here now" in browser.get(picture[1]).text
    assert f'href="{run}/tree"' in browser.get(run).text
    assert "as <code>the root</code> went through it" in browser.get(f"{run}/graph?instance=").text
