"""Gates of a plan: asked once, answered by people in any way, told to whoever waits."""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from porch.errors import BusyError, FailedError, PorchError
from porch.git import worktrees
from porch.machine.plan.prompt_ids import parse_prompt_id
from porch.plan.files import plan_location, plan_snapshot
from porch.plan.findings import findings_files
from porch.plan.gates import file_events, gate_question, gate_wait
from porch.plan.gates.file_events import DirectoryWatch
from porch.plan.prompts import plan_document, plan_merge, prompt_edits
from porch.plan.session import plan_session
from porch.run.decisions import shown_files
from porch.run.verbs import decide, overview
from porch.run.verbs.liveness import complete_status
from porch.run.verbs.read_run import read_run
from porch.store import inbox, lock
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.plan.gatehouse import (
    ALWAYS,
    FILES,
    KEYS,
    NAMES,
    PENDING,
    RUN,
    answered,
    approach,
    archived,
    ask,
    block,
    choose,
    file,
    fill,
    finish,
    log,
    ready,
    say,
    tried,
    wait_for,
    waiting,
)
from tests.plan.yards import (
    Branch,
    carried_out,
    disagreements,
    facts,
    fields,
    git,
    journal,
    mark,
    record,
    refused,
    start,
    write,
)
from tests.repositories import ACCOUNT

EVERY = list(FILES)
FORMS = {
    "findings": "thoughts: fine",
    "plan": "thoughts: fine",
    "testing": "{test_passed: true, thoughts: fine}",
    "logging": "thoughts: fine",
    "variants": "{variants: {A: {decision: main}, B: {decision: discard}}, thoughts: fine}",
}


def give(where: ProjectPaths, gate: str) -> None:
    """The same answer in the file of whichever gate."""
    if gate == "variants":
        path = file(where, gate)
        path.write_text(path.read_text().replace("thoughts: |-\n  ", "thoughts: |-\n  fine"))
        choose(where, A="main", B="discard")
    else:
        finish(where, gate, thoughts="fine")


def asked(where: ProjectPaths) -> list[str]:
    """What `porch pending` lists."""
    shown = overview.list_all_runs(where)
    assert not shown.troubles
    return [each["name"] for picture in shown.rows.values() for each in picture["decisions"]]


@pytest.mark.parametrize("gate", EVERY)
def test_a_gate_asks_once_and_says_where_to_answer(where: ProjectPaths, gate: str) -> None:
    ready(where, gate)
    told = ask(where, gate)
    assert set(told) == PENDING
    assert told["decision"] == f"{NAMES[gate]}#1"
    assert (told["file"], told["waiting_on"]) == (str(file(where, gate)), [])
    before, records = file(where, gate).read_bytes(), len(journal(where).read_bytes())
    again = ask(where, gate)
    assert again["decision"] == told["decision"]
    assert file(where, gate).read_bytes() == before
    assert len(journal(where).read_bytes()) == records
    assert asked(where) == [NAMES[gate]]
    assert NAMES[gate] in overview.show_run(where, "plan/feat/x").text


@pytest.mark.req("E-033", "E-036", "E-048")
@pytest.mark.parametrize("gate", EVERY)
def test_a_finished_file_is_the_answer_and_is_kept(where: ProjectPaths, gate: str) -> None:
    ready(where, gate)
    ask(where, gate)
    give(where, gate)
    typed = file(where, gate).read_bytes()
    told = answered(where, gate)
    assert set(told) == ALWAYS | KEYS[gate]
    assert (told["thoughts"], told["answered_by"], told["channel"]) == ("fine", "unknown", "file")
    kept = archived(where)
    assert typed in kept.values()
    assert len(kept) == (2 if gate in ("testing", "logging") else 1)
    assert not file(where, gate).exists()
    assert asked(where) == []
    said = log(where)
    assert said.count("fine") == said.count(f"<!-- {NAMES[gate]}#1 -->") == 1
    for _ in range(2):
        assert answered(where, gate).keys() == told.keys()
    assert log(where) == said
    assert archived(where) == kept
    assert not file(where, gate).exists()


@pytest.mark.parametrize("gate", EVERY)
def test_a_form_in_words_is_the_same_answer_with_a_name(where: ProjectPaths, gate: str) -> None:
    ready(where, gate)
    ask(where, gate)
    say(where, NAMES[gate], FORMS[gate])
    told = answered(where, gate)
    assert set(told) == ALWAYS | KEYS[gate]
    assert (told["thoughts"], told["answered_by"], told["channel"]) == ("fine", ACCOUNT, "cli")
    assert log(where).count("fine") == 1
    assert len(archived(where)) == (2 if gate in ("testing", "logging") else 1)


