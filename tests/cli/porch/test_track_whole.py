"""One track from its first question to its archive, with everything that goes wrong on the way."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Desk
from tests.cli.porch.test_tracks_in_runs import RUN, put, statuses
from tests.plans import AI, confirm, phase, plan, task

CRITERIA = (
    "<acceptance_criteria><criterion checked='false'>it runs</criterion></acceptance_criteria>"
)
TEXT = plan(
    phase(
        "P1",
        confirm(when="both"),
        task("T1.1", confirm(when="both"), CRITERIA),
        task("T1.2", confirm(AI), needs="T1.1"),
    ),
    phase("P2", task("T2.1"), confirm()),
)
PARTS = {
    "agents": {
        "T1_1": [
            {"tries": [{"write": {"a.txt": "half"}, "hang": True}, {"write": {"a.txt": "1"}}]},
            {"write": {"a.txt": "2"}},
        ],
        "T1_2": [{"write": {"b.txt": "1"}}, {"write": {"b.txt": "2"}}],
        "T2_1": {"write": {"c.txt": "1"}},
    },
    "reviews": {"T1_2-after-ai": {"checker": [{"blocking": ["it leaks"]}, {"blocking": []}]}},
}


class Track:
    """A person at a track: answers in words, and goes on."""

    def __init__(self, desk: Desk, file: Path, script: str):
        self.desk, self.file, self.script = desk, file, script

    def answer(self, gate: str, words: str, code: int = 0) -> None:
        self.desk.porch("answer", "login", gate, words, "--as-person", code=code)

    def go_on(self, code: int = 3) -> None:
        self.desk.porch("resume", "login", "--script", self.script, code=code)

    def kill_while(self, text: str) -> None:
        """The driver dies without a word while an agent is at work."""
        running = self.desk.start("resume", "login", "--script", self.script)
        made = self.desk.root / "a.txt"
        self.desk.wait_for(lambda: made.exists() and made.read_text() == text)
        running.send_signal(signal.SIGKILL)
        running.wait(timeout=90)

    def shows(self, *expected: str) -> None:
        assert statuses(self.file, "task", "confirm") == list(expected)


@pytest.mark.req("C-026", "C-032", "C-034", "C-036", "C-047", "C-048", "C-052")
def test_a_track_survives_refusals_issues_silence_and_a_killed_driver(desk: Desk) -> None:
    file = put(desk, TEXT)
    script = desk.script(**PARTS)
    desk.porch("run", "codument", "tracks/login", "--here", "--script", script, code=3)
    track = Track(desk, file, script)
    # In the order of the file: P1 both, T1.1 with its confirm, T1.2 with its reviewer, P2, T2.1.
    track.shows("IN_PROGRESS", "TODO", "TODO", "TODO", "TODO", "TODO", "TODO")
    for silence in ("", "   ", "E"):
        track.answer("P1-before", silence, code=1)
    track.shows("IN_PROGRESS", "TODO", "TODO", "TODO", "TODO", "TODO", "TODO")
    track.answer("P1-before", "yes")
    track.go_on()
    track.answer("T1.1-before", "好的")
    track.kill_while("half")
    track.shows("IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS", "TODO", "TODO", "TODO", "TODO")
    track.go_on()
    assert (desk.root / "a.txt").read_text() == "1", "the same attempt goes on"
    track.answer("T1.1-after", "write a two")
    track.shows("IN_PROGRESS", "IN_PROGRESS", "BLOCKED", "TODO", "TODO", "TODO", "TODO")
    track.go_on()
    track.answer("T1.1-after", "Y")
    track.go_on()
    track.shows("IN_PROGRESS", "DONE", "DONE", "BLOCKED", "BLOCKED", "TODO", "TODO")
    assert "it leaks" in desk.porch("pending").out
    desk.porch("answer", "login", "T1.2-after-ai:issues", "retry", "--as-person")
    track.go_on()
    track.shows("IN_PROGRESS", "DONE", "DONE", "DONE", "DONE", "TODO", "TODO")
    desk.porch("plan", "archive", "tracks/login", "--as-person", code=1)
    track.answer("P1-after", "N")
    track.go_on()
    desk.porch("ask-again", "login", "P1-after", "--reason", "I was tired", "--as-person")
    track.go_on()
    track.answer("P1-after", "yes")
    track.go_on()
    track.answer("P2-after", "OK")
    track.go_on(code=0)
    track.shows(*["DONE"] * 7)
    text = file.read_text()
    assert "checked='true'" in text
    assert "<status>completed</status>" in text
    assert_records(desk)
    desk.porch("plan", "archive", "tracks/login", "--as-person")


def assert_records(desk: Desk) -> None:
    """Each answer is a record of its own, with its moment, its attempt and who gave it."""
    lines = (desk.root / "tracks/login/confirmations.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert [(each["gate"], each["moment"], each["attempt"], each["verdict"]) for each in told] == [
        ("P1-before", "before", 1, "confirmed"),
        ("T1.1-before", "before", 1, "confirmed"),
        ("T1.1-after", "after", 1, "changes"),
        ("T1.1-after", "after", 2, "confirmed"),
        ("T1.2-after-ai", "after", 1, "changes"),
        ("T1.2-after-ai", "after", 1, "asked again"),
        ("T1.2-after-ai", "after", 2, "confirmed"),
        ("P1-after", "after", 1, "declined"),
        ("P1-after", "after", 1, "asked again"),
        ("P1-after", "after", 2, "confirmed"),
        ("P2-after", "after", 1, "confirmed"),
    ]
    people = [each for each in told if each["verdict"] == "confirmed" and each["channel"]]
    assert all(each["digest"] and each["who"] for each in people)
    assert all(
        each["asked_at"].endswith("Z") and each["answered_at"].endswith("Z") for each in told
    )
    begun = [each.partition("/")[0] for each in desk.started("agent", RUN)]
    assert begun.count("T1_1#1") == 2, "once before the kill and once after it"
