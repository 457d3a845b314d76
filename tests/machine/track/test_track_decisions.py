"""How a plan is walked: one test for each decision about confirmations, and the table of states."""

import pytest

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.effects import AskReviewer, RunAgent
from porch.machine.track.track_status import NodeStatus, join_moments, join_tasks
from tests.plans import AI, GAP, HUMAN, Walk, confirm, phase, plan, read, task

BOTH = plan(phase("P1", task("T1.1", confirm(when="both")), task("T1.2")))


def test_a1_a_confirm_of_two_moments_is_done_only_when_both_are() -> None:
    walk = Walk(BOTH)
    assert walk.gate("T1.1-before") == "IN_PROGRESS"
    walk.answer("approved")
    assert (walk.gate("T1.1-before"), walk.gate("T1.1-after")) == ("DONE", "TODO")
    assert join_moments(walk.states.gates.values()) == "IN_PROGRESS"
    walk.work()
    assert walk.gate("T1.1-after") == "IN_PROGRESS"
    walk.answer("approved")
    assert join_moments(walk.states.gates.values()) == "DONE"


JOINED: list[tuple[tuple[NodeStatus, ...], NodeStatus]] = [
    (("TODO", "TODO"), "TODO"),
    (("DONE", "TODO"), "IN_PROGRESS"),
    (("IN_PROGRESS", "TODO"), "IN_PROGRESS"),
    (("DONE", "BLOCKED"), "BLOCKED"),
    (("DONE", "DONE"), "DONE"),
    (("CANCELLED", "CANCELLED"), "CANCELLED"),
    (("DONE", "CANCELLED"), "DONE"),
    (("CANCELLED", "TODO"), "TODO"),
]


@pytest.mark.parametrize("moments, one", JOINED)
@pytest.mark.req("C-031")
def test_a1_one_status_stands_for_all_moments(
    moments: tuple[NodeStatus, ...], one: NodeStatus
) -> None:
    assert join_moments(moments) == one


PHASES: list[tuple[tuple[NodeStatus, ...], NodeStatus]] = [
    ((), "TODO"),
    (("TODO",), "TODO"),
    (("DONE", "TODO"), "IN_PROGRESS"),
    (("DONE", "IN_PROGRESS"), "IN_PROGRESS"),
    (("BLOCKED", "IN_PROGRESS"), "BLOCKED"),
    (("CANCELLED",), "CANCELLED"),
    (("CANCELLED", "DONE"), "DONE"),
]


@pytest.mark.parametrize("parts, one", PHASES)
def test_a_phase_is_as_far_as_what_belongs_to_it(
    parts: tuple[NodeStatus, ...], one: NodeStatus
) -> None:
    assert join_tasks(parts) == one


@pytest.mark.req("C-026", "C-031")
def test_a2_both_moments_are_questions_of_their_own() -> None:
    walk = Walk(BOTH).answer("approved").work().answer("approved")
    asked = [move for r in walk.records for move in r.moves if isinstance(move, m.Asked)]
    assert [move.name for move in asked] == ["T1.1-before", "T1.1-after"]


def test_a3_a_file_that_says_done_is_believed_and_one_that_says_less_is_asked() -> None:
    done = plan(phase("P1", confirm(when="both", status="DONE"), task("T1.1", status="DONE")))
    assert Walk(done).state.outcome == "complete"
    for status in ("IN_PROGRESS", "BLOCKED", "TODO"):
        text = plan(phase("P1", confirm(status=status), task("T1.1", status="DONE")))
        walk = Walk(text)
        assert (walk.place, walk.gate("P1-after")) == ("P1-after#1", "IN_PROGRESS")


def test_a3_a_cancelled_confirm_of_a_file_is_passed_and_stays_cancelled() -> None:
    for protocol, gate in ((HUMAN, "P1-after"), (AI, "P1-after-ai")):
        text = plan(
            phase("P1", confirm(protocol, status="CANCELLED"), task("T1.1", status="DONE")),
            phase("P2", task("T2.1")),
        )
        walk = Walk(text)
        assert (walk.place, walk.gate(gate)) == ("T2_1#1", "CANCELLED")


