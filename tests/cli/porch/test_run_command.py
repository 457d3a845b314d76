"""run and resume: how a run begins, rests, goes on, and what never begins one."""

import fcntl
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.cli.conftest import LOCK
from tests.repositories import ACCOUNT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

TWO: tuple[dict[str, Any], ...] = ({"id": "one"}, {"id": "two"})
GATED: dict[str, Any] = {"id": "one", "gate": {"name": "go", "next": "two"}}


@pytest.mark.req("P-053", "P-090", "P-190", "P-191", "P-211", "F-063")
def test_a_new_directory_is_a_protocol_and_runs_in_this_checkout(desk: "Desk") -> None:
    desk.git("checkout", "-qb", "work")
    said = desk.begin(*TWO, code=0)
    assert f"working in your checkout {desk.root} on branch work" in said.out
    assert "0001-x is complete" in said.out
    status = desk.status()
    assert (desk.root / status["worktree"]).resolve() == desk.root
    assert desk.git("branch", "--show-current") == "work"
    assert desk.porch("status", "0001").out.startswith("0001 x (p)\n  state       complete\n")


def test_run_in_a_linked_worktree_works_there_and_keeps_one_state(desk: "Desk") -> None:
    desk.protocol("p", {"id": "one", "artifact": "text.md"})
    desk.git("add", "-A")
    desk.git("commit", "-qm", "protocol")
    desk.git("worktree", "add", "-q", "worktrees/w")
    os.chdir(desk.root / "worktrees/w")
    said = desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here")
    assert f"working in your checkout {desk.root}/worktrees/w on branch w" in said.out
    assert (desk.root / "worktrees/w/codev/projects/1-x/text.md").exists()
    assert not (desk.root / "codev/projects/1-x/text.md").exists()
    assert (desk.root / "codev/projects/1-x/status.yaml").exists()
    assert not (desk.root / "worktrees/w/codev/projects/1-x/status.yaml").exists()
    assert desk.status("codev/projects/1-x")["worktree"] == "worktrees/w"
    os.chdir(desk.root)
    assert "complete" in desk.porch("status").out


