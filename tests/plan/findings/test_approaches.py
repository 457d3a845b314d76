"""Approaches and what people say to them: numbers, letters, answers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.errors import DefinitionError, FailedError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.findings import approach_answers as answers
from porch.plan.findings import approaches as model
from porch.plan.findings.approaches import (
    Approach,
    ApproachKey,
    Findings,
    SpecialistQuestion,
    approach_key,
    parse_key,
)

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)
IDS = st.builds(PromptId, st.integers(1, 999_999), st.sampled_from(["", *"ABZ"]))


@given(NAMES, IDS)
def test_a_key_names_one_approach_of_one_specialist(name: str, approach: PromptId) -> None:
    assert parse_key(approach_key(name, approach)) == ApproachKey(name, approach)


@pytest.mark.parametrize(
    "text, key",
    [
        ("backend_1_2_A", ApproachKey("backend_1", PromptId(2, "A"))),
        ("backend_1_2", ApproachKey("backend_1", PromptId(2))),
        ("x_1_B_2", ApproachKey("x_1_B", PromptId(2))),
    ],
)
def test_a_key_is_read_from_the_right(text: str, key: ApproachKey) -> None:
    assert parse_key(text) == key


@pytest.mark.parametrize(
    "text", ["", "backend", "backend_A", "a_0", "a_01", "../a_1", "a_1_a", "_1"]
)
def test_what_names_no_approach_is_no_key(text: str) -> None:
    assert parse_key(text) is None


VARIANTS = Findings("web", "n", (Approach(1, "A"), Approach(1, "B"), Approach(2), Approach(10)))


def ids(findings: Findings) -> list[str]:
    return [str(each.id) for each in findings.approaches]


@pytest.mark.req("E-065")
@pytest.mark.parametrize(
    "new, code", [(Approach(1), "variants-exist"), (Approach(2, "A"), "standalone-exists")]
)
def test_a_number_stands_alone_or_has_variants(new: Approach, code: str) -> None:
    with pytest.raises(FailedError) as caught:
        model.with_approach(VARIANTS, new)
    (finding,) = caught.value.findings
    assert finding.code == code
    assert f"clear-approach web {new.number}" in finding.fix


def test_an_approach_comes_to_its_place_or_into_that_of_the_old_one() -> None:
    assert ids(model.with_approach(VARIANTS, Approach(3))) == ["1_A", "1_B", "2", "3", "10"]
    known = replace(VARIANTS, approaches=(Approach(2, description="old", extra={"rank": 1}),))
    again = model.with_approach(known, Approach(2, description="new"))
    assert again.approaches == (Approach(2, description="new", extra={"rank": 1}),)


def test_without_a_letter_the_whole_number_is_meant() -> None:
    assert ids(model.without_approach(VARIANTS, PromptId(1))) == ["2", "10"]
    assert ids(model.without_approach(VARIANTS, PromptId(1, "A"))) == ["1_B", "2", "10"]
    assert [str(a.id) for a in model.find_matching_approaches(VARIANTS, PromptId(2))] == ["2"]


@pytest.mark.parametrize("wanted", [PromptId(3), PromptId(1, "C"), PromptId(2, "A")])
def test_what_is_not_there_cannot_be_cleared_and_the_others_are_named(wanted: PromptId) -> None:
    with pytest.raises(FailedError) as caught:
        model.without_approach(VARIANTS, wanted)
    assert caught.value.findings[0].code == "not-found"
    assert "1_A, 1_B, 2, 10" in caught.value.findings[0].fix
    with pytest.raises(FailedError) as caught:
        model.find_matching_approaches(Findings("web"), wanted)
    assert "none yet" in caught.value.findings[0].fix


def test_notes_change_nothing_else() -> None:
    assert model.with_notes(VARIANTS, "m") == replace(VARIANTS, notes="m")


OTHER = Findings(
    "web_1",
    approaches=(
        Approach(1, questions=(SpecialistQuestion("Why?"), SpecialistQuestion("How?")), detail="d"),
    ),
)
KNOWN = (VARIANTS, OTHER)


def test_answers_and_changes_are_stored_and_name_what_they_affect() -> None:
    said: dict[str, Any] = {
        "web_2": {"user_required_changes": " smaller \n", "rejected": False},
        "web_1_1": {
            "question_answers": [
                {"question": "Why?", "answer": "Because.\n"},
                {"question": "How?", "answer": "  "},
            ]
        },
        "web_10": {"user_required_changes": "", "question_answers": None},
    }
    result = answers.apply_feedback(KNOWN, said)
    assert result.affected == (ApproachKey("web", PromptId(2)), ApproachKey("web_1", PromptId(1)))
    assert result.rejected == ()
    web, other = result.findings
    assert web.approaches[2] == Approach(2, user_requested_changes="smaller")
    because = SpecialistQuestion("Why?", "Because.")
    assert other.approaches[0].answers == (because,)
    assert other.approaches[0].questions == (because, SpecialistQuestion("How?"))


def test_what_was_said_before_stays_until_something_else_is_said() -> None:
    first = answers.apply_feedback(KNOWN, {"web_2": {"user_required_changes": "smaller"}}).findings
    second = answers.apply_feedback(first, {"web_2": {"user_required_changes": ""}})
    assert second.findings == first
    assert second.affected == ()
    asked = {"question_answers": [{"question": "Why?", "answer": "b"}]}
    third = answers.apply_feedback(first, {"web_1_1": asked}).findings
    asked = {"question_answers": [{"question": "Why?", "answer": "c"}]}
    (approach,) = answers.apply_feedback(third, {"web_1_1": asked}).findings[1].approaches
    assert approach.answers == (SpecialistQuestion("Why?", "c"),)


def test_the_rejected_are_gone_and_what_is_left_alone_loses_its_letter() -> None:
    said: dict[str, Any] = {
        "web_1_A": {"rejected": True},
        "web_1_B": {"user_required_changes": "x"},
        "web_2": {"rejected": False},
    }
    result = answers.apply_feedback(KNOWN, said)
    assert ids(result.findings[0]) == ["1", "2", "10"]
    assert result.findings[0].approaches[0].user_requested_changes == "x"
    assert result.rejected == (ApproachKey("web", PromptId(1, "A")),)
    assert result.affected == (ApproachKey("web", PromptId(1)),)


def test_two_that_are_left_keep_their_letters_and_so_does_one_that_was_never_among_others() -> None:
    known = Findings("w", approaches=(*(Approach(1, x) for x in "ABC"), Approach(2, "A")))
    result = answers.apply_feedback(
        [known], {"w_1_B": {"rejected": True}, "w_2_A": {"rejected": False}}
    )
    assert ids(result.findings[0]) == ["1_A", "1_C", "2_A"]


def test_feedback_that_cannot_be_taken_is_refused_with_all_reasons() -> None:
    said: dict[str, Any] = {
        "web_1_A": {"rejected": True},
        "web_1_B": {"rejected": True},
        "web_2": {"rejected": True},
        "web_3": {"user_required_changes": "x"},
        "nonsense": {},
    }
    with pytest.raises(DefinitionError) as caught:
        answers.apply_feedback(KNOWN, said)
    codes = [finding.code for finding in caught.value.findings]
    assert codes == ["unknown-approach"] * 2 + ["all-variants-rejected"] * 2
    assert "web_1_A, web_1_B, web_2, web_10, web_1_1" in caught.value.findings[0].fix
    assert "approach 1 of web" in caught.value.findings[2].message
    assert "none" in answers.list_feedback_problems([], {"a_1": {}})[0].fix


APPROACHES = st.lists(IDS, max_size=6, unique=True).map(
    lambda found: tuple(
        Approach(id_.number % 3 + 1, id_.variant or "C", questions=(SpecialistQuestion("q"),))
        for id_ in found
    )
)


@given(APPROACHES, st.data())
def test_the_same_answer_twice_is_the_same_as_once(
    approaches: tuple[Approach, ...], data: st.DataObject
) -> None:
    unique = {each.id: each for each in approaches}.values()
    known = [Findings("a_1", approaches=model.sort_approaches(unique))]
    said: dict[str, Any] = {
        approach_key("a_1", each.id): {
            "rejected": data.draw(st.booleans()),
            "user_required_changes": data.draw(st.sampled_from(["", "x"])),
            "question_answers": [{"question": "q", "answer": data.draw(st.sampled_from("y "))}],
        }
        for each in known[0].approaches
    }
    if answers.list_feedback_problems(known, said):
        return
    once = answers.apply_feedback(known, said)
    again = answers.apply_feedback(once.findings, said, again=True)
    assert again == once
    assert answers.split_feedback_keys(said) == (list(once.affected), list(once.rejected))
    assert all(key.approach in [a.id for a in once.findings[0].approaches] for key in once.affected)
