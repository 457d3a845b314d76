"""The implicit run of a plan: what its facts move, what its answers change, and what they undo."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.budgets import add_budget_state
from porch.machine.evolve import apply_begun_effects, evolve_state
from porch.machine.plan import prompt_lifecycle, run_rules
from porch.machine.plan.prompt_ids import PromptId
from porch.machine.plan.protocol import GATES
from porch.machine.records import JournalRecord, decode_record, encode_record
from porch.machine.route import route_fact
from porch.machine.state import InHand, RunState
from porch.machine.status_log import render_log_entries
from porch.machine.wishes import find_refusal
from porch.model.protocol import Human, Join

PROTOCOL = add_budget_state(run_rules.build_plan_protocol())
FIRST = f.RunStarted(
    run="plan_feat~x", id="plan/feat/x", title="feat/x", protocol="plan", digest="digest"
)


class Told:
    """A plan's run, moved by facts as its book would."""

    def __init__(self) -> None:
        self.state = RunState()
        self.records: list[JournalRecord] = []
        self.tell(FIRST)

    def tell(self, *facts: f.Fact) -> "Told":
        for fact in facts:
            moves = route_fact(PROTOCOL, self.state, fact)
            record = JournalRecord(self.state.seq + 1, "2026-01-01T00:00:00.000Z", fact, moves)
            self.records.append(record)
            self.state = evolve_state(self.state, record)
        return self

    def prompt(self, id_: str, **fields: Any) -> "Told":
        return self.tell(f.PlanMoved(action="write-prompt", prompts={id_: fields}))

    def decide(self, position: str, exit_: str, text: str = "", form: Any = None) -> str:
        """The reason of a refusal; nothing if it was taken."""
        data = {} if form is None else {"form": form}
        wish = f.Wish(
            id="w",
            kind="decide",
            position=position,
            exit=exit_,
            text=text,
            who="ann",
            channel="cli",
            data=data,
        )
        refused = find_refusal(PROTOCOL, self.state, wish)
        if refused is None:
            self.tell(f.WishTaken(wish=wish))
        return refused.reason if refused else ""

    def of(self, id_: str) -> prompt_lifecycle.Prompt:
        number, _, letter = id_.partition("_")
        return prompt_lifecycle.prompts_of(self.state)[PromptId(int(number), letter)]

    def answer(self, gate: str, item: str = "") -> Any:
        return self.state.memory.get(("", item), {}).get(run_rules.answer_path(gate))


def test_a_plan_stands_open_until_it_is_complete() -> None:
    told = Told()
    assert list(told.state.positions) == ["open#1"]
    told.tell(
        f.QuestionPosed(state="plan"), f.PlanMoved(action="complete", plan={"stage": "completed"})
    )
    assert (told.state.outcome, dict(told.state.positions)) == ("complete", {})
    assert not told.state.decisions
    told.tell(f.QuestionPosed(state="plan"), f.PlanMoved(action="complete"))
    assert not told.state.decisions


def test_what_is_new_of_a_prompt_goes_over_what_was_known() -> None:
    told = Told().prompt("1", kind="debug").prompt("1", status="implemented")
    assert (told.of("1").kind, told.of("1").status) == ("debug", "implemented")
    assert (
        told.tell(f.PlanMoved(action="clear-prompt", prompts={"1": None})).state.memory[("", "1")]
        == {}
    )


def test_prompts_are_in_the_order_of_numbers_and_letters() -> None:
    told = Told().prompt("10").prompt("2_B").prompt("2_A").prompt("1")
    assert [str(each) for each in prompt_lifecycle.prompts_of(told.state)] == [
        "1",
        "2_A",
        "2_B",
        "10",
    ]


def test_a_field_that_an_older_release_did_not_know_has_its_default() -> None:
    made = prompt_lifecycle.prompt_from_fields(
        {"status": "tested", "of the future": 1, "owner": None}
    )
    assert made == replace(prompt_lifecycle.Prompt(), status="tested")


