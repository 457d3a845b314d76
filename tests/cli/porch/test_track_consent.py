"""Consent in a track, from the outside: what it is for, how long it holds, and who may give it."""

import json
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import Desk
from tests.cli.porch.test_tracks_in_runs import RUN, put, run, statuses
from tests.plans import AI, confirm, phase, plan, task
from tests.repositories import sh

TWO = plan(phase("P1", task("T1.1", confirm()), task("T1.2")), phase("P2", task("T2.1")))
WRITES = {"T1_1": {"write": {"a.txt": "1\n"}}, "T1_2": {"write": {"b.txt": "1\n"}}}


def approve(desk: Desk, name: str = "", code: int = 0) -> str:
    words = ("approve", "login", *([name] if name else []), "--as-person")
    return desk.porch(*words, code=code).all


def at_second(desk: Desk, **agents: object) -> Path:
    """T1.1 is confirmed, and nothing else has begun."""
    file = put(desk, TWO)
    run(desk, 3, agents={**WRITES, **agents})
    approve(desk)
    assert statuses(file, "confirm") == ["DONE"]
    return file


def test_every_answer_of_a_confirmation_says_what_follows(desk: Desk) -> None:
    file = put(desk, TWO)
    run(desk, 3, agents=WRITES)
    (asked,) = desk.porch("pending", "--json").json["decisions"]
    then = {option["answer"]: option["then"] for option in asked["options"]}
    assert then["approved"] == then["waived"] == "starts T1.2 Name of T1.2"
    assert then["rejected"] == "goes back to T1.1 Name of T1.1"
    assert then["declined"] == then["stopped"] == "asks you: T1.1-after: halted"
    approve(desk)
    desk.porch("resume", "login", code=None)
    assert statuses(file, "task")[:2] == ["DONE", "DONE"]


def test_a12_work_that_is_changed_after_its_confirmation_is_asked_again(desk: Desk) -> None:
    file = at_second(desk)
    (desk.root / "a.txt").write_text("2\n")
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]
    told = desk.porch("pending").out
    assert "changed since T1.1-after was approved: a.txt" in told
    assert "-1" in told
    assert "+2" in told
    assert desk.started("agent", RUN) == ["T1_1#1/agent/task/0"], "nothing began meanwhile"
    approve(desk)
    desk.porch("resume", "login")
    assert statuses(file, "confirm") == ["DONE"]


def test_a12_what_is_put_back_needs_no_answer(desk: Desk) -> None:
    file = at_second(desk)
    (desk.root / "a.txt").unlink()
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]
    (desk.root / "a.txt").write_text("1\n")
    desk.porch("resume", "login")
    assert statuses(file, "task", "confirm") == ["DONE"] * 4


def test_a12_a_later_task_that_changes_confirmed_files_is_told_before_the_phase_closes(
    desk: Desk,
) -> None:
    file = at_second(desk, T1_2={"write": {"a.txt": "other\n"}})
    desk.porch("resume", "login", code=3)
    assert desk.started("agent", RUN)[-1] == "T1_2#1/agent/task/0", "the next phase has not begun"
    assert statuses(file, "confirm") == ["BLOCKED"]
    desk.porch("reject", "login", "T1.1-after", "--reason", "keep mine", "--as-person")
    desk.porch("resume", "login", code=3)
    started = [each.partition("#")[0] for each in desk.started("agent", RUN)]
    assert started == ["T1_1", "T1_2", "T1_1"], "what was done behind it stays done"
    assert "keep mine" in desk.prompts(RUN)[-1]


def test_a12_the_last_phase_closes_only_over_what_was_confirmed(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1", confirm()), task("T1.2"))))
    run(desk, 3, agents={**WRITES, "T1_2": {"write": {"a.txt": "other\n"}}})
    approve(desk)
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]
    approve(desk)
    assert "complete" in desk.porch("resume", "login").all


def test_a12_whoever_confirms_a_later_version_has_confirmed_it_for_all(desk: Desk) -> None:
    both = plan(phase("P1", task("T1.1", confirm()), task("T1.2", confirm())))
    file = put(desk, both)
    run(desk, 3, agents={**WRITES, "T1_2": {"write": {"a.txt": "other\n"}}})
    approve(desk)
    desk.porch("resume", "login", code=3)
    assert "T1.2: changed a.txt" in desk.porch("pending").out
    approve(desk)
    assert "complete" in desk.porch("resume", "login").all
    assert statuses(file, "confirm") == ["DONE", "DONE"]


