"""What recorded moves make of a state."""

import copy
from collections.abc import Sequence

import pytest

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.evolve import LOG_KEPT, apply_begun_effects, evolve_state, fold_records
from porch.machine.records import JournalRecord
from porch.machine.state import GateStatus, InHand, LoopItems, RunState
from porch.testing import Rig

WISH = f.WishTaken(wish=f.Wish(id="w1", kind="stop"))
PLACE = "draft#1"
HAND = InHand(f"{PLACE}/agent/builder/0", PLACE, "agent", "builder", ("worktree:",))
ENTERED = m.Entered(PLACE, "draft", 1)


def record(
    *moves: m.Move, begun: Sequence[InHand] = (), seq: int = 1, at: str = "t1"
) -> JournalRecord:
    return JournalRecord(seq, at, WISH, moves, tuple(begun))


def after(*moves: m.Move, begun: Sequence[InHand] = ()) -> RunState:
    return fold_records(RunState(), [record(ENTERED, begun=begun), record(*moves, seq=2, at="t2")])


def test_the_first_move_gives_the_run_its_identity() -> None:
    began = m.Began(
        "run", "0073", "T", "p", "d", {"a": "b"}, "s", "dir", "st", "wt", "c", "ag", "sc"
    )
    run = after(began).run
    assert (run.name, run.id, run.digest, run.started_at) == ("run", "0073", "d", "t2")
    assert (run.inputs, run.subject, run.project_dir) == ({"a": "b"}, "s", "dir")
    assert (run.status_file, run.worktree, run.base_commit) == ("st", "wt", "c")
    assert (run.agent, run.script) == ("ag", "sc")


def test_the_run_is_known_by_the_moves_and_not_by_the_fact() -> None:
    started = f.RunStarted(run="run", id="0073", title="T", protocol="p", digest="d")
    assert evolve_state(RunState(), JournalRecord(1, "t", started)).run == RunState().run


def test_another_definition_can_be_pinned() -> None:
    assert after(m.Pinned("d2")).run.digest == "d2"


def test_v2_other_settings_can_be_pinned() -> None:
    assert after(m.PinnedSettings("s2")).run.settings == "s2"


def test_entering_and_leaving_takes_everything_about_a_position_away() -> None:
    state = after(m.Marked(PLACE, "reminded"), m.Asked(PLACE, "gate", "ok"), begun=[HAND])
    assert state.positions[PLACE].entered_at == "t1"
    assert state.positions[PLACE].label == "draft"
    gone = evolve_state(state, record(m.Left(PLACE), m.Left("never#1"), seq=3))
    assert (gone.positions, gone.marks, gone.tries, gone.decisions) == ({}, {}, {}, {})
    assert gone.visits == {("", "draft", ""): 1}
    assert gone.in_hand == {HAND.effect: HAND}


def test_memory_is_kept_per_instance_and_item_and_the_latest_stands() -> None:
    state = after(
        m.Remembered("a.x", {"n": 1}),
        m.Remembered("a.x", {"n": 2}),
        m.Remembered("a.x", {"n": 3}, "one"),
        m.Remembered("a.x", {"n": 4}, "one", "child"),
        m.Remembered("a.y", {}, "one"),
        m.Forgot("a.y", "one"),
        m.Forgot("never", "known"),
    )
    assert state.memory[("", "")] == {"a.x": {"n": 2}}
    assert state.memory[("", "one")] == {"a.x": {"n": 3}}
    assert state.memory[("child", "one")] == {"a.x": {"n": 4}}


def test_a_position_recalls_its_items_memory_before_its_instances() -> None:
    state = after(
        m.Remembered("a.x", {"n": 1}),
        m.Remembered("a.x", {"n": 2}, "one"),
        m.Entered("s:one#1", "s", 1, "one"),
        m.Entered("s:two#1", "s", 1, "two"),
        m.Entered("c/s#1", "s", 1, "", "c"),
    )
    assert state.recall(state.positions["s:one#1"], "a.x") == {"n": 2}
    assert state.recall(state.positions["s:two#1"], "a.x") == {"n": 1}
    assert state.recall(state.positions["c/s#1"], "a.x") is None


