"""V14: one secret per way into a run, and none of them in any file that porch writes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.run.engine import fact_redaction
from tests import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

WRITE = {"id": "write", "artifact": "spec.md", "gate": {"name": "g", "next": None}}
CHECK = {"command": "echo SECRET-OF-CHECK; false", "retry_delay": 0}
BUILD = {"id": "build", "checks": {"test": CHECK}, "max_retries": 1}
PLANNED = {"id": "one", "phased": True, "phases_from": "plan.md"}
REVIEWED = {
    "id": "specify",
    "artifact": "spec.md",
    "substates": ["draft", "consult", "revise"],
    "signals": {"SPEC_DRAFTED": "specify:consult"},
    "consultation": {
        "on": "consult",
        "models": ["gemini", "codex"],
        "type": "spec-review",
        "next": "specify:revise",
    },
    "gate": {"after": "revise", "type": "human", "next": None},
}


def secret(number: int) -> str:
    return f"Zq{number}x7Kp9w{number}"


def planted(number: int) -> str:
    """As somebody types it without thinking."""
    return f"it works with password={secret(number)} here"


def written_files(desk: "Desk", *own: str) -> Iterator[Path]:
    """All that porch wrote; `own` are documents that somebody else wrote."""
    for place in (desk.root / ".git/porch", desk.root / "codev", desk.root / ".claude"):
        for file in place.rglob("*"):
            if file.is_file() and file.name not in own:
                yield file


def assert_kept_nowhere(desk: "Desk", *numbers: int, own: tuple[str, ...] = ()) -> None:
    runs = [run.name for run in desk.run_dir("").iterdir()]
    starts = [fact for run in runs for fact in desk.facts("RunStarted", run)]
    # A script and a protocol are the person's own files, kept as they are.
    pinned = [start[key] for start in starts for key in ("script", "digest") if key in start]
    # The scripted agent is told its part of the script by its request.
    for file in written_files(desk, *own, *pinned, "request.json"):
        text = file.read_bytes() + str(file).encode()
        assert [n for n in numbers if secret(n).encode() in text] == [], file


def test_v14_what_people_type_is_kept_without_secrets(desk: "Desk") -> None:
    protocol: list[dict[str, Any]] = [
        {"id": "write", "artifact": "spec.md", "gate": {"name": "g", "next": "build"}},
        {
            "id": "build",
            "checks": {"test": {"command": "false", "retry_delay": 0}},
            "max_retries": 1,
        },
    ]
    desk.begin(*protocol, code=3)
    desk.porch("reject", "1", "--reason", planted(1))
    desk.porch("resume", "1", code=3)
    desk.porch("approve", "1", "--note", planted(2))
    desk.porch("resume", "1", code=3)
    desk.porch("retry", "1", "--note", planted(3))
    desk.porch("resume", "1", code=3)
    desk.porch("skip", "1", "--reason", planted(4))
    desk.porch("resume", "1")
    texts = [f["wish"]["text"] for f in desk.facts("WishTaken")]
    assert texts == ["it works with password=[redacted] here"] * 4
    assert_kept_nowhere(desk, 1, 2, 3, 4)


def test_v14_an_override_and_the_answer_to_a_question_too(desk: "Desk") -> None:
    asks = {"id": "ask", "signals": {"BLOCKED": "BLOCKED", "DONE": "next"}}
    verified = {
        "id": "review",
        "verification": {"checks": {"all": "false"}},
        "gate": {"name": "ready", "next": None},
    }
    agents = {"ask": [{"final": f"<signal>BLOCKED: {planted(5)}</signal>"}]}
    desk.begin(asks, verified, agents=agents, code=3)
    assert "password=[redacted]" in desk.porch("pending").out
    name = desk.porch("pending", "--json").json["decisions"][0]["name"]
    desk.porch("answer", "1", name, *planted(6).split())
    desk.porch("resume", "1", code=3)
    assert_kept_nowhere(desk, 5, 6)


def test_v14_a_title_an_input_and_a_subject_too(desk: "Desk") -> None:
    desk.protocol("p", WRITE)
    said = desk.porch(
        *("run", "p", "0001", "--title", f"x password={secret(7)}", "--no-claude", "--here"), code=3
    )
    assert "was replaced by [redacted]" in said.all
    desk.write("specs/0002-thing.md", f"# A thing\n\n{planted(8)}\n")
    desk.porch("run", "tick", "specs/0002-thing.md", "--no-claude", "--here", code=None)
    assert_kept_nowhere(desk, 7, 8)
    assert secret(7).lower() not in " ".join(map(str, written_files(desk))).lower()


def test_v14_what_agents_and_reviewers_say_too(desk: "Desk") -> None:
    final = f"{planted(10)}\n\n<signal>SPEC_DRAFTED</signal>"
    spec = {"{project_dir}/spec.md": "# A\n"}
    agents = {"specify:draft": [{"final": final, "write": spec}]}
    review = {"verdict": "REQUEST_CHANGES", "summary": planted(12), "findings": [planted(13)]}
    reviews = {"specify:consult": {"*": [review]}}
    desk.begin(REVIEWED, agents=agents, reviews=reviews, code=3)
    told = "".join(p.read_text() for p in desk.root.glob("codev/projects/*/consultation-*.md"))
    assert "password=[redacted]" in told
    assert_kept_nowhere(desk, 10, 12, 13)


def test_v14_a_check_that_prints_a_secret_reports_none(desk: "Desk") -> None:
    desk.write("tests.sh", f"echo 'passwd: {secret(14)}'; exit 1\n")
    desk.begin({**BUILD, "checks": {"test": {**CHECK, "command": "sh tests.sh"}}}, code=3)
    reports = [fact["report"] for fact in desk.facts("CheckEnded")]
    assert reports
    assert all("passwd: [redacted]" in report for report in reports)
    assert_kept_nowhere(desk, 14)


def test_v14_a_plan_phase_is_read_without_its_secrets(desk: "Desk") -> None:
    desk.protocol("p", PLANNED)
    plan = f"## Phase 1: {planted(15)}\n\n{planted(16)}\n"
    desk.write("codev/projects/0001-x/plan.md", plan)
    desk.porch("run", "p", "0001", "--title", "x", "--here", "--hands-off", code=None)
    desk.write("codev/projects/0001-x/plan.md", plan + f"## Phase 2: more\n\n{planted(17)}\n")
    assert desk.porch("replan", "1", "--json").json["added"] == ["phase_2"]
    assert_kept_nowhere(desk, 15, 16, 17, own=("plan.md",))


def test_v14_a_wish_that_somebody_else_left_too(desk: "Desk") -> None:
    desk.begin({"id": "write", "gate": {"name": "g", "next": None}}, code=3)
    name = os.urandom(16).hex()
    told = {"id": name, "kind": "decide", "position": "write:gate#1", "exit": "rejected"}
    box = desk.run_dir() / "inbox"
    box.mkdir(exist_ok=True)
    (box / f"{name}.json").write_text(json.dumps({**told, "text": planted(18)}))
    desk.porch("resume", "1", code=3)
    assert [f["wish"]["text"] for f in desk.facts("WishTaken")] == [
        "it works with password=[redacted] here"
    ]
    assert_kept_nowhere(desk, 18)


def test_v14_a_wish_that_nobody_takes_yet_lies_there_without_secrets(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    from porch.run.engine import send_wish

    monkeypatch.setattr(send_wish, "PATIENCE_S", 0.0)
    desk.begin({"id": "write", "gate": {"name": "g", "next": None}}, code=3)
    desk.porch("reject", "1", "--reason", planted(19), code=4)
    assert len(list((desk.run_dir() / "inbox").glob("*.json"))) == 1
    assert_kept_nowhere(desk, 19)


def test_v14_what_the_user_of_a_plan_said_too(desk: "Desk") -> None:
    desk.git("checkout", "-q", "-b", "feature/x")
    for words in (("plan", "init"), ("plan", "append-user-input", planted(20))):
        done = commands.run("envoy", words, desk.root, dict(os.environ))
        assert done.returncode == 0, done.stdout + done.stderr
    assert any("password=[redacted]" in file.read_text() for file in written_files(desk))
    assert_kept_nowhere(desk, 20)


def test_v14_names_and_digests_of_ours_stay_whatever_a_variable_holds(
    desk: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable called `..KEY..` may hold a path of this very project."""
    monkeypatch.setenv("MY_KEYS_DIR", "codev/projects")
    monkeypatch.setenv("SECRET_PLACE", "0001-x")
    desk.begin({"id": "write", "artifact": "spec.md", "gate": {"name": "g", "next": None}}, code=3)
    start = desk.facts("RunStarted")[0]
    assert (start["run"], start["project_dir"]) == ("0001-x", "codev/projects/0001-x")
    desk.porch("approve", "1")
    desk.porch("resume", "1")


def test_v14_every_fact_is_looked_at_or_holds_no_words_of_anybody() -> None:
    """A new fact or field has to be thought of here."""
    from typing import get_args

    from porch.machine.facts import Fact

    wordless = {
        *("RunnerStarted", "EffectInterrupted", "EffectStopped", "DecisionAsked"),
        *("FeedbackWritten", "TimerFired", "JournalRepaired", "StatusEdited", "BudgetReached"),
        *("ApprovalRestored", "SettingsPinned", "BaseMeasured"),
        "ApprovalOutdated",  # its difference is cleaned where it is made
        "PlanMoved",  # its words are cleaned where envoy takes them
    }
    known = {each.__name__ for each in (*fact_redaction._TEXTS, *fact_redaction._MIXED)}
    assert {each.__name__ for each in get_args(Fact)} <= known | wordless
