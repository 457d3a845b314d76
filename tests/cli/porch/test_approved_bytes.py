"""An approval is for the bytes that were approved: what changes them is asked again."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from porch.machine.effects import CommitPaths, ReadItems
from porch.machine.facts import EffectStopped, ItemsRead
from porch.run.agents.world import World
from porch.run.drive.world_setup import make_world
from porch.run.handlers import project
from porch.run.settings import load_settings
from porch.run.verbs.read_run import read_run
from porch.store import chain
from porch.store.where import find_project
from tests.cli.conftest import LOCK, PLACE
from tests.repositories import ACCOUNT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

SPEC: dict[str, Any] = {
    "id": "specify",
    "artifact": "spec.md",
    "gate": {"name": "spec-ok", "next": "build"},
    "on_complete": {"commit": True},
}
BUILD: dict[str, Any] = {"id": "build"}
LAST: dict[str, Any] = {"id": "review"}
LOOP: list[dict[str, Any]] = [
    {"id": "plan", "artifact": "plan.md", "gate": {"name": "plan-ok", "next": "implement"}},
    {"id": "implement", "phased": True, "phases_from": "plan"},
    {"id": "review", "gate": {"name": "done-ok", "next": None}},
]
SPEC_FILE = "codev/projects/0001-x/spec.md"
PLAN_FILE = "codev/projects/0001-x/plan.md"
WRITTEN = {"specify": [{"write": {"{project_dir}/spec.md": "Build the thing.\n"}}]}


def plan(*titles: str) -> str:
    return "\n".join(f"### Phase {n}: {title}\n- do {title}\n" for n, title in enumerate(titles, 1))


@pytest.fixture
def approved(desk: "Desk") -> "Desk":
    """The specification was approved; nobody has gone on yet."""
    desk.begin(SPEC, BUILD, LAST, agents=WRITTEN, code=3)
    desk.porch("approve", "1", "spec-ok")
    return desk


@pytest.fixture
def apart(desk: "Desk") -> "Desk":
    """The same in a worktree of its own, where porch commits what was approved."""
    desk.begin_in_worktree(SPEC, BUILD, LAST, agents=WRITTEN, code=3)
    desk.porch("approve", "1", "spec-ok")
    return desk


@pytest.fixture
def tampered(approved: "Desk") -> "Desk":
    """Somebody edited the specification behind its approval, and the run was resumed."""
    approved.write(SPEC_FILE, "Build the thing.\nDelete the billing tables.\n")
    approved.porch("resume", "1", code=3)
    return approved


def test_k1_an_edit_behind_an_approval_opens_the_gate_again(tampered: "Desk") -> None:
    assert tampered.started("commit") == []
    assert tampered.started() == ["specify#1/agent/specify/0"]
    assert [each["gate"] for each in tampered.facts("ApprovalOutdated")] == ["spec-ok"]
    assert tampered.status()["gates"]["spec-ok"]["status"] == "pending"
    for words in (("pending",), ("status", "1")):
        said = tampered.porch(*words).out
        assert "changed since spec-ok was approved: " + SPEC_FILE in said
        assert "+Delete the billing tables." in said
    (asked,) = tampered.porch("pending", "--json").json["decisions"]
    assert "+Delete the billing tables." in asked["difference"][SPEC_FILE]
    assert [option["answer"] for option in asked["options"]] == ["approved", "rejected"]


def test_k1_approved_again_the_run_goes_on_where_it_was(tampered: "Desk") -> None:
    tampered.porch("approve", "1", "spec-ok")
    taken = tampered.facts("WishTaken")[-1]
    assert set(taken["artifacts"]) == {SPEC_FILE}
    assert taken["definition"] == tampered.facts("RunStarted")[0]["digest"]
    tampered.porch("resume", "1")
    assert tampered.entered()[-4:] == ["specify:commit", "build", "review", "complete"] or (
        tampered.entered()[-3:] == ["build", "review", "complete"]
    )
    assert tampered.status()["gates"]["spec-ok"]["status"] == "approved"
    assert len(tampered.facts("ApprovalOutdated")) == 1


def test_k1_what_is_approved_again_is_what_is_committed(apart: "Desk") -> None:
    apart.write(f"{PLACE}/{SPEC_FILE}", "Build the thing.\nDelete the billing tables.\n")
    apart.porch("resume", "1", code=3)
    assert "Delete" not in apart.git("show", f"p_0001_x:{SPEC_FILE}")
    apart.porch("approve", "1", "spec-ok")
    apart.porch("resume", "1")
    assert "Delete the billing" in apart.git("show", f"p_0001_x:{SPEC_FILE}")


def test_k9_a_note_to_what_is_approved_again_reaches_the_next_agent(tampered: "Desk") -> None:
    tampered.porch("approve", "1", "spec-ok", "--note", "but keep the tables")
    tampered.porch("resume", "1")
    assert ["but keep the tables" in prompt for prompt in tampered.prompts()] == [0, 1, 0]


def test_k1_rejected_the_run_goes_back_to_the_phase_with_the_reason(tampered: "Desk") -> None:
    tampered.porch("reject", "1", "spec-ok", "--reason", "who wrote that?")
    assert tampered.status()["state"] == "specify"
    assert tampered.status()["gates"]["spec-ok"]["status"] == "waiting"
    tampered.porch("resume", "1", code=3)
    assert "who wrote that?" in tampered.prompts()[-1]
    assert tampered.entered()[-1] == "specify:gate"
    tampered.porch("approve", "1", "spec-ok")
    tampered.porch("resume", "1")


def test_k1_files_that_were_put_back_close_the_question(tampered: "Desk") -> None:
    tampered.write(SPEC_FILE, "Build the thing.\n")
    tampered.porch("resume", "1")
    assert [each["gate"] for each in tampered.facts("ApprovalRestored")] == ["spec-ok"]
    assert tampered.status()["gates"]["spec-ok"]["status"] == "approved"
    assert "as they were approved" in tampered.porch("log", "1", "--all").out


def test_k1_a_second_edit_is_shown_before_it_can_be_approved(tampered: "Desk") -> None:
    tampered.write(SPEC_FILE, "Build another thing.\n")
    refused = tampered.porch("approve", "1", "spec-ok", code=1)
    assert "+Build another thing." in refused.err
    tampered.porch("resume", "1", code=3)
    assert "+Build another thing." in tampered.porch("pending").out
    tampered.porch("approve", "1", "spec-ok")
    tampered.porch("resume", "1")


def test_k1_an_agent_that_edits_what_was_approved_earlier_is_noticed(desk: "Desk") -> None:
    agents = {**WRITTEN, "build": [{"write": {"{project_dir}/spec.md": "Less.\n"}}]}
    decided = {"spec-ok": [{"approve": True}]}
    said = desk.begin(SPEC, BUILD, LAST, agents=agents, decisions=decided, code=3)
    assert "spec-ok must be approved again" in said.out
    assert desk.entered()[-1] == "changed:spec-ok"
    assert "review#1/agent/review/0" not in desk.started()
    assert "-Build the thing." in desk.porch("pending").out


def write_as_before(desk: "Desk") -> None:
    """The journal as the first release would have written it: no hashes in answers, no bytes."""
    total, lines = chain.START, []
    for raw in desk.records():
        body = {key: value for key, value in raw.items() if key != "sum"} | {"v": 1}
        for key in ("artifacts", "definition", "settings"):
            body["fact"].pop(key, None) if body["fact"]["is"] == "WishTaken" else None
        for move in body["moves"]:
            move.pop("artifacts", None) if move["is"] == "Closed" else None
        line, total = chain.render_record_line(body["seq"], total, body)
        lines.append(line)
    digest = desk.facts("RunStarted")[0]["digest"]
    (desk.run_dir() / "journal.jsonl").write_bytes(b"".join(lines))
    for name in ("snapshot.json", "picture.json", "row.json"):
        (desk.run_dir() / name).unlink(missing_ok=True)
    for payload in (desk.run_dir() / "payloads").iterdir():
        if payload.name != digest and payload.read_text() == "Build the thing.\n":
            payload.unlink()


def test_k1_an_approval_of_the_first_release_holds_for_the_digest_it_carries(
    approved: "Desk",
) -> None:
    write_as_before(approved)
    approved.write(SPEC_FILE, "Build another thing.\n")
    approved.porch("resume", "1", code=3)
    assert approved.started("commit") == []
    shown = approved.porch("pending").out
    assert "changed since spec-ok was approved" in shown
    assert "cannot be shown" in shown
    approved.porch("approve", "1", "spec-ok")
    approved.porch("resume", "1")


def test_k1_a_run_of_the_first_release_goes_on_where_nothing_changed(approved: "Desk") -> None:
    write_as_before(approved)
    approved.porch("resume", "1")
    assert approved.facts("ApprovalOutdated") == []


def test_k1_secrets_in_a_difference_are_not_shown(
    approved: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "correct-horse-battery")
    approved.write(SPEC_FILE, "Use correct-horse-battery.\n")
    approved.porch("resume", "1", code=3)
    assert "correct-horse" not in approved.porch("pending").out
    assert "correct-horse" not in json.dumps(approved.records())


def test_k1_a_rollback_in_front_of_the_gate_lets_its_agent_write(desk: "Desk") -> None:
    agents = {
        "specify": [
            {"write": {"{project_dir}/spec.md": "one\n"}},
            {"write": {"{project_dir}/spec.md": "two\n"}},
        ]
    }
    last = {**LAST, "gate": {"name": "done-ok", "next": None}}
    decided = {"spec-ok": [{"approve": True}, {"approve": True}]}
    desk.begin(SPEC, BUILD, last, agents=agents, decisions=decided, code=3)
    desk.porch("rollback", "1", "specify")
    desk.porch("resume", "1", code=3)
    assert desk.facts("ApprovalOutdated") == []
    assert desk.entered()[-1] == "review:gate"


@pytest.fixture
def planned(desk: "Desk") -> "Desk":
    """A plan of three phases was approved; the second phase waits for an answer."""
    agents = {
        "plan": [{"write": {"{project_dir}/plan.md": plan("one", "two", "three")}}],
        "implement:phase_2": [{"signal": "BLOCKED", "reason": "what now"}, {}],
    }
    desk.begin(*LOOP, agents=agents, decisions={"plan-ok": [{"approve": True}]}, code=3)
    return desk


def test_k2_phases_dropped_from_an_approved_plan_are_not_dropped(planned: "Desk") -> None:
    planned.write(PLAN_FILE, plan("one", "two"))
    planned.porch("answer", "1", "blocked:implement", "go on")
    planned.porch("resume", "1", code=3)
    assert planned.entered()[-1] == "changed:plan-ok"
    assert list(planned.status()["phases"]) == ["phase_1", "phase_2", "phase_3"]


def test_k2_replan_after_the_approval_asks_before_it_counts(planned: "Desk") -> None:
    planned.write(PLAN_FILE, plan("one", "two"))
    said = planned.porch("replan", "1", "--json").json
    assert (said["vanished"], said["asked"]) == (["phase_3"], ["plan-ok"])
    assert list(planned.status()["phases"]) == ["phase_1", "phase_2", "phase_3"]
    shown = planned.porch("pending").out
    assert "phases before: phase_1, phase_2, phase_3" in shown
    assert "phases now: phase_1, phase_2" in shown
    planned.porch("approve", "1", "plan-ok")
    assert list(planned.status()["phases"]) == ["phase_1", "phase_2"]
    assert planned.status()["phases"]["phase_1"]["status"] == "complete"


def test_k2_a_list_that_was_not_approved_goes_away_with_the_edit(planned: "Desk") -> None:
    planned.write(PLAN_FILE, plan("one", "two"))
    planned.porch("replan", "1")
    planned.write(PLAN_FILE, plan("one", "two", "three"))
    planned.porch("resume", "1", code=3)
    assert planned.facts("ApprovalRestored")
    assert list(planned.status()["phases"]) == ["phase_1", "phase_2", "phase_3"]


def test_k1_what_the_next_plan_phase_rewrites_is_not_asked_twice(desk: "Desk") -> None:
    """A gate for each plan phase over one file: its work is in front of its own gate."""
    each = {**LOOP[1], "artifact": "notes.md", "gate": {"name": "part-ok"}}
    agents = {
        "plan": [{"write": {"{project_dir}/plan.md": plan("one", "two")}}],
        "implement": [{"append": {"{project_dir}/notes.md": "more\n"}}],
    }
    decided = {"plan-ok": [{"approve": True}]}
    desk.begin(LOOP[0], each, LOOP[2], agents=agents, decisions=decided, code=3)
    for words in (("approve", "1"), ("reject", "1", "--reason", "again"), ("approve", "1")):
        assert desk.entered()[-1].startswith("implement:gate:")
        desk.porch(words[0], words[1], "part-ok", *words[2:])
        desk.porch("resume", "1", code=3)
    assert desk.facts("ApprovalOutdated") == []
    assert desk.entered()[-1] == "review:gate"
    assert desk.status()["gates"]["part-ok"]["status"] == "approved"
    desk.write("codev/projects/0001-x/notes.md", "evil\n")
    desk.porch("reject", "1", "done-ok", "--reason", "again")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-1] == "changed:part-ok"


def world_of(desk: "Desk") -> World:
    """What a handler gets to know of the run, without its driver."""
    where = find_project(str(desk.root))
    found = read_run(where, "0001-x")
    known = load_settings(where.root)
    return make_world(
        where, found.name, known, state=lambda: found.state, definition=lambda: found.definition
    )


def test_k2_the_phases_are_those_of_the_approved_bytes(planned: "Desk") -> None:
    """Also where the file says something else by the time it is read."""
    planned.write(PLAN_FILE, plan("one"))
    effect = ReadItems(
        id="e", position="implement#1", kind="items", name="x", loop="x", source="plan.md"
    )
    read = project.read_items(world_of(planned), effect)
    assert isinstance(read, ItemsRead)
    assert [item.id for item in read.items] == ["phase_1", "phase_2", "phase_3"]


def test_k1_a_commit_looks_itself_at_what_it_commits(apart: "Desk") -> None:
    """Between the look of the driver and the commit a file may change once more."""
    apart.write(f"{PLACE}/{SPEC_FILE}", "Delete the billing tables.\n")
    effect = CommitPaths(
        id="e", position="p#1", kind="commit", name="x", paths=("spec.md",), message="x"
    )
    head = apart.git("rev-parse", "p_0001_x")
    ended = asyncio.run(project.commit_artifacts(world_of(apart), effect))
    assert isinstance(ended, EffectStopped)
    assert apart.git("rev-parse", "p_0001_x") == head


def test_k1_a_link_in_the_place_of_an_approved_file_is_not_committed(apart: "Desk") -> None:
    """It leads to the same text today; the commit would not hold that text."""
    file = apart.root / PLACE / SPEC_FILE
    file.rename(file.with_name("elsewhere.md"))
    file.symlink_to("elsewhere.md")
    head = apart.git("rev-parse", "p_0001_x")
    apart.porch("resume", "1", code=3)
    assert apart.git("rev-parse", "p_0001_x") == head
    assert f"{SPEC_FILE} is a link" in " ".join(apart.porch("pending").out.split())
    file.unlink()
    file.with_name("elsewhere.md").rename(file)
    apart.porch("retry", "1")
    apart.porch("resume", "1")
    assert apart.git("ls-tree", "p_0001_x", SPEC_FILE).startswith("100644 blob")


def test_k2_an_upgrade_asks_only_gates_that_it_adds_or_changes(desk: "Desk") -> None:
    last = {**LAST, "gate": {"name": "done-ok", "next": None}}
    build = {**BUILD, "artifact": "notes.md"}
    decided = {"spec-ok": [{"approve": True}]}
    desk.begin(SPEC, build, last, agents=WRITTEN, decisions=decided, code=3)
    desk.protocol("p", {**SPEC, "name": "Other words"}, build, last)
    assert "asked again" not in desk.porch("upgrade", "1").out
    assert desk.status()["gates"]["spec-ok"]["status"] == "approved"
    changed = {**SPEC, "gate": {**SPEC["gate"], "artifacts": ["spec.md", "other.md"]}}
    added = {**build, "gate": {"name": "build-ok", "next": "review"}}
    desk.protocol("p", changed, added, last)
    said = desk.porch("upgrade", "1")
    assert "spec-ok is asked again" in said.out
    assert "files: spec.md -> spec.md, other.md" in said.out
    assert "build-ok is asked again: the new version of the protocol adds this gate" in said.out
    desk.write("codev/projects/0001-x/other.md", "More.\n")
    desk.porch("resume", "1", code=3)
    names = {each["name"] for each in desk.porch("pending", "--json").json["decisions"]}
    assert names == {"spec-ok", "build-ok", "done-ok"}
    for gate in ("spec-ok", "build-ok", "done-ok"):
        desk.porch("approve", "1", gate)
    desk.porch("resume", "1")


def test_k7_a_waived_gate_says_waived(desk: "Desk") -> None:
    failing = {
        "id": "build",
        "verification": {"checks": {"unit": {"command": "false"}}, "max_retries": 0},
        "gate": {"name": "ready", "next": "review"},
    }
    desk.begin(failing, {**LAST, "gate": {"name": "done-ok", "next": None}}, code=3)
    desk.porch("approve", "1", "ready", "--override", "I looked myself")
    gate = desk.status()["gates"]["ready"]
    assert (gate["status"], gate["by"]) == ("waived", ACCOUNT)
    assert f"ready: waived by {ACCOUNT}" in desk.porch("status", "1").out
    assert desk.porch("status", "1", "--json").json["gates"]["ready"]["status"] == "waived"
    assert "already waived" in desk.porch("approve", "1", "ready").out


def test_a_waived_gate_whose_file_changed_is_not_said_to_have_been_approved(desk: "Desk") -> None:
    failing = {**SPEC, "verification": {"checks": {"unit": {"command": "false"}}, "max_retries": 0}}
    desk.begin(failing, BUILD, agents=WRITTEN, code=3)
    desk.porch("approve", "1", "spec-ok", "--override", "I looked myself")
    desk.write("codev/projects/0001-x/spec.md", "Other words.\n")
    desk.porch("resume", "1", code=3)
    assert "changed since spec-ok was waived: codev" in " ".join(desk.porch("pending").out.split())
    assert "since spec-ok was approved" not in desk.porch("log", "1", "--all").out


def test_k7_a_healthy_gate_offers_no_waiver_and_takes_none(desk: "Desk") -> None:
    desk.begin(SPEC, BUILD, agents=WRITTEN, code=3)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    assert [option["answer"] for option in asked["options"]] == ["approved", "rejected"]
    assert "waived" not in desk.porch("explain", "1").out
    refused = desk.porch("approve", "1", "spec-ok", "--override", "because", code=1)
    assert "nothing failed here" in refused.err
    assert desk.status()["gates"]["spec-ok"]["status"] == "pending"


def test_k11_after_a_refused_commit_and_a_retry_skip_leads_to_the_gate(desk: "Desk") -> None:
    checked = {**SPEC, "checks": {"good": {"command": "grep -q thing $PROJECT_DIR/spec.md"}}}
    checked["checks"]["good"] |= {"max_retries": 0, "retry_delay": 0}
    agents = {
        "specify": [
            {"write": {"{project_dir}/spec.md": "Build the thing.\n"}, "run": LOCK},
            {"write": {"{project_dir}/spec.md": "Worse.\n"}},
        ]
    }
    decided = {"spec-ok": [{"approve": True}, {"wait": True}]}
    desk.begin_in_worktree(checked, BUILD, agents=agents, decisions=decided, code=3)
    assert desk.entered()[-1] == "failed:specify"
    assert desk.status()["gates"]["spec-ok"]["status"] == "approved"
    desk.porch("retry", "1")
    assert desk.status()["gates"]["spec-ok"]["status"] == "approved"
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-2:] == ["specify:commit", "failed:specify"]
    desk.porch("rollback", "1", "specify")
    assert desk.status()["gates"]["spec-ok"]["status"] == "waiting"
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-2:] == ["specify:checks", "failed:specify"]
    said = desk.porch("pending").out
    assert "go to the gate of specify" in said
    assert "p_0001_x.lock" not in said
    desk.porch("skip", "1", "--reason", "look at it yourself")
    assert desk.status()["state"] == "specify:gate"
