"""Many checks to one exit, many verdicts to one judgement."""

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import RunAgent
from porch.machine.exits.absences import absent_since_moves, given_before_moves
from porch.machine.records import JournalRecord
from porch.machine.state import PastVisit
from porch.model import protocol as p
from porch.testing import CheckResult, Rig, Verdict

T = p.Target


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def altered(protocol: p.Protocol, *edges: p.Edge, **states: p.State) -> p.Protocol:
    """The house with some edges put before its own, and some states replaced."""
    named = {**protocol.states, **states}
    return replace(protocol, states=named, edges=(*edges, *protocol.edges))


def entered(record: JournalRecord) -> list[str]:
    return [move.position for move in record.moves if isinstance(move, m.Entered)]


# Checks


@pytest.mark.parametrize(
    "lint,unit,leads_to",
    [
        ("passed", "passed", "specify:consult#1"),
        ("failed", "passed", "specify:consult#1"),
        ("unmeasured", "passed", "specify:consult#1"),
        ("passed", "failed", "specify:gate#1"),
        ("passed", "unmeasured", "specify:gate#1"),
        ("failed", "unmeasured", "specify:gate#1"),
    ],
)
def test_only_binding_checks_decide_and_what_was_not_measured_never_passes(
    rig: Rig, lint: CheckResult, unit: CheckResult, leads_to: str
) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", lint)
    assert stands(rig) == ["specify:check#1"]
    rig.check("unit/fast", unit)
    assert stands(rig) == [leads_to]


def test_the_report_of_a_failed_check_is_remembered(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "failed")
    effect = rig.held("check", "unit/fast")
    record = rig.tell(f.CheckEnded(effect=effect, result="failed", report="2 failed", tree="t9"))
    payload = {"failed": ["unit/fast"], "unmeasured": [], "reports": {"unit/fast": "2 failed"}}
    assert m.Remembered("specify:check.failed", payload) in record.moves
    kept = {"result": "failed", "report": "2 failed", "tree": "t9"}
    assert m.Marked("specify:check#1", "check/unit/fast", kept) in record.moves