def test_a12_behind_a_closed_phase_files_are_free(desk: Desk) -> None:
    file = at_second(desk, T2_1={"write": {"a.txt": "next phase\n"}})
    assert "complete" in desk.porch("resume", "login").all
    assert statuses(file, "confirm") == ["DONE"]


def test_a12_statuses_blanks_and_comments_are_no_change(desk: Desk) -> None:
    file = at_second(desk)
    text = file.read_text().replace("><task", ">\n  <!-- mine -->\n  <task")
    file.write_text(text.replace("</plan>", "\n</plan>\n"))
    assert "complete" in desk.porch("resume", "login").all


def test_a12_a_criterion_that_is_edited_after_the_confirmation_is_asked_again(desk: Desk) -> None:
    inside = "<acceptance_criteria><criterion>it works</criterion></acceptance_criteria>"
    text = plan(phase("P1", task("T1.1", inside, confirm()), task("T1.2")))
    file = put(desk, text)
    run(desk, 3, agents=WRITES)
    approve(desk)
    file.write_text(file.read_text().replace("it works", "it works well"))
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]


def test_a12_files_of_all_attempts_are_confirmed_and_links_are_what_they_name(desk: Desk) -> None:
    file = put(desk, TWO)
    first = {"write": {"a.txt": "1\n"}, "run": [["ln", "-s", "a.txt", "link"]]}
    run(
        desk,
        3,
        agents={"T1_1": [first, {"write": {"b.txt": "1\n"}}]},
        decisions={"T1.1-after": [{"reject": "more"}, {"wait": True}]},
    )
    data = desk.porch("pending", "--json").json
    (asked,) = data["decisions"]
    assert asked["artifacts"] == ["tracks/login/plan.xml#T1.1", "a.txt", "link/@link", "b.txt"]
    approve(desk)
    (desk.root / "link").unlink()
    (desk.root / "link").symlink_to("b.txt")
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]


def test_a12_a_file_with_the_name_of_a_part_of_a_plan_is_a_file(desk: Desk) -> None:
    odd = "docs/plan.xml#T1.1"
    file = put(desk, TWO)
    run(desk, 3, agents={"T1_1": {"write": {odd: "1\n"}}})
    assert f"read: {odd}\n" in desk.porch("pending").out
    approve(desk)
    (desk.root / odd).write_text("2\n")
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]


def test_a15_a_task_of_a_complete_track_is_reopened(desk: Desk) -> None:
    file = put(desk, plan(phase("P1", task("T1.1", confirm()), task("T1.2"), confirm())))
    yes = {"approve": True}
    run(desk, agents={"*": {"append": {"a.txt": "x"}}}, decisions={"*": [yes]})
    assert "<status>completed</status>" in file.read_text()
    told = desk.porch("reopen", "login", "T1.1", "--reason", "it broke", "--as-person").all
    assert "T1.1 is open again" in told
    assert statuses(file, "task", "confirm") == ["TODO", "IN_PROGRESS", "TODO", "DONE"]
    assert "<status>in_progress</status>" in file.read_text()
    desk.porch("resume", "login")
    started = [each.partition("#")[0] for each in desk.started("agent", RUN)]
    assert started == ["T1_1", "T1_2", "T1_1"]
    assert desk.entered(RUN)[-5:] == ["T1_1", "T1_1-after", "T1_2", "P1-after", "complete"]
    assert "it broke" in desk.prompts(RUN)[-1]
    assert statuses(file, "task", "confirm") == ["DONE"] * 4