@pytest.mark.parametrize("gate", ["findings", "plan", "testing"])
def test_a_gate_can_be_approved(where: ProjectPaths, gate: str) -> None:
    ready(where, gate)
    ask(where, gate)
    say(where, NAMES[gate], "well done", "approved")
    told = answered(where, gate)
    assert set(told) == ALWAYS | KEYS[gate]
    assert (told["thoughts"], told["answered_by"]) == ("well done", ACCOUNT)


@pytest.mark.parametrize("gate", ["logging", "variants"])
def test_what_needs_more_than_a_yes_cannot_be_approved(where: ProjectPaths, gate: str) -> None:
    ready(where, gate)
    ask(where, gate)
    with refused("wish-refused"):
        say(where, NAMES[gate], "", "approved")
    ask(where, gate)


@pytest.mark.parametrize("gate, field", [("plan", "_plan"), ("testing", "")])
def test_a_rejection_says_what_must_change(where: ProjectPaths, gate: str, field: str) -> None:
    ready(where, gate)
    ask(where, gate)
    with refused("wish-refused"):
        say(where, NAMES[gate], "", "rejected")
    say(where, NAMES[gate], "too large", "rejected")
    told = answered(where, gate)
    assert told[f"user_required{field}_changes"] == "too large"
    assert told.get("has_user_required_changes", True)
    assert told.get("passed", False) is False


def test_findings_cannot_be_rejected_as_a_whole(where: ProjectPaths) -> None:
    ready(where, "findings")
    ask(where, "findings")
    with refused("wish-refused"):
        say(where, "findings", "no", "rejected")