def test_a_question_stands_once_and_has_a_position_of_its_own() -> None:
    told = (
        Told()
        .prompt("2_A")
        .tell(
            f.QuestionPosed(state="testing", item="2_A"),
            f.QuestionPosed(state="testing", item="2_A"),
        )
    )
    assert list(told.state.decisions) == ["testing:2_A#1"]
    assert told.state.decisions["testing:2_A#1"].name == "testing:2_A"
    told.decide("testing:2_A#1", "approved")
    told.tell(
        f.PlanMoved(action="record-implementation", prompts={"2_A": {}}),
        f.QuestionPosed(state="testing", item="2_A"),
    )
    assert list(told.state.decisions) == ["testing:2_A#2"]


def test_a_state_that_asks_nobody_is_still_asked_as_a_question() -> None:
    told = Told().tell(f.QuestionPosed(state="review"))
    assert told.state.decisions["review#1"].kind == "question"


@pytest.mark.parametrize(
    "exit_, text, form, status, testing",
    [
        ("approved", "fine", None, "tested", "passed"),
        ("rejected", "it crashes", None, "reviewed", "failed"),
        ("answered", "", {"test_passed": True, "thoughts": "ok"}, "tested", "passed"),
        (
            "answered",
            "",
            {"test_passed": False, "user_required_changes": "no"},
            "reviewed",
            "failed",
        ),
    ],
)
def test_an_answer_to_the_testing_gate_moves_its_prompt(
    exit_: str, text: str, form: Any, status: str, testing: str
) -> None:
    told = Told().prompt("1", status="reviewed").tell(f.QuestionPosed(state="testing", item="1"))
    assert told.decide("testing:1#1", exit_, text, form) == ""
    assert (told.of("1").status, told.of("1").testing) == (status, testing)
    assert told.answer("testing", "1")["by"] == "ann"


def test_a_test_that_failed_says_what_is_wrong() -> None:
    told = Told().prompt("1", status="reviewed").tell(f.QuestionPosed(state="testing", item="1"))
    said = told.decide("testing:1#1", "answered", "", {"test_passed": False})
    assert "user_required_changes" in said
    assert told.decide("testing:1#1", "rejected") == "'rejected' needs a reason"
    assert "form" in told.decide("testing:1#1", "answered", "just words")
    assert told.of("1").testing == ""


def test_testing_again_takes_an_earlier_pass_back() -> None:
    prompt = prompt_lifecycle.Prompt(status="tested", testing="passed")
    assert prompt_lifecycle.fields_after_test(prompt, False, "t") == {
        "testing": "failed",
        "status": "implemented",
    }


@pytest.mark.req("E-037")
@pytest.mark.parametrize(
    "words, reason",
    [
        ({"A": "main", "B": "main"}, "exactly one variant must be main, not 2"),
        ({"A": "discard", "B": "alternative"}, "exactly one variant must be main, not 0"),
        ({"A": "main"}, "every variant needs a decision: A, B"),
        ({"A": "main", "B": "discard", "C": "discard"}, "every variant needs a decision: A, B"),
        ({"A": "main", "B": "perhaps"}, "main, alternative or discard"),
    ],
)
def test_exactly_one_variant_is_main_and_every_one_has_a_decision(
    words: dict[str, str], reason: str
) -> None:
    told = Told().prompt("2_A").prompt("2_B").tell(f.QuestionPosed(state="variants", item="2"))
    form = {"variants": {letter: {"decision": word} for letter, word in words.items()}}
    assert reason in told.decide("variants:2#1", "answered", "", form)
    assert told.of("2_A").variant_solution == ""


