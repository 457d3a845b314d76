"""`porch wait` and `af wait`: they return at the next decision or end, and say which it is."""

import json
from pathlib import Path

import pytest

from tests.cli.af.conftest import Farm
from tests.repositories import make_repository

NAME = "0001-x"


def test_it_returns_with_the_next_decision_and_at_the_end_with_the_outcome(farm: Farm) -> None:
    farm.kick_off()
    asked = farm.desk.porch("wait", code=3).out
    assert "porch approve 0001 go" in asked
    farm.af("approve", "1", "go", "--as-person")
    ended = farm.af("wait", "1", code=0).out
    assert "state       complete" in ended


def test_a_decision_that_waits_already_is_returned_at_once_as_data_too(farm: Farm) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    for program in (farm.af, farm.desk.porch):
        told = program("wait", "1", "--json", code=3).json
        assert [each["name"] for each in told["decisions"]] == ["go"]


def test_a_run_that_a_person_stops_meanwhile_is_not_waited_for(farm: Farm) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    farm.af("stop", "1", "--as-person")
    for words in (("wait",), ("wait", "1")):
        assert "The run is paused" in farm.desk.porch(*words, code=3).out


def test_a_run_that_has_not_been_completed_is_exit_1(farm: Farm) -> None:
    script = farm.desk.script(agents={"one": [{"signal": "BLOCKED", "say": "no"}]})
    farm.kick_off("0001", "--script", script)
    farm.desk.porch("wait", "1", code=3)
    (asked,) = farm.desk.porch("pending", "--json").json["decisions"]
    farm.desk.porch("answer", "1", asked["name"], "--option", "stopped", "--as-person", code=None)
    assert "abandoned" in farm.desk.porch("wait", "1", code=1).out


def test_what_takes_longer_than_the_time_limit_is_exit_4_with_what_runs(farm: Farm) -> None:
    farm.desk.write("codev/config.toml", '[agents.mine]\ncommand = ["sleep", "60"]\n')
    farm.af("kickoff", "0001", "Do it", "--title", "x", "--protocol", "p", "--agent", "mine")
    said = farm.desk.porch("wait", "--timeout", "0", code=4).out
    assert "still running after 0 s:\n0001 x:" in said
    told = farm.desk.porch("wait", "1", "--timeout", "0.1", "--json", code=4).json
    assert [each["run"] for each in told["running"]] == [NAME]


def test_where_nothing_runs_it_says_so_and_does_not_wait(farm: Farm) -> None:
    assert farm.af("wait").out == "Nothing is running, and nothing waits for you.\n"
    assert farm.desk.porch("wait", "--json").json == {"decisions": []}


@pytest.mark.parametrize("is_rejected", [False, True])
def test_a_run_that_is_answered_and_not_running_has_to_be_resumed(
    farm: Farm, is_rejected: bool
) -> None:
    desk = farm.desk
    again = {"id": "one", "artifact": "text.md", "gate": {"name": "go", "next": "two"}}
    desk.protocol("p", again, {"id": "two"})
    desk.porch("run", "p", "0001", "--title", "x", "--script", desk.script(), code=3)
    desk.porch(*(("reject", "1", "--reason", "no") if is_rejected else ("approve", "1")))
    for program in (desk.porch, farm.af):
        said = program("wait", code=3).out
        assert said.startswith("0001-x waits for you: porch resume 0001 (not running since ")
        assert "porch resume 0001" in program("wait", "1", code=3).out
    (row,) = desk.porch("wait", "--json", code=3).json["stopped"]
    assert row["run"] == "0001-x"


def test_decisions_of_listed_repositories_end_the_wait_and_are_shown(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    farm.kick_off()
    farm.wait_for_gate()
    own = tmp_path / "settings"
    (own / "porch").mkdir(parents=True)
    listed = f"[af]\nrepositories = [{json.dumps(str(farm.desk.root))}]\n"
    (own / "porch" / "config.toml").write_text(listed)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own))
    for elsewhere in (make_repository(tmp_path / "other", {"a.txt": ""}), tmp_path / "settings"):
        monkeypatch.chdir(elsewhere)
        for words, code in ((("wait",), 3), (("pending",), 0)):
            said = " ".join(farm.desk.porch(*words, code=code).out.split())
            assert f"In {farm.desk.root} (run its commands there):" in said
            assert "porch approve 0001 go" in said
            assert "No decision is waiting" not in said
        (asked,) = farm.desk.porch("pending", "--json").json["decisions"]
        assert asked["repository"] == str(farm.desk.root)


@pytest.mark.parametrize("seconds", ["x", "-1", "nan", "inf"])
def test_a_time_limit_that_is_no_time_is_refused(farm: Farm, seconds: str) -> None:
    said = farm.desk.porch("wait", f"--timeout={seconds}", code=2)
    assert f"'{seconds}' is not a number of seconds" in said.all