def test_run_outside_a_repository_works_and_says_so(desk: "Desk", tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    (plain / "codev/protocols/p").mkdir(parents=True)
    (plain / "codev/protocols/p/protocol.json").write_text(
        json.dumps({"name": "p", "phases": [{"id": "one", "checks": {"there": "test -d codev"}}]})
    )
    os.chdir(plain)
    said = desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here")
    assert "not a git repository" in said.out
    assert (plain / "codev/.porch/runs/1-x/journal.jsonl").exists()


def test_without_a_terminal_run_exits_3_and_once_takes_one_turn(desk: "Desk") -> None:
    desk.protocol("p", *TWO)
    words = ("run", "p", "1", "--title", "x", "--no-claude", "--here")
    said = desk.porch(*words, "--once")
    assert "is paused at two#1. Continue with `porch resume 1`" in said.out
    assert len(desk.started("agent", "1-x")) == 1
    again = desk.porch("resume", "1", "--once", "--json").json
    assert (again["rest"], again["outcome"]) == ("ended", "complete")
    assert len(desk.started("agent", "1-x")) == 2


def test_run_as_json_is_one_object_on_stdout(desk: "Desk") -> None:
    desk.protocol("p", GATED, TWO[1])
    said = desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here", "--json", code=3)
    assert said.json == {
        "run": "1-x",
        "rest": "waiting",
        "outcome": None,
        "positions": ["one:gate#1"],
        "decisions": ["go"],
        "usd": 0,
    }


def test_wait_stays_until_somebody_approves_from_another_process(desk: "Desk") -> None:
    desk.protocol("p", GATED, TWO[1])
    runner = desk.start("run", "p", "1", "--title", "x", "--no-claude", "--here", "--wait")
    desk.wait_for(lambda: "pending" in desk.porch("pending", "--hook", code=None).out)
    time.sleep(0.3)
    assert runner.poll() is None
    desk.porch("approve", "1", "go")
    out, _ = runner.communicate(timeout=90)
    assert runner.returncode == 0, out
    assert f"one: approved by {ACCOUNT} (cli)" in out


@pytest.mark.req("P-158", "P-154")
def test_a_second_runner_is_refused_and_told_who_is_at_work(desk: "Desk") -> None:
    desk.protocol("p", {"id": "one"})
    script = desk.script(agents={"one": [{"hang": True}]})
    words = ("run", "p", "1", "--title", "x", "--here", "--script", script)
    runner = desk.start(*words)
    desk.wait_for_turn("one#1/agent/one/0", "1-x")
    before = (desk.run_dir("1-x") / "journal.jsonl").read_bytes()
    refused = desk.porch(*words, code=4)
    assert f"already running (porch run, pid {runner.pid}, since " in refused.err
    assert desk.porch("resume", "1", code=4).code == 4
    assert (desk.run_dir("1-x") / "journal.jsonl").read_bytes() == before


@pytest.mark.req("P-156")
def test_a_wish_that_nobody_takes_is_delivered_and_said_so_after_5_seconds(desk: "Desk") -> None:
    desk.begin(GATED, TWO[1], code=3)
    holder = os.open(desk.run_dir() / "lock", os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    began = time.monotonic()
    said = desk.porch("approve", "1", "go", code=4)
    assert 4.5 < time.monotonic() - began < 60
    assert "sent, but not answered yet: 0001-x is busy" in said.err
    os.close(holder)
    desk.porch("resume", "1")  # the wish was waiting for us
    assert desk.facts("WishTaken")[0]["wish"]["exit"] == "approved"


@pytest.mark.req("P-005", "P-113", "P-114")
def test_a_killed_run_is_as_it_was_and_resume_calls_the_agent_again(desk: "Desk") -> None:
    desk.protocol("p", *TWO)
    hang = {"tries": [{"hang": True, "orphan": {"seconds": 60}}, {"say": "again"}]}
    script = desk.script(agents={"two": [hang]})
    words = ("run", "p", "1", "--title", "x", "--here", "--script", script)
    runner = desk.start(*words)
    desk.wait_for_turn("two#1/agent/two/0", "1-x")
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    assert "two#1" in desk.porch("status", "1").out
    said = desk.porch("resume", "1")
    assert "the last porch process died; 1 unfinished steps were cleaned up, continuing" in said.out
    assert desk.started("agent", "1-x")[1:] == ["two#1/agent/two/0", "two#1/agent/two/1"]
    assert desk.entered("1-x") == ["one", "two", "complete"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_stops_its_agents_and_exits_130(desk: "Desk", number: int) -> None:
    desk.protocol("p", {"id": "one"})
    script = desk.script(agents={"one": [{"hang": True}]})
    runner = desk.start("run", "p", "1", "--title", "x", "--here", "--script", script)
    desk.wait_for_turn("one#1/agent/one/0", "1-x")
    runner.send_signal(number)
    out, _ = runner.communicate(timeout=90)
    assert runner.returncode == 130, out
    assert "interrupted; nothing is lost. Continue with `porch resume 1`" in out
    assert desk.facts("EffectStopped", "1-x")


@pytest.mark.req("P-155", "P-157", "P-111")
def test_whoever_reads_during_a_run_sees_a_whole_status(desk: "Desk") -> None:
    desk.protocol("p", *({"id": f"phase{n}"} for n in range(6)))
    # Each phase waits until its own state was read, so that none passes unseen on a busy machine.
    wait = "while [ ! -e seen-{} ]; do sleep 0.05; done"
    agents = {f"phase{n}": {"run": [["sh", "-c", wait.format(f"phase{n}")]]} for n in range(6)}
    words = ("run", "p", "1", "--title", "x", "--here", "--script", desk.script(agents=agents))
    runner = desk.start(*words)
    path = desk.root / "codev/projects/1-x/status.yaml"
    desk.wait_for(path.exists)
    states: set[str] = set()
    while runner.poll() is None:
        text = path.read_text()
        assert text.endswith("\n")
        document = yaml.safe_load(text)
        assert document["id"] == "1"
        states.add(document["state"])
        (desk.root / f"seen-{document['state']}").touch()
        assert desk.porch("status", "1", "--json").json["journal"] is True
    assert states >= {f"phase{n}" for n in range(6)}
    assert not list(path.parent.glob("*.tmp*"))


@pytest.mark.req("P-149", "P-150")
def test_an_agent_over_its_time_is_ended_and_retried_with_growing_pauses(desk: "Desk") -> None:
    desk.write("codev/config.toml", "[agent]\nback_off = 0.2\n[timeouts]\nclaude_timeout = 500\n")
    desk.begin(
        {"id": "one"},
        top={"config": {"claude_timeout": 0.3}},
        agents={"one": [{"hang": True}]},
        code=3,
    )
    failures = desk.facts("EffectFailed")
    assert [f["why"] for f in failures] == ["timeout"] * 5
    moves = [m for r in desk.records() for m in r["moves"] if m["is"] == "Postponed"]
    assert [m["seconds"] for m in moves] == [1, 2, 4, 8]
    ends = [i for i, r in enumerate(desk.records()) if r["fact"]["is"] == "EffectFailed"]
    gaps = [_gap(desk, i) for i in ends[:-1]]
    assert gaps[0] < gaps[1] < gaps[2] < gaps[3]
    assert desk.entered()[-1] == "failed:one"


def _gap(desk: "Desk", index: int) -> float:
    """From a failed try to the start of the next, by the journal's own clock."""
    from datetime import datetime

    records = desk.records()
    following = next(
        r for r in records[index + 1 :] if any(h["kind"] == "agent" for h in r.get("begun", ()))
    )
    then, now = (datetime.fromisoformat(r["at"]) for r in (records[index], following))
    return (now - then).total_seconds()


@pytest.mark.req("P-164")
def test_nothing_that_a_run_starts_has_more_rights_than_its_caller(desk: "Desk") -> None:
    """No new privileges anywhere below: the ids of every process stay those of the caller."""
    look = "cat /proc/self/status | grep -E '^(Uid|Gid|CapEff|CapPrm):'"
    desk.begin(
        {"id": "one", "checks": {"who": f'{look} > "$HOME/check"'}},
        agents={"one": [{"run": ["sh", "-c", f"{look} > ../$0/agent", "home"]}]},
        code=0,
    )
    mine = subprocess.run(["sh", "-c", look], capture_output=True, text=True, check=True).stdout
    home = desk.root.parent / "home"
    assert (home / "check").read_text() == (home / "agent").read_text() == mine


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "../up",
        "a/b",
        "a\\b",
        ".git",
        ".gitx",
        "a\x1b[2J",
        "a\nb",
        "a b",
        "-x y",
        "é" * 3,
        "x" * 65,
        "~",
        "$HOME",
        "a..b",
        "con:aux",
        "\u202e0001",
        ".hidden",
    ],
)
def test_a_word_that_could_lead_elsewhere_is_a_request_or_refused_and_reaches_no_path(
    desk: "Desk", name: str
) -> None:
    desk.protocol("p", {"id": "one"})
    said = desk.porch("run", "p", "--title", "x", "--no-claude", "--here", "--", name, code=None)
    assert not set(said.all) & set("\x00\x1b\x07\u202e")
    if said.code == 2:
        assert not (desk.root / ".git/porch").exists()
        assert not (desk.root / "codev/projects").exists()
        return
    assert said.code == 0
    assert [path.name for path in (desk.root / "codev/projects").iterdir()] == ["0001-x"]
    assert [path.name for path in (desk.root / ".git/porch/runs").iterdir()] == ["0001-x"]
    assert (desk.root.parent / "x").exists() is False


@pytest.mark.parametrize(
    "title",
    ["", "  ", "..", "/a/b", "..\\b", "a\x00b"[:1] + "\x1b]0;x\x07", "a\nb", "...", "../x", "\x7f"],
)
def test_a_title_that_could_lead_elsewhere_is_refused_and_nothing_is_made(
    desk: "Desk", title: str
) -> None:
    desk.protocol("p", *TWO)
    _nothing_begins(desk, "run", "p", "0001", "--no-claude", "--here", "--title", title)


def _nothing_begins(desk: "Desk", *words: str) -> None:
    said = desk.porch(*words, code=2)
    assert not set(said.all) & set("\x00\x1b\x07\u202e")
    assert not (desk.root / ".git/porch").exists()
    assert not (desk.root / "codev/projects").exists()


def test_a_long_title_is_cut_and_a_strange_one_is_slugged(desk: "Desk") -> None:
    desk.protocol("p", *TWO)
    desk.porch(
        "run", "p", "1", "--title", "Ünï cödé & " + "x" * 300, "--no-claude", "--here", "--once"
    )
    (name,) = (path.name for path in (desk.root / "codev/projects").iterdir())
    assert name.startswith("1-ünï-cödé-xxx")
    assert len(name) <= 90


@pytest.mark.parametrize(
    "words, told",
    [
        (["nope", "1"], "there is no protocol 'nope'"),
        (["p", "1", "--input", "x"], "'x' is not a valid input"),
        (["p", "1", "--script", "missing.yaml"], "missing.yaml"),
        (["p", "1", "--frobnicate"], "unrecognized arguments: --frobnicate"),
        (["p", "1", "--onc"], "unrecognized arguments: --onc"),
        (["p", "1", "two.md"], "there is no file 'two.md'"),
    ],
)
def test_wrong_arguments_begin_nothing(desk: "Desk", words: list[str], told: str) -> None:
    desk.protocol("p", *TWO)
    said = desk.porch("run", *words, "--title", "x", "--no-claude", "--here", code=2)
    assert told in said.err
    assert not (desk.root / ".git/porch").exists()


def test_a_broken_script_names_its_line_and_begins_nothing(desk: "Desk") -> None:
    desk.protocol("p", *TWO)
    script = str(desk.write("s.yaml", "agents:\n  one:\n    - sgnal: X\n"))
    said = desk.porch("run", "p", "1", "--title", "x", "--here", "--script", script, code=2)
    assert "s.yaml:3:7" in said.err
    assert not desk.run_dir("1-x").exists()


def test_a_broken_protocol_names_every_place_and_begins_nothing(desk: "Desk") -> None:
    phase = '{"id": "one", "gaet": "x", "transition": {"on_complete": "nowhere"}}'
    text = f'{{\n  "name": "p",\n  "phases": [\n    {phase}\n  ]\n}}\n'
    desk.write("codev/protocols/p/protocol.json", text)
    said = desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here", code=2)
    assert "protocol.json:4:19" in said.err  # the unknown key
    assert "did you mean 'gate'" in said.err
    assert "'nowhere'" in said.err
    found = desk.porch("run", "p", "1", "--title", "x", "--json", code=2).json["error"]["findings"]
    assert {"code", "severity", "message", "file", "line", "column", "fix"} == set(found[0])
    assert not (desk.root / ".git/porch/runs").exists()


def test_an_agent_that_nobody_knows_is_said_before_anything_begins(
    desk: "Desk",
) -> None:
    desk.protocol("p", *TWO)
    desk.write("codev/config.toml", '[agent]\nname = "hal9000"\n')
    said = desk.porch("run", "p", "1", "--title", "x", code=2)
    assert "there is no agent 'hal9000'" in said.err
    assert "known agents: claude, codex, gemini" in said.err
    assert not desk.run_dir("1-x").exists()


def test_broken_settings_are_exit_2_with_their_place(desk: "Desk") -> None:
    desk.protocol("p", *TWO)
    desk.write("codev/config.toml", "[timeouts]\nchek = 3\n")
    for words in (["settings"], ["run", "p", "1", "--title", "x", "--no-claude", "--here"]):
        said = desk.porch(*words, code=2)
        assert "codev/config.toml:2" in said.err
        assert "did you mean 'check'" in said.err
    assert not desk.run_dir("1-x").exists()


def test_the_same_id_under_another_protocol_is_refused(desk: "Desk") -> None:
    desk.begin(GATED, TWO[1], code=3)
    desk.protocol("q", *TWO)
    said = desk.porch("run", "q", "0001", "--title", "x", "--no-claude", "--here", code=2)
    assert "0001-x runs p, not q" in said.err


def test_the_title_comes_from_the_spec_the_directory_or_the_flag(desk: "Desk") -> None:
    desk.protocol("p", *TWO)
    desk.write("codev/specs/0005-from-the-spec.md", "# Spec\n")
    desk.porch("run", "p", "0005", "--no-claude", "--once")
    desk.write("codev/projects/0006-from-the-directory/spec.md", "# Spec\n")
    desk.porch("run", "p", "0006", "--no-claude", "--once")
    desk.porch("run", "p", "codev/specs/0005-from-the-spec.md", "--no-claude")
    desk.porch("run", "p", "0007", "--title", "From the flag", "--no-claude", "--once")
    names = [row["title"] for row in desk.porch("status", "--json").json["runs"]]
    assert names == ["from-the-spec", "from-the-directory", "from-the-flag"]


def test_inputs_reach_the_prompt(desk: "Desk") -> None:
    desk.protocol("p", {"id": "one", "prompt": "one.md"})
    desk.write("codev/protocols/p/prompts/one.md", "Colour: {{ inputs.colour }}\n")
    desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here", "--input", "colour=a=b")
    assert "Colour: a=b" in desk.prompts("1-x")[0]


def test_git_that_refuses_a_commit_is_told_and_a_person_decides(desk: "Desk") -> None:
    phase = {"id": "one", "artifact": "text.md", "on_complete": {"commit": True}}
    said = desk.begin_in_worktree(
        phase,
        agents={"one": [{"write": {"{project_dir}/text.md": "x\n"}, "run": LOCK}]},
        code=3,
    )
    assert "git refused the commit: " in said.out
    assert "p_0001_x.lock" in desk.porch("pending").out
    (desk.root / ".git/refs/heads/p_0001_x.lock").unlink()
    desk.porch("retry", "1")
    assert "is complete" in desk.porch("resume", "1").out


def test_a_place_that_cannot_be_written_is_exit_6_and_no_traceback(desk: "Desk") -> None:
    desk.protocol("p", *TWO)
    desk.write("codev/projects", "I am a file.\n")
    said = desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here", code=6)
    assert "codev/projects" in said.err
    assert "Traceback" not in said.err


@pytest.mark.req("P-112")
@pytest.mark.parametrize("whole, newer", [(True, True), (False, True), (True, False)])
def test_a_leftover_tmp_counts_only_without_a_journal_whole_and_newer(
    desk: "Desk", whole: bool, newer: bool
) -> None:
    desk.protocol("p", *TWO, {"id": "three"})
    old = 'id: "0001"\ntitle: "x"\nprotocol: "p"\nstate: "two"\n'
    new = old.replace('"two"', '"three"')
    path = desk.write("codev/projects/0001-x/status.yaml", old)
    beside = desk.write("codev/projects/0001-x/status.yaml.tmp", new if whole else new[:20])
    now = time.time()
    os.utime(path, (now - 100, now - 100))
    os.utime(beside, (now - (0 if newer else 200),) * 2)
    said = desk.porch("run", "p", "0001", "--no-claude", "--here", "--once")
    is_used = whole and newer
    assert f"from its status file, at {'three' if is_used else 'two'}" in said.out
    desk.write("codev/projects/0001-x/status.yaml.tmp", new.replace("three", "one"))
    desk.porch("resume", "1")  # with a journal nobody looks at it
    assert "one" not in desk.entered()[1:]


def test_a_status_file_without_a_journal_is_shown_and_adopted_by_run(desk: "Desk") -> None:
    desk.protocol("p", GATED, TWO[1])
    desk.write(
        "codev/projects/0009-old/status.yaml",
        'id: "0009"\ntitle: "old"\nprotocol: "p"\nstate: "two"\n'
        "gates:\n  go: { status: approved }\n",
    )
    assert "no journal here" in desk.porch("status").out
    assert desk.porch("status", "9", "--json").json["journal"] is False
    assert not (desk.root / ".git/porch").exists()
    refused = desk.porch("resume", "9", "--no-claude", code=2)
    assert "counts these gates as passed: go" in refused.err
    assert not (desk.root / ".git/porch").exists()
    said = desk.porch("resume", "9", "--no-claude", "--adopt")
    assert "approved according to the file; nobody is named: go" in said.out
    assert "continuing 0009 from its status file, at two" in said.out
    assert desk.status("codev/projects/0009-old")["gates"]["go"]["by"].startswith("unknown")


def test_a_status_file_of_a_journal_elsewhere_needs_adopt(desk: "Desk") -> None:
    desk.begin(GATED, TWO[1], code=3)
    import shutil

    shutil.rmtree(desk.root / ".git/porch")  # as in a clone
    said = desk.porch("run", "p", "0001", "--no-claude", "--here", code=2)
    assert "--adopt" in said.err
    assert not desk.run_dir().exists()
    desk.porch("run", "p", "0001", "--no-claude", "--here", "--adopt", code=3)
    assert desk.porch("pending", "--hook").out == "Gate pending: 0001 go\n"


def test_an_edited_status_file_is_kept_aside_and_redrawn(desk: "Desk") -> None:
    desk.begin(GATED, TWO[1], code=3)
    path = desk.root / "codev/projects/0001-x/status.yaml"
    path.write_text(path.read_text().replace("pending", "approved"))
    desk.porch("resume", "1", code=3)
    assert desk.status()["gates"]["go"]["status"] == "pending"
    assert "approved" in (path.parent / "status.edited-1.yaml").read_text()
    assert "somebody edited the status file" in desk.porch("log", "1").out


@pytest.mark.req("F-002")
def test_templates_begin_new_artifacts_and_never_touch_old_ones(desk: "Desk") -> None:
    phases = ({"id": "one", "artifact": "spec.md"}, {"id": "two", "artifact": "plan.md"})
    desk.protocol("p", *phases)
    desk.write("codev/protocols/p/templates/spec.md", "# {{title}} ({{project_id}})\n")
    desk.write("codev/protocols/p/templates/plan.md", "# From the template\n")
    desk.write("codev/projects/0001-x/plan.md", "# Mine\n")
    script = desk.script(agents={"*": [{"say": "nothing to write"}]})
    desk.porch("run", "p", "0001", "--here", "--script", script)
    assert (desk.root / "codev/projects/0001-x/spec.md").read_text() == "# x (0001)\n"
    assert (desk.root / "codev/projects/0001-x/plan.md").read_text() == "# Mine\n"


@pytest.mark.req("P-093")
def test_an_agent_gets_its_prompt_and_where_the_run_stands(desk: "Desk") -> None:
    desk.protocol("p", {"id": "one", "prompt": "one.md"})
    text = "For {{project_id}} {{title}} at {{current_state}} of {{protocol}}.\n"
    desk.write("codev/protocols/p/prompts/one.md", text)
    desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here")
    prompt = desk.prompts("1-x")[0]
    assert prompt.startswith("For 1 x at one of p.\n")
    assert '> state: "one"' in prompt
    assert "<signal>PHASE_COMPLETE</signal>" in prompt


@pytest.mark.req("P-013")
def test_the_first_place_that_has_a_protocol_wins_and_is_named(desk: "Desk") -> None:
    packaged = desk.porch("protocols", "show", "tick", "--json").json["file"]
    skeleton = desk.write(
        "codev-skeleton/protocols/tick/protocol.json",
        json.dumps({"name": "tick", "phases": [{"id": "skeleton"}]}),
    )
    assert desk.porch("protocols", "show", "tick", "--json").json["file"] == str(skeleton)
    own = desk.protocol("tick", {"id": "own"})
    shown = desk.porch("protocols", "show", "tick")
    assert f"file: {own}" in shown.out
    rows = desk.porch("protocols", "--json").json["protocols"]
    assert [row["file"] for row in rows if row["name"] == "tick"] == [str(own)]
    assert str(own) in desk.porch("protocols", "list").out
    assert packaged not in desk.porch("protocols", "list").out


def test_flags_may_stand_anywhere(desk: "Desk") -> None:
    desk.protocol("p", GATED, TWO[1])
    desk.porch("run", "--no-claude", "--here", "p", "--title", "x", "1", code=3)
    desk.porch("approve", "--json", "1", "--note", "n", "go")
    desk.porch("resume", "--json", "1")
    assert "is already complete" in desk.porch("stop", "--json", "1").out
