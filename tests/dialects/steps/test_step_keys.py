"""Keys of steps: the source text counts, and nothing is guessed from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.dialects.steps import step_numbers

NUMBERS = st.lists(st.integers(1, 10**9 - 1), min_size=1, max_size=6).map(tuple)


@given(NUMBERS, st.booleans())
def test_a_key_that_is_printed_is_read_back(numbers: tuple[int, ...], is_append: bool) -> None:
    key = step_numbers.StepKey(numbers, is_append)
    assert step_numbers.parse_step_key(str(key)) == key


def test_keys_stand_in_the_order_of_their_numbers() -> None:
    written = ["7", "6.10", "6", "6.2.1", "6.9", "6.1", "10", "6.2"]
    ordered = sorted(written, key=lambda text: step_numbers.parse_step_key(text).numbers)
    assert ordered == ["6", "6.1", "6.2", "6.2.1", "6.9", "6.10", "7", "10"]


@pytest.mark.parametrize(
    "text",
    ["", "+", "a", "6a", "1e1", "0x3", "1_0", "1:30", "6.", ".6", "6..1", "6++", "+6", "-1",
     " 6", "6 ", "6.1 +", "\u0661", "6,1", "six", "1.5.", "9" * 10],
)  # fmt: skip
def test_what_is_no_number_of_a_step_is_refused(text: str) -> None:
    with pytest.raises(step_numbers.InvalidStepKey) as refused:
        step_numbers.parse_step_key(text)
    assert refused.value.message
    assert refused.value.fix


@pytest.mark.parametrize(
    "text, meant",
    [("0", "1"), ("02", "2"), ("2.0", "2"), ("010", "10"), ("2.01+", "2.1+"), ("0+", "1+")],
)
def test_zeros_are_refused_with_what_was_probably_meant(text: str, meant: str) -> None:
    with pytest.raises(step_numbers.InvalidStepKey) as refused:
        step_numbers.parse_step_key(text)
    assert refused.value.fix == f"did you mean '{meant}'?"


def test_a_number_in_a_text_may_name_no_step() -> None:
    assert step_numbers.parse_step_numbers("6.10") == (6, 10)
    assert step_numbers.parse_step_numbers("007") is None
