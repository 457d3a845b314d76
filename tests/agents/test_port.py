"""The port of the agents: events fold into outcomes, and little of the environment passes."""

import pytest

import porch
from porch.agents import AGENTS, claude, environment, events, port, transcripts
from porch.agents.events import TurnSummary
from porch.agents.port import Outcome
from porch.agents.scripted import adapter as scripted
from porch.system.growing_file import OutputLine
from porch.system.process import CommandResult


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[1]",
        '"text"',
        '{"type": "odd"}',
        '{"type": "final"}',
        '{"a": 1}',
        '{"type": "usage", "usd": "x", "tokens": 1}',
        '{"type": ["x"]}',
        "[" * 99999,
    ],
)
def test_line_that_is_no_event_is_a_warning(line: str) -> None:
    assert isinstance(scripted.feed(line)[0], events.Warned)


def test_blank_line_is_nothing() -> None:
    assert scripted.feed("  ") == ()


def test_summary_keeps_what_was_said_since_the_last_tool() -> None:
    summary = TurnSummary()
    for event in (
        events.Said("a"),
        events.ToolStarted("t"),
        events.ToolEnded("o"),
        events.Said("b"),
        events.Said("c"),
        events.Warned("w"),
        events.Failed("f", "server"),
    ):
        summary = summary.then(event)
    assert (summary.said, summary.warning) == ("bc", "w")
    ended = CommandResult(0, None, "exited", 1.0)
    assert port.derive_outcome(scripted, summary, ended, "") == Outcome("server", detail="f")


def test_final_message_counts_however_the_process_ended_after_it() -> None:
    summary = TurnSummary(final="done")
    assert (
        port.derive_outcome(scripted, summary, CommandResult(None, None, "wall", 9.0), "").kind
        == "ok"
    )


def test_over_long_line_is_left_out_and_told() -> None:
    listener = transcripts.TranscriptListener(scripted.feed)
    listener.take(OutputLine('{"type": "final", "text": "x', cut=True))
    assert listener.summary.final is None
    assert "a line over 32 MiB was skipped" in listener.summary.warning


def test_scrubbed_keeps_only_what_an_agent_needs() -> None:
    environ = {"PATH": "p", "LC_TIME": "C", "AWS_SECRET": "s", "ANTHROPIC_API_KEY": "k", "PS1": "$"}
    assert environment.scrub_environment(environ) == {"PATH": "p", "LC_TIME": "C"}
    with_key = environment.scrub_environment(environ, claude.CREDENTIALS)
    assert with_key == {"PATH": "p", "LC_TIME": "C", "ANTHROPIC_API_KEY": "k"}


def test_probe_tells_our_own_version() -> None:
    assert scripted.probe() == port.Probe(True, porch.__version__)


def test_the_table_imports_what_is_asked_and_knows_no_other_names() -> None:
    assert AGENTS["scripted"] is scripted
    assert "claude" in AGENTS
    assert "nobody" not in AGENTS
    with pytest.raises(KeyError):
        AGENTS["nobody"]


@pytest.mark.parametrize(
    "told,is_over",
    [
        ((events.Said("a"),), False),
        ((events.Said("a"), events.Done()), True),
        ((events.Final("a"),), True),
        ((events.Final("a"), events.ToolStarted("t")), False),
        ((events.Final("a"), events.Said("more")), False),
        ((events.Failed("it tries again"),), False),
        ((events.Failed("for good", is_last=True),), True),
    ],
)
def test_an_agent_is_over_when_it_says_so_and_not_when_it_only_complains(
    told: tuple[events.Event, ...], is_over: bool
) -> None:
    summary = TurnSummary()
    for event in told:
        summary = summary.then(event)
    assert summary.is_over is is_over


def test_an_earlier_line_may_tell_when_a_limit_is_over() -> None:
    told = TurnSummary().then(events.Failed("limit", "rate_limit", 90.0))
    met = told.then(events.Failed("429", "rate_limit"))
    assert met.failure == events.Failed("429", "rate_limit", 90.0)
    other = told.then(events.Failed("500", "server"))
    assert other.failure == events.Failed("500", "server")


def test_what_was_answered_before_a_tool_is_no_final_word() -> None:
    summary = TurnSummary().then(events.Answered("Done", {})).then(events.ToolStarted("t"))
    assert summary.answer is None


def test_the_final_message_is_what_was_said_since_the_last_tool() -> None:
    summary = TurnSummary()
    for event in (events.Said("a"), events.ToolStarted("t"), events.Said("b"), events.Done()):
        summary = summary.then(event)
    assert summary.final == "b"


def test_a_total_replaces_what_was_used_before_and_a_part_adds_to_it() -> None:
    parts = TurnSummary().then(events.Used(0.5, 10, 1, 2)).then(events.Used(0.25, 5, 1, 1))
    assert (parts.usd, parts.tokens, parts.cached, parts.output) == (0.75, 15, 2, 3)
    total = parts.then(events.Used(0, 40, 3, 4, is_total=True))
    assert (total.usd, total.tokens, total.cached, total.output) == (0, 40, 3, 4)


def test_the_last_words_of_the_error_output_are_told_where_all_else_is_silent() -> None:
    ended = CommandResult(3, None, "exited", 1.0)
    outcome = port.derive_outcome(scripted, TurnSummary(), ended, "first\nthe disk is full\n")
    assert outcome.kind == "crashed"
    assert outcome.detail.endswith("(exit code 3): the disk is full")
