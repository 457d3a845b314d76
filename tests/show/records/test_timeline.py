"""`porch log`: one line for each record, whatever the record holds."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.records import JournalRecord, RawRecord, encode_record
from porch.show.place_words import PlaceWords
from porch.show.records.timeline import (
    _FACT_DESCRIPTIONS,
    _PLACED,
    _WORK,
    UNCONTINUED,
    describe_record,
    line_mark,
    list_decisions_of_people,
    render_timeline,
)
from porch.show.shapes import PlaceNames
from porch.show.terminal_style import TerminalStyle

AT = "2026-01-19T10:15:00.123Z"
PLACE = "specify:draft#1"
WISH = f.Wish(
    id="w1", kind="decide", position="specify:gate#1", exit="approved", who="ana", channel="cli"
)


def told(fact: f.Fact, *moves: m.Move) -> str:
    (line,) = render_timeline([encode_record(JournalRecord(12, AT, fact, moves))])
    assert line.startswith("2026-01-19 10:15:00Z    12  ")
    return line.removeprefix("2026-01-19 10:15:00Z    12  ")


def effect(kind: str, name: str) -> str:
    return f"{PLACE}/{kind}/{name}/0"


def settled(kind: str, name: str) -> m.Settled:
    return m.Settled(effect(kind, name))


AGENT, CHECK, REVIEW = (
    effect("agent", "author"),
    effect("check", "build"),
    effect("review", "codex"),
)
CASES: list[tuple[f.Fact, str]] = [
    (
        f.RunStarted(run="0073-x", id="0073", title="x", protocol="spider", digest="d", by="ana"),
        "run 0073-x started with protocol spider by ana",
    ),
    (
        f.RunStarted(run="0073-x", id="0073", title="x", protocol="spider", digest="d"),
        "run 0073-x started with protocol spider",
    ),
    (
        f.RunAdopted(state="plan:draft", notes=("a", "b")),
        "continued from a status file, at plan:draft: a; b",
    ),
    (f.RunAdopted(state="plan:draft"), "continued from a status file, at plan:draft"),
    (
        f.RunnerStarted(host="host", boot="boot", pid=7, release="1"),
        "porch started (pid 7 on host)",
    ),
    (
        f.RunnerStarted(host="host", boot="boot", pid=7, release="1", resumed=True),
        "porch continues (pid 7 on host)",
    ),
    (f.WishTaken(wish=WISH), "specify: approved by ana (cli)"),
    (
        f.WishTaken(wish=replace(WISH, as_person=True, text="go")),
        "specify: approved by ana (cli) (confirmed to be a person): go",
    ),
    (
        f.WishRefused(wish=replace(WISH, as_person=True), reason="not asked"),
        "specify: approved by ana (cli) (confirmed to be a person) was refused: not asked",
    ),
    (f.WishTaken(wish=f.Wish(id="w", kind="stop", text="lunch")), "stop by unknown: lunch"),
    (
        f.WishRefused(wish=WISH, reason="not asked"),
        "specify: approved by ana (cli) was refused: not asked",
    ),
    (
        f.JournalRepaired(kept=40, lost_bytes=12, aside="journal.bad-1"),
        "the journal was repaired: 40 records kept, 12 bytes lost (journal.bad-1)",
    ),
    (
        f.JournalRepaired(kept=40, lost_bytes=12, aside="bad", decisions=("8 no", "9 no")),
        "the journal was repaired: 40 records kept, 12 bytes lost (bad); lost: 8 no; lost: 9 no",
    ),
    (
        f.StatusEdited(aside="status.edited-1.yaml"),
        "somebody edited the status file; the edited copy is status.edited-1.yaml",
    ),
]
ENDINGS: list[tuple[f.EffectFact, str]] = [
    (
        f.ExitAccepted(effect=AGENT, exit="drafted", signal="SPEC_DRAFTED"),
        "the agent ended with SPEC_DRAFTED",
    ),
    (
        f.ExitAccepted(effect=AGENT, exit="BLOCKED", payload={"reason": "why?"}),
        "the agent ended with BLOCKED: why?",
    ),
    (f.TurnEndedSilent(effect=AGENT), "the agent ended without a signal"),
    (
        f.TurnEndedSilent(effect=AGENT, notes=("unknown signal X ignored", "denied: Bash")),
        "the agent ended without a signal: unknown signal X ignored",
    ),
    (
        f.ExitAccepted(effect=AGENT, exit="a", signal="A", notes=("unknown signal X ignored",)),
        "the agent ended with A (unknown signal X ignored)",
    ),
    (
        f.ExitAccepted(effect=AGENT, exit="A", notes=("x: read as null", f"{UNCONTINUED}gone")),
        "the agent ended with A (a new conversation: gone)",
    ),
    (
        f.EffectFailed(effect=AGENT, why="timeout", detail="after 600 s"),
        "agent author failed: timeout: after 600 s",
    ),
    (f.EffectFailed(effect=AGENT, why="limit", detail="429", wait_s=600), "failed: limit: 429"),
    (f.CheckEnded(effect=CHECK, result="passed", seconds=1.25), "check build passed in 1.2 s"),
    (
        f.CheckEnded(effect=CHECK, result="passed", reused=True),
        "check build still passed (no file changed since)",
    ),
    (f.CheckEnded(effect=CHECK, result="unmeasured"), "check build unmeasured"),
    (
        f.ReviewEnded(effect=REVIEW, verdict="APPROVE", summary="good"),
        "review by codex: APPROVE: good",
    ),
    (
        f.ReviewEnded(effect=REVIEW, verdict="ABSTAIN", why="timeout"),
        "review by codex: ABSTAIN (timeout)",
    ),
    (
        f.ItemsRead(
            effect=effect("items", "plan"),
            reading="headings",
            items=(f.Item(id="phase_1", title="t", description="", digest="d"),),
            digest="d",
        ),
        "the plan has 1 phase: t",
    ),
    (
        f.ItemsRead(effect=effect("items", "plan"), reading="headings", items=(), digest="d"),
        "the plan has no phases",
    ),
    (
        f.DecisionAsked(effect=effect("ask", "specify_approval"), digest="d"),
        "waiting for your decision: specify_approval",
    ),
    (
        f.FeedbackWritten(effect=effect("feedback", "specify"), path="c.md"),
        "reviews saved in c.md",
    ),
    (f.TimerFired(effect=effect("timer", "delay")), "the waiting time is over"),
    (
        f.CommitEnded(effect=effect("commit", "specify"), commit="abcdef0123456789"),
        "committed abcdef012345",
    ),
    (f.CommitEnded(effect=effect("commit", "specify")), "nothing to commit"),
    (
        f.CommitEnded(effect=effect("commit", "specify"), refused="dirty"),
        "git refused the commit: dirty",
    ),
]


@pytest.mark.parametrize("fact,line", CASES)
def test_what_is_no_ending_is_told_in_a_sentence(fact: f.Fact, line: str) -> None:
    assert told(fact) == line


@pytest.mark.parametrize("fact,line", ENDINGS)
def test_an_ending_names_its_position_and_where_the_run_moved(
    fact: f.EffectFact, line: str
) -> None:
    moved = (m.Settled(fact.effect), m.Left(PLACE), m.Entered("plan:draft#1", "plan:draft", 1))
    text = told(fact, *moved)
    assert text.startswith("specify draft: ")
    assert line in text
    assert text.endswith("; next: plan draft")
    assert "late" not in text


@pytest.mark.parametrize("fact,line", ENDINGS)
@pytest.mark.parametrize("was_in_hand", [True, False])
def test_an_ending_that_nobody_waited_for_is_called_late(
    fact: f.EffectFact, line: str, was_in_hand: bool
) -> None:
    moves = (m.Settled(fact.effect),) if was_in_hand else ()
    assert told(fact, *moves).endswith("(too late: the run had already moved on; ignored)")


def test_stopping_and_interrupting_move_nothing_and_are_not_late() -> None:
    hand = settled("agent", "author")
    assert told(f.EffectStopped(effect=AGENT), hand) == "specify draft: agent author was stopped"
    assert told(f.EffectInterrupted(effect=AGENT), hand) == (
        "specify draft: porch was killed during agent author"
    )


def test_a_finished_phase_and_the_end_of_the_run_are_told() -> None:
    done = told(
        f.ExitAccepted(effect=AGENT, exit="done"),
        settled("agent", "author"),
        m.Finished("plan", "phase_3"),
        m.Ended("complete"),
    )
    assert done.endswith("; plan phase 3 is done; the run is complete")
    assert told(f.WishTaken(wish=WISH), m.Paused()).endswith("; stopped")
    assert told(f.WishTaken(wish=WISH), m.Resumed()).endswith("; continues")


def test_every_kind_of_fact_has_its_sentence() -> None:
    kinds = {kind.__name__ for union in (f.Fact, f.EffectFact) for kind in get_args(union)}
    assert set(_FACT_DESCRIPTIONS) | set(_PLACED) | set(_WORK) == kinds


def odd_records(*raws: Any) -> list[RawRecord]:
    return list(raws)


def test_a_record_of_tomorrow_still_gives_a_line() -> None:
    assert list(
        render_timeline(odd_records({"seq": 3, "at": AT, "fact": {"is": "Teleported"}}))
    ) == ["2026-01-19 10:15:00Z     3  Teleported"]
    assert list(render_timeline(odd_records({}))) == ["     0  an unknown record"]
    odd = {"seq": 4, "at": AT, "fact": {"is": "EffectStopped", "effect": "odd"}}
    assert list(render_timeline(odd_records(odd))) == [
        "2026-01-19 10:15:00Z     4  odd: effect was stopped"
    ]


NAMES: PlaceNames = {
    "titles": {"pr": "Pull request"},
    "items": {"phase_1": "plan phase 1 of 3", "setup": "plan phase 2 of 3"},
    "limits": {"implement:checks.build": 3, "attempts": 4},
    "rounds": {"specify:rounds": 2},
}


def entered(position: str, **more: Any) -> m.Entered:
    return m.Entered(position, position.rpartition("#")[0], 1, **more)


def check_at(position: str, **more: Any) -> f.CheckEnded:
    return f.CheckEnded(effect=f"{position}/check/build/0", result="failed", **more)


def line_of(fact: f.Fact, *moves: m.Move, names: PlaceNames | None = None) -> str:
    return describe_record(encode_record(JournalRecord(12, AT, fact, moves)), PlaceWords(names))


def test_r12_a_failure_is_told_with_its_first_line_and_the_attempt_that_follows() -> None:
    fact = check_at("implement:checks:phase_1#1", report="exit code 2\n\nno such file\nmore")
    moves = (m.Charged("implement:checks.build", 1), entered("implement:phase_1#2"))
    assert line_of(fact, *moves, names=NAMES) == (
        "implement, plan phase 1 of 3: check build failed: exit code 2: no such file"
        "; next: implement, plan phase 1 of 3, attempt 2 of 4"
    )
    assert line_of(fact, *moves).endswith("; retry 1; next: implement, plan phase 1, attempt 2")


def test_r12_positions_stand_only_in_verbose_lines() -> None:
    fact = check_at("implement:checks:phase_1#1")
    moves = (m.Charged("implement:checks.build", 1), entered("implement:phase_1#2"))
    raw = encode_record(JournalRecord(12, AT, fact, moves))
    assert "#" not in describe_record(raw, PlaceWords(NAMES))
    said = describe_record(raw, PlaceWords(NAMES, verbose=True))
    assert said.startswith("implement:checks:phase_1#1: ")
    assert said.endswith(" -> implement:phase_1#2")


@pytest.mark.parametrize(
    "usage, told",
    [
        ({"usd": 0.2513, "tokens": 9}, ", cost $0.25"),
        ({"usd": 0.0004}, ", cost $0.0004"),
        ({"tokens": 12345}, ", 12,345 tokens"),
        ({}, ""),
    ],
)
def test_r12_what_a_turn_cost_stands_in_its_line(usage: dict[str, Any], told: str) -> None:
    effect = "specify:draft#1/agent/specify/0"
    ended = f.ExitAccepted(effect=effect, exit="DONE", signal="DONE", **usage)
    assert f"the agent ended with DONE{told}; next" in line_of(ended, entered("pr#1"))
    silent = f.TurnEndedSilent(effect=effect, **usage)
    assert f"without a signal{told}; next" in line_of(silent, entered("pr#1"))
    review = "specify:consult#1/review/codex/0"
    judged = f.ReviewEnded(effect=review, verdict="APPROVE", **usage)
    assert f"review by codex: APPROVE{told}; next" in line_of(judged, entered("pr#1"))


def test_titles_items_and_rounds_are_named_as_the_protocol_names_them() -> None:
    line = line_of(
        f.FeedbackWritten(effect="specify:consult#1/feedback/specify/0", path="c.md"),
        m.Charged("specify:rounds", 1),
        entered("pr:setup#1"),
        names=NAMES,
    )
    assert line == (
        "specify: reviews saved in c.md; review round 2 of 3; next: Pull request, plan phase 2 of 3"
    )


@pytest.mark.parametrize(
    "position,name,words",
    [
        ("plan:gate#1", "plan_approval", "plan: waiting for your approval: plan_approval"),
        ("failed:test#1", "failed:test", "phase 'test' failed: retry, skip or stop?"),
        (
            "failed:implement:phase_1#1",
            "x",
            "phase 'implement' (plan phase 1 of 3) failed: retry, skip or stop?",
        ),
        (
            "blocked:first#1",
            "blocked:first",
            "first: waiting for your answer to the agent's question (blocked:first)",
        ),
        ("undecided:plan#1", "plan_review", "plan: waiting for your decision: plan_review"),
        ("budget:run.max_usd#1", "b", "the budget run.max_usd is used up: continue or stop?"),
        ("a/ask#1", "ask", "a: ask: waiting for your decision: ask"),
    ],
)
def test_what_a_person_is_asked_is_a_plain_sentence(position: str, name: str, words: str) -> None:
    asked = f.DecisionAsked(effect=f"{position}/ask/{name}/0", digest="d")
    assert line_of(asked, m.Paused(), names=NAMES) == f"{words}; stopped"


def test_inside_a_phase_only_the_next_step_is_named() -> None:
    said = f.ExitAccepted(effect="write#2/agent/author/0", exit="done")
    assert line_of(said, entered("write:checks#2")).endswith("; next: checks")
    assert line_of(said, entered("failed:write#1")).endswith("; next: your decision")
    assert line_of(said, entered("write:gate#1", delay_s=5)).endswith(
        "; next: your approval after 5 s"
    )


def test_instances_are_named_where_they_differ_and_each_ends_by_itself() -> None:
    said = f.ExitAccepted(effect="add/impl#1/agent/author/0", exit="done")
    line = line_of(said, entered("add/review#1"), entered("mul/review#1"))
    assert line == "add: impl: the agent ended with done; next: review and mul: review"
    assert line_of(said, m.Ended("failed", "add")).endswith("; add is failed")
    spent = line_of(said, m.Charged("add/attempts", 2), names=NAMES)
    assert spent.endswith("; attempts 2 of 4")


@pytest.mark.parametrize(
    "seconds,words", [(59.97, "60 s"), (5, "5 s"), (600, "10 min"), (18000, "5.0 h")]
)
def test_a_wait_before_the_next_attempt_is_told(seconds: float, words: str) -> None:
    fact = f.EffectFailed(effect=AGENT, why="limit")
    line = line_of(fact, m.Postponed(PLACE, "agent", "limit-agent-0", seconds))
    assert line == f"specify draft: agent author failed: limit; retrying after {words}"


def test_a_timer_says_what_happens_now() -> None:
    assert line_of(f.TimerFired(effect=effect("timer", "backoff-agent-1")), m.Paused()) == (
        "specify draft: the waiting time is over; retrying now; stopped"
    )
    assert "still waiting for you: ready" in line_of(f.TimerFired(effect=effect("stale", "ready")))


def test_a_check_without_a_command_is_called_skipped() -> None:
    skipped = f.CheckEnded(effect=CHECK, result="passed", report="skipped: nothing to run")
    assert "check build skipped: nothing to run" in line_of(skipped)


def test_whoever_asks_for_it_reads_positions() -> None:
    raw = encode_record(
        JournalRecord(1, AT, check_at("implement:checks:phase_1#1"), (entered("implement#2"),))
    )
    asked = encode_record(
        JournalRecord(2, AT, f.DecisionAsked(effect="plan:gate#1/ask/ok/0", digest="d"))
    )
    words = PlaceWords(NAMES, verbose=True)
    assert describe_record(raw, words) == (
        "implement:checks:phase_1#1: check build failed -> implement#2"
    )
    assert describe_record(asked, words).startswith("plan:gate#1: waiting for your decision: ok")
    done = encode_record(
        JournalRecord(3, AT, f.WishTaken(wish=WISH), (m.Finished("plan", "phase_1"),))
    )
    assert describe_record(done, words).endswith("; phase_1 is done")


MARKED: list[tuple[f.Fact, tuple[m.Move, ...], str]] = [
    (f.CheckEnded(effect=CHECK, result="passed"), (), "good"),
    (f.CheckEnded(effect=CHECK, result="failed"), (), "bad"),
    (f.ReviewEnded(effect=REVIEW, verdict="APPROVE", summary=""), (), "good"),
    (f.ReviewEnded(effect=REVIEW, verdict="REQUEST_CHANGES", summary=""), (), "bad"),
    (f.ReviewEnded(effect=REVIEW, verdict="ABSTAIN"), (), ""),
    (f.CommitEnded(effect=AGENT, refused="dirty"), (), "bad"),
    (f.CommitEnded(effect=AGENT), (), ""),
    (f.DecisionAsked(effect=AGENT, digest="d"), (), "asks"),
    (f.WishTaken(wish=WISH), (m.Ended("complete"),), "good"),
    (f.WishTaken(wish=WISH), (m.Ended("abandoned"),), "bad"),
]


@pytest.mark.parametrize("fact,moves,found", MARKED)
def test_success_failure_and_questions_are_marked(
    fact: f.Fact, moves: tuple[m.Move, ...], found: str
) -> None:
    assert line_mark(encode_record(JournalRecord(1, AT, fact, moves))) == found


HEAD = "2026-01-19 10:15:00Z    12"


def test_a_marked_line_has_its_sign_and_on_colour_terminals_its_colour() -> None:
    assert TerminalStyle(80, colour=True).marked(HEAD, "it failed", "bad") == (
        f"{HEAD} \x1b[31m✗ it failed\x1b[0m"
    )
    assert (
        TerminalStyle(80, colour=False).marked(HEAD, "it passed", "good") == f"{HEAD} ✓ it passed"
    )
    assert (
        TerminalStyle(80, False, unicode=False).marked(HEAD, "it passed", "good")
        == f"{HEAD} + it passed"
    )
    assert (
        TerminalStyle(80, colour=True).marked(HEAD, "porch started", "")
        == f"{HEAD}   porch started"
    )


@pytest.mark.parametrize("width,indent", [(80, 29), (50, 4)])
def test_a_long_line_goes_on_below_within_the_width(width: int, indent: int) -> None:
    told_lines = TerminalStyle(width, colour=False).marked(HEAD, "word " * 40, "good").split("\n")
    assert len(told_lines) > 3
    assert all(len(line.rstrip()) <= width for line in told_lines)
    assert told_lines[1].startswith(" " * indent + "word")


def test_wide_characters_count_twice_and_a_long_word_stays_whole() -> None:
    look = TerminalStyle(20, colour=False)
    assert look.fitted("  日本語 日本語 日本語 日本語") == "  日本語 日本語\n    日本語 日本語"
    assert look.fitted("a " + "x" * 30) == "a\n  " + "x" * 30
    assert look.fitted("short\n\nlines") == "short\n\nlines"


def test_what_a_command_does_goes_on_beside_or_below_it_and_the_command_stays_whole() -> None:
    line = "  porch finish 0001 --pr   push the branch and open a pull request"
    assert TerminalStyle(80, colour=False).fitted(line) == line
    assert TerminalStyle(60, colour=False).fitted(line) == (
        "  porch finish 0001 --pr   push the branch and open a pull\n"
        "                           request"
    )
    assert TerminalStyle(40, colour=False).fitted(line) == (
        "  porch finish 0001 --pr\n      push the branch and open a pull\n      request"
    )
    alone = "  porch answer 0001 failed:implement stopped --as-person"
    assert TerminalStyle(20, colour=False).fitted(alone) == alone


@given(st.text())
def test_nothing_in_a_record_breaks_the_line_or_moves_the_cursor(hostile: str) -> None:
    raws: list[RawRecord] = [
        encode_record(
            JournalRecord(
                1, AT, f.ExitAccepted(effect=AGENT, exit="x", payload={"reason": hostile})
            )
        ),
        encode_record(
            JournalRecord(
                2, AT, f.WishTaken(wish=f.Wish(id="w", kind="stop", text=hostile, who=hostile))
            )
        ),
        encode_record(JournalRecord(3, AT, f.WishTaken(wish=WISH), (m.Entered(hostile, "s", 1),))),
    ]
    found = list(render_timeline(raws))
    assert len(found) == 3
    assert all(line.isprintable() and len(line) < 450 for line in found)


def test_x1_x10_a_turn_says_what_else_changed_meanwhile() -> None:
    files = tuple(f"tests/test_{number}.py" for number in range(6))
    fact = f.ExitAccepted(
        effect=AGENT,
        exit="done",
        touched=files,
        outside={"changes": ["branch other: none -> 1"], "unpermitted": ["a.md"]},
    )
    line = told(fact)
    assert line.endswith("; changed without permission to write it: a.md")
    assert "; changed what measures it: tests/test_0.py" in line
    assert "tests/test_4.py and 1 more; changed outside the worktree: branch other" in line


def test_decisions_of_people_are_listed_with_time_and_number() -> None:
    """R7: a repair names those that it could not keep."""
    facts: tuple[f.Fact, ...] = (f.WishTaken(wish=WISH), f.RunAdopted(state="plan:draft"))
    raws = [
        encode_record(JournalRecord(seq, "2026-01-01T10:41:00Z", fact))
        for seq, fact in enumerate(facts, 7)
    ]
    (told,) = list_decisions_of_people(raws)
    assert told.endswith(" 7 specify: approved by ana (cli)")
