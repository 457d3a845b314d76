"""The small writer writes what the json package would."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.cli.json_printer import dump_json

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_it_writes_what_the_json_package_writes(value: object) -> None:
    assert dump_json(value) == json.dumps(value, ensure_ascii=False, indent=2)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError):
        dump_json({"a": object()})
