"""The inbox says only what was measured a moment ago, and never waits for long."""

import threading

import pytest

from porch.store.where import find_project
from porch.web.pages.decision_cards import AskedQuestion, KnownWork
from porch.web.server import dashboard
from porch.web.server.dashboard import OLDEST_S, MeasuredWork
from tests.cli.conftest import Desk
from tests.web.conftest import GATED, Moment

ASKED = AskedQuestion("project", "0001-x", "one:gate#1")


def test_a_question_is_measured_once_and_again_when_that_is_old(
    desk: Desk, moment: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard, "LONGEST_WAIT_S", 60)
    desk.begin(*GATED, code=3)
    known = MeasuredWork({"project": find_project(str(desk.root))}, moment)
    first = known.find([ASKED])[ASKED].work
    assert first is not None
    desk.write("more.txt", "one\n")
    assert known.find([ASKED])[ASKED].work == first
    moment.seconds = OLDEST_S
    second = known.find([ASKED])[ASKED].work
    assert second is not None
    assert second.files == first.files + 1
    known.close()


def test_what_takes_long_is_not_waited_for_and_not_made_up(
    moment: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def slow(*_: object) -> KnownWork:
        assert go_on.wait(60)
        return KnownWork()

    monkeypatch.setattr(dashboard, "_read_work", slow)
    monkeypatch.setattr(dashboard, "LONGEST_WAIT_S", 0.01)
    known = MeasuredWork({"project": find_project(".")}, moment)
    assert known.find([ASKED]) == {}
    monkeypatch.setattr(dashboard, "LONGEST_WAIT_S", 60)
    go_on.set()
    assert known.find([ASKED]) == {ASKED: KnownWork()}, "the same measurement, and no second one"
    known.close()


def test_a_run_that_cannot_be_read_has_nothing_measured(desk: Desk, moment: Moment) -> None:
    known = MeasuredWork({"project": find_project(str(desk.root))}, moment)
    assert known.find([AskedQuestion("project", "0009-none", "one:gate#1")]) == {}
    known.close()


def test_only_so_many_measurements_are_kept(
    moment: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard, "_read_work", lambda *_: KnownWork())
    monkeypatch.setattr(dashboard, "LONGEST_WAIT_S", 60)
    monkeypatch.setattr(dashboard, "_MOST_KEPT", 2)
    known = MeasuredWork({"project": find_project(".")}, moment)
    for number in range(5):
        known.find([AskedQuestion("project", f"{number}", "x")])
    assert len(known._known) == 2
    known.close()
