"""Checks, verification and completion checks: measured by the engine, told to the agent."""

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.repositories import ACCOUNT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


def check(command: str, **more: Any) -> dict[str, Any]:
    return {"command": command, "retry_delay": 0, **more}


def results(desk: "Desk", run: str = "0001-x") -> list[tuple[str, str]]:
    """Name and result of every check, in order."""
    facts = desk.facts("CheckEnded", run)
    return [(fact["effect"].split("/")[-2], fact["result"]) for fact in facts]


@pytest.mark.req("F-021", "F-022", "F-023", "F-024", "F-025", "F-026", "P-165")
def test_checks_are_shell_in_the_workspace_with_names_in_their_environment(desk: "Desk") -> None:
    desk.write("codev/specs/0001-a.md", "# A spec\n")
    title = 'It\'s "big" & costs $HOME; `id`'
    phase = {
        "id": "build",
        "checks": {
            "plain": "true",
            "glob": check("test -f codev/specs/${PROJECT_ID}-*.md"),
            "pipe": check("printf 'a\\nb\\n' | grep -c . | grep -qx 2"),
            "lines": check("x=1\nif [ $x = 1 ]\nthen\n  true\nelse\n  false\nfi"),
            "told": check('echo "[$PROJECT_ID|$PROJECT_TITLE|$PROJECT_DIR|$PWD]" && false'),
        },
    }
    phase["checks"]["told"]["max_retries"] = 0  # type: ignore[index]
    desk.protocol("p", phase)
    desk.porch("run", "p", "0001", "--title", title, "--no-claude", "--here", code=3)
    name = next(path.name for path in (desk.root / "codev/projects").iterdir())
    assert dict(results(desk, name)) == {
        "plain": "passed",
        "glob": "passed",
        "pipe": "passed",
        "lines": "passed",
        "told": "failed",
    }
    report = next(f["report"] for f in desk.facts("CheckEnded", name) if f["result"] == "failed")
    slug = name.removeprefix("0001-")
    assert f"[0001|{slug}|codev/projects/{name}|{desk.root}]" in report


@pytest.mark.req("F-017", "F-065", "P-079", "P-117", "P-119", "P-120")
def test_a_failed_check_calls_the_agent_again_with_the_report_and_then_a_person(
    desk: "Desk",
) -> None:
    phases = (
        {"id": "build", "checks": {"unit": check("echo no luck; false", max_retries=2)}},
        {"id": "after"},
    )
    said = desk.begin(*phases, code=3)
    assert len(desk.started()) == 3
    assert "> no luck" in desk.prompts()[1]
    assert "no luck" not in desk.prompts()[0]
    assert "waiting for your decision: phase 'build' failed" in said.out
    assert desk.porch("status").out.splitlines()[1].split()[3] == "failed:build"
    assert "no luck" in desk.porch("pending").out
    desk.porch("retry", "1", "--note", "with more care")
    desk.porch("resume", "1", code=3)
    assert len(desk.started()) == 6  # the budget is fresh
    assert "after" not in desk.entered()
    desk.porch("skip", "1", code=2)  # not without a reason
    desk.porch("skip", "1", "--reason", "flaky machine")
    desk.porch("resume", "1", code=3)
    assert desk.entered()[-3:] == ["after", "complete:checks", "failed:complete:checks"]
    assert len(desk.started("check")) == 7, "a person who skipped it is asked at the end"
    assert len(desk.started()) == 7, "and no agent is paid for it again"
    wish = [f["wish"] for f in desk.facts("WishTaken")][-1]
    assert (wish["exit"], wish["text"], wish["who"]) == ("skip", "flaky machine", ACCOUNT)


@pytest.mark.req("P-115")
def test_three_retries_are_the_default(desk: "Desk") -> None:
    desk.begin({"id": "build", "checks": {"unit": check("false")}}, code=3)
    assert len(desk.started()) == 1 + 3