@pytest.mark.req("E-038", "E-085")
def test_a_choice_makes_one_variant_main_and_ends_the_work_on_the_others() -> None:
    told = Told()
    for letter in "ABC":
        told.prompt(f"2_{letter}", in_progress=True)
    told.tell(f.QuestionPosed(state="variants", item="2"))
    words = {"A": "alternative", "B": "main", "C": "discard"}
    form = {"variants": {k: {"decision": w, "reason": f"r{k}"} for k, w in words.items()}}
    assert told.decide("variants:2#1", "answered", "", form) == ""
    assert {k: told.of(f"2_{k}").variant_solution for k in "ABC"} == words
    assert [told.of(f"2_{k}").in_progress for k in "ABC"] == [False, True, False]
    assert told.of("2_B").variant_reason == "rB"


@pytest.mark.req("E-052")
def test_an_alternative_fix_of_a_fault_is_a_discarded_one() -> None:
    told = Told().prompt("2_A", kind="debug").prompt("2_B", kind="debug")
    told.tell(f.QuestionPosed(state="variants", item="2"))
    form = {"variants": {"A": {"decision": "main"}, "B": {"decision": "alternative"}}}
    assert told.decide("variants:2#1", "answered", "", form) == ""
    assert told.of("2_B").variant_solution == "discard"


@pytest.mark.parametrize(
    "exit_, text, form, stage",
    [
        ("approved", "", None, "in_progress"),
        ("rejected", "smaller steps", None, None),
        ("answered", "", {"user_required_plan_changes": "", "prompt_feedback": {}}, "in_progress"),
        ("answered", "", {"user_required_plan_changes": "x"}, None),
        ("answered", "", {"prompt_feedback": {"1": {"user_required_changes": "x"}}}, None),
    ],
)
def test_a_plan_is_in_progress_once_nobody_wants_it_different(
    exit_: str, text: str, form: Any, stage: str | None
) -> None:
    told = Told().prompt("1").tell(f.QuestionPosed(state="plan"))
    assert told.decide("plan#1", exit_, text, form) == ""
    assert told.state.memory[("", "")].get(prompt_lifecycle.PLAN_PATH, {}).get("stage") == stage


@pytest.mark.parametrize(
    "gate, form",
    [
        ("testing", {"thoughts": "x"}),
        ("testing", {"test_passed": "no"}),
        ("testing", {"test_passed": True, "thoughts": ["x"]}),
        ("variants", {"variants": {"A": "main"}}),
        ("variants", {"variants": "main"}),
        ("plan", {"prompt_feedback": {"1": "less"}}),
        ("clarifying", {"questions": "why"}),
        ("clarifying", {"questions": ["why"]}),
        ("findings", {"approach_feedback": ["x"]}),
    ],
)
def test_a_form_of_another_shape_is_no_answer(gate: str, form: Any) -> None:
    item = {"testing": "1", "variants": "2", "clarifying": "1"}.get(gate, "")
    told = (
        Told().prompt("1").prompt("2_A").prompt("2_B").tell(f.QuestionPosed(state=gate, item=item))
    )
    position = f"{gate}:{item}#1" if item else f"{gate}#1"
    assert told.decide(position, "answered", "", form)
    assert position in told.state.decisions


def test_logs_that_were_given_are_remembered_with_the_prompt() -> None:
    told = Told().prompt("1", kind="debug").tell(f.QuestionPosed(state="logging", item="1"))
    assert told.decide("logging:1#1", "answered", "", {"logs": "boom"}) == ""
    assert told.of("1").completed_debug_logging
    assert told.answer("logging", "1")["form"] == {"logs": "boom"}


def test_every_question_of_a_reviewer_needs_an_answer() -> None:
    told = Told().prompt("1").tell(f.QuestionPosed(state="clarifying", item="1"))
    rows = [{"question": "a?", "answer": "b"}, {"question": "c?", "answer": " "}]
    assert told.decide("clarifying:1#1", "answered", "", {"questions": rows})
    assert told.decide("clarifying:1#1", "answered", "", {"questions": rows[:1]}) == ""