def test_a5_several_confirms_of_a_node_are_asked_in_the_order_of_the_file() -> None:
    text = plan(phase("P1", task("T1.1"), confirm(AI), confirm(HUMAN)))
    walk = Walk(text).work()
    assert walk.place == "P1-after-ai#1"
    walk.report("APPROVE")
    assert walk.place == "P1-after#1"
    walk.answer("approved")
    assert walk.state.outcome == "complete"


def test_a6_a_phase_and_its_tasks_are_confirmed_from_outside_in_and_back() -> None:
    text = plan(phase("P1", confirm(when="both"), task("T1.1", confirm(when="both"))))
    walk, places = Walk(text), []
    while not walk.state.outcome:
        places.append(walk.place)
        walk.work() if walk.place == "T1_1#1" else walk.answer("approved")
    assert places == ["P1-before#1", "T1_1-before#1", "T1_1#1", "T1_1-after#1", "P1-after#1"]


@pytest.mark.req("C-030")
def test_a7_a_task_is_in_progress_until_its_after_gate_passes() -> None:
    walk = Walk(BOTH).answer("approved").work()
    assert (walk.place, walk.task("T1.1")) == ("T1_1-after#1", "IN_PROGRESS")
    walk.answer("declined")
    assert walk.states.tasks["T1.1"].status == "BLOCKED"
    assert walk.states.tasks["T1.1"].blocker == "confirm:after"
    walk.answer("retry").answer("approved")
    assert (walk.task("T1.1"), walk.task("T1.2")) == ("DONE", "IN_PROGRESS")


@pytest.mark.req("C-029")
def test_a8_nothing_starts_while_the_phase_is_not_confirmed() -> None:
    walk = Walk(plan(phase("P1", confirm(when="before"), task("T1.1")), phase("P2", task("T2.1"))))
    assert walk.place == "P1-before#1"
    assert (walk.task("T1.1"), walk.task("T2.1")) == ("TODO", "TODO")
    assert not [hand for hand in walk.state.in_hand.values() if hand.kind == "agent"]


@pytest.mark.req("C-034", "C-052")
def test_a9_people_are_asked_five_times_and_then_the_run_halts() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm())))).work()
    for attempt in range(1, 5):
        assert walk.place == f"T1_1-after#{attempt}"
        walk.answer("rejected", "not yet")
        assert (walk.gate("T1.1-after"), walk.task("T1.1")) == ("BLOCKED", "IN_PROGRESS")
        walk.work(files=["a"])
    walk.answer("rejected", "still not")
    assert walk.place == "T1_1-after:halted#1"
    assert walk.task("T1.1") == "BLOCKED"


def test_a9_whoever_changed_nothing_is_not_asked_about_again() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm())))).work(unchanged="nothing")
    assert walk.place == "T1_1-after#1", "a first attempt may well change nothing"
    walk.answer("rejected", "do it").work(unchanged="no file changed since the last attempt")
    assert walk.place == "T1_1-after:halted#1"
    walk.answer("retry")
    assert walk.place == "T1_1-after#2", "a person may ask again all the same"


@pytest.mark.req("C-033", "C-035", "C-036")
def test_a10_yes_goes_on_changes_go_back_no_and_stop_halt() -> None:
    ends = {}
    for exit_, text in (("approved", ""), ("rejected", "more"), ("declined", ""), ("stopped", "")):
        ends[exit_] = Walk(BOTH).answer("approved").work().answer(exit_, text).place
    assert ends == {
        "approved": "T1_2#1",
        "rejected": "T1_1#2",
        "declined": "T1_1-after:halted#1",
        "stopped": "T1_1-after:halted#1",
    }


def test_a10_silence_is_not_consent() -> None:
    walk = Walk(BOTH)
    walk.asked()
    before = walk.state.positions
    assert walk.decide("") is not None
    assert walk.state.positions == before
    assert walk.gate("T1.1-before") == "IN_PROGRESS"


