"""Tracks from the outside: a plan is walked, people answer, and its file says how far it is."""

import json
import signal
from pathlib import Path

import pytest

from porch.text.nodes import ElementNode, ScalarNode
from porch.text.xml_tree import read_xml
from tests.cli.conftest import Desk
from tests.plans import AI, confirm, phase, plan, task

RUN = "track_login"
PLAN = "tracks/login/plan.xml"
NESTED = plan(
    phase("P1", confirm(when="both"), task("T1.1", confirm(when="both")), task("T1.2", confirm(AI)))
)


def put(desk: Desk, text: str) -> Path:
    return desk.write(PLAN, text)


def statuses(file: Path, *names: str) -> list[str]:
    """All statuses of elements with these names, in the order of the file."""
    found = []
    open_ = [read_xml(file.read_text(), PLAN)]
    while open_:
        element = open_.pop(0)
        if element.name in names:
            found += [text for key, text in attributes(element) if key == "status"]
        open_ = [*element.children, *open_]
    return found


def attributes(element: ElementNode) -> list[tuple[str, str]]:
    return [
        (e.key.text, e.value.text) for e in element.attributes if isinstance(e.value, ScalarNode)
    ]


def run(desk: Desk, code: int | None = 0, **parts: object) -> str:
    script = desk.script(**parts)
    return desk.porch(
        "run", "codument", "tracks/login", "--here", "--script", script, code=code
    ).all


@pytest.mark.req("C-026", "C-032", "C-033", "C-034", "C-035", "C-047", "C-052")
def test_a_track_with_nested_confirms_is_walked_to_its_end(desk: Desk) -> None:
    file = put(desk, NESTED)
    told = run(
        desk,
        agents={
            "T1_1": [{"write": {"a.txt": "1"}}, {"write": {"a.txt": "2"}}],
            "T1_2": [{"write": {"b.txt": "1"}}, {"write": {"b.txt": "2"}}],
        },
        reviews={"T1_2-after-ai": {"checker": [{"blocking": ["it leaks"]}, {"blocking": []}]}},
        decisions={
            "T1.1-after": [{"reject": "use 2"}, {"approve": True}],
            "T1.2-after-ai:issues": [{"retry": True}],
            "P*": [{"approve": True}],
            "T1.1-before": [{"approve": True}],
        },
    )
    assert "complete" in told
    assert statuses(file, "task", "confirm") == ["DONE"] * 5
    assert "<status>completed</status>" in file.read_text()
    assert ((desk.root / "a.txt").read_text(), (desk.root / "b.txt").read_text()) == ("2", "2")
    assert desk.entered(RUN) == [
        "P1-before", "T1_1-before", "T1_1", "T1_1-after", "T1_1", "T1_1-after", "T1_2",
        "T1_2-after-ai", "T1_2-after-ai:issues", "T1_2", "T1_2-after-ai", "P1-after", "complete",
    ]  # fmt: skip
    lines = (desk.root / "tracks/login/confirmations.jsonl").read_text().splitlines()
    verdicts = [(json.loads(line)["gate"], json.loads(line)["verdict"]) for line in lines]
    assert verdicts == [
        ("P1-before", "confirmed"),
        ("T1.1-before", "confirmed"),
        ("T1.1-after", "changes"),
        ("T1.1-after", "confirmed"),
        ("T1.2-after-ai", "changes"),
        ("T1.2-after-ai", "asked again"),
        ("T1.2-after-ai", "confirmed"),
        ("P1-after", "confirmed"),
    ]


def test_a14_the_engine_writes_statuses_and_not_a_byte_beside_them(desk: Desk) -> None:
    text = (
        '\ufeff<?xml version="1.0"?>\r\n<!-- ours: status="TODO" -->\r\n<plan >\r\n'
        "<metadata><track_id>login</track_id>\t<status> new </status></metadata>\r\n"
        "<phase id='P1'  name=\"é\"><task id='T1.1'\r\n   status='TODO' x:y='&amp;'>go"
        "<odd/></task></phase></plan>\r\n<!-- end -->"
    ).replace("x:y", "own")
    file = desk.root / PLAN
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    run(desk)
    expected = text.replace("status='TODO'", "status='DONE'").replace(" new ", " completed ")
    assert file.read_bytes() == expected.encode()