@pytest.mark.req("P-116")
def test_five_seconds_lie_between_retries_unless_the_check_says_otherwise(desk: "Desk") -> None:
    desk.write("codev/config.toml", "[agent]\nback_off = 0.001\n")
    phase = {"id": "build", "checks": {"unit": {"command": "test -f ok"}}}
    script = {"build": [{}, {"write": {"ok": ""}}]}
    desk.begin(phase, agents=script, code=0)
    entered = [m for r in desk.records() for m in r["moves"] if m["is"] == "Entered"]
    assert [m.get("delay_s", 0) for m in entered if m["position"].startswith("build#")] == [0, 5]


@pytest.mark.req("F-009", "F-033", "F-065")
def test_on_fail_may_name_a_phase_and_defaults_hold_where_nothing_is_said(desk: "Desk") -> None:
    phases = (
        {"id": "build"},
        {
            "id": "try",
            "checks": {"unit": {"command": "false", "retry_delay": 0}},
            "transition": {"on_complete": "complete", "on_fail": "build"},
        },
    )
    desk.begin(*phases, top={"defaults": {"max_retries": 1}}, code=3)
    round_ = ["build", "try", "try:checks"]
    assert desk.entered() == [*round_, *round_, "failed:try"]


@pytest.mark.req("F-038", "F-039", "F-040", "F-044", "F-066")
def test_verification_follows_the_signal_and_a_failure_starts_the_agent_again(desk: "Desk") -> None:
    spec = {
        "id": "specify",
        "artifact": "spec.md",
        "verification": {"checks": {"limits": 'grep -q Limits "$PROJECT_DIR/spec.md"'}},
        "gate": {"name": "spec-approval", "next": None},
    }
    drafts = [
        {"write": {"{project_dir}/spec.md": "# Spec\n"}},
        {"append": {"{project_dir}/spec.md": "## Limits\n"}},
    ]
    said = desk.begin(spec, agents={"specify": drafts}, code=3)
    assert desk.entered() == [
        "specify",
        "specify:verification",
        "specify",
        "specify:verification",
        "specify:gate",
    ]
    assert results(desk) == [("limits", "failed"), ("limits", "passed")]
    assert "report of the check limits" in desk.prompts()[1]
    assert "spec-approval" in said.out


@pytest.mark.req("F-041", "F-042")
def test_a_gate_behind_failed_verification_shows_it_and_wants_a_reason(desk: "Desk") -> None:
    phase = {
        "id": "review",
        "verification": {"checks": {"reviewed": "echo nobody looked; false"}},
        "gate": {"name": "pr-ready", "next": None},
    }
    desk.begin(phase, code=3)
    assert len(desk.started()) == 1 + 5
    assert desk.entered()[-1] == "review:gate"
    pending = desk.porch("pending").out
    assert "nobody looked" in pending
    assert "porch approve 0001 pr-ready --override" in pending
    before = desk.bytes()
    refused = desk.porch("approve", "1", "pr-ready", "--note", "looks fine", code=1)
    assert "add --override" in refused.err
    assert desk.status()["gates"]["pr-ready"]["status"] == "pending"
    assert before != desk.bytes()  # the refusal is in the journal
    desk.porch("approve", "1", "pr-ready", "--override", "I looked myself")
    desk.porch("resume", "1")
    assert desk.facts("WishTaken")[-1]["wish"]["exit"] == "waived"
    assert desk.entered()[-1] == "complete"


LOOP = [
    {"id": "plan", "artifact": "plan.md"},
    {"id": "implement", "type": "per_plan_phase"},
    {"id": "review"},
]
PLAN = "### Phase 1: One\n- a\n\n### Phase 2: Two\n- b\n"


@pytest.mark.req("F-008", "F-013", "F-014", "F-051")
def test_completion_checks_run_once_at_the_end_of_every_plan_phase(desk: "Desk") -> None:
    desk.begin(
        *LOOP,
        top={"phase_completion": {"whole": 'echo "$PLAN_PHASE_ID" >> "$HOME/seen"'}},
        agents={"plan": [{"write": {"{project_dir}/plan.md": PLAN}}]},
        code=0,
    )
    assert (desk.root.parent / "home/seen").read_text() == "phase_1\nphase_2\n"
    assert [p for p in desk.entered() if p == "plan" or p == "review"] == ["plan", "review"]
    assert [p for p in desk.entered() if p.startswith("implement:phase_")] == [
        "implement:phase_1",
        "implement:phase_completion:phase_1",
        "implement:phase_2",
        "implement:phase_completion:phase_2",
    ]