def test_a15_what_is_abandoned_stays_so(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    stop = {"T1.1-after": [{"decline": True}], "T1.1-after:halted": [{"stop": True}]}
    run(desk, None, decisions=stop)
    told = desk.porch("reopen", "login", "T1.1", "--reason", "x", "--as-person", code=None).all
    assert "already abandoned" in told


def test_a19_a_run_that_nobody_attends_may_decline_instead_of_waiting(desk: Desk) -> None:
    desk.write("codev/config.toml", '[track]\nunattended = "deny"\n')
    file = put(desk, plan(phase("P1", task("T1.1", confirm(when="both")))))
    told = run(desk, 3, decisions={"T1.1-before": [{"approve": True}]})
    assert statuses(file, "task", "confirm") == ["BLOCKED", "BLOCKED"]
    lines = (desk.root / "tracks/login/confirmations.jsonl").read_text().splitlines()
    last = json.loads(lines[-1])
    assert (last["gate"], last["verdict"], last["channel"], last["who"]) == (
        "T1.1-after", "declined", "policy", "policy",
    ), told  # fmt: skip
    desk.porch("ask-again", "login", "T1.1-after", "--reason", "I am here", "--as-person")
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["IN_PROGRESS"], "a person is there now, and is waited for"
    approve(desk)


def test_a19_who_was_killed_before_declining_declines_when_it_comes_again(desk: Desk) -> None:
    desk.write("codev/config.toml", '[track]\nunattended = "deny"\n')
    file = put(desk, plan(phase("P1", task("T1.1", confirm()))))
    words = ("run", "codument", "tracks/login", "--here", "--script", desk.script())
    dead = desk.call(*words, code=None, PORCH_CRASH_AT="wish.before-write")
    assert dead.code == -signal.SIGKILL
    assert statuses(file, "confirm") != ["BLOCKED"]
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]
    lines = (desk.root / "tracks/login/confirmations.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["channel"] == "policy"


def test_a19_no_setting_confirms(desk: Desk) -> None:
    for word in ("approve", "auto", "yes"):
        desk.write("codev/config.toml", f'[track]\nunattended = "{word}"\n')
        put(desk, plan(phase("P1", task("T1.1", confirm()))))
        assert "park" in run(desk, 2)


def test_a6_the_last_questions_of_a_phase_come_in_one_message(desk: Desk) -> None:
    desk.write("codev/config.toml", '[track]\ncoalesce = "last-task"\n')
    file = put(desk, plan(phase("P1", task("T1.1", confirm()), confirm())))
    run(desk, 3, agents={"T1_1": WRITES["T1_1"]})
    told = " ".join(desk.porch("pending").out.split())
    assert told.count("Each needs an answer of its own") == 2
    assert "T1.1-after" in told
    assert "P1-after" in told
    refused = desk.porch("approve", "login", "--as-person", code=None)
    assert refused.code != 0, "which of the two is not guessed"
    approve(desk, "T1.1-after")
    assert statuses(file, "confirm") == ["IN_PROGRESS", "DONE"]
    approve(desk, "P1-after")
    desk.porch("resume", "login", code=None)
    assert statuses(file, "confirm") == ["DONE", "DONE"]
    assert "<status>completed</status>" in file.read_text()


WAVES = (
    plan(
        phase(
            "P1",
            '<waves><wave id="W1"/></waves>',
            task("T1.1", confirm(when="both")).replace("<task ", '<task wave="W1" '),
            task("T1.2", confirm(AI)).replace("<task ", '<task wave="W1" '),
            task("T1.3").replace("<task ", '<task wave="W1" '),
        )
    )
).replace("</metadata>", "<execution_mode>wave</execution_mode></metadata>")


def test_a8_siblings_in_a_wave_go_on_while_one_waits(desk: Desk) -> None:
    file = put(desk, WAVES)
    run(desk, 3, agents={"*": {"append": {"a.txt": "x"}}})
    assert statuses(file, "task") == ["TODO", "DONE", "DONE"]
    assert statuses(file, "confirm") == ["IN_PROGRESS", "DONE"]
    approve(desk)
    desk.porch("resume", "login", code=3)
    assert statuses(file, "task") == ["IN_PROGRESS", "DONE", "DONE"]
    approve(desk)
    desk.porch("resume", "login", code=None)
    assert statuses(file, "task", "confirm") == ["DONE"] * 5


@pytest.mark.parametrize("words", ["status", "pending"])
def test_a_wave_is_shown_in_words(desk: Desk, words: str) -> None:
    put(desk, WAVES)
    run(desk, 3)
    told = desk.porch(words, *(["login"] if words == "status" else [])).out
    assert "T1.1-before" in told
    assert "envoy" not in told


def test_d7_the_status_of_the_track_follows_its_tasks_and_is_never_believed(desk: Desk) -> None:
    text = plan(phase("P1", task("T1.1", confirm())), status="completed")
    file = put(desk, text)
    run(desk, 3)
    assert "<status>in_progress</status>" in file.read_text()
    approve(desk)
    desk.porch("resume", "login", code=None)
    assert "<status>completed</status>" in file.read_text()


def test_d6_times_are_written_in_utc(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    run(desk, decisions={"*": {"approve": True}})
    (line,) = (desk.root / "tracks/login/confirmations.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert told["asked_at"].endswith("Z")
    assert told["asked_at"][10] == "T"
    desk.porch("plan", "archive", "tracks/login", "--as-person")
    (kept,) = (desk.root / "tracks/archive").glob("*/*-login/archive.json")
    assert json.loads(kept.read_text())["at"].endswith("Z")


def test_a20_a_confirmed_phase_names_how_far_each_of_its_tasks_is(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1"), task("T1.2", status="CANCELLED"), confirm())))
    run(desk, 3)
    assert "tasks: T1.1 DONE, T1.2 CANCELLED" in " ".join(desk.porch("pending").out.split())


def test_e_the_worker_moves_no_gate(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(desk, plan(phase("P1", task("T1.1", confirm()))))
    run(desk, 3)
    monkeypatch.setenv("CLAUDECODE", "1")
    for words in (
        ("approve", "login"),
        ("reject", "login", "--reason", "x"),
        ("answer", "login", "T1.1-after", "yes"),
        ("approve", "login", "--override", "x"),
    ):
        desk.porch(*words, code=2)
    assert statuses(file, "confirm") == ["IN_PROGRESS"]


def test_a12_of_many_changed_files_some_are_named_and_all_are_confirmed(desk: Desk) -> None:
    file = put(desk, TWO)
    many = {f"many/{n:03}.txt": "1\n" for n in range(60)}
    run(desk, 3, agents={"T1_1": {"write": many}})
    told = desk.porch("pending").out
    assert "and 10 more" in told
    assert "read: 31 more files" in told
    approve(desk)
    for n in range(60):
        (desk.root / f"many/{n:03}.txt").write_text("2\n")
    desk.porch("resume", "login", code=3)
    assert statuses(file, "confirm") == ["BLOCKED"]
    told = " ".join(desk.porch("pending").out.split())
    assert "many/019.txt, and 40 more" in told
    assert told.count("(now)") == 20


def finish(desk: Desk, *more: str, code: int = 0) -> str:
    return desk.porch("finish", "login", "--merge", *more, code=code).all


def test_what_the_last_confirmation_writes_into_the_plan_is_work_of_the_run(desk: Desk) -> None:
    """X3: finish called it changed after the end, and asked for --accept-changes."""
    put(desk, plan(phase("P1", task("T1.1", confirm()))))
    sh(desk.root, "add", "-A")
    sh(desk.root, "commit", "-qm", "A plan")
    script = desk.script(agents={"T1_1": WRITES["T1_1"]})
    desk.porch("run", "codument", "tracks/login", "--script", script, code=3)
    approve(desk)
    assert "after the run ended" not in desk.porch("finish", "login").out
    finish(desk)
    merged = sh(desk.root, "show", "main:tracks/login/plan.xml")
    assert (merged.count('"DONE"'), '"IN_PROGRESS"' in merged) == (2, False)
    assert "T1.1-after" in sh(desk.root, "show", "main:tracks/login/confirmations.jsonl")


def walk_in_worktree(desk: Desk, agents: Mapping[str, object]) -> None:
    put(desk, TWO)
    sh(desk.root, "add", "-A")
    sh(desk.root, "commit", "-qm", "A plan")
    script = desk.script(agents=agents, decisions={"*": {"approve": True}})
    desk.porch("run", "codument", "tracks/login", "--worktree", "--script", script)


def test_a12_work_of_a_track_is_delivered_as_it_was_confirmed(desk: Desk) -> None:
    walk_in_worktree(desk, {**WRITES, "T2_1": {"write": {"a.txt": "of the next phase\n"}}})
    finish(desk)
    assert (desk.root / "a.txt").read_text() == "of the next phase\n"
    told = desk.porch("reopen", "login", "T1.1", "--reason", "x", "--as-person", code=None).all
    assert "already complete" in told, "what was delivered is not reopened"


def test_a15_a_track_that_was_archived_is_not_reopened(desk: Desk) -> None:
    put(desk, plan(phase("P1", task("T1.1"))))
    run(desk)
    desk.porch("plan", "archive", "tracks/login", "--as-person")
    told = desk.porch("reopen", "login", "T1.1", "--reason", "x", "--as-person", code=2).err
    assert "is not the directory of a track" in told