def test_a14_an_agent_that_writes_the_plan_is_put_back(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1"), confirm())))
    forged = plan(phase("P1", task("T1.1", status="DONE"), confirm(status="DONE")))
    forged = forged.replace("Do T1.1", "Do nothing")
    run(desk, 3, agents={"T1_1": {"write": {PLAN: forged, "a.txt": "1"}}})
    assert statuses(file, "task", "confirm") == ["IN_PROGRESS", "DONE"]
    assert "Do T1.1" in file.read_text()
    assert (desk.run_dir(RUN) / "plan.edited-1.xml").read_text() == forged
    (fact,) = desk.facts("ExitAccepted", RUN)
    assert "put back" in fact["notes"][0]
    assert not (desk.run_dir(RUN) / "plan.kept").exists()


def test_a14_a_plan_that_an_agent_removed_is_there_again(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1"))))
    run(desk, agents={"T1_1": {"delete": [PLAN]}})
    assert statuses(file, "task") == ["DONE"]


ODD_PLANS = {
    "a pipe": [["rm", PLAN], ["mkfifo", PLAN]],
    "a directory": [["rm", PLAN], ["mkdir", "-p", f"{PLAN}/inside"]],
    "an endless file": [["rm", PLAN], ["ln", "-s", "/dev/zero", PLAN]],
    "a link to itself": [["rm", PLAN], ["ln", "-s", "plan.xml", PLAN]],
    "a pipe for the records": [["mkfifo", "tracks/login/confirmations.jsonl"]],
}


@pytest.mark.parametrize("what", ODD_PLANS)
def test_a14_an_agent_that_puts_something_else_in_its_place_holds_nobody_up(
    desk: Desk, what: str
) -> None:
    file = put(desk, plan(phase("P1", task("T1.1"), confirm())))
    run(desk, 3, agents={"T1_1": {"run": ODD_PLANS[what]}})
    assert statuses(file, "task", "confirm") == ["IN_PROGRESS", "DONE"]
    desk.porch("approve", "login", "--as-person")
    desk.porch("resume", "login", code=None)
    assert statuses(file, "task", "confirm") == ["DONE", "DONE"]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_d1_a_plan_in_another_encoding_is_refused_in_words(desk: Desk, encoding: str) -> None:
    text = plan(phase("P1", task("T1.1"))).replace("People", "Leute für")
    file = put(desk, "x")
    file.write_bytes(text.encode(encoding))
    for words in (
        ("run", "codument", "tracks/login"),
        ("plan", "lint", "tracks/login"),
        ("plan", "show", "tracks/login"),
        ("plan", "repair", "tracks/login"),
        ("protocols", "graph", "tracks/login"),
    ):
        assert "not UTF-8" in desk.porch(*words, code=2).err


def test_a14_a_track_that_an_agent_removed_or_moved_elsewhere_is_not_written_there(
    desk: Desk, tmp_path: Path
) -> None:
    file = put(desk, plan(phase("P1", task("T1.1"), task("T1.2", confirm()))))
    away = tmp_path / "elsewhere"
    away.mkdir()
    (away / "plan.xml").write_text("mine")
    moved = [["rm", "-r", "tracks/login"], ["ln", "-s", str(away), "tracks/login"]]
    run(
        desk, None, agents={"T1_1": {"run": [["rm", "-r", "tracks/login"]]}, "T1_2": {"run": moved}}
    )
    assert desk.entered(RUN)[:2] == ["T1_1", "T1_2"], "the first is put right by porch itself"
    assert (away / "plan.xml").read_text() == "mine"
    assert file.parent.is_symlink()


def test_a_plan_that_people_broke_stops_nobody_and_is_told_once(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1"), confirm())))
    run(desk, 3)
    file.write_text(file.read_text().replace("People", "People & others"))
    refused = desk.porch("approve", "login", "--as-person", code=1).err
    assert "plan.xml#P1 is missing" in refused, "nobody can have read it"
    told = desk.porch("reject", "login", "--reason", "mend the plan", "--as-person").all
    assert told.count("could not be written") == 1
    desk.porch("resume", "login", code=None)


@pytest.mark.req("C-037", "C-029", "C-030")
def test_a20_people_see_what_was_done_and_what_the_agent_says(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    run(desk, 3, agents={"T1_1": {"write": {"a.txt": "1"}, "say": "All is well."}})
    told = " ".join(desk.porch("pending").out.split())
    message = "Confirm (human) task T1.1: Name of T1.1. When=after. Summary: changed a.txt."
    assert f"{message} Continue? (Y/N)" in told
    assert "T1.1: changed a.txt" in told
    assert "the agent of T1.1 says: All is well." in told


def test_e13_a_reply_that_says_neither_yes_nor_what_to_do_is_refused_in_these_words(
    desk: Desk,
) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm(when="before")))))
    run(desk, 3)
    for reply, told in (("jaa", "'jaa'"), ("  ", "an empty answer")):
        said = desk.porch("answer", "login", "T1.1-before", reply, "--as-person", code=1).err
        assert f"{told} says neither yes nor no, and not what has to change" in said
    assert "T1.1-before" in desk.porch("pending").out
    assert (
        "T1.1-before: declined"
        in desk.porch("answer", "login", "T1.1-before", "nein", "--as-person").out
    )


