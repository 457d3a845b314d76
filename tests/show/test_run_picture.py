"""The picture of a run: what read commands print, and everything a person is asked."""

import json
from typing import Any

import pytest

from porch.machine.facts import Item
from porch.machine.state import (
    Decision,
    GateStatus,
    InHand,
    LoopItems,
    Run,
    RunState,
    Standing,
)
from porch.model import protocol as p
from porch.show import board, run_picture, status
from porch.show.shapes import BoardRowShape, DecisionShape, PictureShape

AT = "2026-01-19T10:15:00.000Z"
LATER = "2026-01-19T10:16:00.000Z"
APPROVED = p.Option("approved", "planning starts")
WAIVED = p.Option("waived", "planning starts in spite of it", needs_text=True)
REJECTED = p.Option("rejected", "back to specify:revise", needs_text=True)
ASKED = {
    "specify:gate#1": Decision("specify:gate#1", "gate", "specify_approval", AT, "d1g", {}),
}
GATE = p.Human(
    "gate",
    "specify_approval",
    "Approve the specification?",
    (APPROVED, WAIVED, REJECTED),
    description="Is this the right problem?",
    artifacts=("spec.md",),
    shows=("specify:consult.changes", "specify:checks.failed"),
    override=("specify:checks.failed",),
    stale_after_s=86400,
)
FAILURE = p.Human(
    "failure",
    "failed:implement",
    "Implement failed.",
    (
        p.Option("retry", "begin again"),
        p.Option("skip", "go on", needs_text=True),
        p.Option("stopped", "end the run"),
    ),
)
BLOCKED = p.Human(
    "question",
    "blocked:implement",
    "The agent needs help.",
    (p.Option("answered", "go on", needs_text=True), p.Option("part of it", "x", needs_text=True)),
    shows=("implement.BLOCKED",),
)
STATES = (
    p.State("specify:draft", "specify", p.Agent("author"), title="Specify"),
    p.State("specify:checks", "specify", p.Check((p.Command("build"), p.Command("lint")))),
    p.State("specify:consult", "specify", p.Panel(("gemini", "codex"), "spec", "specify", 2)),
    p.State("specify:gate", "specify", GATE, title="Specify"),
    p.State("specify:commit", "specify", p.Git(("spec.md",), "m")),
    p.State("implement", "implement", p.Agent("builder"), loop="plan"),
    p.State("failed:implement", "implement", FAILURE, loop="plan"),
    p.State("blocked:implement", "implement", BLOCKED, loop="plan"),
    p.State("complete", "complete", p.End("complete")),
)
LOOP = p.Loop("plan", "plan.md", "implement", p.Target("complete"))
PROTOCOL = p.Protocol(
    "spider",
    p.Target("specify:draft"),
    {s.name: s for s in STATES},
    (),
    loops={"plan": LOOP},
)
RUN = Run(name="0073-user-auth", id="0073", title="user-auth", protocol="spider", started_at=AT)


def standing(state: str, item: str = "") -> Standing:
    return Standing(f"{state}{':' + item if item else ''}#1", "", state, item, 1, AT)


def run_at(*positions: Standing, **changes: Any) -> RunState:
    values: dict[str, Any] = {
        "run": RUN,
        "seq": 41,
        "at": LATER,
        "positions": {each.position: each for each in positions},
    }
    return RunState(**{**values, **changes})


def asking(*positions: Standing, **changes: Any) -> RunState:
    asked = {}
    for number, each in enumerate(positions):
        actor = PROTOCOL.states[each.state].actor
        assert isinstance(actor, p.Human)
        at = f"2026-01-19T10:{59 - number}:00.000Z"
        asked[each.position] = Decision(each.position, actor.kind, actor.name, at, "d1g")
    return run_at(*positions, **{"decisions": asked, **changes})


def drawn(state: RunState, **changes: Any) -> PictureShape:
    return run_picture.make_run_picture(PROTOCOL, state, 900, "5um", **changes)


def commands(decision: DecisionShape) -> list[str]:
    return [option["command"] for option in decision["options"]]


