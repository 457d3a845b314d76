"""What the lines of claude mean; on lines like those it was seen to write."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import claude, port
from porch.agents.claude import results
from porch.agents.events import (
    Answered,
    Denied,
    Event,
    Failed,
    Final,
    ProviderWait,
    Said,
    Session,
    ToolEnded,
    ToolStarted,
    TurnSummary,
    Used,
    Warned,
)
from porch.agents.outcomes import OutcomeKind
from porch.agents.transcripts import TranscriptListener
from porch.system.growing_file import OutputLine
from porch.system.process import CommandResult

MODELS = {
    "big": {"inputTokens": 100, "outputTokens": 20, "cacheReadInputTokens": 7},
    "small": {"inputTokens": 10, "outputTokens": 2, "cacheCreationInputTokens": 1},
}


def line(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, "session_id": "s-1", **fields})


def assistant(*content: dict[str, Any], **fields: Any) -> str:
    return line("assistant", message={"model": "big", "content": list(content)}, **fields)


def user(*content: dict[str, Any], **fields: Any) -> str:
    return line("user", message={"role": "user", "content": list(content)}, **fields)


def result(**fields: Any) -> str:
    good = {
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "result": "done",
        "stop_reason": "end_turn",
        "total_cost_usd": 0.5,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "modelUsage": MODELS,
        "permission_denials": [],
        "terminal_reason": "completed",
    }
    return line("result", **{**good, **fields})


def summary(*lines: str) -> TurnSummary:
    listener = TranscriptListener(claude.feed)
    for each in lines:
        listener.take(OutputLine(each))
    return listener.summary


def tool(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t-1", "name": name, "input": given}


def output(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t-1", "content": content, **fields}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def piece(kind: str, **fields: Any) -> str:
    """A line as `--include-partial-messages` adds it; claude puts no spaces between its words."""
    event = {"type": "stream_event", "event": {"type": kind, **fields}, "session_id": "s-1"}
    return json.dumps(event, separators=(",", ":"))


def test_only_in_the_middle_of_a_text_its_silence_counts() -> None:
    """E2: before the first piece, in thoughts and in the input of a tool the provider may pause."""
    listener = TranscriptListener(claude.feed)
    silences = []
    for each in (
        line("system", subtype="init"),
        piece("message_start"),
        piece("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "h"}),
        piece("content_block_delta", index=1, delta={"type": "text_delta", "text": "All"}),
        piece("content_block_stop", index=1),
        piece("content_block_delta", index=2, delta={"type": "input_json_delta", "p": '"x'}),
        piece("content_block_delta", index=3, delta={"type": "text_delta", "text": "is"}),
        line("system", subtype="status", status="requesting"),
    ):
        listener.take(OutputLine(each))
        silences.append(not listener.is_busy())
    assert silences == [False, False, False, True, False, False, True, False]
    assert listener.summary.said == "", "the pieces are told again as a whole"


@pytest.mark.parametrize(
    "said, events",
    [
        (line("system", subtype="init", tools=[]), (Session("s-1"), ProviderWait())),
        (line("system", subtype="status", status="requesting"), (ProviderWait(),)),
        (line("system", subtype="status", status="compacting"), ()),
        (line("system", subtype="task_started"), ()),
        (line("system", subtype="api_retry", error_status=529), None),
        (line("of_tomorrow", text="x"), ()),
        ("   ", ()),
        (assistant({"type": "thinking", "thinking": "hm"}, text("hello")), (Said("hello"),)),
        (assistant(tool("Bash", command="npm  test\n-x")), (ToolStarted("Bash: npm test -x"),)),
        (assistant(tool("Edit", file_path="src/x.py")), (ToolStarted("Edit src/x.py"),)),
        (assistant(tool("Unheard", a=1)), (ToolStarted("Unheard"),)),
        (user(output("out")), (ToolEnded("out"),)),
        (user(output([text("a"), {"type": "image"}, text("b")])), (ToolEnded("a\nb"),)),
        (user(output(None)), (ToolEnded(""),)),
        (user(text("the prompt <signal>DONE</signal>")), ()),
        (line("user", message={"role": "user", "content": "<signal>DONE</signal>"}), ()),
    ],
)
def test_each_line_has_its_events(said: str, events: tuple[Event, ...] | None) -> None:
    found = claude.feed(said)
    if events is None:
        assert [type(each) for each in found] == [Warned]
    else:
        assert found == events


@pytest.mark.parametrize(
    "said", ["nonsense", "[1]", '"x"', "{}", '{"type": ["x"]}', "[" * 99999, '{"type": "user"}']
)
def test_line_that_claude_would_not_write_is_a_warning(said: str) -> None:
    assert [type(each) for each in claude.feed(said)] == [Warned]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [
        "api_error_status",
        "errors",
        "message",
        "modelUsage",
        "permission_denials",
        "rate_limit_info",
        "result",
        "stop_reason",
        "structured_output",
        "subtype",
        "terminal_reason",
        "total_cost_usd",
    ]
)


@given(st.text())
def test_no_text_makes_it_raise(said: str) -> None:
    assert all(isinstance(each, Event) for each in claude.feed(said))


@given(st.sampled_from(sorted(claude._LINE_READERS)), st.dictionaries(_KEYS, _JSON, max_size=5))
def test_no_fields_make_it_raise(kind: str, fields: dict[str, Any]) -> None:
    for said in (line(kind, **fields), result(**fields)):
        found = claude.feed(said)
        assert all(isinstance(each, Event) for each in found)
        for used in (each for each in found if isinstance(each, Used)):
            assert used.usd >= 0
            assert used.tokens >= used.cached + used.output


def test_helpers_words_are_not_its_own_but_their_tools_are_seen() -> None:
    words = [text("<signal>DONE</signal>"), tool("Write", file_path="a")]
    found = claude.feed(assistant(*words, parent_tool_use_id="t-0"))
    assert found == (ToolStarted("Write a"),)


def test_words_that_the_program_puts_into_its_mouth_are_a_warning() -> None:
    assert claude.feed(assistant(text("API Error"), error="server_error")) == (Warned("API Error"),)


def test_good_result_is_final_and_counts_all_models_once() -> None:
    used = Used(0.5, 140, 7, 22, is_total=True)
    assert claude.feed(result()) == (used, Final("done"))
    twice = summary(result(), result(result="later"))
    assert (twice.final, twice.usd, twice.tokens) == ("later", 0.5, 140)


def test_amounts_that_are_none_count_as_nothing() -> None:
    models = {"a": {"inputTokens": -1, "outputTokens": "x"}, "b": 3}
    found = claude.feed(result(total_cost_usd=float("nan"), modelUsage=models))
    assert found == (Used(0.0, 0, 0, 0, is_total=True), Final("done"))


@pytest.mark.parametrize(
    "given, answer",
    [
        ({"exit": "ok", "payload": {"n": 1}}, Answered("ok", {"n": 1})),
        ({"exit": " ok ", "n": 1, "other": None}, Answered("ok", {"n": 1})),
        ({"exit_": "ok", "exit": "door"}, Answered("ok", {"exit": "door"})),
        ({"n": 1}, Answered("", {"n": 1})),
        ([1], Answered("", [1])),
    ],
)
def test_structured_output_is_the_answer(given: Any, answer: Answered) -> None:
    found = summary(result(structured_output=given, result="{}"))
    assert (found.answer, found.final) == (answer, "{}")
    assert claude.judge(found) == ("ok", "")


@pytest.mark.parametrize(
    "fields, kind",
    [
        ({"is_error": True, "api_error_status": 400}, "bad_request"),
        ({"is_error": True, "api_error_status": 401}, "auth"),
        ({"is_error": True, "api_error_status": 403}, "auth"),
        ({"is_error": True, "api_error_status": 404}, "bad_request"),
        ({"is_error": True, "api_error_status": 408}, "server"),
        ({"is_error": True, "api_error_status": 429}, "rate_limit"),
        ({"is_error": True, "api_error_status": 500}, "server"),
        ({"is_error": True, "api_error_status": 529}, "server"),
        ({"is_error": False, "api_error_status": 500}, "server"),
        ({"is_error": True, "stop_reason": "refusal"}, "refused"),
        ({"is_error": False, "stop_reason": "refusal"}, "refused"),
        ({"is_error": True, "subtype": "error_max_turns", "result": None}, "max_turns"),
        ({"is_error": True, "subtype": "error_max_budget_usd", "result": None}, "budget"),
        ({"subtype": "error_max_structured_output_retries"}, "schema_missing"),
        ({"is_error": True, "result": "Not logged in · Please run /login"}, "auth"),
        ({"is_error": True, "result": "API Error: Unable to connect to API"}, "server"),
        ({"subtype": "error_during_execution", "result": None}, "crashed"),
        ({"is_error": True}, "crashed"),
        ({"result": None}, "crashed"),
    ],
)
def test_result_that_is_not_good_fails_by_its_kind(
    fields: dict[str, Any], kind: OutcomeKind
) -> None:
    found = summary(assistant(text("<signal>DONE</signal>")), result(**fields))
    assert found.final is None
    assert found.answer is None
    judged = claude.judge(found)
    assert judged is not None
    assert judged[0] == kind
    assert judged[1]


def test_errors_of_a_result_are_told_with_what_to_do() -> None:
    told = ["No conversation found with session ID: x"]
    found = summary(result(subtype="error_during_execution", result=None, errors=told))
    judged = claude.judge(found)
    assert judged is not None
    assert judged[0] == "bad_request"
    assert judged[1].startswith("No conversation found with session ID: x; ")


def test_limit_of_the_account_says_when_it_ends() -> None:
    told = {"status": "rejected", "resetsAt": time.time() + 100, "rateLimitType": "five_hour"}
    (found,) = claude.feed(line("rate_limit_event", rate_limit_info=told))
    assert isinstance(found, Failed)
    assert (found.kind, found.text) == (
        "rate_limit",
        "the five hour limit of the account is reached",
    )
    assert 95 < found.wait_s <= 100


def test_when_a_limit_ends_outlives_the_result_that_does_not_know() -> None:
    told = {"status": "rejected", "resetsAt": time.time() + 100}
    limit = line("rate_limit_event", rate_limit_info=told)
    found = summary(limit, result(is_error=True, api_error_status=429, result="limit reached"))
    outcome = port.derive_outcome(claude, found, CommandResult(1, None, "exited", 1.0), "")
    assert (outcome.kind, outcome.detail) == ("rate_limit", "limit reached")
    assert outcome.wait_s > 95


@pytest.mark.parametrize("more", [{"status": "allowed"}, {"isUsingOverage": True}])
def test_limit_that_holds_nobody_up_is_nothing(more: dict[str, Any]) -> None:
    told = {"status": "rejected", "resetsAt": 1, **more}
    assert claude.feed(line("rate_limit_event", rate_limit_info=told)) == ()


def test_good_result_after_a_rejection_is_good() -> None:
    limit = line("rate_limit_event", rate_limit_info={"status": "rejected"})
    assert claude.judge(summary(limit, result())) == ("ok", "")


def test_turn_cut_short_by_a_signal_is_judged_by_who_sent_it() -> None:
    cut = result(is_error=True, subtype="error_during_execution", terminal_reason="aborted_tools")
    found = summary(cut)
    assert (claude.judge(found), found.tokens) == (None, 140)
    assert (
        port.derive_outcome(claude, found, CommandResult(None, None, "wall", 9.0), "").kind
        == "timeout"
    )


def test_reminded_and_silent_is_a_missing_answer_but_words_are_an_answer() -> None:
    reminder = user(text("[structured-output-enforce] You MUST"), isSynthetic=True)
    silent = claude.judge(summary(reminder, result(result="")))
    assert silent is not None
    assert silent[0] == "schema_missing"
    assert claude.judge(summary(reminder, result())) == ("ok", "")
    assert claude.judge(summary(result(result=""))) == ("ok", "")


def test_denials_are_told_once_with_what_was_wanted() -> None:
    denials = [{"tool_name": "Bash", "tool_input": {"command": "rm x"}}, "odd"]
    refused = "Permission to use Bash has been denied because"
    found = summary(user(output(refused, is_error=True)), result(permission_denials=denials))
    assert found.denied == ("Bash: rm x",)


@pytest.mark.parametrize(
    "words", ["File is in a directory that is denied by", "Error: No such tool available: Write"]
)
def test_refusal_that_the_result_keeps_quiet_about_is_told(words: str) -> None:
    said = output(f"<tool_use_error>{words}</tool_use_error>", is_error=True)
    assert claude.feed(user(said))[1:] == (Denied(words),)
    assert len(claude.feed(user({**said, "is_error": False}))) == 1


@pytest.mark.parametrize(
    "told, kind",
    [
        ("Invalid API key · Please run /login", "auth"),
        ("Error: Session ID x is already in use.", "bad_request"),
        ("error: unknown option '--strict-mcp-config'", "bad_request"),
        ("--dangerously-skip-permissions cannot be used with root/sudo", "bad_request"),
    ],
)
def test_error_output_says_what_to_do(told: str, kind: OutcomeKind) -> None:
    found = claude.stderr(told + "\n")
    assert found is not None
    assert found[0] == kind
    assert found[1].startswith(f"{told}; ")


def test_error_output_of_no_meaning_is_silent() -> None:
    assert claude.stderr("(node:1) a warning") is None


@given(st.integers() | st.floats() | st.booleans() | st.none() | st.text())
def test_a_count_is_the_whole_part_of_an_amount(value: object) -> None:
    try:
        told = int(results._parse_amount(value))
    except OverflowError:
        with pytest.raises(OverflowError):
            results._parse_count(value)
        return
    assert (results._parse_count(value), type(results._parse_count(value))) == (told, int)