def test_e9_what_did_not_block_is_told_at_the_end_and_in_the_plan(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm(AI)))))
    report = {"blocking": [], "non_blocking": ["no end"]}
    told = run(
        desk,
        agents={"T1_1": {"write": {"a.txt": "1"}}},
        reviews={"T1_1-after-ai": {"checker": [report]}},
    )
    assert "\n  noted by checker at T1.1-after-ai: no end\n" in told
    assert (
        "\n          noted by checker: no end\n" in desk.porch("plan", "show", "tracks/login").out
    )
    (first,) = json.loads(desk.porch("plan", "show", "tracks/login", "--json").out)["phases"]
    (gate,) = first["tasks"][0]["confirms"]
    assert gate == {
        "gate": "T1.1-after-ai",
        "status": "DONE",
        "notes": ["noted by checker: no end"],
    }


def test_a12_a_confirmed_task_that_is_edited_is_asked_again(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1", confirm(when="before")))))
    run(desk, 3)
    desk.porch("approve", "login", "--as-person")
    assert statuses(file, "confirm") == ["DONE"]
    file.write_text(file.read_text().replace("Do T1.1", "Do T1.1 and more"))
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]
    told = desk.porch("pending").out
    assert "+  Do T1.1 and more" in told.replace("    ", "  ")
    assert desk.started("agent", RUN) == []


