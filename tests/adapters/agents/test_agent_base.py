"""The port of the agents: events fold into outcomes, and little of the environment passes."""

import pytest

import porch
from porch.adapters.agents import AGENTS, base, scripted
from porch.adapters.agents.base import Outcome, Summary
from porch.adapters.follow import Line
from porch.adapters.process import Ended


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
    assert isinstance(scripted.feed(line)[0], base.Warned)


def test_blank_line_is_nothing() -> None:
    assert scripted.feed("  ") == ()


def test_summary_keeps_what_was_said_since_the_last_tool() -> None:
    summary = Summary()
    for event in (
        base.Said("a"),
        base.ToolStarted("t"),
        base.ToolEnded("o"),
        base.Said("b"),
        base.Said("c"),
        base.Warned("w"),
        base.Failed("f", "server"),
    ):
        summary = summary.then(event)
    assert (summary.said, summary.warning) == ("bc", "w")
    ended = Ended(0, None, "exited", 1.0)
    assert scripted.finish(summary, ended) == Outcome("server", detail="f")


def test_final_message_counts_however_the_process_ended_after_it() -> None:
    summary = Summary(final="done")
    assert scripted.finish(summary, Ended(None, None, "wall", 9.0)).kind == "ok"


def test_over_long_line_is_left_out_and_told() -> None:
    listener = base.Listener(scripted.feed)
    listener.take(Line('{"type": "final", "text": "x', cut=True))
    assert listener.summary.final is None
    assert "1024 KiB" in listener.summary.warning


def test_scrubbed_keeps_only_what_an_agent_needs() -> None:
    environ = {"PATH": "p", "LC_TIME": "C", "AWS_SECRET": "s", "ANTHROPIC_API_KEY": "k", "PS1": "$"}
    assert base.scrubbed(environ) == {"PATH": "p", "LC_TIME": "C"}
    with_key = base.scrubbed(environ, base.CREDENTIALS["claude"])
    assert with_key == {"PATH": "p", "LC_TIME": "C", "ANTHROPIC_API_KEY": "k"}


def test_probe_tells_our_own_version() -> None:
    assert scripted.probe() == base.Probe(True, porch.__version__)


def test_table_has_no_other_names() -> None:
    assert list(AGENTS) == ["scripted"]
    with pytest.raises(ImportError, match="NOTHING"):
        exec("from porch.adapters.agents import NOTHING")