@pytest.mark.req("F-052")
def test_a_failed_completion_check_keeps_the_next_plan_phase_from_starting(desk: "Desk") -> None:
    desk.begin(
        *LOOP,
        top={"phase_completion": {"whole": {"command": "false", "retry_delay": 0}}},
        agents={"plan": [{"write": {"{project_dir}/plan.md": PLAN}}]},
        code=3,
    )
    assert "implement:phase_2" not in desk.entered()
    phases = desk.status()["phases"]
    assert phases["phase_1"]["status"] != "complete"
    assert phases["phase_2"] == {"status": "pending"}


def test_the_same_name_in_two_phases_is_two_checks(desk: "Desk") -> None:
    phases = (
        {"id": "one", "checks": {"unit": check("echo one >> log.txt")}},
        {"id": "two", "checks": {"unit": check("echo two >> log.txt")}},
    )
    # Each run of such a check changes the tree once; the second look finds it changed again.
    desk.write(".gitignore", "log.txt\n")
    desk.begin(*phases, code=0)
    assert (desk.root / "log.txt").read_text() == "one\ntwo\none\n", "an agent worked behind it"


def test_a_check_over_its_time_is_killed_with_all_it_started(desk: "Desk") -> None:
    desk.write("codev/config.toml", "[timeouts]\ncheck = 0.5\n")
    hang = "echo begun; sleep 6131 & setsid sleep 6132 & wait"
    began = time.monotonic()
    desk.begin({"id": "build", "checks": {"unit": check(hang, max_retries=0)}}, code=3)
    assert time.monotonic() - began < 30
    report = desk.facts("CheckEnded")[0]["report"]
    assert "stopped after 0.5 s" in report
    assert "begun" in report
    import subprocess

    left = subprocess.run(
        ["pgrep", "-f", "sleep 613[12]"], capture_output=True, text=True, check=False
    )
    assert left.stdout == ""


def test_a_check_that_changes_files_each_time_never_passes(desk: "Desk") -> None:
    desk.begin({"id": "b", "checks": {"unit": check("date +%N >> f", max_retries=0)}}, code=3)
    assert desk.facts("CheckEnded")[0]["result"] == "unmeasured"


def test_an_approval_needs_fresh_evidence(desk: "Desk") -> None:
    phase = {
        "id": "build",
        "checks": {"unit": check("! test -f broken", about="files")},
        "gate": {"name": "go", "next": None},
    }
    desk.begin(phase, code=3)
    desk.write("broken", "by somebody after the check\n")
    desk.porch("approve", "1", "go")
    desk.porch("resume", "1", code=3)
    assert "build:recheck" in desk.entered()
    assert "complete" not in desk.entered()


@pytest.mark.parametrize("optional", [True, False])
def test_an_optional_check_is_run_and_binds_nobody(desk: "Desk", optional: bool) -> None:
    phase = {"id": "b", "checks": {"unit": check("false", optional=optional, max_retries=0)}}
    desk.begin(phase, code=0 if optional else 3)
    assert results(desk) == [("unit", "failed")]


def test_the_changes_of_a_failed_run_can_be_looked_at_where_files_were_not_committed(
    desk: "Desk",
) -> None:
    desk.protocol("p", {"id": "build", "checks": {"unit": check("false", max_retries=0)}})
    desk.write("mine.txt", "not committed\n")
    desk.porch("run", "p", "0001", "--title", "x", "--no-claude", "--here", code=3)
    [line] = [row for row in desk.porch("pending").out.split("\n") if "what it changed: " in row]
    words = line.partition("what it changed: ")[2].split()
    assert words[:2] == ["git", "diff"]
    desk.git(*words[1:], "--stat")