def test_a_check_that_cannot_be_run_is_unmeasured_after_five_tries(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    for _ in range(4):
        rig.fails("check", "unit/fast")
        rig.fires()
    rig.fails("check", "unit/fast")
    assert stands(rig) == ["specify:gate#1"]
    known = rig.state.recall(rig.state.positions["specify:gate#1"], "specify:check.unmeasured")
    assert known is not None
    assert known["unmeasured"] == ["unit/fast"]


def test_one_check_waits_for_its_next_try_while_another_is_run(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.fails("check", "lint")
    assert rig.held("timer") == "specify:check#1/timer/backoff-check-lint-1/0"
    rig.check("unit/fast", "passed")
    rig.fires()
    rig.check("lint", "passed")
    assert stands(rig) == ["specify:consult#1"]


def test_evidence_is_remembered_only_of_what_passed_on_known_content(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed", "t1")
    assert rig.state.memory[("", "")]["evidence.specify:unit/fast"] == {"tree": "t1"}
    assert "evidence.specify:lint" not in rig.state.memory[("", "")]


# Panels


@pytest.mark.req("P-101", "P-152")
@pytest.mark.parametrize(
    "gemini,codex,claude,exit_",
    [
        ("APPROVE", "APPROVE", "APPROVE", "approved"),
        ("APPROVE", "APPROVE", "ABSTAIN", "approved"),
        ("APPROVE", "REQUEST_CHANGES", "APPROVE", "changes"),
        ("REQUEST_CHANGES", "APPROVE", "ABSTAIN", "changes"),
        ("APPROVE", "ABSTAIN", "ABSTAIN", "undecided"),
        ("REQUEST_CHANGES", "ABSTAIN", "ABSTAIN", "undecided"),
        ("ABSTAIN", "ABSTAIN", "ABSTAIN", "undecided"),
    ],
)
def test_a_panel_counts_real_verdicts_and_an_abstention_is_none(
    rig: Rig, gemini: Verdict, codex: Verdict, claude: Verdict, exit_: str
) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    record = rig.panel(gemini=gemini, codex=codex, claude=claude)
    remembered = [move.path for move in record.moves if isinstance(move, m.Remembered)]
    assert remembered == [f"specify:consult.{exit_}"]
    where = "specify:revise#1" if exit_ == "changes" else "specify:gate#1"
    assert stands(rig) == [where]


@pytest.mark.parametrize("quorum", [0, 1])
def test_a_panel_of_abstentions_approves_nothing_whatever_the_quorum(
    protocol: p.Protocol, quorum: int
) -> None:
    panel = p.Panel(("a",), "any", "x", quorum)
    state = replace(protocol.states["specify:draft"], actor=panel)
    ways = (
        p.Edge("specify:draft", "approved", (T("complete"),)),
        p.Edge("specify:draft", "undecided", (T("failed"),)),
    )
    rig = Rig(altered(protocol, *ways, **{"specify:draft": state})).start()
    rig.panel(a="ABSTAIN")
    assert stands(rig) == ["failed#1"]


def test_findings_name_who_asked_and_fall_back_on_the_summary(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    rig.review("gemini", "REQUEST_CHANGES", "name it", "shorten it")
    rig.review("codex", "REQUEST_CHANGES")
    rig.review("claude", "APPROVE", "not asked for")
    rig.tell(f.FeedbackWritten(effect=rig.held("feedback"), path="round-1.md"))
    known = rig.state.recall(rig.state.positions["specify:revise#1"], "specify:consult.changes")
    assert known == {
        "round": 1,
        "earlier": [],
        "file": "round-1.md",
        "findings": [
            {"by": "gemini", "finding": "name it"},
            {"by": "gemini", "finding": "shorten it"},
            {"by": "codex", "finding": "codex thinks"},
            {"by": "claude (approved)", "finding": "not asked for"},
        ],
        "coverage": "3 of 3 reviewers gave a verdict",
    }


@pytest.mark.req("P-152")
def test_a_reviewer_that_cannot_be_reached_abstains_and_disturbs_no_other(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    rig.fails("review", "gemini")
    assert rig.held("review", "codex") == "specify:consult#1/review/codex/0"
    assert rig.unwanted() == []
    rig.fires()
    rig.fails("review", "gemini")
    assert rig.state.marked("specify:consult#1", "review/gemini")["verdict"] == "ABSTAIN"
    rig.panel(codex="APPROVE", claude="APPROVE")
    assert stands(rig) == ["specify:gate#1"]


def to_the_panel(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")


def test_who_has_no_login_is_left_out_until_a_person_has_decided_something(rig: Rig) -> None:
    to_the_panel(rig)
    rig.tell(f.EffectFailed(effect=rig.held("review", "gemini"), why="auth", hopeless=True))
    rig.panel(codex="REQUEST_CHANGES", claude="APPROVE")
    before = rig.state
    rig.exit("REVISED")
    assert rig.state.marked("specify:consult#2", "review/gemini")["cause"] == "auth"
    assert [hand.name for hand in rig.state.in_hand.values()] == ["codex", "claude"]
    decided = {("", "specify:gate", ""): PastVisit(1, 99, left=99, by="ann")}
    after = replace(before, past_visits={**before.past_visits, **decided})
    again = m.Entered("specify:consult#2", "specify:consult", 2)
    assert list(absent_since_moves(rig.protocol, before, [again]))
    assert not list(absent_since_moves(rig.protocol, after, [again]))


def test_a_retry_hands_on_the_verdicts_of_a_round_that_came_to_no_decision(rig: Rig) -> None:
    to_the_panel(rig)
    hand = rig.held("review", "gemini")
    rig.tell(f.ReviewEnded(effect=hand, verdict="APPROVE", summary="fine", tree="t1"))
    rig.panel(codex="ABSTAIN", claude="ABSTAIN")
    retry = m.Entered("specify:consult#2", "specify:consult", 2, because="undecided.retry")
    (mark,) = given_before_moves(rig.protocol, rig.state, [retry])
    assert isinstance(mark, m.Marked)
    assert (mark.position, mark.key, mark.value["tree"]) == (
        "specify:consult#2",
        "given/gemini",
        "t1",
    )
    other = [
        m.Entered("specify:consult#2", "specify:consult", 2, because="specify:gate.rejected"),
        m.Entered("specify:draft#2", "specify:draft", 2, because="undecided.retry"),
    ]
    assert not list(given_before_moves(rig.protocol, rig.state, other))


def test_a_check_without_anything_to_measure_has_passed(protocol: p.Protocol) -> None:
    nothing = replace(protocol.states["specify:check"], actor=p.Check(()))
    rig = Rig(altered(protocol, **{"specify:check": nothing})).start()
    rig.exit("SPEC_DRAFTED")
    assert stands(rig) == ["specify:consult#1"]


def test_feedback_that_cannot_be_kept_leaves_the_panel_undecided(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    for name in ("gemini", "codex", "claude"):
        rig.review(name, "APPROVE")
    for _ in range(4):
        rig.fails("feedback")
        rig.fires()
    record = rig.fails("feedback")
    assert entered(record) == ["specify:gate#1"]
    assert "specify:consult.undecided" in rig.state.memory[("", "")]


@pytest.mark.req("P-102", "P-103", "P-105")
def test_rounds_are_counted_and_when_they_are_spent_a_person_decides_over_the_findings(
    rig: Rig,
) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    for number in (1, 2):
        rig.panel(gemini="APPROVE", codex="REQUEST_CHANGES", claude="APPROVE")
        assert rig.state.spent == {"rounds": number}
        request = rig.request("agent")
        assert isinstance(request, RunAgent)
        assert [shown.label for shown in request.shown] == ["The reviewers ask for"]
        assert request.shown[0].payload["findings"] == [{"by": "codex", "finding": "fix it"}]
        rig.exit("REVISED")
        assert stands(rig) == [f"specify:consult#{number + 1}"]
    rig.panel(gemini="APPROVE", codex="REQUEST_CHANGES", claude="APPROVE")
    rig.asked()
    assert list(rig.state.decisions) == ["specify:gate#1"]
    known = rig.state.recall(rig.state.positions["specify:gate#1"], "specify:consult.changes")
    assert known is not None
    assert known["findings"] == [{"by": "codex", "finding": "fix it"}]


def test_an_approval_by_all_fills_the_rounds_again(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    rig.panel(gemini="APPROVE", codex="REQUEST_CHANGES", claude="APPROVE")
    rig.exit("REVISED")
    rig.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    assert rig.state.spent == {"rounds": 0}