def test_a10_a_halted_run_goes_on_as_a_person_says() -> None:
    def halted() -> Walk:
        return Walk(BOTH).answer("approved").work().answer("declined")

    assert halted().answer("retry").place == "T1_1-after#2"
    assert halted().answer("rejected", "rename it").place == "T1_1#2"
    assert halted().answer("waived", "no time").gate("T1.1-after") == "CANCELLED"
    assert halted().answer("stopped").state.outcome == "abandoned"


def test_a10_changes_of_an_intent_are_said_anew_before_anything_is_done() -> None:
    walk = Walk(BOTH).answer("rejected", "smaller steps")
    assert (walk.place, walk.task("T1.1")) == ("T1_1:intent#1", "BLOCKED")
    walk.work()
    assert walk.place == "T1_1-before#2"
    walk.answer("approved")
    assert walk.place == "T1_1#1"


CRITERIA = "<gate_criteria><criterion>all tests pass</criterion></gate_criteria>"


def test_a11_criteria_are_looked_at_without_a_confirm_and_block_the_phase() -> None:
    walk = Walk(plan(phase("P1", task("T1.1"), CRITERIA), phase("P2", task("T2.1")))).work()
    assert walk.place == "P1-after-criteria#1"
    walk.report("REQUEST_CHANGES", "one test fails", by="fresh")
    assert (walk.place, walk.gate("P1-after-criteria")) == ("P1:rework#1", "BLOCKED")
    walk.work().report("APPROVE", by="fresh")
    assert walk.place == "T2_1#1"


def test_a12_a_confirmed_part_of_the_plan_that_changes_is_asked_again() -> None:
    walk = Walk(BOTH).answer("approved")
    question = f.GateQuestion(digest="d1", reason="changed", is_changed=True)
    walk.tell(f.ApprovalOutdated(gate="T1.1-before", question=question))
    assert walk.gate("T1.1-before") == "BLOCKED"
    walk.tell(f.ApprovalRestored(gate="T1.1-before"))
    assert walk.gate("T1.1-before") == "DONE"


def test_a15_a_task_that_the_file_calls_unfinished_is_a_persons_matter() -> None:
    for status in ("IN_PROGRESS", "BLOCKED"):
        walk = Walk(plan(phase("P1", task("T1.1", status="DONE"), task("T1.2", status=status))))
        assert walk.place == "T1_2:blocked#1"
        assert walk.answer("retry").place == "T1_2#2"


def test_a15_unfinished_tasks_are_asked_about_one_after_another() -> None:
    text = plan(phase("P1", task("T1.1", status="BLOCKED"), task("T1.2", status="IN_PROGRESS")))
    walk = Walk(text)
    assert walk.task("T1.2") == "IN_PROGRESS", "until it is come to, it is what the file says"
    walk.answer("restart").work()
    assert walk.place == "T1_2:blocked#1"
    walk.answer("skip", "not needed")
    assert (walk.state.outcome, walk.task("T1.2")) == ("complete", "CANCELLED")


def test_a15_a_cancelled_task_satisfies_a_dependency() -> None:
    text = plan(phase("P1", task("T1.1", status="CANCELLED"), task("T1.2", needs="T1.1")))
    walk = Walk(text)
    assert (walk.place, walk.task("T1.1")) == ("T1_2#1", "CANCELLED")


def test_a16_tasks_are_done_after_what_they_need_else_as_in_the_file() -> None:
    text = plan(phase("P1", task("T1.1", needs="T1.3"), task("T1.2"), task("T1.3")))
    walk, places = Walk(text), []
    while not walk.state.outcome:
        places.append(walk.place)
        walk.work()
    assert places == ["T1_2#1", "T1_3#1", "T1_1#1"]


def test_a17_an_empty_phase_is_asked_before_and_after() -> None:
    walk = Walk(plan(phase("P1", confirm(when="both"))))
    assert walk.place == "P1-before#1"
    walk.answer("approved")
    assert walk.place == "P1-after#1"
    walk.answer("approved")
    assert walk.state.outcome == "complete"