def test_a_picture_says_how_much_of_the_journal_it_covers() -> None:
    hand = InHand("specify:draft#1/agent/author/0", "specify:draft#1", "agent", "author")
    state = run_at(standing("specify:draft"), in_hand={hand.effect: hand}, usd=0.5, tokens=7)
    shown = drawn(state)
    assert {key: shown[key] for key in ("v", "seq", "length", "sum", "run")} == {
        "v": 2,
        "seq": 41,
        "length": 900,
        "sum": "5um",
        "run": "0073-user-auth",
    }
    assert shown["status"] == status.make_status_document(PROTOCOL, state)
    assert shown["positions"] == [
        {
            "position": "specify:draft#1",
            "state": "specify:draft",
            "item": "",
            "visit": 1,
            "instance": "",
            "since": AT,
            "title": "Specify",
        }
    ]
    assert (shown["usd"], shown["tokens"], shown["paused"], shown["outcome"]) == (0.5, 7, False, "")
    assert shown["in_hand"] == [
        {
            "effect": "specify:draft#1/agent/author/0",
            "position": "specify:draft#1",
            "kind": "agent",
            "name": "author",
        }
    ]
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize(
    "position,waits,actor,names",
    [
        (standing("specify:draft"), "an agent", "agent", ["author"]),
        (standing("specify:checks"), "checks: build, lint", "checks", ["build", "lint"]),
        (standing("specify:consult"), "reviews: gemini, codex", "reviewers", ["gemini", "codex"]),
        (
            standing("specify:gate"),
            "porch to ask: specify_approval",
            "question",
            ["specify_approval"],
        ),
        (standing("specify:commit"), "git", "git", []),
        (standing("implement"), "the plan", "plan", ["plan.md"]),
        (standing("implement", "phase_1"), "an agent", "agent", ["builder"]),
        (standing("vanished"), "porch upgrade", "upgrade", []),
    ],
)
def test_a_row_says_what_the_run_waits_for(
    position: Standing, waits: str, actor: str, names: list[str]
) -> None:
    """T10: who must act is a value beside the text."""
    row = drawn(run_at(position))["row"]
    is_driven = actor != "upgrade"
    expected: BoardRowShape = {
        "id": "0073",
        "title": "user-auth",
        "protocol": "spider",
        "state": position.label,
        "waits": waits,
        "waiting": [{"on": actor, "names": names, "needs_driver": is_driven}],
        "wants_driver": True,
    }
    assert row == expected


def test_who_was_asked_is_waited_for_and_nobody_else() -> None:
    state = run_at(standing("specify:gate"), decisions=ASKED)
    row = drawn(state)["row"]
    assert row["waits"] == "you: specify_approval"
    assert row["waiting"] == [
        {"on": "person", "names": ["specify_approval"], "needs_driver": False}
    ]


@pytest.mark.parametrize(
    "since,waits",
    [
        (AT, "an agent, waiting until 2026-01-19 15:15:00Z"),
        ("", "an agent, after a short wait"),
    ],
)
def test_a_row_says_what_has_to_be_sat_out_before_the_agent_is_asked_again(
    since: str, waits: str
) -> None:
    position = standing("specify:draft")
    wait = {"name": "limit-agent-0", "seconds": 18000, "since": since}
    marks: dict[str, Any] = {"wait/agent": wait}
    state = run_at(position, marks={position.position: marks})
    assert drawn(state)["row"]["waits"] == waits
    over = {**marks, "fired/limit-agent-0": True}
    assert drawn(run_at(position, marks={position.position: over}))["row"]["waits"] == "an agent"


def test_reviews_that_came_in_are_no_longer_waited_for() -> None:
    marks = {"specify:consult#1": {"review/gemini": {"verdict": "APPROVE"}}}
    assert drawn(run_at(standing("specify:consult"), marks=marks))["row"]["waits"] == (
        "reviews: codex"
    )


def test_a_stopped_run_waits_to_be_resumed_and_an_ended_one_for_nothing() -> None:
    assert drawn(run_at(standing("specify:draft"), paused=True))["row"]["waits"] == "porch resume"
    assert drawn(run_at(outcome="complete"))["row"]["waits"] == ""


def test_a_run_that_waits_for_an_agent_and_a_person_asks_and_still_needs_a_driver() -> None:
    """T10"""
    for places in (("specify:draft", "specify:gate"), ("specify:gate", "specify:draft")):
        state = run_at(*map(standing, places), decisions=ASKED)
        row = drawn(state)["row"]
        assert board.waits_on(row, "person")
        assert any(each["needs_driver"] for each in row["waiting"])
        assert board.render_board([drawn(state)], sign=lambda _, mark: mark).split() == ["asks"]