def test_more_rounds_are_as_many_as_there_were() -> None:
    told = Told().prompt("1", review_rounds=5).tell(f.QuestionPosed(state="rounds", item="1"))
    told.tell(
        f.PlanMoved(action="review-begun", plan={"review_rounds": 3}),
        f.QuestionPosed(state="rounds"),
    )
    assert told.decide("rounds:1#1", "retry") == ""
    assert told.decide("rounds#1", "retry") == ""
    assert told.of("1").rounds_allowed == 5
    assert told.state.memory[("", "")][prompt_lifecycle.PLAN_PATH]["rounds_allowed"] == 3
    told.tell(f.QuestionPosed(state="rounds", item="1"))
    assert told.decide("rounds:1#2", "stopped") == ""
    assert told.of("1").rounds_allowed == 5


def test_findings_are_approved_with_a_word_or_answered_with_a_form() -> None:
    told = Told().tell(f.QuestionPosed(state="findings"))
    assert told.decide("findings#1", "approved", "good") == ""
    assert told.answer("findings")["form"] == {"thoughts": "good"}


def test_an_answer_stands_until_what_it_was_about_changes() -> None:
    told = Told().prompt("1").prompt("2").tell(f.QuestionPosed(state="testing", item="1"))
    told.decide("testing:1#1", "approved")
    told.tell(f.PlanMoved(action="record-implementation", prompts={"2": {}}))
    assert told.answer("testing", "1")
    told.tell(f.PlanMoved(action="record-implementation", prompts={"1": {}}))
    assert told.answer("testing", "1") is None


def test_a_plan_that_is_changed_is_asked_about_again() -> None:
    for action in ("write-plan", "write-prompt", "clear-prompt", "update-prompt-dependencies"):
        told = Told().prompt("1").tell(f.QuestionPosed(state="plan"))
        told.decide("plan#1", "approved")
        assert told.answer("plan")
        told.tell(f.PlanMoved(action=action, prompts={"1": {}}))
        assert told.answer("plan") is None, action


def test_a_pass_of_other_files_is_forgotten_and_says_of_which_it_was() -> None:
    told = (
        Told().prompt("1").tell(f.QuestionPosed(state="testing", item="1", payload={"tree": "t"}))
    )
    told.decide("testing:1#1", "approved")
    assert told.of("1").tested_tree == "t"
    told.tell(f.PlanMoved(action="files-changed", prompts={"1": {}}))
    assert told.answer("testing", "1") is None
    assert told.of("1").tested_tree == "t"


def test_new_work_withdraws_the_question_about_the_old() -> None:
    told = Told().prompt("1").prompt("2")
    told.tell(
        f.QuestionPosed(state="testing", item="1"), f.QuestionPosed(state="testing", item="2")
    )
    told.tell(f.PlanMoved(action="record-implementation", prompts={"1": {}}))
    assert list(told.state.decisions) == ["testing:2#1"]


def test_nobody_is_asked_about_a_prompt_that_is_gone() -> None:
    told = Told().prompt("1").prompt("2_A").prompt("2_B").prompt("3")
    for gate, item in (("testing", "1"), ("variants", "2"), ("rounds", "2_A"), ("testing", "3")):
        told.tell(f.QuestionPosed(state=gate, item=item))
    told.tell(f.PlanMoved(action="clear-prompt", prompts={"1": None, "2_A": None}))
    assert list(told.state.decisions) == ["testing:3#1"]


def test_a_failed_test_asks_for_logs_anew() -> None:
    told = Told().prompt("1", kind="debug").tell(f.QuestionPosed(state="logging", item="1"))
    told.decide("logging:1#1", "answered", "", {"logs": "x"})
    told.tell(f.QuestionPosed(state="testing", item="1"))
    told.decide("testing:1#1", "rejected", "no")
    assert told.answer("logging", "1") is None


@pytest.mark.parametrize("kind", ["stop", "rollback", "done", "replan", "resume"])
def test_nothing_but_answers_and_upgrades_can_be_wished_of_a_plan(kind: str) -> None:
    refused = find_refusal(
        PROTOCOL, Told().state, f.Wish(id="w", kind=kind, position="open#1", exit="x")
    )
    assert refused is not None
    assert "envoy" in refused.reason


