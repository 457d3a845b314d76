"""One truth table: whatever a run came to, all views of it say so, and what the journal says.

Each cell is a kind of run and an outcome. A real run is driven there once, and everything that a
person can look at is compared with an oracle that reads the lines of the journal on its own.
"""

import pytest

from tests.cli.conftest import Desk, desk, home
from tests.whole.truth import oracle
from tests.whole.truth.agreement import disagreements
from tests.whole.truth.drives import DRIVES, open_stage
from tests.whole.truth.oracle import Story
from tests.whole.truth.table import CELLS, IMPOSSIBLE, KINDS, OF_PHASES, OUTCOMES, Cell
from tests.whole.truth.views import Seen

__all__ = ["desk", "home"]

_SEEN: dict[str, dict[str, Seen]] = {}


def drive(name: str, desk: Desk, capsys: pytest.CaptureFixture[str]) -> dict[str, Seen]:
    """What was seen of a run; all cells that it serves run in one process, and share it."""
    if name not in _SEEN:
        stage = open_stage(desk, capsys)
        DRIVES[name](stage)
        _SEEN[name] = stage.seen
    return _SEEN[name]


@pytest.mark.parametrize(
    "cell",
    [pytest.param(each, id=str(each), marks=pytest.mark.xdist_group(each.drive)) for each in CELLS],
)
def test_all_views_say_what_the_journal_says(
    cell: Cell, desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = drive(cell.drive, desk, capsys)[cell.moment]
    story = oracle.tell(seen.records)
    fates = oracle.phases(seen.definition, story)
    if cell.phase and cell.outcome in OF_PHASES and cell.outcome != "nothing to run":
        assert fates[cell.phase].outcome == cell.outcome
    LOOKED_FOR[cell.outcome](cell, seen, story)
    assert disagreements(seen) == []


@pytest.mark.parametrize("name", sorted(DRIVES))
def test_at_each_moment_of_a_drive_all_views_agree(
    name: str, desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    for moment, seen in drive(name, desk, capsys).items():
        assert disagreements(seen) == [], moment


def test_each_cell_is_driven_to_or_has_a_reason_why_nobody_can() -> None:
    for kind in KINDS:
        driven = {cell.outcome for cell in CELLS if cell.kind == kind}
        assert driven.isdisjoint(IMPOSSIBLE[kind])
        assert driven | set(IMPOSSIBLE[kind]) == set(OUTCOMES), kind
    assert {cell.drive for cell in CELLS} <= set(DRIVES)


def asked(story: Story) -> set[str]:
    return {visit.position for visit in story.visits if visit.is_asked and not visit.left}


def look_for_phase(cell: Cell, seen: Seen, story: Story) -> None:
    """What the views must agree on; a run without phases has gates and an end instead."""
    if cell.phase:
        return
    match cell.kind, cell.outcome:
        case "plan", "passed":
            assert [v.exit for v in story.visits if v.state == "plan"] == ["answered"]
        case "ask", "passed":
            assert story.outcome == "complete"
        case "tree", "failed":
            assert story.ended == {"": "complete", "one": "complete", "two": "failed"}
        case "track", "waived":
            assert oracle.gates(seen.definition, story)["T1-after"] == "waived"
        case _:
            pytest.fail(f"{cell} names no phase")


def look_for_nothing_to_run(cell: Cell, seen: Seen, story: Story) -> None:
    """A check that had nothing to run is not one that passed."""
    assert ("lint", "skipped") in [(each.name, each.result) for each in story.checks]
    assert f"- {cell.phase}, lint: nothing to run" in seen.texts["body"]
    assert "lint: passed" not in seen.texts["body"] + seen.texts["page"]


def look_for_findings(_: Cell, seen: Seen, story: Story) -> None:
    (place,) = asked(story)
    for view in (seen.texts["pending"], seen.decisions[place]):
        assert "no limits" in view or "it leaks" in view


def look_for_gate(cell: Cell, seen: Seen, story: Story) -> None:
    (place,) = asked(story)
    (shown,) = [each for each in seen.data["pending"]["decisions"] if each["position"] == place]
    for words in (f"{shown['name']} (", *(option["command"] for option in shown["options"])):
        assert words in seen.texts["pending"]
    if cell.kind != "plan":
        assert place in seen.decisions


def look_for_artifact(cell: Cell, seen: Seen, story: Story) -> None:
    (place,) = asked(story)
    name = "plan.xml#T1" if cell.kind == "track" else "spec.md"
    for view in (seen.texts["pending"], seen.decisions[place]):
        assert f"{name} is missing" in " ".join(view.split())
    assert f"{name} is ready" not in seen.decisions[place]


def look_for_stop(_: Cell, seen: Seen, story: Story) -> None:
    assert story.is_paused
    assert "stopped" in seen.texts["checklist"]
    assert "porch resume" in seen.texts["status"]


def look_for_limit(_: Cell, seen: Seen, story: Story) -> None:
    assert not story.is_paused
    assert "rate_limit" in seen.texts["status"]
    assert "rate_limit" in seen.texts["checklist"]


def look_for_death(_: Cell, seen: Seen, story: Story) -> None:
    assert not story.is_paused
    for view in ("status", "checklist"):
        assert "not running since" in seen.texts[view]


def look_for_way_back(cell: Cell, seen: Seen, story: Story) -> None:
    kinds = [
        each["fact"]["wish"]["kind"] for each in seen.records if each["fact"]["is"] == "WishTaken"
    ]
    assert kinds[-1] in ("rollback", "reopen")
    assert oracle.phases(seen.definition, story)[cell.phase].outcome in ("stale", "working")


LOOKED_FOR = {
    **dict.fromkeys(OF_PHASES, look_for_phase),
    "nothing to run": look_for_nothing_to_run,
    "open findings": look_for_findings,
    "gate waiting": look_for_gate,
    "artifact missing": look_for_artifact,
    "stopped": look_for_stop,
    "rate-limited": look_for_limit,
    "driver dead": look_for_death,
    "rolled back": look_for_way_back,
}
