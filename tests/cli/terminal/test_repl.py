"""The prompt of a run on a real terminal, and what leaves the terminal as it was."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.porch.test_changed_since_asked import status_of
from tests.repositories import ACCOUNT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Open

GATED: dict[str, Any] = {
    "id": "write",
    "artifact": "text.md",
    "gate": {"name": "ready", "description": "Is it good?", "next": "publish"},
}
PUBLISH: dict[str, Any] = {"id": "publish"}


def begin(desk: "Desk", *phases: dict[str, Any], **script: Any) -> tuple[str, ...]:
    desk.protocol("p", *phases)
    return ("run", "p", "0001", "--title", "x", "--here", "--script", desk.script(**script))


@pytest.mark.req("P-003")
def test_a_person_rejects_approves_and_stops_from_the_prompt(desk: "Desk", open_: "Open") -> None:
    words = begin(desk, GATED, PUBLISH, agents={"publish": [{"hang": True}]})
    terminal = open_(*words)
    terminal.until("Is it good?")
    terminal.until("read: codev/projects/0001-x/text.md\n")
    terminal.until("porch> ")
    terminal.type("bogus\r")
    terminal.until("'bogus' is not a command; type help")
    terminal.type("reject\r")
    terminal.until("the following arguments are required: --reason")
    # A slip, corrected, and a key that means nothing.
    terminal.type("reject --reason 'too vaguer\x7f\x1b[5~'\r")
    terminal.until(f"write: rejected by {ACCOUNT} (repl): too vague; next: write, attempt 2")
    terminal.until("waiting for your approval: ready")
    terminal.until("porch> ")
    terminal.type("a\r")
    terminal.until("type the whole word: approve or answer")
    terminal.type("approve\r")
    terminal.until(f"write: approved by {ACCOUNT} (repl)")
    terminal.until("phase 2 of 2")
    terminal.until("✓ write  ▸ publish")
    terminal.until("0:01  scripted works")  # elapsed time, agent
    terminal.type("stop\r")
    assert terminal.leave() == 0
    assert "Continue with `porch resume 0001`" in terminal.text
    assert terminal.after == terminal.before
    assert "> too vague\n" in desk.prompts()[1]
    assert [f["wish"]["channel"] for f in desk.facts("WishTaken")] == ["repl"] * 3


def test_an_approval_is_for_what_was_shown(desk: "Desk", open_: "Open") -> None:
    words = begin(desk, GATED, {"id": "publish", "gate": {"name": "g", "next": None}})
    terminal = open_(*words, columns=120)
    terminal.until("read: ")
    desk.write("codev/projects/0001-x/text.md", "changed behind the viewer's back\n")
    terminal.type("approve\r")
    terminal.until("ready was not approved: codev/projects/0001-x/text.md changed since")
    terminal.until("+changed behind the viewer's back")
    terminal.type("approve\r")  # by now it was seen, but not accepted
    terminal.until("changed since porch asked")
    terminal.until("approve ready --accept-changes")
    assert status_of(desk) == "pending"
    desk.write("codev/projects/0001-x/text.md", "changed once more\n")
    terminal.type("approve --accept-changes\r")
    terminal.until("+changed once more")
    terminal.type("approve --accept-changes\r")
    terminal.until("write: approved by")
    terminal.until("waiting for your approval: g")


def test_a_word_behind_approve_names_a_gate_or_nothing_is_approved(
    desk: "Desk", open_: "Open"
) -> None:
    """X11"""
    second = {"id": "publish", "gate": {"name": "published", "next": None}}
    terminal = open_(*begin(desk, GATED, second), columns=120)
    terminal.until("waiting for your approval: ready")
    terminal.type("approve banana\r")
    terminal.until("banana is not waiting for an answer")
    terminal.type("approve redy\r")
    terminal.until("did you mean 'ready'? waiting now: ready")
    terminal.type("approve published\r")
    terminal.until("published is not waiting for an answer")
    terminal.type("reject published too early\r")
    terminal.until("published is not waiting for an answer")
    assert not desk.facts("WishTaken")
    terminal.type("reject too vague\r")
    terminal.until("too vague; next: write, attempt 2")
    terminal.until("waiting for your approval: ready")
    terminal.type("porch approve 0001 ready\r")
    terminal.until("waiting for your approval: published")
    terminal.type("approve ready\r")
    terminal.until("ready is already approved; nothing was changed")
    terminal.type("approve published --note 'as agreed'\r")
    assert terminal.leave() == 0
    wishes = [fact["wish"] for fact in desk.facts("WishTaken")]
    assert [(w["data"]["name"], w.get("text", "")) for w in wishes] == [
        ("ready", "too vague"),
        ("ready", ""),
        ("published", "as agreed"),
    ]


def test_k1_the_live_view_shows_the_difference_and_notices_files_that_are_put_back(
    desk: "Desk", open_: "Open"
) -> None:
    edits = [{"write": {"{project_dir}/text.md": "Worse.\n"}}]
    agents = {"write": [{"write": {"{project_dir}/text.md": "Good.\n"}}], "publish": edits}
    decided = {"ready": [{"approve": True}]}
    last = {"id": "last", "gate": {"name": "g", "next": None}}
    words = begin(desk, GATED, PUBLISH, last, agents=agents, decisions=decided)
    terminal = open_(*words, columns=120)
    terminal.until("ready: approve it again?")
    terminal.until("-Good.")
    terminal.until("+Worse.")
    desk.write("codev/projects/0001-x/text.md", "Good.\n")
    terminal.until("as they were approved; nothing to ask any more")
    terminal.until("waiting for your approval: g")


def test_a_question_is_shown_and_answered(desk: "Desk", open_: "Open") -> None:
    blocked = [{"signal": "BLOCKED", "reason": "Which database?"}, {}]
    terminal = open_(*begin(desk, PUBLISH, agents={"publish": blocked}), columns=120)
    terminal.until("Which database?")
    terminal.until('answer blocked:publish "..."')
    terminal.type("approve\r")
    terminal.until("'approved' is not a possible answer to blocked:publish")
    terminal.until('possible: answer blocked:publish "..."; ')
    terminal.type("answer\r")
    terminal.until('give a text: answer blocked:publish "..."')
    terminal.type("answer use SQLite\r")
    assert terminal.leave() == 0
    assert "0001-x is complete" in terminal.text
    assert "> use SQLite\n" in desk.prompts()[1]


def test_a_failure_is_shown_with_its_report_and_skipped(desk: "Desk", open_: "Open") -> None:
    check = {"command": "echo it is broken; false", "max_retries": 0, "retry_delay": 0}
    terminal = open_(*begin(desk, {"id": "build", "checks": {"unit": check}}))
    terminal.until("it is broken")
    terminal.until("retry, skip --reason")
    terminal.type("skip --reason known\r")
    assert terminal.leave() == 0


@pytest.mark.parametrize("key, how", [("\x03", "Ctrl-C"), ("\x04", "Ctrl-D"), ("quit\r", "quit")])
def test_leaving_restores_the_terminal_and_loses_nothing(
    desk: "Desk", open_: "Open", key: str, how: str
) -> None:
    terminal = open_(*begin(desk, PUBLISH, agents={"publish": [{"hang": True}]}))
    terminal.until("▸ publish")
    terminal.until("porch> ")
    assert terminal.after != terminal.before  # no echo while the prompt is ours
    terminal.type(key)
    assert terminal.leave() == 130, how
    assert "interrupted; nothing is lost. Continue with `porch resume 0001`" in terminal.text
    assert terminal.after == terminal.before
    assert terminal.raw.rindex(b"\x1b[?25h") > terminal.raw.rindex(b"\x1b[?25l")  # cursor is back
    assert desk.facts("EffectStopped")


def test_the_view_shows_the_plan_phase_and_the_last_words_of_the_agent(
    desk: "Desk", open_: "Open"
) -> None:
    plan = "### Phase 1: Lay the ground\n- a\n"
    phases = ({"id": "plan", "artifact": "plan.md"}, {"id": "implement", "phased": True})
    busy = {"run": ["true"], "hang": True}
    agents = {"plan": [{"write": {"{project_dir}/plan.md": plan}}], "implement": [busy]}
    terminal = open_(*begin(desk, *phases, agents=agents), rows=15, columns=60)
    terminal.until("implement, plan phase 1 of 1: Lay the ground")
    terminal.until("scripted works  true")
    terminal.type("status\r")
    terminal.until("state       implement:phase_1#1")
    terminal.type("\x03")
    assert terminal.leave() == 130


def test_what_an_agent_prints_never_reaches_the_terminal_raw(desk: "Desk", open_: "Open") -> None:
    nasty = "\x1b]0;owned\x07\x1b[5mblink\x9b2J\u202e"
    agent = {"say": nasty, "run": ["printf", nasty], "signal": "BLOCKED", "reason": "why\u202e"}
    terminal = open_(*begin(desk, PUBLISH, agents={"publish": [agent]}))
    terminal.until("answer blocked:publish")
    terminal.type("\x03")
    terminal.leave()
    for bad in (b"\x1b]0;", b"\x07", b"\x1b[5m", b"\xc2\x9b", "\u202e".encode()):
        assert bad not in terminal.raw


def test_in_a_pipe_the_stream_is_plain(desk: "Desk") -> None:
    said = desk.call(*begin(desk, GATED, PUBLISH), code=3)
    assert "\x1b" not in said.all
    assert "    write| Done as asked.\n" in said.out
