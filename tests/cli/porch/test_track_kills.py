"""A track whose driver is killed anywhere, also between its journal and its plan, loses nothing."""

import json
import signal

import pytest

from tests.cli.conftest import Desk
from tests.cli.porch.test_tracks_in_runs import RUN, put, statuses
from tests.plans import AI, confirm, phase, plan, task
from tests.torture import choose_some

TEXT = plan(
    phase("P1", confirm(when="both"), task("T1.1", confirm()), task("T1.2", confirm(AI))),
)
PARTS = {
    "agents": {
        "T1_1": [{"write": {"a.txt": "1"}}, {"write": {"a.txt": "2"}}],
        "T1_2": {"write": {"b.txt": "1"}},
    },
    "decisions": {
        "T1.1-after": [{"reject": "use 2"}, {"approve": True}],
        "*": {"approve": True},
    },
}
# The plan is written behind each record: some of these lie between the two.
POINTS = [
    f"{point}:{number}"
    for number in (3, 8, 13, 18, 23, 28)
    for point in ("journal.after-sync", "atomic.before-rename", "atomic.after-rename")
]


@pytest.mark.torture
@pytest.mark.parametrize("point", choose_some(POINTS, 4))
def test_a_track_that_was_killed_goes_on_to_the_same_end(desk: Desk, point: str) -> None:
    file = put(desk, TEXT)
    words = ("run", "codument", "tracks/login", "--here", "--script", desk.script(**PARTS))
    killed = desk.start(*words, PORCH_CRASH_AT=point)
    killed.communicate(timeout=90)
    assert killed.returncode in (0, -signal.SIGKILL)
    desk.porch(*words)
    assert statuses(file, "task", "confirm") == ["DONE"] * 5
    assert "<status>completed</status>" in file.read_text()
    assert (desk.root / "a.txt").read_text() == "2"
    assert not (desk.run_dir(RUN) / "plan.kept").exists()
    lines = (desk.root / "tracks/login/confirmations.jsonl").read_text().splitlines()
    assert [(json.loads(line)["gate"], json.loads(line)["verdict"]) for line in lines] == [
        ("P1-before", "confirmed"),
        ("T1.1-after", "changes"),
        ("T1.1-after", "confirmed"),
        ("T1.2-after-ai", "confirmed"),
        ("P1-after", "confirmed"),
    ]
