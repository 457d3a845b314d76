"""Gates as agents and people type them: one envelope, exit codes, and only people decide."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from porch.cli.dispatch import run_words as run_command
from porch.plan.gates import gate_question
from porch.plan.prompts import plan_document
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.plan.courts import repository
from tests.plan.gatehouse import (
    ALWAYS,
    FILES,
    KEYS,
    NAMES,
    PENDING,
    archived,
    file,
    finish,
    log,
    ready,
    tried,
)
from tests.repositories import ACCOUNT, at_home

Told = dict[str, Any]
Type = Callable[..., Told]
WORDS = {
    "findings": ("block-findings-gate",),
    "plan": ("block-plan-gate",),
    "testing": ("block-prompt-testing-gate", "1"),
    "logging": ("block-debugging-logging-gate", "1"),
    "variants": ("block-prompt-variants-gate", "2", "A"),
}
PASSED = {"testing": "test_passed: true\n"}
CHOICE = "variants: {A: {decision: main}, B: {decision: discard}}"


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProjectPaths:
    at_home(tmp_path / "home", monkeypatch)
    root = repository(tmp_path / "shop")
    monkeypatch.chdir(root)
    return places.find_project(str(root))


@pytest.fixture
def envoy(where: ProjectPaths, capsys: pytest.CaptureFixture[str]) -> Type:
    def type_(*words: str, code: int = 0) -> Told:
        capsys.readouterr()
        left = run_command("envoy", words)
        out = capsys.readouterr().out
        assert left == code, out
        told: Told = json.loads(out)
        assert told["status"] == ("success" if code in (0, 3) else "error")
        answer: Told = told["data"] if code in (0, 3) else told["error"]
        return answer

    return type_


@pytest.fixture
def porch(where: ProjectPaths, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def type_(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        left = run_command("porch", words)
        told = capsys.readouterr()
        assert left == code, told
        return told.out + told.err

    return type_


Porch = Callable[..., str]


@pytest.mark.parametrize("gate", FILES)
def test_a_gate_that_is_not_answered_is_pending_with_a_code_of_its_own(
    where: ProjectPaths, envoy: Type, porch: Porch, gate: str
) -> None:
    ready(where, gate)
    told = envoy("plan", *WORDS[gate], "--wait", "0", "--agent", "a1", code=3)
    assert set(told) == PENDING
    assert Path(told["file"]).is_file()
    assert NAMES[gate] in porch("pending")
    assert FILES[gate] in porch("pending")
    assert NAMES[gate] in porch("status", "plan/feat/x")
    shown = json.loads(porch("pending", "--json"))
    assert NAMES[gate] in json.dumps(shown)
    assert envoy("plan", *WORDS[gate], "--wait", "0.1", code=3)["decision"] == told["decision"]


@pytest.mark.req("E-033", "E-036", "E-048")
@pytest.mark.parametrize("gate", FILES)
def test_a_form_on_the_command_line_or_in_a_file_answers_a_gate(
    where: ProjectPaths, envoy: Type, porch: Porch, tmp_path: Path, gate: str
) -> None:
    ready(where, gate)
    envoy("plan", *WORDS[gate], "--wait", "0", code=3)
    name, _, id_ = NAMES[gate].partition(":")
    form = tmp_path / "form.yaml"
    form.write_text(
        f"{CHOICE}\n" if gate == "variants" else f"{PASSED.get(gate, '')}thoughts: typed\n"
    )
    said = envoy("gate", "answer", name, *([id_] if id_ else []), "--file", str(form))
    assert (said["decision"], said["notice"]) == (NAMES[gate], False)
    told = envoy("plan", *WORDS[gate])
    assert set(told) == ALWAYS | KEYS[gate]
    assert (told["answered_by"], told["channel"]) == (ACCOUNT, "cli")
    assert NAMES[gate] not in porch("pending")
    assert ACCOUNT in porch("log", "plan/feat/x")


def test_a_form_may_come_through_a_pipe_and_be_a_whole_feedback_file(
    where: ProjectPaths, envoy: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(where, "testing")
    envoy("plan", *WORDS["testing"], "--wait", "0", code=3)
    text = file(where, "testing").read_bytes().replace(b"\ntest_passed:\n", b"\ntest_passed: no\n")
    text = text.replace(
        b"user_required_changes: |-\n  ", "user_required_changes: |-\n  größer".encode()
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    envoy("gate", "answer", "testing", "1", "--file", "-")
    told = envoy("plan", *WORDS["testing"])
    assert (told["passed"], told["user_required_changes"]) == (False, "größer")


@pytest.mark.parametrize("gate", ["logging", "testing"])
def test_n6_logs_are_given_on_the_command_line(
    where: ProjectPaths, envoy: Type, tmp_path: Path, gate: str
) -> None:
    ready(where, gate)
    envoy("plan", *WORDS[gate], "--wait", "0", code=3)
    logs = tmp_path / "app.log"
    logs.write_text("it went wrong here\n")
    typed = "{test_passed: false, user_required_changes: it hangs}"
    form = ("--form", typed) if gate == "testing" else ()
    envoy("gate", "answer", gate, "1", *form, "--logs-file", str(logs))
    assert envoy("plan", *WORDS[gate])["logs"].strip() == "it went wrong here"


def test_n6_logs_that_are_not_asked_for_are_refused(where: ProjectPaths, envoy: Type) -> None:
    ready(where, "plan")
    envoy("plan", *WORDS["plan"], "--wait", "0", code=3)
    told = envoy("gate", "answer", "plan", "--form", "thoughts: x", "--logs", "l", code=2)
    assert "takes no logs" in told["message"]


def test_n6_logs_that_are_too_long_are_refused(
    where: ProjectPaths, envoy: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_LOGS_TOKENS", "5")
    ready(where, "logging")
    envoy("plan", *WORDS["logging"], "--wait", "0", code=3)
    told = envoy("gate", "answer", "logging", "1", "--logs", "many words " * 20, code=2)
    assert told["type"] == "logs_too_large"
    told = envoy("gate", "answer", "logging", "1", code=2)
    assert "one of --form and --file is required" in told["message"]


@pytest.mark.req("E-085")
@pytest.mark.parametrize("id_", ["2", "2_A", "2b", "2-A"])
def test_variants_are_chosen_whichever_of_them_is_named(
    where: ProjectPaths, envoy: Type, id_: str
) -> None:
    ready(where, "variants")
    envoy("plan", *WORDS["variants"], "--wait", "0", code=3)
    envoy("gate", "answer", "variants", id_, "--form", CHOICE)
    assert envoy("plan", "block-prompt-variants-gate", "2b")["variant_solution"] == "discard"


def test_prompts_are_named_in_any_way(where: ProjectPaths, envoy: Type) -> None:
    tried(where, "3_B", is_tried=False)
    envoy("plan", "block-prompt-testing-gate", "3b", "--wait", "0", code=3)
    envoy("gate", "answer", "testing", "3-b", "--form", "{test_passed: true, thoughts: fine}")
    assert envoy("plan", "block-prompt-testing-gate", "3", "B")["thoughts"] == "fine"


def test_people_approve_reject_and_answer_with_porch(
    where: ProjectPaths, envoy: Type, porch: Porch
) -> None:
    ready(where, "testing")
    envoy("plan", *WORDS["testing"], "--wait", "0", code=3)
    porch("reject", "plan/feat/x", "testing:1", "--reason", "It hangs.")
    told = envoy("plan", *WORDS["testing"])
    assert (told["passed"], told["user_required_changes"]) == (False, "It hangs.")
    envoy("plan", "block-plan-gate", "--wait", "0", code=3)
    porch("approve", "plan/feat/x", "--note", "go")
    assert envoy("plan", "block-plan-gate")["thoughts"] == "go"
    ready(where, "variants")
    envoy("plan", *WORDS["variants"], "--wait", "0", code=3)
    porch("answer", "plan/feat/x", "variants:2", CHOICE)
    assert envoy("plan", *WORDS["variants"])["variant_solution"] == "main"
    assert log(where).count("\n---\n") == 3


@pytest.mark.parametrize("sign", ["CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX", "PORCH_MARK"])
def test_an_agent_asks_and_does_not_decide(
    where: ProjectPaths, envoy: Type, porch: Porch, monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    ready(where, "testing")
    monkeypatch.setenv(sign, "1")
    envoy("plan", *WORDS["testing"], "--wait", "0", code=3)
    assert "only people can decide" in porch("approve", "plan/feat/x", "testing:1", code=2)
    assert "only people" in porch("reject", "plan/feat/x", "testing:1", "--reason", "x", code=2)
    assert "only people" in porch("answer", "plan/feat/x", "testing:1", "thoughts: x", code=2)
    refused = envoy("gate", "answer", "testing", "1", "--form", "thoughts: x", code=2)
    assert refused["type"] == "not_a_person"
    assert "--as-person" not in str(refused)
    assert envoy("plan", *WORDS["testing"], "--wait", "0", code=3)["decision"] == "testing:1#1"
    envoy(
        "gate",
        "answer",
        "testing",
        "1",
        "--form",
        "{test_passed: true, thoughts: x}",
        "--as-person",
    )
    assert envoy("plan", *WORDS["testing"])["thoughts"] == "x"
    journal = Path(where.run_dir("plan_feat~x"), "journal.jsonl").read_text()
    assert re.search(r'"as_person": ?true', journal)


REFUSED: list[tuple[tuple[str, ...], str, int]] = [
    (("plan", "block-plan-gate"), "no_prompts", 1),
    (("plan", "block-prompt-testing-gate", "9"), "not_found", 1),
    (("plan", "block-prompt-testing-gate", "x"), "invalid_number", 2),
    (("plan", "block-prompt-testing-gate", "1", "AB"), "invalid_variant", 2),
    (("plan", "block-findings-gate", "--wait", "-1"), "usage", 2),
    (("plan", "block-findings-gate", "--wait", "nan"), "usage", 2),
    (("gate", "answer", "testing", "1", "--form", "thoughts: x"), "not_asked", 2),
    (("gate", "answer", "testing", "../1", "--form", "thoughts: x"), "invalid_number", 2),
    (("gate", "answer", "plan"), "usage", 2),
    (("gate", "answer", "plan", "--form", "a: b", "--file", "x"), "usage", 2),
    (("gate", "answer", "plan", "--file", "nowhere.yaml"), "unreadable", 2),
    (("gate", "answer", "plan", "--file", "."), "unreadable", 2),
    (("gate", "answer", "plan", "--file", "latin.yaml"), "unreadable", 2),
]


@pytest.mark.parametrize("words, type_, code", REFUSED)
def test_what_is_refused_is_told_with_a_way_out(
    where: ProjectPaths, envoy: Type, words: tuple[str, ...], type_: str, code: int
) -> None:
    Path("latin.yaml").write_bytes(b"thoughts: caf\xe9\n")
    plan_document.init_plan(where)
    error = envoy(*words, code=code)
    assert error["type"] == type_, error
    assert error["suggestion"]


def test_without_a_plan_every_gate_says_so(where: ProjectPaths, envoy: Type) -> None:
    for words in WORDS.values():
        assert envoy("plan", *words, code=1)["type"] == "no_plan"
    assert not Path(".claude").exists()


@pytest.mark.req("E-035")
def test_a_plain_prompt_does_not_wait_to_be_chosen(where: ProjectPaths, envoy: Type) -> None:
    ready(where, "plan")
    told = envoy("plan", "block-prompt-variants-gate", "1")
    assert (told["skipped"], told["variant_solution"]) == (True, "main")


def test_a_wrong_answer_is_refused_with_its_place_and_the_next_one_taken(
    where: ProjectPaths, envoy: Type
) -> None:
    ready(where, "testing")
    envoy("plan", *WORDS["testing"], "--wait", "0", code=3)
    error = envoy("gate", "answer", "testing", "1", "--form", "test_passed: perhaps", code=2)
    assert (error["type"], error["findings"][0]["line"]) == ("wrong_value", 1)
    error = envoy("gate", "answer", "testing", "1", "--form", "test_passed: false", code=1)
    assert error["type"] == "wish_refused"
    envoy("gate", "answer", "testing", "1", "--form", "{test_passed: true}")
    assert envoy("gate", "answer", "testing", "1", "--form", "thoughts: x", code=2)["type"] == (
        "not_asked"
    )
    assert envoy("plan", *WORDS["testing"])["passed"] is True


def test_how_long_is_waited_without_a_word_is_in_the_environment(
    where: ProjectPaths, envoy: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(where, "testing")
    monkeypatch.setenv("BLOCKING_GATE_TIMEOUT_MS", "300")
    told = envoy("plan", *WORDS["testing"], code=3)
    assert 300 <= told["duration_ms"] < 10_000


def test_a_file_is_an_answer_by_nobody_known(
    where: ProjectPaths, envoy: Type, porch: Porch
) -> None:
    ready(where, "testing")
    envoy("plan", *WORDS["testing"], "--wait", "0", code=3)
    finish(where, "testing", thoughts="fine")
    told = envoy("plan", *WORDS["testing"])
    assert (told["answered_by"], told["channel"]) == ("unknown", "file")
    assert "unknown" in porch("log", "plan/feat/x")
    assert len(archived(where)) == 2


def test_every_gate_has_a_command_with_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in gate_question.COMMANDS.values():
        assert run_command("envoy", ["plan", command, "--help"]) == 0
        assert "--wait" in capsys.readouterr().out


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize(
    "change, told",
    [
        (lambda text: text.replace("done: false", "done: ture"), "'done' says 'ture'"),
        (lambda text: text.replace("done: false", "done: x"), "'done' says 'x'"),
        (lambda text: text.replace("done: false\n", ""), "there is no 'done'"),
        (lambda _: "", "the file is empty"),
    ],
)
def test_k5_pending_says_why_a_file_is_no_answer_until_it_is_one(
    where: ProjectPaths,
    envoy: Type,
    porch: Porch,
    change: Callable[[str], str],
    told: str,
    looks: bool,
) -> None:
    ready(where, "testing")
    envoy("plan", *WORDS["testing"], "--wait", "0", code=3)
    path = file(where, "testing")
    form = path.read_text()
    assert "cannot be used yet" not in porch("pending")
    path.write_text(change(form))
    for _ in range(1 + looks):
        said = " ".join(porch("pending").split())
        assert (
            f"your answer cannot be used yet: .claude/plans/feat~x/user_feedback/{path.name}:"
            in said
        )
        assert told in said
        (asked,) = json.loads(porch("pending", "--json"))["decisions"]
        assert told in asked["problems"][0]
        if looks:
            answer = envoy("plan", *WORDS["testing"], "--wait", "0", code=3)
            assert told in answer["problems"][0]
    path.write_text(form)
    finish(where, "testing", thoughts="fine")
    assert "cannot be used yet" not in porch("pending")
    assert "problems" not in json.loads(porch("pending", "--json"))["decisions"][0]
    assert envoy("plan", *WORDS["testing"])["passed"] is True
