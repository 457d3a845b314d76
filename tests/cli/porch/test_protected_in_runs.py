"""V4: what decides a measurement is compared with how a phase found it, and nothing is silent."""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

CONFTEST = "import pytest\n"
TITLE = "what measured this was changed during this phase"
TESTED = {"id": "build", "checks": {"tests": {"command": "true # pytest", "retry_delay": 0}}}
NEXT = {"id": "after", "gate": "look"}
DECLARED = {"protected": ["@tests", "@configuration"]}


def writes(*files: str, **more: str) -> dict[str, Any]:
    return {"write": dict.fromkeys(files, CONFTEST), **more}


def failed_checks(desk: "Desk") -> list[str]:
    facts = desk.facts("CheckEnded")
    return [each["report"] for each in facts if each["result"] == "failed"]


def test_v4_a_conftest_refuses_the_exit_where_the_protocol_declares(desk: "Desk") -> None:
    """The agent is told which file, puts it back, and the run goes on."""
    script = {"build": [writes("conftest.py"), {"delete": ["conftest.py"]}]}
    desk.begin(TESTED, NEXT, top=DECLARED, agents=script, code=3)
    [report] = failed_checks(desk)
    assert "conftest.py" in report
    assert "conftest.py" in desk.prompts()[1]
    assert "after:gate" in desk.entered()
    assert TITLE not in desk.porch("pending").out


def test_v4_where_nothing_is_declared_the_run_goes_on_and_the_gate_says_it(desk: "Desk") -> None:
    script = {"build": [writes("conftest.py", "src.py")]}
    desk.begin(TESTED, NEXT, agents=script, code=3)
    assert failed_checks(desk) == []
    told = " ".join(desk.porch("pending").out.split())
    assert f"{TITLE}: conftest.py (the files were only compared" in told
    assert "src.py" not in told
    [decision] = desk.porch("pending", "--json").json["decisions"]
    assert "conftest.py" in decision["reports"][TITLE]
    assert TITLE in " ".join(desk.porch("status", "1").out.split())


def test_v4_without_a_gate_the_final_report_says_it(desk: "Desk") -> None:
    said = desk.begin(TESTED, agents={"build": [writes("conftest.py")]}, code=0)
    assert f"{TITLE}: conftest.py" in said.out
    assert desk.records()[-1]["v"] >= 1
    [fact] = desk.facts("ExitAccepted")
    assert fact["touched"] == ["conftest.py"]
    assert {r["v"] for r in desk.records() if "touched" in r["fact"]} == {2}


def test_v4_whoever_writes_about_the_work_is_told_what_measured_it(desk: "Desk") -> None:
    pr = {"id": "pr", "artifact": "pr.md"}
    desk.begin(TESTED, pr, agents={"build": [writes("conftest.py")]}, code=0)
    assert "conftest.py" in desk.prompts()[1]
    assert "conftest.py" not in desk.prompts()[0]


@pytest.mark.parametrize(
    "changed, is_allowed",
    [
        ("tests/test_new.py", True),
        ("tests/conftest.py", False),
        ("pytest.ini", False),
        ("codev/config.toml", False),
        ("codev/protocols/p/protocol.json", False),
        ("src/work.py", True),
    ],
)
def test_v4_who_may_write_tests_may_not_write_what_decides_them(
    desk: "Desk", changed: str, is_allowed: bool
) -> None:
    phase = {**TESTED, "may_write": ["@tests"]}
    desk.begin(phase, NEXT, agents={"build": [writes(changed)]}, code=3)
    assert bool(failed_checks(desk)) is not is_allowed


def test_v4_nothing_allows_the_settings_and_the_protocols(desk: "Desk") -> None:
    phase = {**TESTED, "may_write": ["**"]}
    agents = {"build": [{"append": {"codev/config.toml": "\n# more\n"}}]}
    desk.begin(phase, NEXT, agents=agents, code=3)
    assert all("codev/config.toml" in each for each in failed_checks(desk))
    assert len(failed_checks(desk)) == 4


def test_v4_the_program_of_a_check_is_protected(desk: "Desk") -> None:
    desk.write("tools/check.sh", "exit 1\n")
    phase = {"id": "build", "checks": {"own": {"command": "sh tools/check.sh", "retry_delay": 0}}}
    agents = {"build": [{"write": {"tools/check.sh": "exit 0\n"}}]}
    desk.begin(phase, NEXT, agents=agents, code=3)
    assert f"{TITLE}: tools/check.sh" in " ".join(desk.porch("pending").out.split())