@pytest.mark.req("C-037")
def test_a20_the_message_names_kind_id_name_and_moment() -> None:
    walk = Walk(BOTH)
    asked = walk.protocol.states["T1_1-before"].actor
    assert getattr(asked, "title", "") == (
        "Confirm (human) task T1.1: Name of T1.1. When=before. Continue? (Y/N)"
    )


AFTER_AI = plan(phase("P1", task("T1.1", confirm(AI)), task("T1.2")))


@pytest.mark.req("C-038", "C-041", "C-045", "C-048", "C-051")
def test_b1_blocking_issues_are_shown_to_a_person_who_starts_the_next_round() -> None:
    walk = Walk(AFTER_AI).work()
    assert (walk.place, walk.gate("T1.1-after-ai")) == ("T1_1-after-ai#1", "IN_PROGRESS")
    assert walk.request("review").name == "checker"
    walk.report("REQUEST_CHANGES", "it leaks")
    assert (walk.place, walk.gate("T1.1-after-ai")) == ("T1_1-after-ai:issues#1", "BLOCKED")
    title = getattr(walk.protocol.states["T1_1-after-ai:issues"].actor, "title", "")
    assert title.startswith("Confirm (ai:checker) task T1.1: Name of T1.1. When=after. Issues")
    walk.answer("retry")
    assert (walk.place, walk.gate("T1.1-after-ai")) == ("T1_1#2", "BLOCKED")
    walk.work(files=["a"]).report("APPROVE")
    assert (walk.place, walk.gate("T1.1-after-ai")) == ("T1_2#1", "DONE")


def test_b1_a_person_may_accept_the_risk_or_stop() -> None:
    def issues() -> Walk:
        return Walk(AFTER_AI).work().report("REQUEST_CHANGES", "it leaks")

    waived = issues().answer("waived", "a demo")
    assert (waived.place, waived.gate("T1.1-after-ai")) == ("T1_2#1", "CANCELLED")
    assert issues().answer("stopped").place == "T1_1-after-ai:halted#1"


@pytest.mark.req("C-047")
def test_b1_reviews_that_keep_finding_issues_halt_the_run() -> None:
    walk = Walk(AFTER_AI).work()
    for _ in range(2):
        walk.report("REQUEST_CHANGES", "it leaks").answer("retry").work(files=["a"])
    walk.report("REQUEST_CHANGES", "it leaks").answer("retry")
    assert walk.place == "T1_1-after-ai:halted#1"


@pytest.mark.req("C-050")
def test_b2_a_report_that_cannot_be_read_is_asked_for_once_more_then_left_to_a_person() -> None:
    walk = Walk(AFTER_AI).work().report("ABSTAIN")
    assert walk.place == "T1_1-after-ai#1", "it is the same round"
    again = walk.request("review")
    assert isinstance(again, AskReviewer)
    (given,) = again.shown
    assert (given.label, given.payload) == (
        "Your last reply could not be read",
        {"reason": "no verdict line"},
    )
    walk.report("ABSTAIN")
    assert (walk.place, walk.gate("T1.1-after-ai")) == ("T1_1-after-ai:fallback#1", "BLOCKED")
    walk.answer("approved")
    assert (walk.place, walk.gate("T1.1-after-ai")) == ("T1_2#1", "DONE")


@pytest.mark.req("C-050")
def test_b2_a_reviewer_that_crashes_is_asked_three_times_in_all_then_a_person_decides() -> None:
    """E6"""
    walk = Walk(AFTER_AI).work()
    for _ in range(2):
        walk.tell(f.EffectFailed(effect=walk.held("review", "checker"), why="crashed"))
        walk.tell(f.TimerFired(effect=walk.held("timer")))
    walk.tell(f.EffectFailed(effect=walk.held("review", "checker"), why="crashed"))
    walk.tell(f.FeedbackWritten(effect=walk.held("feedback"), path="round.md"))
    assert walk.place == "T1_1-after-ai:fallback#1"
    assert walk.state.spent == {}, "only reports charge an attempt"
    told = walk.state.memory["", ""]["T1_1-after-ai.undecided"]["coverage"]
    assert told == (
        "0 of 1 reviewers gave a verdict; 1 of 1 reviewers could not answer: "
        "checker: failed 3 times; last error: crashed"
    )


