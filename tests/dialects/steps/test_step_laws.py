"""The laws of `extends`, for any levels whatever."""

from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.dialects.steps.file_records import StepLevel, StepProtocol
from porch.dialects.steps.merge import EMPTY_LEVEL, merge_levels, overlay_level
from porch.dialects.steps.reader import read_step_file
from porch.dialects.steps.references import find_references, rewrite_references
from porch.errors import errors_in
from porch.text.formats import read_yaml
from porch.text.nodes import MapNode

KEYS = st.sampled_from(["1", "2", "3", "1.1", "1.10", "1.9", "2.1", "2.1.1"])
ENTRIES = st.dictionaries(
    st.tuples(KEYS, st.booleans()), st.sampled_from(["x", "y  ", "z\\n* q"]), max_size=6
)
HEADS = st.sampled_from(["", "inputs: []\n", "inputs: [{name: n, type: array}]\n", "outputs: []\n"])


def level(
    name: str, entries: dict[tuple[str, bool], str], head: str = "", base: bool = False
) -> StepLevel:
    lines = [f'  {key}{"+" if more else ""}: "{text}"\n' for (key, more), text in entries.items()]
    extends = "" if base else "extends: other\n"
    steps = f"steps:\n{''.join(lines)}" if lines else "steps: {}\n"
    node = read_yaml(f"name: {name}\n{extends}{head}{steps}", f"{name}.yaml")
    assert isinstance(node, MapNode)
    found = read_step_file(node, [])
    assert found is not None
    return found.level


LEVELS = st.tuples(ENTRIES, HEADS).map(lambda parts: level("l", *parts))


@given(LEVELS)
def test_a_level_that_says_nothing_changes_nothing(one: StepLevel) -> None:
    assert overlay_level(one, EMPTY_LEVEL) == one
    assert overlay_level(EMPTY_LEVEL, one) == one


@given(LEVELS, LEVELS, LEVELS)
def test_levels_may_be_grouped_in_any_way(
    low: StepLevel, middle: StepLevel, high: StepLevel
) -> None:
    assert overlay_level(overlay_level(low, middle), high) == overlay_level(
        low, overlay_level(middle, high)
    )


@given(st.lists(LEVELS, min_size=1, max_size=4), st.booleans())
def test_merging_merged_levels_is_merging_them_all(levels: list[StepLevel], lenient: bool) -> None:
    whole, findings = merge_levels(levels, lenient)
    again, told = merge_levels([reduce(overlay_level, levels)], lenient)
    assert (again.steps, again.inputs, again.outputs, told) == (
        whole.steps, whole.inputs, whole.outputs, findings,
    )  # fmt: skip


@given(ENTRIES, st.randoms(use_true_random=False))
def test_the_order_of_a_file_does_not_matter(
    entries: dict[tuple[str, bool], str], random: "st.DrawFn"
) -> None:
    shuffled = list(entries.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, _ = merge_levels([level("l", entries)], lenient=True)
    second, _ = merge_levels([level("l", dict(shuffled))], lenient=True)
    assert [(s.source, s.text) for s in first.steps] == [(s.source, s.text) for s in second.steps]


@given(st.lists(LEVELS, min_size=1, max_size=4))
def test_steps_are_numbered_from_1_in_the_order_of_their_keys(levels: list[StepLevel]) -> None:
    found, _ = merge_levels(levels, lenient=True)
    assert [step.number for step in found.steps] == list(range(1, len(found.steps) + 1))
    sources = [step.numbers for step in found.steps]
    assert sources == sorted(set(sources))


@given(st.lists(LEVELS, min_size=1, max_size=3))
def test_lenient_finds_what_strict_finds_and_refuses_none_of_it(levels: list[StepLevel]) -> None:
    _, strict = merge_levels(levels)
    _, lenient = merge_levels(levels, lenient=True)
    assert [f.place for f in strict] == [f.place for f in lenient]
    assert not errors_in(lenient)


WORDS = [
    "go to step {}",
    "Step {}.",
    "(steps {} and {})",
    "steps {}-{}",
    "`step {}`",
    "steps {}, {}",
]


@st.composite
def speaking(draw: st.DrawFn) -> StepProtocol:
    """A base with a text that speaks of steps, and levels above it that insert and replace."""
    keys = ["1", "2", "3", "4", "5"]
    spoken = [
        w.format(*draw(st.permutations(keys)))
        for w in draw(st.lists(st.sampled_from(WORDS), min_size=1))
    ]
    base = level(
        "a", {**{(k, False): f"title {k}" for k in keys}, ("5", True): ". ".join(spoken)}, base=True
    )
    more = draw(st.lists(ENTRIES.map(lambda e: {k: "new" for k in e if not k[1]}), max_size=2))
    levels = [base, *(level(f"b{n}", entries) for n, entries in enumerate(more))]
    return merge_levels(levels)[0]


@settings(max_examples=200)
@given(speaking())
def test_a_reference_means_the_same_step_before_and_after(steps: StepProtocol) -> None:
    printed = {str(step.number): step for step in steps.steps}
    for step in steps.steps:
        before = find_references(step.text, steps)
        # Printed numbers are read as if they were the source numbers of a protocol without gaps.
        straight = StepProtocol("", "", (), (), tuple(_straight(steps)))
        after = find_references(rewrite_references(step.text, steps), straight)
        assert [printed[r.written] for r in after] == [r.target for r in before]


def _straight(steps: StepProtocol) -> list:  # type: ignore[type-arg]
    from msgspec.structs import replace

    return [replace(step, numbers=(step.number,)) for step in steps.steps]


@pytest.mark.parametrize("count", [300])
def test_a_long_chain_is_merged_without_recursion(count: int) -> None:
    levels = [level("a", {("1", False): "one"}, base=True)]
    levels += [level(f"l{n}", {("1", True): str(n)}) for n in range(count)]
    found, findings = merge_levels(levels)
    assert (findings, found.steps[0].text.count("\n")) == ([], count)
