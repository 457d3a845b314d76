"""Patterns that are compiled when they are first used."""

import re
from importlib import import_module
from pkgutil import walk_packages

import pytest

import porch
from porch.text.late_pattern import LatePattern, late_pattern

MODULES = [
    found.name
    for found in walk_packages(porch.__path__, "porch.")
    if not found.ispkg and not found.name.endswith(("__main__", "canary_plugin"))
]


def named_patterns(module: str) -> dict[str, LatePattern]:
    names = vars(import_module(module)).items()
    return {name: each for name, each in names if isinstance(each, LatePattern)}


def test_a_pattern_does_what_the_compiled_one_does() -> None:
    late, compiled = (
        late_pattern(r"(a+)(?P<rest>b*)", re.IGNORECASE),
        re.compile(r"(a+)(?P<rest>b*)", re.IGNORECASE),
    )
    for _ in range(2):
        assert late.sub(r"<\1>", "xAab aB") == compiled.sub(r"<\1>", "xAab aB")
        assert late.findall("xAab aB") == compiled.findall("xAab aB")
        assert (late.flags, late.groups) == (compiled.flags, compiled.groups)
        assert late.fullmatch("aab", 1) is not None
        assert late.match("b") is None


def test_a_pattern_of_bytes_reads_bytes() -> None:
    assert late_pattern(rb"\d+").findall(b"1 and 23") == [b"1", b"23"]


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    wrong = late_pattern("(")
    with pytest.raises(re.error):
        wrong.search("")


def test_every_pattern_that_a_module_names_can_be_compiled() -> None:
    found = {f"{m}.{n}": each for m in MODULES for n, each in named_patterns(m).items()}
    assert len(found) > 150
    for name, each in found.items():
        assert isinstance(each.pattern, str | bytes), name