def test_a_gate_is_a_decision_with_its_answers_and_their_commands() -> None:
    position = standing("specify:gate")
    state = run_at(
        position,
        decisions={
            position.position: Decision(
                position.position,
                "gate",
                "specify_approval",
                AT,
                "d1g",
                {"codev/projects/0073-user-auth/spec.md": "5ha"},
            )
        },
    )
    assert run_picture.list_decisions(PROTOCOL, state) == [
        {
            "run": "0073-user-auth",
            "id": "0073",
            "title": "user-auth",
            "position": "specify:gate#1",
            "kind": "gate",
            "name": "specify_approval",
            "asked_at": AT,
            "by": "porch",
            "question": "Approve the specification?",
            "description": "Is this the right problem?",
            "reason": "",
            "options": [
                {
                    "answer": "approved",
                    "meaning": "planning starts",
                    "needs_text": False,
                    "command": "porch approve 0073 specify_approval",
                    "then": "asks you again",
                },
                {
                    "answer": "waived",
                    "meaning": "planning starts in spite of it",
                    "needs_text": True,
                    "command": 'porch approve 0073 specify_approval --override "..."',
                    "then": "asks you again",
                },
                {
                    "answer": "rejected",
                    "meaning": "back to specify:revise",
                    "needs_text": True,
                    "command": 'porch reject 0073 specify_approval --reason "..."',
                    "then": "asks you again",
                },
            ],
            "artifacts": ["codev/projects/0073-user-auth/spec.md"],
            "digest": "d1g",
            "deadline": "2026-01-20T10:15:00Z",
            "stale": False,
            "findings": [],
            "reports": {},
            "needs_override": False,
        }
    ]


def test_a_gate_with_a_failed_verification_shows_it_and_offers_only_the_override() -> None:
    memory = {
        ("", ""): {
            "specify:checks.failed": {
                "failed": ["build"],
                "reports": {"build": "x" * 5000 + "END"},
            },
            "specify:consult.changes": {
                "findings": [{"by": "codex", "finding": "vague\x1b[31m"}, "loose"]
            },
        }
    }
    (asked,) = run_picture.list_decisions(PROTOCOL, asking(standing("specify:gate"), memory=memory))
    assert asked["needs_override"] is True
    assert [option["answer"] for option in asked["options"]] == ["waived", "rejected"]
    assert asked["findings"] == [
        {"by": "codex", "finding": "vague"},
        {"by": "reviewer", "finding": "loose"},
    ]
    assert len(asked["reports"]["build"]) == 4000
    assert asked["reports"]["build"].endswith("END")
    assert asked["artifacts"] == ["spec.md"]


def test_failures_and_questions_are_decisions_too() -> None:
    memory = {("", "phase_1"): {"implement.BLOCKED": {"reason": "which database?"}}}
    state = asking(
        standing("failed:implement", "phase_2"),
        standing("blocked:implement", "phase_1"),
        memory=memory,
    )
    question, failure = run_picture.list_decisions(PROTOCOL, state)
    assert question["reason"] == "which database?"
    assert commands(question) == [
        'porch answer 0073 blocked:implement "..."',
        "porch answer 0073 blocked:implement --option 'part of it' \"...\"",
    ]
    assert commands(failure) == [
        "porch retry 0073",
        'porch skip 0073 --reason "..."',
        "porch answer 0073 failed:implement stopped",
    ]
    assert failure["deadline"] is None


def test_two_questions_of_one_name_are_told_apart_by_their_position() -> None:
    state = asking(standing("blocked:implement", "phase_1"), standing("blocked:implement", "it's"))
    second, first = run_picture.list_decisions(PROTOCOL, state)
    assert commands(first)[0] == "porch answer 0073 'blocked:implement:phase_1#1' \"...\""
    assert commands(second)[0] == "porch answer 0073 'blocked:implement:it'\"'\"'s#1' \"...\""