@pytest.mark.parametrize(
    "link, target, changed",
    [
        ("conftest.py", "tools/hooks.py", "tools/hooks.py"),
        ("tests", "qa", "qa/expected.json"),
    ],
)
def test_v4_what_a_protected_link_leads_to_is_protected(
    desk: "Desk", link: str, target: str, changed: str
) -> None:
    desk.write(changed, "x = 1\n")
    (desk.root / "between").symlink_to(target)
    (desk.root / link).symlink_to("between")
    desk.begin(TESTED, NEXT, top=DECLARED, agents={"build": [writes(changed), {}]}, code=3)
    assert f"measurement: {changed}. Put" in failed_checks(desk)[0]


def checked_by(command: str) -> dict[str, Any]:
    check = {"command": f"{command}; true # pytest", "retry_delay": 0}
    return {"id": "build", "checks": {"tests": check}}


LEAVES_CONFTEST = "echo x = 1 > conftest.py; echo y > out.txt"


def test_v4_a_check_that_changes_what_decides_a_measurement_is_not_believed(desk: "Desk") -> None:
    """The agent wrote tests, and the tests write the rest."""
    desk.begin(checked_by(LEAVES_CONFTEST), NEXT, top=DECLARED, agents={}, code=3)
    fact = desk.facts("CheckEnded")[-1]
    assert (fact["result"], fact["touched"]) == ("unmeasured", ["conftest.py"])
    assert fact["report"].startswith("the check itself changed what decides a measurement: conft")
    assert "after" not in desk.entered()
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=3)
    assert f"{TITLE}: conftest.py" in " ".join(desk.porch("pending").out.split())


def test_v4_a_check_that_does_so_is_named_at_the_gate_where_nothing_is_declared(
    desk: "Desk",
) -> None:
    agents = {"build": [writes("pytest.ini")]}
    desk.begin(checked_by(LEAVES_CONFTEST), NEXT, agents=agents, code=3)
    assert [each["result"] for each in desk.facts("CheckEnded")] == ["passed"]
    told = " ".join(desk.porch("pending").out.split())
    assert f"{TITLE}: pytest.ini, conftest.py (" in told
    assert {r["v"] for r in desk.records() if "touched" in r["fact"]} == {2}


def test_v4_a_check_may_put_a_file_back(desk: "Desk") -> None:
    agents = {"build": [writes("pytest.ini")]}
    desk.begin(checked_by("rm -f pytest.ini"), NEXT, agents=agents, code=3)
    assert "touched" not in desk.facts("CheckEnded")[0]


def test_v4_a_change_of_an_earlier_attempt_is_not_forgotten(desk: "Desk") -> None:
    """The comparison is with the entry of the phase, not with that of the last attempt."""
    desk.begin(
        TESTED,
        NEXT,
        top=DECLARED,
        agents={"build": [writes("conftest.py"), writes("a.py")]},
        code=3,
    )
    assert len(failed_checks(desk)) == 4
    assert "failed:build" in desk.entered()


def test_v4_a_phase_that_is_begun_again_does_not_forget_what_it_changed(desk: "Desk") -> None:
    check = {"command": "test -f ok.txt", "on_fail": "build", "retry_delay": 0}
    later = {"id": "after", "checks": {"ok": check}, "gate": "look"}
    agents = {"build": [writes("conftest.py"), writes("ok.txt")]}
    desk.begin(TESTED, later, agents=agents, code=3)
    assert desk.entered().count("build") == 2
    assert f"{TITLE}: conftest.py" in " ".join(desk.porch("pending").out.split())


def test_v4_a_file_that_the_agent_lets_git_ignore_is_seen_all_the_same(desk: "Desk") -> None:
    hide = {"append": {".gitignore": "conftest.py\n"}, **writes("conftest.py")}
    desk.begin(TESTED, NEXT, top=DECLARED, agents={"build": [hide]}, code=3)
    assert "measurement: conftest.py. Put" in failed_checks(desk)[0]


