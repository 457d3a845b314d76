"""What `af status` shows: all runs by what a person has to do, one run as a checklist."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from porch.run.verbs.read_run import read_run
from porch.show.board import text_width
from porch.show.fleet.board import render_fleet
from porch.show.fleet.checklist import render_checklist
from porch.show.shapes import DriverShape, FleetRowShape
from porch.store import where as places
from tests.cli.af.conftest import Farm
from tests.cli.conftest import Open, Terminal
from tests.repositories import make_repository

AF = (sys.executable, "-c", "from porch.cli.dispatch import af; exit(af())")
ROWS: list[FleetRowShape] = [
    {
        "group": group,
        "repository": "",
        "run": "spider_0073",
        "protocol": "spider",
        "since": "",
        "decisions": [],
        "driver": None,
        "id": "0073",
        "title": "ein sehr langer Titel 日本語",
        "state": "implement:phase_2",
        "told": "specify_approval since 10:41; not running",
    }
    for group in ("over", "running", "waiting", "alone", "queued", "stopped")
]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_table_fits_every_width_and_begins_with_what_waits(width: int) -> None:
    text = render_fleet(ROWS, width)
    assert text.startswith("AWAITING REVIEW (1)\n? ")
    assert text.index("NOT MOVING") < text.index("RUNNING") < text.index("OVER")
    assert all(text_width(line) <= width for line in text.splitlines())
    assert text.count("0073") == 6
    assert "\x1b" not in text
    assert "\x1b[33mAWAITING" in render_fleet(ROWS, width, colour=True)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_w7_no_width_cuts_the_time_and_a_wide_table_says_more(width: int) -> None:
    driver: DriverShape = {"pid": 4711, "host": "here", "since": "", "what": "porch run"}
    text = render_fleet([*ROWS, {**ROWS[1], "driver": driver}], width)
    assert text.count("since 10:41") == 7
    assert text.count("not running") == 7
    is_wide = width >= 120
    assert ("spider" in text, "pid 4711" in text) == (is_wide, is_wide)


@pytest.mark.req("P-186", "P-187", "P-188")
def test_all_runs_and_one_of_them(farm: Farm) -> None:
    desk = farm.desk
    desk.protocol("q", {"id": "one", "checks": {"lint": {"command": "false", "max_retries": 0}}})
    for id_ in ("0002", "0001"):
        desk.porch("run", "p", id_, "--title", "x", "--no-claude", code=3)
    desk.porch("run", "q", "0003", "--title", "x", "--no-claude", code=3)
    said = farm.af("status").out
    lines = said.splitlines()
    assert lines[0] == "AWAITING REVIEW (3)"
    assert [line.split()[1] for line in lines[1:]] == ["0002", "0001", "0003"]
    assert "go since" in lines[1]
    assert farm.af("status", "--pending-only").out == said
    desk.porch("approve", "1", "go")
    assert "NOT MOVING (1)" in farm.af("status").out
    assert "af resume 0001 (not running" in farm.af("status").out
    one = farm.af("status", "1").out.splitlines()
    assert one[0] == "0001 x (p)"
    assert one[1] == "  [x] one"
    assert one[2].startswith("  [>] two")
    assert any("not running since" in line for line in one)
    assert "USD" in one[-1]
    failed = farm.af("status", "3").out
    assert "[?] one: waiting for you: failed:one" in failed
    assert farm.af("status", "3", "--json").json["id"] == "0003"


def test_a_checklist_says_plan_phase_attempt_and_failure(farm: Farm) -> None:
    desk = farm.desk
    plan = "## Phases\n\n### Phase 1: A\n\ntext\n\n### Phase 2: B\n\ntext\n"
    desk.protocol(
        "q",
        {"id": "plan", "artifact": "plan.md"},
        {
            "id": "build",
            "phased": True,
            "phases_from": "plan",
            "checks": {"tests": {"command": "echo tests are red; false", "max_retries": 2}},
        },
    )
    agents = {
        "plan": [{"write": {"codev/projects/0001-x/plan.md": plan}}],
        "build": [{"tries": [{"say": "done"}]}, {"hang": True}],
    }
    words = ("run", "q", "0001", "--title", "x", "--no-claude", "--here")
    desk.start(*words, "--script", desk.script(agents=agents))
    desk.wait_for(lambda: "build:phase_1#2" in desk.call("status", "1", code=None).out)
    said = farm.af("status", "1").out
    assert "[>] build: plan phase 1 of 2, attempt 2 of 3, tests failed: tests are red" in said
    found = read_run(places.find_project(str(desk.root)), "0001-x")
    for width in (40, 80, 120, 200):
        lines = render_checklist(found.definition.protocol, found.state, "d" * 300, width)
        assert max(map(text_width, lines)) == width
        assert "  [x] plan" in lines
        whole = " ".join(line.strip() for line in lines).replace(":", "")
        for part in ("[>] build plan phase 1 of 2", "attempt 2 of 3", "tests are red"):
            assert part in whole, f"nothing is lost in {width} columns"


def test_runs_of_other_repositories_are_listed_if_a_person_names_them(
    farm: Farm, tmp_path: Path, home: Path
) -> None:
    other = make_repository(tmp_path / "other", {"codev/config.toml": ""})
    farm.desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
    os.chdir(other)
    (other / "codev/protocols").symlink_to(farm.desk.root / "codev/protocols")
    farm.desk.porch("run", "p", "0009", "--title", "y", "--no-claude", "--here", code=3)
    os.chdir(farm.desk.root)
    assert "0009" not in farm.af("status").out
    own = home / ".config/porch/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f"[af]\nrepositories = [{json.dumps(str(other))}]\n")
    said = farm.af("status").out
    assert "other" in said
    assert "0009" in said
    assert "project" in said


def test_broken_settings_are_named_and_hide_nobodys_runs(
    farm: Farm, tmp_path: Path, home: Path
) -> None:
    """W5: own settings that list repositories made a traceback of any broken settings file."""
    other = make_repository(tmp_path / "other", {"codev/config.toml": "[checks\n"})
    farm.desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
    own = home / ".config/porch/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f"[af]\nrepositories = [{json.dumps(str(other))}]\n")
    (farm.desk.root / "codev/config.toml").write_text("nothing\n")
    said = farm.af("status").out
    assert "0001" in said
    assert "codev/config.toml:1:8" in said
    assert "other: error[toml-syntax]" in said
    for data in (b"repositories = \n", b"\xff repositories", None):
        own.unlink()
        own.mkdir() if data is None else own.write_bytes(data)
        said = farm.af("status").out
        assert "0001" in said
        assert str(own) in said


def test_a_listed_repository_that_is_not_there_is_said_and_this_one_is_shown_once(
    farm: Farm, home: Path
) -> None:
    farm.desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
    own = home / ".config/porch/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[af]\nrepositories = ["shop", "/no/such/place"]\n')
    said = farm.af("status").out
    assert "[af] repositories: 'shop' is not a whole path; write it from / or ~" in said
    assert "[af] repositories: there is no directory '/no/such/place'" in said
    assert said.count("0001") == 1


def test_conflicts_of_live_runs_are_told_for_one_run_on_request_and_when_one_is_finished(
    farm: Farm,
) -> None:
    desk = farm.desk
    desk.protocol("p", {"id": "one"})
    for id_, file in (("0001", "a.txt"), ("0002", "a.txt"), ("0003", "b.txt")):
        script = desk.script(agents={"one": [{"write": {file: f"{id_}\n"}, "say": "done"}]})
        words = ("run", "p", id_, "--title", "x", "--script", script, "--worktree")
        desk.porch(*words)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    pair = "p_0001_x and p_0002_x conflict in a.txt"
    assert "  expect a conflict with p_0002_x: a.txt\n" in farm.af("status", "1").out
    assert farm.af("status", "1", "--json").json["conflicts"] == [pair]
    assert "expect a conflict" not in farm.af("status", "3").out
    assert "expect a conflict" not in farm.af("status").out, "all runs are shown without asking git"
    said = farm.af("status", "--conflicts").out
    assert f"expect a conflict: {pair}\n" in said
    assert "in this order the fewest conflict: p_0003_x, p_0001_x, p_0002_x\n" in said
    told = farm.af("status", "--conflicts", "--json").json
    assert told["conflicts"] == [{"one": "p_0001_x", "other": "p_0002_x", "files": ["a.txt"]}]
    assert f"expect a conflict: {pair}" in farm.af("finish", "1").out
    done = farm.af("finish", "1", "--merge").out
    assert "0001-x: merged into main" in done
    assert f"  other live runs conflict with it: {pair}\n" in done
    assert "  expect a conflict with main: a.txt\n" in farm.af("status", "2").out
    assert "expect a conflict" not in farm.af("status", "1").out, "merged work meets nobody"


@pytest.mark.req("P-210")
def test_watching_prints_only_on_change(farm: Farm) -> None:
    with subprocess.Popen(
        [*AF, "status", "--pending-only", "--watch", "--json"],
        cwd=farm.desk.root,
        stdout=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["runs"] == []
        farm.desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
        rows = json.loads(watching.stdout.readline())["runs"]
        watching.terminate()
    assert [row["decisions"] for row in rows] == [["go"]]


def test_on_a_terminal_the_table_is_coloured_and_without_colour_it_is_not(
    farm: Farm, open_: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    farm.desk.porch("run", "p", "0001", "--title", "x", "--no-claude", code=3)
    monkeypatch.setenv("TERM", "xterm")
    for no_colour in ("", "1"):
        monkeypatch.setenv("NO_COLOR", no_colour)
        terminal = Terminal((*AF, "status", "--conflicts"), farm.desk.root, columns=40)
        assert terminal.leave() == 0
        assert ("[33m" in terminal.raw.decode()) == (not no_colour)
        assert max(map(len, terminal.text.splitlines())) <= 40
        terminal.close()
