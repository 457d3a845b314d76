"""stop, resume, rollback, replan, upgrade, repair, next, done, check."""

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

GATED: dict[str, Any] = {
    "id": "specify",
    "artifact": "spec.md",
    "gate": {"name": "spec-ok", "next": "build"},
}
BUILD: dict[str, Any] = {
    "id": "build",
    "checks": {"unit": {"command": "true", "retry_delay": 0}},
    "gate": {"name": "build-ok", "next": None},
}
LOOP: list[dict[str, Any]] = [
    {"id": "plan", "artifact": "plan.md", "gate": {"name": "plan-ok", "next": "implement"}},
    {"id": "implement", "phased": True, "phases_from": "plan"},
    {"id": "review", "gate": {"name": "done-ok", "next": None}},
]


def plan(*titles: str) -> str:
    return "\n".join(f"### Phase {n}: {title}\n- do {title}\n" for n, title in enumerate(titles, 1))


def test_stop_and_resume_are_idempotent(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    assert desk.porch("stop", "1").out == "0001-x is stopped; continue with `porch resume 0001`\n"
    assert "(the run is stopped)" in desk.porch("status", "1").out
    assert "The run is stopped" in desk.porch("explain", "1").out
    before = desk.bytes()
    assert "already stopped; nothing was changed" in desk.porch("stop", "1").out
    assert desk.bytes() == before
    desk.porch("resume", "1", code=3)
    assert "stopped" not in desk.porch("status", "1").out


@pytest.mark.req("P-113", "P-114")
def test_stop_ends_the_agent_of_a_live_run_and_resume_calls_it_again(desk: "Desk") -> None:
    desk.protocol("p", {"id": "only"})
    slow = desk.script(agents={"only": [{"tries": [{"hang": True}, {"say": "now"}]}]})
    runner = desk.start("run", "p", "1", "--title", "x", "--here", "--script", slow)
    desk.wait_for_turn("only#1/agent/only/0", "1-x")
    said = desk.porch("stop", "1")
    assert "is stopped" in said.out
    out, _ = runner.communicate(timeout=90)
    assert runner.returncode == 0, out
    assert "agent only was stopped" in out
    assert "\n1-x is complete" in desk.porch("resume", "1").out
    assert len(desk.started("agent", "1-x")) == 2


def test_rollback_goes_back_and_voids_what_lay_after(desk: "Desk") -> None:
    approve = {"spec-ok": [{"approve": True}, {"wait": True}]}
    desk.begin(GATED, BUILD, decisions=approve, code=3)
    assert desk.status()["gates"]["spec-ok"]["status"] == "approved"
    said = desk.porch("rollback", "1", "specify")
    assert said.out == "0001-x went back to specify\n"
    status = desk.status()
    assert status["state"] == "specify"
    assert status["gates"] == {"spec-ok": {"status": "waiting"}, "build-ok": {"status": "waiting"}}
    desk.porch("resume", "1", code=3)
    assert desk.porch("pending", "--hook").out == "Gate pending: 0001 spec-ok\n"
    assert desk.entered()[-1] == "specify:gate"


def test_rollback_keeps_what_lay_before_and_measures_again(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, decisions={"spec-ok": [{"approve": True}]}, code=3)
    desk.porch("rollback", "1", "build")
    assert desk.status()["gates"]["spec-ok"]["status"] == "approved"
    desk.porch("resume", "1", code=3)
    checks = desk.facts("CheckEnded")
    measured = [check["effect"].split("/")[-2] for check in checks if not check.get("reused")]
    assert measured == ["written_files", "unit", "unit"]


def test_rollback_goes_only_backwards_and_only_to_known_states(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    before = desk.bytes()
    unknown = desk.porch("rollback", "1", "nowhere", code=2)
    assert "phases: specify, build" in unknown.err
    assert desk.bytes() == before
    ahead = desk.porch("rollback", "1", "build", code=1)
    assert "can only go back" in ahead.err
    assert desk.status()["state"] == "specify:gate"


def test_rollback_into_a_plan_phase(desk: "Desk") -> None:
    agents = {"plan": [{"write": {"{project_dir}/plan.md": plan("one", "two", "three")}}]}
    desk.begin(*LOOP, agents=agents, decisions={"plan-ok": [{"approve": True}]}, code=3)
    desk.porch("rollback", "1", "implement:phase_2")
    phases = desk.status()["phases"]
    assert [phase["status"] for phase in phases.values()] == ["complete", "in_progress", "pending"]
    told = desk.porch("status", "1").out
    assert "    [ ] phase_3 three: must be done again\n" in told
    assert ": stale" not in told
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-4:] == [
        "implement:phase_2",
        "implement:phase_3",
        "review",
        "review:gate",
    ]
    desk.porch("rollback", "1", "implement:phase_9", code=2)


def test_replan_keeps_what_is_finished_and_the_same(desk: "Desk") -> None:
    # The first phase ends; the second waits for its person, so that the plan can change.
    agents = {
        "plan": [{"write": {"{project_dir}/plan.md": plan("one", "two", "three")}}],
        "implement:phase_2": [{"signal": "BLOCKED", "reason": "what now"}, {}],
    }
    desk.begin(*LOOP, agents=agents, decisions={"plan-ok": [{"approve": True}]}, code=3)
    same = desk.porch("replan", "1").out
    assert "3 plan phases, 0 new" in same
    desk.write(
        "codev/projects/0001-x/plan.md",
        "### Phase 1: one\n- do one\n\n### Phase 2: two\n- do two\n\n### Phase 4: four\n- do it\n",
    )
    said = desk.porch("replan", "1", "--json").json
    assert (said["added"], said["vanished"]) == (["phase_4"], ["phase_3"])
    assert said["kept"] == ["phase_1", "phase_2"]
    desk.porch("approve", "1", "plan-ok")
    assert desk.status()["phases"]["phase_1"]["status"] == "complete"
    desk.porch("answer", "1", "blocked:implement", "go on")
    desk.porch("resume", "1", code=3)
    assert [p for p in desk.entered() if p.startswith("implement:phase")] == [
        "implement:phase_1",
        "implement:phase_2",
        "implement:phase_2",
        "implement:phase_4",
    ]


def test_a_finished_phase_with_another_text_is_not_finished_any_more(desk: "Desk") -> None:
    agents = {
        "plan": [{"write": {"{project_dir}/plan.md": plan("one", "two")}}],
        "implement:phase_2": [{"signal": "BLOCKED", "reason": "what now"}],
    }
    desk.begin(*LOOP, agents=agents, decisions={"plan-ok": [{"approve": True}]}, code=3)
    desk.write("codev/projects/0001-x/plan.md", plan("one, but better", "two"))
    desk.porch("replan", "1")
    desk.porch("approve", "1", "plan-ok")
    assert desk.status()["phases"]["phase_1"]["status"] == "pending"


def test_replan_before_there_is_a_plan_is_refused(desk: "Desk") -> None:
    desk.begin(*LOOP, code=3)
    assert "has no plan yet" in desk.porch("replan", "1", code=2).err


def test_editing_the_protocol_changes_no_run_until_it_is_upgraded(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    before = desk.bytes()
    assert (
        "already uses this version of the protocol; nothing was changed"
        in desk.porch("upgrade", "1").out
    )
    assert desk.bytes() == before
    desk.protocol("p", GATED, {**BUILD, "gate": None}, description="second edition")
    changed = desk.porch("status", "1")
    assert "The protocol files changed" in changed.out
    assert desk.porch("status", "1", "--json").json["definition_changed"] is True
    assert "build-ok" in str(desk.porch("status", "1", "--json").json["gates"])
    said = desk.porch("upgrade", "1")
    assert said.out == "0001-x now uses the current version of the protocol\n"
    assert "protocol files changed" not in desk.porch("status", "1").out
    assert "build-ok" not in str(desk.porch("status", "1", "--json").json["gates"])
    desk.porch("approve", "1", "spec-ok")
    assert "is complete" in desk.porch("resume", "1").out


def test_an_upgrade_that_loses_the_place_where_a_run_stands_is_refused(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    desk.protocol("p", {**GATED, "gate": None, "id": "write"}, BUILD)
    refused = desk.porch("upgrade", "1", code=1)
    assert "the new protocol has no specify:gate#1" in refused.err
    assert "The protocol files changed" in desk.porch("status", "1").out
    desk.write("codev/protocols/p/protocol.json", "{ broken")
    assert "protocol.json:1:3" in desk.porch("upgrade", "1", code=2).err


@pytest.mark.req("P-040")
def test_the_guide_beside_a_protocol_decides_nothing(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    desk.write("codev/protocols/p/protocol.md", "# There is no gate any more\n")
    assert "protocol files changed" not in desk.porch("status", "1").out
    assert "already uses this version of the protocol" in desk.porch("upgrade", "1").out


def test_repair_leaves_a_sound_journal_alone(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    before = desk.bytes()
    assert "is not damaged; nothing was changed" in desk.porch("repair", "1").out
    assert desk.bytes() == before


def test_a_damaged_journal_is_exit_5_until_it_is_repaired(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    path = desk.run_dir() / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"seq"', b'"sEq"', 1)
    path.write_bytes(b"".join(lines))
    for words in (["approve", "1", "spec-ok"], ["resume", "1"], ["explain", "1"], ["stop", "1"]):
        said = desk.porch(*words, code=5)
        assert "porch repair" in said.err
    assert "porch repair" in desk.porch("log", "1", code=5).err
    said = desk.porch("repair", "1")
    assert said.out.startswith("3 records kept, ")
    assert len(list(desk.run_dir().glob("journal*"))) == 2
    desk.porch("resume", "1", code=3)
    assert "the journal was repaired: 3 records kept" in desk.porch("log", "1").out


def test_a_journal_that_is_not_text_is_exit_5_for_readers_too(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    path = desk.run_dir() / "journal.jsonl"
    path.write_bytes(b"\xff{}\n" + path.read_bytes())
    for words in (["status"], ["status", "1"], ["log", "1"], ["pending"]):
        assert "porch repair" in desk.porch(*words, code=5).all


def test_next_shows_what_run_would_do_with_the_whole_prompt(desk: "Desk") -> None:
    desk.protocol("p", {**GATED, "prompt": "spec.md"}, BUILD)
    desk.write("codev/protocols/p/prompts/spec.md", "Specify {{title}} in {{artifact}}.\n")
    desk.porch("run", "p", "1", "--title", "x", "--no-claude", "--here", "--once", code=3)
    desk.porch("reject", "1", "--reason", "shorter")
    text = desk.porch("next", "1").out
    assert text.startswith("agent specify at specify#2\n")
    assert "Specify x in codev/projects/1-x/spec.md." in text
    assert "> shorter" in text
    told = desk.porch("next", "1", "--json").json
    assert told["positions"] == ["specify#2"]
    assert {"BLOCKED", "PHASE_COMPLETE"} <= set(told["effects"][0]["signals"])
    assert told["effects"][0]["prompt"] in text
    before = desk.bytes("1-x", "codev/projects/1-x")
    desk.porch("next", "1")
    assert desk.bytes("1-x", "codev/projects/1-x") == before


def test_done_takes_the_callers_word_and_does_everything_but_agents_work(desk: "Desk") -> None:
    desk.begin({**BUILD, "gate": None}, {"id": "after"}, agents={"build": [{"crash": 1}]}, code=3)
    desk.porch("rollback", "1", "build")
    position = desk.porch("next", "1", "--json").json["positions"][0]
    wrong = desk.porch("done", "1", "--expect", "after#1", code=1)
    assert f"it is at {position}" in wrong.err
    unknown = desk.porch("done", "1", "--signal", "HURRAY", code=2)
    assert "possible signals: BLOCKED, " in unknown.err
    before = desk.started()
    said = desk.porch("done", "1", "--signal", "PHASE_COMPLETE", "--expect", position)
    assert "check unit passed" in said.out
    assert desk.entered()[-1] == "after"
    assert desk.started() == before  # no agent was begun
    again = desk.porch("done", "1", "--signal", "PHASE_COMPLETE", "--expect", position, code=1)
    assert "is not at" in again.err
    ended = desk.porch("done", "1").all
    assert desk.status()["state"] == "complete"
    assert "0001-x is complete" in ended
    assert "nothing was changed" not in ended
    bytes_ = desk.bytes()
    assert "already complete; nothing was changed" in desk.porch("done", "1").out
    assert desk.bytes() == bytes_


def test_done_needs_the_reason_that_a_signal_needs(desk: "Desk") -> None:
    desk.begin({"id": "only"}, agents={"only": [{"crash": 1}]}, code=3)
    desk.porch("retry", "1")
    desk.porch("done", "1", "--signal", "BLOCKED", code=1)
    desk.porch("done", "1", "--signal", "BLOCKED", "--reason", "no key", code=3)
    assert "no key" in desk.porch("pending").out


def test_done_at_a_gate_is_refused(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    before = desk.bytes()
    assert "no agent is working" in desk.porch("done", "1", code=2).err
    assert desk.bytes() == before


def test_with_a_live_runner_next_answers_and_done_refuses(desk: "Desk") -> None:
    desk.protocol("p", {"id": "only"})
    slow = desk.script(agents={"only": [{"hang": True}]})
    desk.start("run", "p", "1", "--title", "x", "--here", "--script", slow)
    desk.wait_for_turn("only#1/agent/only/0", "1-x")
    assert "agent only at only#1" in desk.porch("next", "1").out
    refused = desk.porch("done", "1", code=4)
    assert "already running (porch run, pid" in refused.err
    desk.porch("stop", "1")


def test_check_measures_now_and_moves_nothing(desk: "Desk") -> None:
    phase = {"id": "build", "checks": {"unit": {"command": "echo hm; test -f ok"}}}
    desk.begin(
        {**phase, "gate": {"name": "g", "next": None}},
        agents={"build": [{"hang": True}]},
        top={"config": {"claude_timeout": 0.2}},
        code=3,
    )
    before = desk.bytes()
    failed = desk.porch("check", "1", code=1)
    assert failed.out == "unit: failed\n  exit code 1\n  hm\n"
    desk.write("ok", "")
    passed = desk.porch("check", "1", "--json").json
    assert [(c["check"], c["result"]) for c in passed["checks"]] == [("unit", "passed")]
    assert desk.bytes() == before


def test_check_where_nothing_is_checked(desk: "Desk") -> None:
    only_asked = {"id": "talk", "gate": {"name": "talk-ok", "next": "build"}}
    desk.begin(only_asked, BUILD, code=3)
    assert desk.porch("check", "1").out == "there are no checks at this point of the run\n"


def test_check_looks_for_the_document_that_a_gate_is_about(desk: "Desk") -> None:
    desk.begin(GATED, BUILD, code=3)
    said = desk.porch("check", "1").out
    assert said == "written_files: passed\n  every document is there\n"
    (desk.root / "codev/projects/0001-x/spec.md").unlink()
    assert "spec.md is missing; write it" in desk.porch("check", "1", code=None).out


@pytest.mark.parametrize(
    "words",
    [
        ["stop"],
        ["resume"],
        ["rollback", "x"],
        ["replan"],
        ["upgrade"],
        ["repair"],
        ["next"],
        ["done"],
        ["check"],
        ["log"],
        ["explain"],
        ["approve", "g"],
        ["reject", "g", "--reason", "r"],
        ["answer", "q", "t"],
        ["retry"],
        ["skip", "--reason", "r"],
        ["status"],
    ],
)
def test_a_run_that_nobody_knows_is_refused_with_the_list(desk: "Desk", words: list[str]) -> None:
    said = desk.porch(words[0], "0042", *words[1:], code=2)
    assert "there is no run '0042'" in said.err
    assert "known runs: none yet" in said.err
    assert json.loads(desk.porch(words[0], "42", *words[1:], "--json", code=2).out)["error"]
    assert not (desk.root / ".git/porch").exists()