def test_a13_a_waiver_is_told_wherever_it_counts(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", confirm(), task("T1.1", confirm()))))
    run(desk, 3, agents={"T1_1": {"write": {"a.txt": "1"}}})
    desk.porch("cancel", "login", "P1-after", "--reason", "no time", "--as-person")
    desk.porch("cancel", "login", "T1.1-after", "--reason", "a demo", "--as-person")
    assert statuses(file, "confirm") == ["CANCELLED", "CANCELLED"]
    desk.porch("resume", "login")
    told = desk.porch("plan", "archive", "tracks/login", "--as-person").out
    assert "waived: P1-after" in told
    assert "waived: T1.1-after" in told


def test_a13_agents_cannot_waive(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    run(desk, 3)
    monkeypatch.setenv("CLAUDECODE", "1")
    for words in (("cancel", "T1.1-after"), ("reopen", "T1.1"), ("ask-again", "T1.1-after")):
        desk.porch(words[0], "login", words[1], "--reason", "me", code=2)


def test_a15_something_done_is_reopened_with_a_reason(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1"), task("T1.2", confirm()))))
    run(desk, 3, agents={"*": {"append": {"a.txt": "x"}}})
    desk.porch("reopen", "login", "T1.1", "--reason", "it broke", "--as-person")
    assert statuses(file, "task") == ["IN_PROGRESS", "IN_PROGRESS"]
    desk.porch("resume", "login", code=3)
    started = [each.partition("#")[0] for each in desk.started("agent", RUN)]
    assert started == ["T1_1", "T1_2", "T1_1"], "what comes later stays done, and is confirmed"
    assert "it broke" in desk.prompts(RUN)[-1]


def test_a10_a_halted_confirmation_is_asked_again(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    run(desk, 3, decisions={"T1.1-after": [{"decline": True}, {"wait": True}]})
    desk.porch("ask-again", "login", "T1.1-after", "--reason", "look again", "--as-person")
    assert desk.entered(RUN)[-1] == "T1_1-after"


@pytest.mark.req("C-034", "C-035", "C-036")
def test_a10_a_confirmation_is_answered_in_words(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    run(desk, 3, agents={"T1_1": {"append": {"a.txt": "x"}}})

    def answer(*words: str, code: int = 0) -> str:
        return desk.porch("answer", "login", "T1.1-after", *words, "--as-person", code=code).all

    answer("", code=1)
    assert "rejected" in answer("yes, but use the email address")
    desk.porch("resume", "login", code=3)
    assert "use the email address" in desk.prompts(RUN)[-1]
    assert "declined" in answer("N")
    again = ("ask-again", "login", "T1.1-after", "--reason", "look again", "--as-person")
    assert "porch resume login" in desk.porch(*again, code=2).err
    desk.porch("resume", "login", code=3)
    desk.porch(*again)
    desk.porch("resume", "login", code=3)
    assert "approved" in answer("yes")


def test_a18_an_unfinished_track_is_not_archived(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    refused = desk.porch("plan", "archive", "tracks/login", "--as-person", code=1).err
    assert "T1.1-after is TODO" in refused
    assert "T1.1 is TODO" in refused
    desk.porch("plan", "archive", "tracks/login", "--force", code=2)
    words = ("--force", "--reason", "given up", "--as-person")
    told = desk.porch("plan", "archive", "tracks/login", *words).out
    assert "still open: T1.1 is TODO" in told
    assert not (desk.root / "tracks/login").exists()
    (kept,) = (desk.root / "tracks/archive").glob("*/*-login/archive.json")
    assert json.loads(kept.read_text())["reason"] == "given up"


def test_a18_criteria_are_checked_when_a_task_is_done(desk: Desk) -> None:
    inside = "<acceptance_criteria><criterion checked='false'>x</criterion></acceptance_criteria>"
    parts = "<subtasks><subtask id='T1.1.1' name='n' status='TODO'/></subtasks>"
    file = put(desk, plan(phase("P1", task("T1.1", inside, parts))))
    run(desk)
    assert "checked='true'" in file.read_text()
    assert statuses(file, "subtask") == ["DONE"]
    desk.porch("plan", "archive", "tracks/login")


def test_a19_a_run_without_people_parks(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm(when="before")))))
    run(desk, 3)
    assert desk.started("agent", RUN) == []


@pytest.mark.req("C-042", "C-043")
def test_b4_a_reviewer_gets_whole_paths_and_the_form_of_a_report(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm(AI)))))
    run(desk)
    (effect,) = desk.started("review", RUN)
    prompt = desk.prompt(effect, RUN)
    assert f"workspace_dir: {desk.root}\n" in prompt
    assert f"track_dir: {desk.root}/tracks/login\n" in prompt
    assert '"non_blocking": []' in prompt


def test_b1_a_setting_lets_issues_be_fixed_before_anybody_is_asked(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm(AI)))))
    desk.write("codev/config.toml", "[track]\nfix_issues = true\n")
    run(
        desk,
        agents={"T1_1": {"append": {"a.txt": "x"}}},
        reviews={"*": {"checker": [{"blocking": ["it leaks"]}, {"non_blocking": ["a name"]}]}},
    )
    assert desk.entered(RUN) == ["T1_1", "T1_1-after-ai"] * 2 + ["complete"]