def test_b2_a_reviewer_that_takes_too_long_is_not_asked_again_before_a_person_decides() -> None:
    """Q8"""
    walk = Walk(AFTER_AI).work()
    walk.tell(f.EffectFailed(effect=walk.held("review", "checker"), why="timeout"))
    walk.tell(f.FeedbackWritten(effect=walk.held("feedback"), path="round.md"))
    assert walk.place == "T1_1-after-ai:fallback#1"


@pytest.mark.parametrize(
    "exit_, place",
    [("rejected", "T1_1#2"), ("declined", "T1_1-after-ai:halted#1"), ("waived", "T1_2#1")],
)
def test_b2_who_stands_in_for_a_reviewer_may_also_say_no(exit_: str, place: str) -> None:
    walk = Walk(AFTER_AI).work().report("ABSTAIN").report("ABSTAIN")
    assert walk.answer(exit_, "hm").place == place


@pytest.mark.req("C-046", "C-049")
def test_b5_issues_that_do_not_block_are_kept_for_the_next_person() -> None:
    walk = Walk(plan(phase("P1", task("T1.1"), confirm(AI), confirm())))
    walk.work().report("APPROVE", "(not blocking) a long name")
    shown = getattr(walk.protocol.states["P1-after"].actor, "shows", ())
    payloads = [walk.state.recall(next(iter(walk.state.positions.values())), p) for p in shown]
    found = [each["findings"] for each in payloads if each and "findings" in each]
    assert found == [[{"by": "checker (approved)", "finding": "(not blocking) a long name"}]]


def test_b6_a_review_never_answers_for_a_person() -> None:
    walk = Walk(plan(phase("P1", task("T1.1"), confirm(AI), confirm())))
    walk.work().report("APPROVE")
    assert (walk.gate("P1-after-ai"), walk.gate("P1-after")) == ("DONE", "IN_PROGRESS")


def test_b7_gaps_are_closed_five_times_without_asking() -> None:
    walk = Walk(plan(phase("P1", task("T1.1"), confirm(GAP)))).work()
    for _ in range(5):
        walk.report("REQUEST_CHANGES", "a gap", by="fresh")
        assert walk.place.startswith("P1:rework#")
        walk.work(files=["a"])
    walk.report("REQUEST_CHANGES", "a gap", by="fresh")
    assert walk.place == "P1-after-gap:issues#1"


def test_a_confirmation_of_what_is_changed_after_it_counts_no_more() -> None:
    walk = Walk(plan(phase("P1", task("T1.1"), confirm(), confirm(AI))))
    walk.work().answer("approved")
    assert walk.gate("P1-after") == "DONE"
    walk.report("REQUEST_CHANGES", "it leaks").answer("retry")
    assert walk.gate("P1-after") == "TODO"
    walk.work(files=["a"])
    assert walk.place == "P1-after#2"


def test_what_has_to_change_reaches_whoever_changes_it() -> None:
    walk = Walk(BOTH).answer("approved").work().answer("rejected", "use the email address")
    agent = walk.request("agent")
    assert isinstance(agent, RunAgent)
    assert [(given.label, given.payload["text"]) for given in agent.shown] == [
        ("What has to change", "use the email address")
    ]


def test_a_plan_that_is_done_says_nothing_of_new_work() -> None:
    walk = Walk(plan(phase("P1", task("T1.1", confirm(status="DONE"), status="DONE"))))
    assert walk.state.outcome == "complete"
    assert (walk.task("T1.1"), walk.gate("T1.1-after")) == ("DONE", "DONE")