def test_settling_adds_the_cost_and_gives_the_next_try_a_new_number() -> None:
    state = after(m.Settled(HAND.effect, 0.5, 10), begun=[HAND])
    assert (state.usd, state.tokens, state.turns) == (0.5, 10, 1)
    assert state.in_hand == {}
    assert state.tries == {PLACE: {"agent/builder": 1}}
    again = evolve_state(state, record(begun=[HAND]))
    twice = evolve_state(again, record(m.Settled(HAND.effect)))
    assert twice.tries == {PLACE: {"agent/builder": 2}}


def test_settling_what_nobody_holds_or_whose_position_is_gone_counts_no_try() -> None:
    state = after(m.Left(PLACE), m.Settled(HAND.effect, 1), m.Settled("x", 1), begun=[HAND])
    assert (state.tries, state.usd) == ({}, 2)


def test_what_was_begun_has_an_entry_among_the_tries_and_only_agents_count_as_turns() -> None:
    check = InHand(f"{PLACE}/check/unit/0", PLACE, "check", "unit")
    state = after(begun=[check])
    assert state.tries == {PLACE: {}}
    assert state.turns == 0


def test_beginning_after_the_moves_is_the_same_as_a_whole_record() -> None:
    moved = evolve_state(RunState(), record(ENTERED))
    assert apply_begun_effects(moved, [HAND]) == evolve_state(
        RunState(), record(ENTERED, begun=[HAND])
    )
    assert apply_begun_effects(moved, []) == moved


def test_marks_add_up_and_a_wait_says_since_when_only_where_it_is_an_instant() -> None:
    state = after(
        m.Marked(PLACE, "a", 1),
        m.Marked(PLACE, "b", [2]),
        m.Postponed(PLACE, "agent", "limit", 9, is_instant=True),
        m.Postponed(PLACE, "check-x", "backoff", 1),
    )
    assert state.marked(PLACE, "a") == 1
    assert state.marked(PLACE, "b") == [2]
    assert state.marked(PLACE, "never") is None
    assert state.marked(PLACE, "wait/agent") == {"name": "limit", "seconds": 9, "since": "t2"}
    assert state.marked(PLACE, "wait/check-x") == {"name": "backoff", "seconds": 1, "since": ""}


def test_budgets_hold_their_last_count() -> None:
    assert after(m.Charged("b", 1), m.Charged("b", 2), m.Charged("c", 0)).spent == {"b": 2, "c": 0}


@pytest.mark.parametrize(
    "exit_,gate",
    [
        ("approved", GateStatus("approved", "t2", "t3", "ada")),
        ("waived", GateStatus("approved", "t2", "t3", "ada")),
        ("rejected", GateStatus("rejected", "t2", "t3", "ada")),
        ("declined", GateStatus("waiting")),
    ],
)
def test_a_gate_is_pending_while_it_is_asked_and_then_says_what_became_of_it(
    exit_: str, gate: GateStatus
) -> None:
    state = after(m.Asked(PLACE, "gate", "ok", "d", {"a.md": "1"}))
    assert state.gates == {"ok": GateStatus("pending", "t2")}
    assert state.decisions[PLACE].artifacts == {"a.md": "1"}
    closed = evolve_state(state, record(m.Closed(PLACE, exit_, who="ada"), seq=3, at="t3"))
    assert closed.gates == {"ok": gate}
    assert closed.decisions == {}


def test_a_gate_that_is_left_unanswered_waits_to_be_asked_again() -> None:
    state = after(m.Asked(PLACE, "gate", "ok"), m.Left(PLACE))
    assert state.gates == {"ok": GateStatus("waiting")}


def test_only_gates_are_listed_among_gates() -> None:
    state = after(m.Asked(PLACE, "question", "q"), m.Closed(PLACE, "answered"), m.Closed("x#1"))
    assert (state.gates, state.decisions) == ({}, {})


def test_a_gate_can_be_noted_from_elsewhere() -> None:
    state = after(m.GateNoted("ok", "approved", "file"), m.GateNoted("no", "waiting", "file"))
    assert state.gates == {
        "ok": GateStatus("approved", "", "t2", "file"),
        "no": GateStatus("waiting"),
    }