def test_two_failures_that_can_be_tried_again_have_a_command_each() -> None:
    state = asking(standing("failed:implement", "one"), standing("failed:implement", "two"))
    told = [commands(each)[:2] for each in run_picture.list_decisions(PROTOCOL, state)]
    assert sorted(told) == [
        [
            f"porch answer 0073 'failed:implement:{item}#1' retry",
            f"porch answer 0073 'failed:implement:{item}#1' skip \"...\"",
        ]
        for item in ("one", "two")
    ]


def test_a_question_of_an_older_definition_is_still_shown() -> None:
    position = standing("specify:draft")
    asked = {position.position: Decision(position.position, "gate", "old_gate", AT)}
    (shown,) = run_picture.list_decisions(PROTOCOL, run_at(position, decisions=asked))
    assert (shown["name"], shown["question"], shown["options"]) == ("old_gate", "old_gate", [])


def test_the_text_of_a_run_tells_where_it_stands_and_what_can_be_done() -> None:
    items = LoopItems(
        (
            Item(id="phase_1", title="Schema", description="", digest="d"),
            Item(id="phase_2", title="API \x1b[2Jendpoints", description="", digest="d"),
        ),
        "d",
        ("phase_1",),
    )
    position = standing("blocked:implement", "phase_2")
    state = asking(
        position,
        items={("", "plan"): items},
        gates={"specify_approval": GateStatus("approved", AT, AT, "ana")},
        marks={position.position: {"failure": "timeout after 600 s"}},
        run=Run(**{**_fields(RUN), "worktree": "worktrees/spider_0073"}),
        turns=3,
        usd=1.234,
        tokens=10,
    )
    assert drawn(state, definition_changed=True)["text"] == [
        "0073 user-auth (spider)",
        "  state       blocked:implement:phase_2#1",
        "  phase       API endpoints",
        "  waits for   you: blocked:implement",
        "  trouble     the last attempt failed: timeout after 600 s",
        "  worktree    worktrees/spider_0073",
        "  started     2026-01-19 10:15:00Z",
        "  updated     2026-01-19 10:16:00Z",
        "  spent       3 agent turns, 1.23 USD, 10 tokens",
        "  The protocol files changed after this run started, or this release of porch",
        "  reads them in another way. The run uses the old version. Switch to the new",
        "  one: porch upgrade",
        "  plan",
        "    [0] phase_1 Schema: nothing to run",
        "    [?] phase_2 API endpoints: waiting",
        "  gates",
        "    specify_approval: approved by ana 2026-01-19 10:15:00Z",
        "",
        "0073 user-auth: blocked:implement (question)",
        "  waiting since 2026-01-19 10:59:00Z",
        "  The agent needs help.",
        "  Answer: go on (asks you again)",
        '      porch answer 0073 blocked:implement "..."',
        "  part of it: x",
        "      then: asks you again",
        "      porch answer 0073 blocked:implement --option 'part of it' \"...\"",
    ]


def _fields(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in Run.__struct_fields__}


def test_a_gate_at_which_nobody_was_asked_is_not_said_to_wait() -> None:
    text = drawn(run_at(standing("specify:draft")))["text"]
    assert "    specify_approval: not yet" in text


def test_a_protocol_without_gates_shows_none() -> None:
    bare = p.Protocol("tick", p.Target("specify:draft"), {STATES[0].name: STATES[0]}, ())
    shown = run_picture.make_run_picture(bare, run_at(standing("specify:draft")), 1, "s")
    assert "  gates" not in shown["text"]
    assert "  plan" not in shown["text"]


def test_the_text_of_an_ended_and_of_a_stopped_run() -> None:
    assert "  state       complete" in drawn(run_at(outcome="complete"))["text"]
    stopped = drawn(run_at(standing("specify:draft"), paused=True))["text"]
    assert "  waits for   porch resume (the run is stopped)" in stopped


def test_everything_but_commands_fits_eighty_columns() -> None:
    long = "word " * 60
    items = LoopItems((Item(id="phase_1", title=long, description="", digest="d"),), "d")
    position = standing("blocked:implement", "phase_1")
    memory = {("", "phase_1"): {"implement.BLOCKED": {"reason": long}}}
    run = Run(**{**_fields(RUN), "title": long})
    state = asking(position, items={("", "plan"): items}, memory=memory, run=run)
    lines = drawn(state)["text"]
    assert all(len(line) <= 80 for line in lines if "porch " not in line)
    assert len([line for line in lines if "word word" in line]) > 6