def test_a_killed_run_goes_on_with_the_plan_as_porch_left_it(desk: Desk) -> None:
    first = task("T1.1", confirm(when="before"))
    file = put(desk, plan(phase("P1", first, task("T1.2", confirm()))))
    run(desk, 3)
    desk.porch("approve", "login", "--as-person")
    forged = plan(phase("P1", task("T1.1", status="DONE"), task("T1.2", confirm(status="DONE"))))
    hang = {"write": {PLAN: forged}, "hang": True}
    script = desk.script(agents={"T1_1": {"tries": [hang, {"say": "Done."}]}})
    running = desk.start("resume", "login", "--script", script, "--as-person")
    desk.wait_for(lambda: file.read_text() == forged)
    running.send_signal(signal.SIGKILL)
    running.wait(timeout=90)
    desk.porch("resume", "login", "--script", script, "--as-person", code=3)
    assert statuses(file, "task", "confirm") == ["DONE", "DONE", "IN_PROGRESS", "IN_PROGRESS"]
    assert (desk.run_dir(RUN) / "plan.edited-1.xml").read_text() == forged
    desk.porch("approve", "login", "--as-person")
    desk.porch("resume", "login")
    assert statuses(file, "task", "confirm") == ["DONE"] * 4


def test_a_plan_that_was_half_done_elsewhere_goes_on_where_it_was(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1", status="DONE"), task("T1.2"))))
    run(desk)
    assert desk.started("agent", RUN) == ["T1_2#1/agent/task/0"]
    assert statuses(file, "task") == ["DONE", "DONE"]


def test_a_track_xml_is_walked_in_its_own_words(desk: Desk) -> None:
    text = (
        '<Track id="login" xmlns:cdt="urn:codument:v1"><Metadata><Status>new</Status></Metadata>'
        '<TaskSpace><SubNodes><TaskGroup id="g" status="NOT_STARTED"><Hooks><Hook on="phase:after">'
        '<cdt:HumanConfirm/></Hook></Hooks><SubNodes><Task id="a" status="NOT_STARTED"/></SubNodes>'
        "</TaskGroup></SubNodes></TaskSpace></Track>"
    )
    file = desk.write("tracks/login/track.xml", text)
    run(desk, 3)
    assert statuses(file, "TaskGroup", "Task") == ["ACTIVE", "DONE"]


def test_status_and_lists_show_phases_tasks_and_confirmations(desk: Desk) -> None:
    put(desk, NESTED)
    run(desk, 3)
    told = desk.porch("status", "login").out
    for line in ("[>] P1 Name of P1", "[?] P1-before confirmation, IN_PROGRESS", "[ ] T1.2 Name"):
        assert line in told
    shown = desk.porch("plan", "show", "tracks/login").out
    assert "[>] P1-before: IN_PROGRESS" in shown
    data = desk.porch("plan", "show", "tracks/login", "--json").json
    assert data["phases"][0]["tasks"][1]["confirms"] == [
        {"gate": "T1.2-after-ai", "status": "TODO"}
    ]


def test_lint_says_what_is_wrong_and_strict_lets_less_pass(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1a"))))
    assert "plan-odd-id" in desk.porch("plan", "lint", "tracks/login").out
    desk.porch("plan", "lint", PLAN, "--strict", code=2)
    put(desk, plan(phase("P1", task("T1.1", confirm(AI)))))
    assert "'checker' is not an agent" in desk.porch("plan", "lint", PLAN).out


def test_d2_repair_shows_a_difference_and_writes_when_asked(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1"))).replace("log in", "log in & out"))
    desk.porch("run", "codument", "tracks/login", code=2)
    told = desk.porch("plan", "repair", "tracks/login").out
    assert "log in &amp; out" in told
    assert "nothing was written" in told
    desk.porch("plan", "repair", "tracks/login", "--write", "--as-person")
    assert "nothing was changed" in desk.porch("plan", "repair", PLAN).out
    assert "&amp; out" in file.read_text()


MISTAKES = [
    (("run", "codument"), "a track is named by its directory"),
    (("run", "codument", "nowhere"), "has no plan.xml"),
    (("run", "codument", "tracks/login", "--request", "more"), "asks for nothing else"),
    (("cancel", "login", "T9.9", "--reason", "x", "--as-person"), "T9.9"),
    (("reopen", "login", "T1.1-after", "--reason", "x", "--as-person"), "nothing to reopen"),
    (("ask-again", "login", "T1.1-after", "--reason", "x", "--as-person"), "has not halted"),
    (("ask-again", "login", "T1.1", "--reason", "x", "--as-person"), "has not halted"),
]


def test_mistakes_are_said_in_words(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    run(desk, 3)
    for words, told in MISTAKES:
        assert told in desk.porch(*words, code=None).err, words
