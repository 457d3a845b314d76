"""What agents write is shown as text, on every page of a run, and runs nowhere."""

import pytest

from porch.web.server.dashboard import Dashboard
from porch.web.server.serve import ROUTES
from tests.cli.conftest import Desk
from tests.web.browser.conftest import OpenWindow

# One worker has one browser, so all of them go to the same worker.
pytestmark = pytest.mark.xdist_group("chromium")
EVIL = (
    "<script>window.isHurt = 1</script><img src=x onerror='window.isHurt = 1'>"
    "<svg onload='window.isHurt = 1'></svg>\"'><iframe srcdoc='<script>top.isHurt=1</script>'>"
    "</textarea></title></style><a href='javascript:window.isHurt = 1'>here</a>"
    "[there](javascript:window.isHurt=1) ![p](http://203.0.113.9/p.png) {{ 7 * 7 }}"
)
GATE = {"id": "one", "artifacts": ["spec.md"], "gate": {"name": "go", "description": EVIL}}


def list_addresses() -> list[str]:
    """Every page of a run that the table of routes has, so that a new one is tried as well."""
    return [
        row.path.format(project="project", run="0001-x")
        for row in ROUTES
        if row.method == "GET"
        and row.path.startswith("/run/{project}/{run}")
        and not row.is_stream
        and row.path.count("{") == 2
        and not row.path.endswith(("/decision", ".svg"))
    ]


def test_nothing_that_an_agent_writes_runs_on_any_page(
    desk: Desk, served: Dashboard, open_window: OpenWindow
) -> None:
    file = {"codev/projects/0001-x/spec.md": f"# {EVIL}\n\n{EVIL}\n\n```\n{EVIL}\n```\n"}
    say = {"say": EVIL, "write": file, "signal": "PHASE_COMPLETE"}
    desk.begin(GATE, code=3, agents={"one": [say]}, top={"description": EVIL})
    (desk.root / "codev/projects/0001-x/spec.md").write_text(next(iter(file.values())))
    decision = "/run/project/0001-x/decision?at=one%3Agate%231"
    window = open_window()
    window.start_at(served, "/")
    for path in ("/", decision, "/protocols", "/protocols/project/p", *list_addresses()):
        window.open(path)
        window.wait("document.readyState === 'complete'")
        assert window.run("window.isHurt") is None, path
        assert window.count("main script, main iframe, main [onerror], main [onload]") == 0, path
        assert window.count("main a[href^='javascript']") == 0, path
    window.open(decision)
    window.see("window.isHurt", "#files")
    window.open("/run/project/0001-x/activity")
    window.see("window.isHurt", "main")


def test_a_live_update_puts_hostile_text_in_as_text_too(
    desk: Desk, served: Dashboard, open_window: OpenWindow
) -> None:
    desk.begin({"id": "one"}, code=0)
    window = open_window()
    window.enter(served)
    window.wait_until_live()
    desk.protocol("q", GATE)
    desk.porch("run", "q", "0002", "--title", EVIL[:60], "--here", "--no-claude", code=3)
    window.see("1 decision waits for you.")
    window.see("<script>window.isHurt", "main")
    assert window.run("window.isHurt") is None
