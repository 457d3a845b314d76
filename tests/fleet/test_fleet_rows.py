"""The rows of a project are read again when something is another, and only then."""

from porch.fleet.fleet_rows import KnownRuns, RunsOfProjects
from porch.store import where as places
from porch.store.lock import RunLock
from tests.cli.conftest import Desk
from tests.web.conftest import GATED


def test_rows_are_kept_until_a_record_or_a_driver_comes(desk: Desk) -> None:
    desk.begin(*GATED, code=3)
    where, kept = places.find_project(str(desk.root)), RunsOfProjects()

    def read() -> KnownRuns:
        return kept.read("project", where, "")

    first = read()
    assert [row["run"] for row in first.rows] == ["0001-x"]
    assert read() is first
    desk.porch("approve", "1")
    second = read()
    assert second is not first
    assert (second.records["0001-x"], len(second.decisions)) == (len(desk.records()), 0)
    assert read() is second
    with RunLock(str(desk.run_dir() / "lock")) as lock:
        assert lock.acquire("somebody", 1)
        # A driver is looked for where there is a new record, as every driver writes one.
        (desk.run_dir() / "journal.jsonl").touch()
        held = read()
        assert held.rows[0]["driver"] is not None
        assert read() is held
    assert read().rows[0]["driver"] is None


def test_a_run_that_comes_or_goes_is_noticed(desk: Desk) -> None:
    where, kept = places.find_project(str(desk.root)), RunsOfProjects()
    assert kept.read("project", where, "").rows == []
    desk.begin(*GATED, code=3)
    assert len(kept.read("project", where, "").rows) == 1
    (desk.run_dir() / "journal.jsonl").unlink()
    assert kept.read("project", where, "").rows == []