def test_v4_a_file_that_was_ignored_before_is_nobodys_change(desk: "Desk") -> None:
    desk.write(".gitignore", "pytest.ini\n.venv/\n")
    desk.write("pytest.ini", "[pytest]\n")
    desk.write(".venv/lib/conftest.py", "x = 1\n")
    agents = {"build": [writes("a.py", ".venv/lib/test_b.py")]}
    desk.begin(TESTED, NEXT, top=DECLARED, agents=agents, code=3)
    assert failed_checks(desk) == []


@pytest.mark.parametrize("top", [{}, DECLARED])
def test_v4_a_beginning_that_is_gone_is_said_and_never_passes(
    desk: "Desk", top: dict[str, Any]
) -> None:
    gone = {"run": ["rm", "-r", ".git/porch/runs/0001-x/phase-entries"], **writes("conftest.py")}
    desk.begin(TESTED, NEXT, top=top, agents={"build": [gone]}, code=3)
    told = " ".join(desk.porch("pending").out.split())
    assert "what measures this could not be compared: porch does not know how the files" in told
    assert TITLE not in told
    assert all("touched" not in fact for fact in desk.facts("ExitAccepted"))
    results = [each["result"] for each in desk.facts("CheckEnded")]
    assert results == (["unmeasured", "passed"] if top else ["passed"])


def test_v4_a_question_does_not_launder_a_change(desk: "Desk") -> None:
    """An agent that asks a person in between is compared with the same beginning."""
    agents = {"build": [writes("conftest.py", signal="BLOCKED: may I?"), {"say": "done"}]}
    desk.begin(TESTED, NEXT, top=DECLARED, agents=agents, code=3)
    desk.porch("answer", "1", "blocked:build", "you may not")
    desk.porch("resume", "1", code=3)
    assert all("conftest.py" in each for each in failed_checks(desk))
    assert failed_checks(desk)


def test_v4_what_a_person_changes_while_the_run_waits_is_theirs(desk: "Desk") -> None:
    agents = {"build": [{"signal": "BLOCKED: the test is wrong"}, {"say": "done"}]}
    desk.begin(TESTED, NEXT, top=DECLARED, agents=agents, code=3)
    desk.write("tests/test_a.py", "def test_a(): pass\n")
    desk.porch("answer", "1", "blocked:build", "I wrote it")
    desk.porch("resume", "1", code=3)
    assert failed_checks(desk) == []
    assert TITLE not in desk.porch("pending").out


def test_v4_who_says_retry_lets_pass_what_was_refused_and_only_that(desk: "Desk") -> None:
    more = [writes("conftest.py", "pytest.ini"), {"delete": ["pytest.ini"]}]
    agents = {"build": [*[writes("conftest.py")] * 4, *more]}
    desk.begin(TESTED, NEXT, top=DECLARED, agents=agents, code=3)
    assert len(failed_checks(desk)) == 4
    desk.porch("retry", "1")
    desk.porch("resume", "1", code=3)
    assert "measurement: pytest.ini. Put" in failed_checks(desk)[-1]
    assert "after:gate" in desk.entered()
    assert f"{TITLE}: conftest.py" in " ".join(desk.porch("pending").out.split())


def test_v4_a_dependency_is_work_and_a_line_for_the_runner_is_not(desk: "Desk") -> None:
    desk.write("pyproject.toml", "[project]\nname = 'x'\n")
    added = {"append": {"pyproject.toml": "dependencies = ['y']\n"}}
    bent = {"append": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k not'\n"}}
    desk.begin(TESTED, NEXT, top=DECLARED, agents={"build": [added]}, code=3)
    assert failed_checks(desk) == []
    desk.porch("stop", "1")
    desk.protocol("q", TESTED, NEXT, **DECLARED)
    script = desk.script(agents={"build": [bent]})
    desk.porch("run", "q", "0002", "--title", "y", "--here", "--script", script, code=3)
    reports = [f["report"] for f in desk.facts("CheckEnded", "0002-y") if f["result"] == "failed"]
    assert "pyproject.toml" in reports[0]


def test_v4_outside_a_repository_nothing_can_be_compared_and_that_is_said(
    desk: "Desk", tmp_path: "Path", monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "plain"
    place.mkdir()
    desk.root = place
    monkeypatch.chdir(place)
    desk.begin(TESTED, top=DECLARED, agents={"build": [writes("conftest.py")]}, code=0)
    text = (place / "codev/.porch/runs/0001-x/journal.jsonl").read_text()
    assert "outside a git repository nothing can be compared" in text