def test_items_are_finished_once_and_only_where_there_is_a_list() -> None:
    items = (
        f.Item(id="one", title="One", description="", digest="1"),
        f.Item(id="two", title="Two", description="", digest="2"),
    )
    state = after(
        m.Itemised("plan", items, "d"),
        m.Finished("plan", "one"),
        m.Finished("plan", "one"),
        m.Finished("other", "one"),
        m.Entered("s:two#1", "s", 1, "two"),
    )
    assert state.items == {("", "plan"): LoopItems(items, "d", ("one",))}
    standing = state.positions["s:two#1"]
    assert state.item_of(standing, "plan") == items[1]
    assert state.item_of(standing, "other") is None
    assert state.item_of(state.positions[PLACE], "plan") is None


def test_pausing_resuming_and_ending() -> None:
    assert after(m.Paused()).paused
    assert not after(m.Paused(), m.Resumed()).paused
    assert after(m.Ended("failed")).outcome == "failed"
    assert after(m.Ended("failed", "child")).outcome == ""


def test_the_answer_to_a_wish_is_known_by_its_id() -> None:
    state = fold_records(
        RunState(),
        [
            record(),
            JournalRecord(2, "t", f.WishRefused(wish=f.Wish(id="w2", kind="x"), reason="no")),
        ],
    )
    assert state.wishes == {"w1": 1, "w2": 2}
    assert (state.seq, state.at) == (2, "t")


def test_the_log_keeps_the_last_entries_whether_folded_at_once_or_one_by_one() -> None:
    records = [JournalRecord(i, f"t{i}", f.StatusEdited(aside=f"n{i}")) for i in range(1, 80)]
    records.insert(70, JournalRecord(70, "t", f.TimerFired(effect="x")))
    at_once = fold_records(RunState(), records)
    stepped = RunState()
    for each in records:
        stepped = evolve_state(stepped, each)
    assert at_once == stepped
    assert len(at_once.log) == LOG_KEPT
    assert at_once.log[-1] == {"ts": "t79", "event": "status_edited", "aside": "n79"}


def test_a_state_is_never_changed_in_place(at_loop: Rig) -> None:
    before, kept = at_loop.state, copy.deepcopy(at_loop.state)
    place = next(iter(before.positions))
    every: tuple[m.Move, ...] = (
        m.Remembered("specify:draft.SPEC_DRAFTED", {"other": 1}),
        m.Forgot("specify:consult.approved"),
        m.Marked(place, "x"),
        m.Charged("rounds", 2),
        m.Itemised("plan", (), "d"),
        m.Asked(place, "gate", "spec-approval"),
        m.Settled(next(iter(before.in_hand))),
        m.GateNoted("spec-approval", "waiting"),
        m.Left(place),
        m.Entered("new#1", "new", 1),
        m.Paused(),
    )
    evolve_state(before, record(*every, seq=99, begun=[HAND]))
    assert before == kept


@pytest.mark.req("P-196")
def test_replaying_the_lines_of_a_journal_gives_the_state_that_was_lived(at_fork: Rig) -> None:
    assert at_fork.replayed() == at_fork.state


@pytest.mark.parametrize(
    "fact, turns",
    [
        (f.ReviewEnded(effect="e", verdict="APPROVE"), 1),
        (f.ReviewEnded(effect="e", verdict="APPROVE", reused=True), 0),
        (f.EffectFailed(effect="e", why="auth", hopeless=True), 0),
        (f.EffectFailed(effect="e", why="auth", hopeless=True, seconds=2.5), 1),
        (f.EffectFailed(effect="e", why="crashed"), 1),
    ],
)
def test_only_who_was_asked_has_taken_a_turn(fact: f.Fact, turns: int) -> None:
    hand = InHand("e", PLACE, "review", "codex", state="draft")
    begun = record(ENTERED, begun=(hand,))
    ended = JournalRecord(2, "t2", fact, (m.Settled("e"),))
    costs = fold_records(RunState(), [begun, ended]).costs
    assert [cost.turns for cost in costs.values()] == [turns] * bool(turns)