@pytest.mark.parametrize("gate", EVERY)
def test_who_waits_is_told_as_soon_as_the_file_is_saved(
    where: ProjectPaths, gate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody looks by himself for so long that only the event can have told.
    monkeypatch.setattr(file_events, "LOOK_S", 1000)
    ready(where, gate)
    ask(where, gate)
    with waiting(partial(block, where, gate, wait_s=60)) as waiter:
        time.sleep(0.3)
        give(where, gate)
        told = waiter.result(90).data
    assert (told["state"], told["channel"]) == ("answered", "file")


def test_who_waits_is_told_of_an_answer_by_command(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_events, "LOOK_S", 1000)
    ready(where, "testing")
    with waiting(partial(block, where, "testing", wait_s=60)) as waiter:
        wait_for(lambda: asked(where) == ["testing:1"])
        say(where, "testing:1", "", "approved")
        assert waiter.result(90).data["passed"] is True


def test_who_waits_in_vain_hears_so_in_time(where: ProjectPaths) -> None:
    ready(where, "testing")
    came = block(where, "testing", wait_s=0.4)
    assert (came.code, came.data["state"]) == (3, "pending")
    assert 400 <= came.data["duration_ms"] < 60_000
    assert asked(where) == ["testing:1"]


def test_waiting_costs_a_look_only_when_something_has_changed(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    looks = []
    real = plan_session.hold_plan

    def counted(*given: Any, **named: Any) -> Any:
        looks.append(given)
        return real(*given, **named)

    monkeypatch.setattr(plan_session, "hold_plan", counted)
    with waiting(partial(block, where, "testing", wait_s=2)) as waiter:
        time.sleep(0.5)
        path = file(where, "testing")
        path.write_text(path.read_text() + "# not yet\n")
        assert waiter.result(90).is_pending
    assert 3 <= len(looks) <= 6


def test_an_answer_between_a_look_and_the_watching_is_not_missed(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(where, "testing")
    ask(where, "testing")

    def watching_late(directories: list[str]) -> Any:
        finish(where, "testing", thoughts="quick")
        return DirectoryWatch(directories)

    monkeypatch.setattr(gate_wait, "DirectoryWatch", watching_late)
    came = block(where, "testing", wait_s=30)
    assert came.data["thoughts"] == "quick"
    assert came.data["duration_ms"] < 4000


@pytest.mark.parametrize(
    "text, seconds",
    [("", 43200), ("1500", 1.5), ("0", 43200), ("-5", 43200), ("1e3", 43200), ("soon", 43200)],
)
def test_how_long_one_waits_who_names_no_time(text: str, seconds: float) -> None:
    assert gate_question.default_wait_s({"BLOCKING_GATE_TIMEOUT_MS": text}) == seconds
    assert gate_question.default_wait_s({}) == 43200


# Preconditions


def test_without_a_plan_there_is_no_gate(where: ProjectPaths) -> None:
    for gate in EVERY:
        with refused("no-plan"):
            block(where, gate)


def test_without_findings_the_findings_gate_is_skipped(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    came = block(where, "findings")
    assert set(came.data) == ALWAYS | KEYS["findings"]
    assert (came.code, came.data["state"], came.data["skipped"]) == (0, "skipped", True)
    assert came.data["answered_by"] is None
    assert asked(where) == []


def test_without_prompts_the_plan_gate_refuses(where: ProjectPaths) -> None:
    plan_document.init_plan(where)
    with refused("no-prompts"):
        block(where, "plan")


@pytest.mark.parametrize("gate", ["testing", "logging", "variants"])
def test_a_gate_of_a_prompt_that_is_not_there_refuses(where: ProjectPaths, gate: str) -> None:
    write(where, "1")
    with refused("not-found"):
        block(where, gate, "7")


@pytest.mark.req("E-033")
def test_nothing_is_tested_that_was_not_recorded(where: ProjectPaths) -> None:
    write(where, "1")
    with refused("invalid-status"):
        block(where, "testing")
    assert asked(where) == []
    ask_anyway = block(where, "testing", force=True)
    assert ask_anyway.is_pending
    posed = [r["fact"] for r in records(where) if r["fact"]["is"] == "QuestionPosed"]
    assert posed[-1]["payload"]["forced"] == ["invalid-status"]
    assert posed[-1]["agent"] == "a1"


def records(where: ProjectPaths) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal(where).read_text().splitlines()]


@pytest.mark.req("E-048")
def test_only_a_fault_that_somebody_works_on_has_logs(where: ProjectPaths) -> None:
    write(where, "1")
    with refused("not-debug"):
        block(where, "logging")
    write(where, "2", debug=True)
    with refused("not-started"):
        block(where, "logging", "2")


def test_what_is_merged_is_not_asked_about(where: ProjectPaths) -> None:
    ready(where, "testing")
    mark(where, "1", status="merged")
    with refused("already-merged"):
        block(where, "testing")


# The findings gate


@pytest.mark.req("E-061")
def test_what_a_person_wants_different_is_with_the_approach_afterwards(where: ProjectPaths) -> None:
    approach(where, "1", questions="Why?|How?")
    approach(where, "2")
    ask(where, "findings")
    fill(
        where,
        "findings",
        ("web_1:", "user_required_changes:", "Less"),
        ("web_1:", "question: |-\n          Why?\n        answer:", "Because"),
        ("web_2:", "user_required_changes:", "More"),
    )
    told = answered(where, "findings")
    # K9: what was asked and not answered is listed.
    assert told["unanswered_questions"] == [
        {"specialist_name": "web", "approach_id": "1", "question": "How?"}
    ]
    assert told["affected_approaches"] == [
        {"specialist_name": "web", "approach_id": "1"},
        {"specialist_name": "web", "approach_id": "2"},
    ]
    found = findings_files.get_approach(
        plan_location.find_current_plan(where), "web", parse_prompt_id(["1"])
    ).approaches[0]
    assert found.pending_refinement == found.user_requested_changes == "Less"
    assert to_builtins(found.user_addressed_questions) == [
        {"question": "Why?", "answer": "Because"}
    ]
    approach(where, "1")
    assert ask(where, "findings")["decision"] == "findings#2"


@pytest.mark.req("E-061")
def test_a_rejected_variant_goes_its_text_does_not_and_the_last_one_loses_its_letter(
    where: ProjectPaths,
) -> None:
    approach(where, "1_A")
    approach(where, "1_B", context="Much work went into this.")
    approach(where, "1", "backend")
    ask(where, "findings")
    fill(
        where,
        "findings",
        ("web_1_A:", "user_required_changes:", "Less"),
        ("web_1_B:", "rejected:", "true"),
    )
    told = answered(where, "findings")
    assert told["rejected_approaches"] == [{"specialist_name": "web", "approach_id": "1_B"}]
    assert told["affected_approaches"] == [{"specialist_name": "web", "approach_id": "1"}]
    plan = plan_location.find_current_plan(where)
    left = findings_files.get_findings(plan).approaches
    assert [(each.specialist, each.approach_id) for each in left] == [
        ("backend", "1"),
        ("web", "1"),
    ]
    kept = list(Path(plan.findings_dir, "_archive").iterdir())
    assert [each.name for each in kept] == ["web-1.yaml"]
    assert "Much work went into this." in kept[0].read_text()
    assert answered(where, "findings")["rejected_approaches"] == told["rejected_approaches"]
    assert [each.name for each in Path(plan.findings_dir, "_archive").iterdir()] == ["web-1.yaml"]


def test_all_variants_of_a_number_cannot_be_rejected(where: ProjectPaths) -> None:
    approach(where, "1_A")
    approach(where, "1_B")
    ask(where, "findings")
    fill(
        where,
        "findings",
        ("web_1_A:", "rejected:", "true"),
        ("web_1_B:", "rejected:", "yes"),
    )
    ask(where, "findings")
    assert "nothing is left of approach 1 of web" in file(where, "findings").read_text()
    assert len(findings_files.get_findings(plan_location.find_current_plan(where)).approaches) == 2


def test_an_old_answer_is_not_laid_upon_new_findings(where: ProjectPaths) -> None:
    """Whoever loses the log of user input loses words, not approaches."""
    approach(where, "1_A")
    approach(where, "1_B")
    ask(where, "findings")
    no = "{user_required_changes: '', rejected: true}"
    yes = "{user_required_changes: ''}"
    say(where, "findings", f"approach_feedback: {{web_1_A: {yes}, web_1_B: {no}}}")
    answered(where, "findings")
    with plan_session.hold_plan(where) as held:
        findings_files.clear_approach(held.plan, "web", parse_prompt_id(["1"]))
        held.note("clear-approach", "web")
    approach(where, "1_B", context="Another way.")
    approach(where, "1_C")
    Path(plan_location.find_current_plan(where).file("user_input.md")).unlink()
    ask(where, "findings")
    left = findings_files.get_findings(plan_location.find_current_plan(where)).approaches
    assert [each.approach_id for each in left] == ["1_B", "1_C"]


# The plan gate


def test_an_accepted_plan_is_in_progress_and_its_findings_are_archived(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "Title", "Goal", "Why")
    approach(where)
    write(where, "1")
    ask(where, "plan")
    finish(where, "plan", thoughts="Go.")
    told = answered(where, "plan")
    assert told["has_user_required_changes"] is False
    assert told["archived_findings"] == ["findings/_archive/web.yaml"]
    assert told["prompt_changes"] == []
    plan = plan_location.find_current_plan(where)
    assert (
        plan_snapshot.read_current_plan(where).stage
        == plan_document.check_plan(where).stage
        == "in_progress"
    )
    assert "stage: in_progress\n" in Path(plan.file("plan.md")).read_text()
    assert not Path(plan.findings_dir, "web.yaml").exists()
    assert "All of 1." in Path(plan.findings_dir, "_archive", "web.yaml").read_text()
    approach(where, "9")
    again = answered(where, "plan")
    assert again["archived_findings"] == told["archived_findings"]
    assert Path(plan.findings_dir, "web.yaml").exists()


def test_the_file_of_the_plan_shows_the_stage_even_if_the_waiter_has_died(
    where: ProjectPaths,
) -> None:
    plan_document.write_plan(where, "Title", "Goal", "Why")
    write(where, "1")
    ask(where, "plan")
    say(where, "plan", "", "approved")
    plan_document.init_plan(where)
    assert (
        "stage: in_progress\n"
        in Path(plan_location.find_current_plan(where).file("plan.md")).read_text()
    )


def test_a_plan_file_that_is_broken_loses_nothing_and_keeps_nobody_from_the_answer(
    where: ProjectPaths,
) -> None:
    plan_document.write_plan(where, "Title", "Goal", "Why")
    write(where, "1")
    ask(where, "plan")
    path = Path(plan_location.find_current_plan(where).file("plan.md"))
    path.write_text("---\nstage: [\n---\nMine.\n")
    with pytest.raises(decide.ChangedFilesError, match=r"\+Mine\."):
        say(where, "plan", "", "approved")
    say(where, "plan", "", "approved", accept_changes=True)
    told = answered(where, "plan")
    assert any("plan.md" in note for note in told["notes"])
    assert path.read_text() == "---\nstage: [\n---\nMine.\n"
    assert plan_snapshot.read_current_plan(where).stage == "in_progress"


def test_a_plan_that_must_change_stays_a_draft_with_its_findings(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "Title", "Goal", "Why")
    approach(where)
    write(where, "1")
    write(where, "2")
    ask(where, "plan")
    fill(where, "plan", ("2:", "user_required_changes:", "Smaller"))
    told = answered(where, "plan")
    assert (told["has_user_required_changes"], told["archived_findings"]) == (True, [])
    assert told["prompt_changes"] == [{"prompt_id": "2", "user_required_changes": "Smaller"}]
    assert told["user_required_plan_changes"] == ""
    assert plan_snapshot.read_current_plan(where).stage == "draft"
    assert Path(plan_location.find_current_plan(where).findings_dir, "web.yaml").exists()
    write(where, "2", description="smaller")
    assert ask(where, "plan")["decision"] == "plan#2"


# The testing and the logging gate


@pytest.mark.req("E-033")
def test_a_test_that_passed_is_in_the_life_of_the_prompt(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    logs = file(where, "1_testing_logs.md")
    logs.write_text(logs.read_text() + "all green\n")
    finish(where, "testing", thoughts="fine")
    told = answered(where, "testing")
    assert (told["passed"], told["logs"], told["user_required_changes"]) == (True, "all green", "")
    assert (fields(where, "1")["status"], fields(where, "1")["testing"]) == ("tested", "passed")
    assert disagreements(where) == []
    assert any(b"all green" in data for data in archived(where).values())


@pytest.mark.req("E-033")
def test_a_test_that_failed_says_why_and_new_work_is_asked_about_anew(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", test_passed="no")
    ask(where, "testing")
    assert "in user_required_changes" in file(where, "testing").read_text()
    finish(where, "testing", user_required_changes="It hangs.\nTwice.")
    told = answered(where, "testing")
    assert (told["passed"], told["user_required_changes"]) == (False, "It hangs.\nTwice.")
    assert fields(where, "1")["testing"] == "failed"
    record(where, "1", 2, "Testing: hangs")
    assert ask(where, "testing")["decision"] == "testing:1#2"
    finish(where, "testing")
    assert answered(where, "testing")["passed"] is True
    assert len(archived(where)) == 4


@pytest.mark.req("E-048")
def test_logs_of_a_fault_come_back_and_open_the_way_to_a_record(where: ProjectPaths) -> None:
    ready(where, "logging")
    with refused("logging-gate-open"):
        record(where, "1")
    ask(where, "logging")
    logs = file(where, "1_logging_logs.md")
    logs.write_text(logs.read_text() + "[DEBUG-TEMP] x = None\n")
    finish(where, "logging", thoughts="after the second click")
    told = answered(where, "logging")
    assert set(told) == ALWAYS | KEYS["logging"]
    assert told["logs"] == "[DEBUG-TEMP] x = None"
    assert fields(where, "1")["completed_debug_logging"] is True
    record(where, "1")


# The variants gate


@pytest.mark.req("E-035")
@pytest.mark.parametrize("id_", ["1", "3_A"])
def test_who_has_no_rival_is_main_at_once(where: ProjectPaths, id_: str) -> None:
    write(where, id_)
    came = block(where, "variants", id_, wait_s=30)
    assert set(came.data) == ALWAYS | KEYS["variants"]
    assert (came.code, came.data["skipped"], came.data["variant_solution"]) == (0, True, "main")
    assert came.data["duration_ms"] < 4000
    assert asked(where) == []


def test_a_number_whose_prompts_have_letters_needs_one(where: ProjectPaths) -> None:
    ready(where, "variants")
    with refused("not-found"):
        block(where, "variants", "2")


@pytest.mark.req("E-036", "E-037", "E-085")
def test_one_is_main_and_the_words_of_before_still_mean_something(where: ProjectPaths) -> None:
    for letter in "ABC":
        tried(where, f"2_{letter}")
    ask(where, "variants")
    choose(where, A="accepted", B="Main", C="rejected")
    for letter, solution in (("A", "alternative"), ("B", "main"), ("C", "discard")):
        told = answered(where, "variants", f"2_{letter}")
        assert told["variant_solution"] == solution
        assert set(told) == ALWAYS | KEYS["variants"]
        assert fields(where, f"2_{letter}")["variant_solution"] == solution
    assert fields(where, "2_A")["in_progress"] is False
    assert fields(where, "2_B")["in_progress"] is True


def test_whoever_chooses_is_shown_every_variant(where: ProjectPaths) -> None:
    tried(where, "2_A", description="with a cache")
    tried(where, "2_B", description="without")
    tried(where, "3", description="another matter")
    ask(where, "variants", "2_B")
    branch = "feat/x--implementation-2"
    wanted = [f"2_A: with a cache (branch {branch}-A)", f"2_B: without (branch {branch}-B)"]
    (posed,) = [
        each for shown in overview.list_all_runs(where).rows.values() for each in shown["decisions"]
    ]
    assert posed["reason"].split("\n")[:-1] == wanted
    assert all(f"# {line}" in file(where, "variants").read_text() for line in wanted)


@pytest.mark.req("E-037", "E-085")
@pytest.mark.parametrize(
    "words, why",
    [
        ({"A": "main", "B": "main"}, "exactly one variant must be main, not 2"),
        ({"A": "discard", "B": "alternative"}, "exactly one variant must be main, not 0"),
        ({"A": "main", "B": '""'}, "a decision must be main, alternative or discard"),
        ({"A": "main", "B": "best"}, "'best' is not an answer for"),
    ],
)
def test_two_mains_none_or_half_a_choice_is_explained_and_asked_again(
    where: ProjectPaths, words: dict[str, str], why: str
) -> None:
    ready(where, "variants")
    ask(where, "variants")
    choose(where, **words)
    ask(where, "variants")
    assert why in file(where, "variants").read_text()
    assert fields(where, "2_A")["variant_solution"] is None
    choose(where, A="main", B="discard")
    assert answered(where, "variants")["variant_solution"] == "main"


def test_nobody_chooses_while_a_variant_is_not_ready(where: ProjectPaths) -> None:
    tried(where, "2_A")
    write(where, "2_B")
    told = ask(where, "variants")
    assert (told["waiting_on"], told["file"], told["decision"]) == (["2_B"], None, None)
    assert asked(where) == []
    with refused("invalid-status"):
        block(where, "variants", "2_B")
    with waiting(partial(block, where, "variants", "2_A", 20)) as waiter:
        start(where, "2_B")
        record(where, "2_B")
        wait_for(file(where, "variants").exists)
        choose(where, A="main", B="discard")
        assert waiter.result(90).data["variant_solution"] == "main"


def test_a_variant_that_needs_testing_is_not_ready_before_it(where: ProjectPaths) -> None:
    tried(where, "2_A", is_tried=False, requires_testing=True)
    tried(where, "2_B")
    with refused("testing-not-passed"):
        block(where, "variants", "2_A")
    assert ask(where, "variants", "2_B")["waiting_on"] == ["2_A"]
    assert block(where, "variants", "2_B", force=True).data["decision"] == "variants:2#1"


@pytest.mark.req("E-038", "E-039", "E-085")
def test_a_discard_is_put_away_and_an_alternative_stays(where: ProjectPaths) -> None:
    made = {letter: carried_out(where, f"2_{letter}") for letter in "ABC"}
    (made["C"].path / "half.txt").write_text("uncommitted")
    head = git(made["C"].path, "rev-parse", "HEAD")
    ask(where, "variants")
    choose(where, A="main", B="alternative", C="discard")
    told = answered(where, "variants")
    assert told["unmerged_alternatives"] == [made["B"].name]
    known = git(where.base, "branch", "--format=%(refname:short)").split()
    assert made["A"].name in known
    assert made["B"].name in known
    assert made["C"].name not in known
    assert git(where.base, "rev-parse", f"archive/{made['C'].name}") == head
    assert made["B"].path.is_dir()
    assert not made["C"].path.exists()
    assert str(made["C"].path) not in git(where.base, "worktree", "list")
    salvaged = git(where.base, "for-each-ref", "--format=%(refname)", "refs/porch/salvage")
    assert git(where.base, "show", f"{salvaged}:half.txt") == "uncommitted"
    assert fields(where, "2_C")["worktree_branch_name"] == f"archive/{made['C'].name}"
    assert fields(where, "2_B")["worktree_branch_name"] == made["B"].name
    with refused("variant-put-aside"):
        plan_merge.merge_worktree(where, parse_prompt_id(["2_B"]))
    assert plan_merge.merge_worktree(where, parse_prompt_id(["2_A"])).unmerged_alternatives == [
        made["B"].name
    ]
    assert fields(where, "2_B")["status"] == "implemented"


@pytest.mark.req("E-039")
def test_a_worktree_that_somebody_locked_is_said_and_goes_later(where: ProjectPaths) -> None:
    made = {letter: carried_out(where, f"2_{letter}") for letter in "AB"}
    git(where.base, "worktree", "lock", str(made["B"].path))
    ask(where, "variants")
    choose(where, A="main", B="discard")
    assert any("not archived yet" in note for note in answered(where, "variants")["notes"])
    assert made["B"].path.is_dir()
    git(where.base, "worktree", "unlock", str(made["B"].path))
    assert answered(where, "variants")["notes"] == []
    assert not made["B"].path.exists()


@pytest.mark.req("E-052")
def test_a_fault_has_one_fix_so_its_alternative_is_a_discard(where: ProjectPaths) -> None:
    made = {}
    for letter in "AB":
        made[letter] = Branch(where, f"2_{letter}")
        made[letter].commit(f"{letter}.txt")
        tried(where, f"2_{letter}", debug=True)
    ask(where, "variants")
    choose(where, A="main", B="alternative")
    assert answered(where, "variants", "2_B")["variant_solution"] == "discard"
    assert answered(where, "variants", "2_B")["unmerged_alternatives"] == []
    assert git(where.base, "branch", "--list", f"archive/{made['B'].name}")


@pytest.mark.req("E-036")
def test_each_of_two_waiters_hears_what_became_of_its_variant_wherever_it_stands(
    where: ProjectPaths,
) -> None:
    """The worktree in which one of them waits goes away under it."""
    made = {letter: carried_out(where, f"2_{letter}") for letter in "AB"}
    here, there = (places.find_project(str(made[letter].path)) for letter in "AB")
    with (
        waiting(partial(block, here, "variants", "2_A", 20)) as main,
        waiting(partial(block, there, "variants", "2_B", 20)) as other,
    ):
        wait_for(file(where, "variants").exists)
        time.sleep(0.3)
        # Somebody else takes the answer first, so that nothing of the worktree is left.
        choose(where, A="main", B="discard")
        answered(where, "variants")
        assert not made["B"].path.exists()
        assert main.result(30).data["variant_solution"] == "main"
        assert other.result(30).data["variant_solution"] == "discard"
    assert worktrees.list_changed_paths(str(made["A"].path)) == []


def test_a_variant_that_came_later_is_asked_about(where: ProjectPaths) -> None:
    ready(where, "variants")
    ask(where, "variants")
    choose(where, A="main", B="discard")
    answered(where, "variants")
    tried(where, "2_C")
    assert ask(where, "variants", "2_C")["decision"] == "variants:2#2"
    assert answered(where, "variants", "2_A")["variant_solution"] == "main"
    say(
        where,
        "variants:2",
        "variants: {A: {decision: main}, B: {decision: discard}, C: {decision: alternative}}",
    )
    assert answered(where, "variants", "2_C")["variant_solution"] == "alternative"


# What else happens while somebody is asked


@pytest.mark.parametrize("act", ["approve", "file"])
def test_a_plan_that_is_completed_asks_nobody_any_more(where: ProjectPaths, act: str) -> None:
    ready(where, "testing")
    ask(where, "testing")
    with waiting(partial(block, where, "testing", wait_s=20)) as waiter:
        time.sleep(0.3)
        plan_merge.complete_plan(where, "over", force=True)
        error = waiter.exception(30)
    assert isinstance(error, FailedError)
    assert error.findings[0].code == "plan-completed"
    assert asked(where) == []
    if act == "approve":
        assert say(where, "testing:1", "", "approved").notice
    else:
        finish(where, "testing")
    with refused("plan-completed"):
        block(where, "testing")
    assert "testing" not in log(where)


def test_an_answer_of_a_completed_plan_is_still_told(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", thoughts="fine")
    assert answered(where, "testing")["thoughts"] == "fine"
    plan_merge.complete_plan(where, "over", force=True)
    assert answered(where, "testing")["thoughts"] == "fine"


def test_n5_whoever_finds_a_plan_busy_is_told_to_wait_and_not_to_stop_it(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plan_session.PATIENCE_S >= 60
    ready(where, "testing")
    monkeypatch.setattr(plan_session, "PATIENCE_S", 0.2)
    guard = lock.RunLock(str(Path(where.run_dir(RUN), "lock")))
    assert guard.acquire("envoy plan", 0)
    with pytest.raises(BusyError) as told:
        ask(where, "testing")
    guard.release()
    assert told.value.findings[0].fix == "wait a moment, then run the same command again"


@pytest.mark.parametrize(
    "gate, places",
    [
        ("findings", ["# findings: .claude/plans/feat~x/findings"]),
        ("plan", ["# plan: .claude/plans/feat~x", "# the whole of it: envoy plan get-full-plan"]),
        ("testing", ["# prompt 1: .claude/plans/feat~x/prompts/", "# changes: git diff feat/x..."]),
        ("variants", ["# prompt 2_A: ", "# prompt 2_B: "]),
    ],
)
def test_n9_a_form_says_where_to_look_and_how_to_write_only_once(
    where: ProjectPaths, gate: str, places: list[str]
) -> None:
    ready(where, gate)
    ask(where, gate)
    text = file(where, gate).read_text()
    assert [place for place in places if place not in text] == []
    assert text.count("on the lines below") == 1


def test_who_waits_is_not_sent_away_by_a_long_holder_of_the_plan(
    where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    finish(where, "testing", thoughts="fine")
    monkeypatch.setattr(plan_session, "PATIENCE_S", 0.2)
    guard = lock.RunLock(str(Path(where.run_dir(RUN), "lock")))
    assert guard.acquire("a long command", 0)
    with pytest.raises(BusyError, match="a long command"):
        block(where, "testing")
    with waiting(partial(block, where, "testing", wait_s=20)) as waiter:
        time.sleep(0.8)
        guard.release()
        assert waiter.result(90).data["thoughts"] == "fine"


@pytest.mark.parametrize("gate", ["testing", "logging"])
def test_a_prompt_that_is_cleared_while_it_is_asked_about_bricks_nothing(
    where: ProjectPaths, gate: str
) -> None:
    ready(where, gate)
    write(where, "2")
    ask(where, gate)
    prompt_edits.clear_prompt(where, parse_prompt_id(["1"]), force=True)
    with refused("not-found"):
        block(where, gate)
    with pytest.raises(PorchError):
        say(where, f"{gate}:1", "thoughts: x")
    plan_document.init_plan(where)
    assert asked(where) == []


def test_a_form_does_not_approve_a_plan_that_changed_since_it_was_asked_about(
    where: ProjectPaths,
) -> None:
    """X5: what stands in the form was written before; the difference is in `porch pending`."""
    plan_document.write_plan(where, "Title", "Goal", "Why")
    write(where, "1")
    ask(where, "plan")
    path = Path(plan_location.find_current_plan(where).file("plan.md"))
    before = path.read_text()
    path.write_text(before + "\nDelete the billing tables.\n")
    fill(where, "plan")
    assert ask(where, "plan")["decision"], "it is still asked"
    told = file(where, "plan").read_text()
    assert "the files changed since porch asked" in told
    assert f"porch pending {RUN}" in told
    found = read_run(where, RUN)
    decisions = found.picture()["decisions"]
    shown_files.add_changes(where, found.state, decisions, is_person=False)
    (difference,) = decisions[0]["changed"]["difference"].values()
    assert "+Delete the billing tables." in difference
    options = complete_status(where, RUN, found.picture())["decisions"][0]["options"]
    then = {option["answer"]: option["then"] for option in options}
    assert "plan.md changed" in then["approved"].partition("needs --accept-changes: ")[2]
    assert then["answered"].startswith("is kept"), "only its form is not there yet"
    with pytest.raises(decide.ChangedFilesError, match=r"\+Delete the billing tables"):
        say(where, "plan", "thoughts: fine")
    path.write_text(before)
    fill(where, "plan")
    assert answered(where, "plan")["has_user_required_changes"] is False


def test_changes_of_a_plan_can_be_asked_for_whatever_changed_meanwhile(
    where: ProjectPaths,
) -> None:
    write(where, "1")
    ask(where, "plan")
    path = Path(plan_location.find_current_plan(where).file("prompts/1.md"))
    path.write_text(path.read_text() + "\nMore.\n")
    say(where, "plan", "user_required_plan_changes: smaller")
    assert answered(where, "plan")["user_required_plan_changes"] == "smaller"


@pytest.mark.parametrize(
    "gate, form",
    [
        ("testing", {"thoughts": "x"}),
        ("testing", {"test_passed": "no"}),
        ("variants", {"variants": {"A": "main", "B": "x"}}),
        ("plan", {"prompt_feedback": {"1": "less"}}),
        ("variants", {"variants": "main"}),
        ("variants", {"variants": {}}),
    ],
)
def test_a_form_that_nobody_read_bricks_nothing(
    where: ProjectPaths, gate: str, form: dict[str, Any]
) -> None:
    """Whoever can write into the directory of the run can leave any wish."""
    ready(where, gate)
    position = ask(where, gate)["decision"]
    wish = {"kind": "decide", "position": position, "exit": "answered", "data": {"form": form}}
    inbox.leave_wish(str(Path(where.run_dir(RUN), "inbox")), wish)
    ask(where, gate)


@pytest.mark.parametrize("is_told", [False, True])
def test_whoever_was_killed_between_file_and_log_left_no_second_entry(
    where: ProjectPaths, is_told: bool
) -> None:
    ready(where, "testing")
    ask(where, "testing")
    say(where, "testing:1", "{test_passed: true, thoughts: mine}")
    path = Path(plan_location.find_current_plan(where).file("user_input.md"))
    if is_told:
        answered(where, "testing")
        told = path.read_text()
        lines = journal(where).read_bytes().splitlines(keepends=True)
        # As if the record that it is kept had not been made.
        journal(where).write_bytes(b"".join(lines[:-1]))
    else:
        file(where, "testing").unlink()
        told = ""
    assert answered(where, "testing")["thoughts"] == "mine"
    assert log(where).count("mine") == 1
    assert log(where) == told or not is_told


def test_the_agent_that_asks_is_in_the_journal(where: ProjectPaths) -> None:
    ready(where, "testing")
    ask(where, "testing")
    posed = [r["fact"] for r in records(where) if r["fact"]["is"] == "QuestionPosed"]
    assert [(each["state"], each["item"], each["agent"]) for each in posed] == [
        ("testing", "1", "a1")
    ]
    finish(where, "testing")
    answered(where, "testing")
    assert len(facts(where, "keep-answer")) == 1