def test_replay_of_a_walk_comes_to_the_same_state() -> None:
    walk = Walk(BOTH).answer("rejected", "why").work().answer("approved").work()
    walk.answer("rejected", "more").work(files=["a"]).answer("approved")
    assert walk.replayed().positions == walk.state.positions
    assert walk.replayed().memory == walk.state.memory


# The table of one record: what it is, what happens, what it is then.
TABLE = [
    ("TODO", "moment reached", "IN_PROGRESS"),
    ("IN_PROGRESS", "confirmed", "DONE"),
    ("IN_PROGRESS", "changes", "BLOCKED"),
    ("IN_PROGRESS", "declined", "BLOCKED"),
    ("IN_PROGRESS", "stopped", "BLOCKED"),
    ("IN_PROGRESS", "dismissed", "IN_PROGRESS"),
    ("BLOCKED", "change recorded", "IN_PROGRESS"),
    ("BLOCKED", "ask again", "IN_PROGRESS"),
    ("DONE", "digest changed", "BLOCKED"),
    ("IN_PROGRESS", "cancel", "CANCELLED"),
    ("TODO", "cancel", "CANCELLED"),
    ("BLOCKED", "cancel", "CANCELLED"),
    ("DONE", "reopen", "IN_PROGRESS"),
    ("CANCELLED", "reopen", "IN_PROGRESS"),
]
ONE = plan(phase("P1", task("T1.1", confirm()), task("T1.2")))


def gate_in(status: str, event: str) -> Walk:
    walk = Walk(ONE)
    if status == "TODO":
        return walk
    walk.work()
    if status == "DONE":
        walk.answer("approved")
    elif status == "CANCELLED":
        walk.answer("waived", "no time")
    elif status == "BLOCKED":
        walk.answer("declined") if event == "ask again" else walk.answer("rejected", "more")
    return walk


def happens(walk: Walk, event: str) -> None:
    answers = {"confirmed": "approved", "changes": "rejected"}
    match event:
        case "moment reached":
            walk.work()
        case "confirmed" | "changes" | "declined" | "stopped":
            walk.answer(answers.get(event, event), "more" if event == "changes" else "")
        case "dismissed":
            walk.asked()
            walk.decide("")
        case "change recorded":
            walk.work(files=["a"])
        case "ask again":
            walk.answer("retry")
        case "digest changed":
            question = f.GateQuestion(digest="d1", reason="changed", is_changed=True)
            walk.tell(f.ApprovalOutdated(gate="T1.1-after", question=question))
        case _:
            assert walk.says(event, "T1.1-after") == ""


@pytest.mark.parametrize("status, event, then", TABLE)
@pytest.mark.req("C-032")
def test_e_the_table_of_one_record(status: str, event: str, then: str) -> None:
    walk = gate_in(status, event)
    assert walk.gate("T1.1-after") == status
    happens(walk, event)
    assert walk.gate("T1.1-after") == then


def test_e_the_same_attempt_goes_on_after_a_dismissal_and_the_next_has_the_next_number() -> None:
    walk = gate_in("IN_PROGRESS", "")
    happens(walk, "dismissed")
    assert walk.place == "T1_1-after#1"
    walk.answer("rejected", "more").work(files=["a"])
    assert walk.place == "T1_1-after#2"


def test_e_nobody_answers_what_has_not_been_asked_or_is_over() -> None:
    for status in ("TODO", "CANCELLED", "DONE"):
        walk = gate_in(status, "")
        for exit_ in ("approved", "rejected", "declined", "waived"):
            wish = f.Wish(
                id=f"w{walk.state.seq}", kind="decide", position="T1_1-after#1", exit=exit_,
                text="more", who="ada", data={"name": "T1.1-after"},
            )  # fmt: skip
            record = walk.wish(wish)
            assert record is not None
            assert isinstance(record.fact, f.WishRefused), (status, exit_)
            assert walk.gate("T1.1-after") == status


def test_every_moment_of_a_plan_is_read_as_it_is_written() -> None:
    confirms = [each for node in read(BOTH).plan.nodes() for each in node.confirms]
    assert [each.moments for each in confirms] == [("before", "after")]
