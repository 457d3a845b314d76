"""Names of prompts: what is meant is understood, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.errors import UsageError
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id, require_specialist_name

IDS = st.builds(
    PromptId, st.integers(1, 999_999), st.sampled_from(["", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"])
)


@pytest.mark.parametrize(
    "words, name",
    [
        (["2"], "2"),
        (["2", ""], "2"),
        (["2", "A"], "2_A"),
        (["2", "b"], "2_B"),
        (["2_A"], "2_A"),
        (["2A"], "2_A"),
        (["2-a"], "2_A"),
        (["007"], "7"),
        (["999999", "z"], "999999_Z"),
    ],
)
def test_what_people_write_is_understood(words: list[str], name: str) -> None:
    assert str(parse_prompt_id(words)) == name


@pytest.mark.parametrize(
    "words, code",
    [
        ([], "invalid-number"),
        ([""], "invalid-number"),
        (["", "A"], "invalid-number"),
        (["0"], "invalid-number"),
        (["0", "A"], "invalid-number"),
        (["-1"], "invalid-number"),
        (["1000000"], "invalid-number"),
        (["9" * 5000], "invalid-number"),
        (["1.5"], "invalid-number"),
        (["A"], "invalid-number"),
        (["1 A"], "invalid-number"),
        (["../1"], "invalid-number"),
        (["1/../2"], "invalid-number"),
        (["1\n"], "invalid-number"),
        (["\u0663"], "invalid-number"),
        (["\u00b2"], "invalid-number"),
        (["1__A"], "invalid-number"),
        (["1_AB"], "invalid-number"),
        (["1", "AB"], "invalid-variant"),
        (["1", "_"], "invalid-variant"),
        (["1", "1"], "invalid-variant"),
        (["1", "\u00c4"], "invalid-variant"),
        (["1", "A\n"], "invalid-variant"),
        (["1", "../A"], "invalid-variant"),
        (["1", "A", "B"], "invalid-variant"),
        (["1A", "B"], "invalid-number"),
    ],
)
def test_what_is_no_name_is_refused_with_what_would_be_one(words: list[str], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_prompt_id(words)
    assert caught.value.findings[0].code == code
    assert caught.value.findings[0].fix


@given(IDS)
def test_every_name_is_read_back_however_it_is_written(id_: PromptId) -> None:
    number, letter = str(id_.number), id_.variant
    forms = [str(id_)], [number, letter], [number + letter], [f"{number}-{letter.lower()}"]
    for words in forms if letter else forms[:2]:
        assert parse_prompt_id(words) == id_


@given(st.lists(IDS))
def test_names_are_in_order_of_number_and_then_letter_with_none_first(
    found: list[PromptId],
) -> None:
    ordered = sorted(found)
    assert ordered == sorted(found, key=lambda each: (each.number, each.variant))


@given(st.text())
def test_no_text_makes_anything_but_a_name_or_a_complaint(text: str) -> None:
    try:
        name = str(parse_prompt_id([text]))
    except UsageError:
        return
    assert name.isascii()
    assert name.replace("_", "").isalnum()


@pytest.mark.parametrize("name", ["backend", "a", "7", "front-end_2", "x" * 64])
def test_the_name_of_a_specialist_can_be_that_of_a_file(name: str) -> None:
    assert require_specialist_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", "a.b", "-a", "_a", "a b", "a\n", "\u00e4", "x" * 65, "a\0"]
)
def test_no_specialist_leads_out_of_the_directory(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        require_specialist_name(name)
    assert caught.value.findings[0].code == "invalid-specialist"
