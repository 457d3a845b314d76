"""A track in the dashboard: its plan as a list, its confirmations as questions, its graph."""

import re

from starlette.testclient import TestClient

from tests.cli.conftest import Desk
from tests.cli.porch.test_track_consent import WAVES
from tests.cli.porch.test_tracks_in_runs import put, run
from tests.plans import confirm, phase, plan, task
from tests.repositories import sh
from tests.web.server.parts.test_decision_page import form

RUN = "/run/project/track_login"


def rows(page: str) -> list[tuple[str, str, str]]:
    """Sign, level and words of each row of the plan."""
    found = re.findall(
        r'class="check check-(\w+) check-level-(\d)">.*?</span><span>([^<]*)<', page, re.DOTALL
    )
    return [(sign, level, words) for sign, level, words in found]


def test_a_track_shows_phases_tasks_and_confirmations_as_one_list(
    desk: Desk, browser: TestClient
) -> None:
    put(desk, WAVES)
    run(desk, 3, agents={"*": {"append": {"a.txt": "x"}}})
    page = browser.get(RUN).text
    assert rows(page) == [
        ("now", "0", "P1 Name of P1"),
        ("asked", "2", "T1.1-before confirmation, IN_PROGRESS"),
        ("later", "1", "T1.1 Name of T1.1"),
        ("later", "2", "T1.1-after confirmation, TODO"),
        ("done", "1", "T1.2 Name of T1.2"),
        ("done", "2", "T1.2-after-ai confirmation, DONE"),
        ("done", "1", "T1.3 Name of T1.3"),
    ]
    assert "Phases of the plan" not in page
    assert "everything it needs" not in page, "nobody reads of where ways meet"


def test_a_confirmation_says_what_it_is_about_and_what_each_answer_does(
    desk: Desk, browser: TestClient
) -> None:
    put(desk, WAVES)
    run(desk, 3)
    page = browser.get(f"{RUN}/decision?at=T1_1-before%231").text
    assert (
        "<h1>Confirm (human) task T1.1: Name of T1.1. When=before. "
        "Summary: nothing is done yet. Continue? (Y/N)</h1>"
    ) in page
    for words in (
        "Approve: confirm, and go on",
        "Decline: do not go on; nothing is changed",
        "Waive: go on without this confirmation; it counts as waived (starts T1.1 Name of T1.1)",
        "Why it is not needed",
    ):
        assert words in " ".join(page.split()), words


def test_the_last_confirmation_on_the_page_stands_in_the_plan_that_is_delivered(
    desk: Desk, browser: TestClient
) -> None:
    """X3: nobody drew the plan any more, and finish called its files changed after the end."""
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    sh(desk.root, "add", "-A")
    sh(desk.root, "commit", "-qm", "A plan")
    script = desk.script(agents={"T1_1": {"write": {"a.txt": "1\n"}}})
    desk.porch("run", "codument", "tracks/login", "--script", script, code=3)
    page = browser.get(f"{RUN}/decision?at=T1_1-after%231").text
    assert browser.post(f"{RUN}/decision", data=form(page, "approved")).status_code == 303
    desk.porch("finish", "login", "--merge")
    merged = sh(desk.root, "show", "main:tracks/login/plan.xml")
    assert (merged.count('"DONE"'), '"IN_PROGRESS"' in merged) == (2, False)


def test_the_graph_of_a_track_is_its_plan_with_statuses(desk: Desk, browser: TestClient) -> None:
    put(desk, WAVES)
    run(desk, 3)
    page = browser.get(f"{RUN}/graph").text
    assert "<code>T1.2 DONE</code>" in page
    assert "halted" not in page
    assert "porch protocols graph tracks/login --format svg" in page
    assert browser.get(f"{RUN}/graph.svg").text.startswith("<svg")


def test_protocols_graph_draws_tasks_of_a_wave_side_by_side(desk: Desk) -> None:
    put(desk, WAVES)
    told = desk.porch("protocols", "graph", "tracks/login").out
    assert "T1.1-after TODO" in told
    assert re.search(r"T1\.2-after-ai TODO \(.*\)\n +then -> \d+ end", told), told
    assert re.search(r"T1\.3 TODO \(.*\)\n +then -> \d+ end", told), told