def test_the_log_says_who_did_what_and_what_was_forced() -> None:
    moved = f.PlanMoved(
        action="start-prompt", prompts={"1": {}}, who="ann", agent="lead", forced=("no-worktree",)
    )
    record = JournalRecord(2, "t", moved)
    (said,) = render_log_entries(record)
    assert said["event"] == "start-prompt"
    assert (said["prompts"], said["by"], said["agent"]) == (["1"], "ann", "lead")
    assert said["forced"] == ["no-worktree"]
    (quiet,) = render_log_entries(JournalRecord(3, "t", f.PlanMoved(action="init")))
    assert quiet == {"ts": "t", "event": "init"}
    asked = [
        next(
            iter(
                render_log_entries(
                    JournalRecord(3, "t", f.QuestionPosed(state="testing", item=item))
                )
            )
        )
        for item in ("1", "")
    ]
    assert [each["decision"] for each in asked] == ["testing:1", "testing"]


def test_what_a_reviewer_said_is_remembered_although_nobody_stands_there() -> None:
    told = Told().prompt("1")
    hand = InHand("review:1#3/review/ann/0", "review:1#3", "review", "ann", state="review")
    told.state = apply_begun_effects(told.state, [hand])
    told.tell(f.ReviewEnded(effect=hand.effect, verdict="APPROVE", usd=0.5))
    assert told.state.memory[("", "1")]["review.ann"] == {"verdict": "APPROVE"}
    assert (told.state.usd, dict(told.state.in_hand)) == (0.5, {})
    told.state = apply_begun_effects(told.state, [hand])
    told.tell(f.EffectInterrupted(effect=hand.effect, usd=0.25))
    assert (told.state.usd, dict(told.state.in_hand)) == (0.75, {})


def test_every_answer_of_every_gate_leads_somewhere() -> None:
    for name, state in PROTOCOL.states.items():
        if isinstance(state.actor, Human):
            for option in state.actor.options:
                assert list(PROTOCOL.edges_of(name, option.exit)), (name, option.exit)


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(prompt_lifecycle.STATUSES),
        "in_progress": st.booleans(),
        "testing": st.sampled_from(["", "passed", "failed"]),
        "kind": st.sampled_from(["feature", "debug"]),
    },
)
ACTIONS = st.one_of(
    st.tuples(
        st.sampled_from(["write-prompt", "record-implementation", "review", "write-plan"]),
        st.sampled_from(["1", "2_A", "2_B"]),
        FIELDS,
    ).map(lambda each: f.PlanMoved(action=each[0], prompts={each[1]: each[2]})),
    st.tuples(
        st.sampled_from(["testing", "logging", "clarifying"]), st.sampled_from(["1", "2_A"])
    ).map(lambda each: f.QuestionPosed(state=each[0], item=each[1])),
)


@given(st.lists(ACTIONS, max_size=12))
def test_a_journal_read_again_gives_the_same_plan(facts: list[f.Fact]) -> None:
    told = Told().tell(*facts)
    state = RunState()
    for record in told.records:
        state = evolve_state(state, decode_record(encode_record(record)))
    assert prompt_lifecycle.prompts_of(state) == prompt_lifecycle.prompts_of(told.state)
    assert dict(state.decisions) == dict(told.state.decisions)
    asked = [(d.name.partition(":")[0], d.position) for d in state.decisions.values()]
    assert len(asked) == len(set(asked))


def test_every_gate_of_a_plan_is_a_state_that_nothing_leads_to() -> None:
    protocol = run_rules.build_plan_protocol()
    assert isinstance(protocol.states[protocol.initial.state].actor, Join)
    targets = {target.state for edge in protocol.edges for target in edge.targets}
    assert not targets & set(GATES)
    assert set(GATES) < set(protocol.states)
