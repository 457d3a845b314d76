"""Inputs of a protocol: everything that is wrong with them, at once."""

import pytest

from porch.model.parameters import Parameter, ParameterType, check_parameters, parse_parameter


@pytest.mark.parametrize(
    "kind, text, meant",
    [
        ("integer", "3", 3),
        ("integer", "-12", -12),
        ("string", "x y", "x y"),
        ("string", "3", "3"),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("array", '[{"a": 1}, 2]', [{"a": 1}, 2]),
        ("array", "[]", []),
        ("object", '{"a": [1]}', {"a": [1]}),
    ],
)
def test_a_value_of_its_type_is_taken(kind: ParameterType, text: str, meant: object) -> None:
    declared = Parameter("p", kind)
    assert parse_parameter(declared, text) == meant
    assert check_parameters([declared], {"p": text}) == []


@pytest.mark.parametrize(
    "kind, text",
    [
        ("integer", ""), ("integer", "3.0"), ("integer", "x"), ("integer", "1_0"),
        ("integer", "9" * 5000), ("integer", "\u0663"), ("string", ""), ("string", " \n"),
        ("boolean", "yes"), ("boolean", "True"), ("array", "a,b"), ("array", "{}"),
        ("array", "[" * 100_000), ("object", "[]"), ("object", "{a: 1}"), ("object", "null"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(kind: ParameterType, text: str) -> None:
    (found,) = check_parameters([Parameter("p", kind)], {"p": text})
    assert found.code == "bad-input"
    assert found.fix


def test_all_problems_are_told_at_once() -> None:
    declared = [
        Parameter("prompt_num", "integer", description="which prompt"),
        Parameter("variant", "string", optional=True),
        Parameter("branch", "string"),
        Parameter("refs", "array", optional=True),
    ]
    found = check_parameters(declared, {"promt_num": "3", "mode": "x", "branch": " ", "refs": "[]"})
    assert [(f.code, f.fix) for f in found] == [
        ("unknown-input", "did you mean 'prompt_num'?"),
        ("unknown-input", "inputs: prompt_num, variant, branch, refs"),
        ("missing-input", "add --input prompt_num=..."),
        ("bad-input", "write some text"),
    ]
    assert "which prompt" in found[2].message


def test_a_protocol_without_inputs_takes_none() -> None:
    (found,) = check_parameters([], {"x": "1"})
    assert found.fix == "inputs: none"
