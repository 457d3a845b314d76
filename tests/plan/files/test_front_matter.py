"""Fields on top of a text: each change touches its own lines and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.errors import DefinitionError
from porch.plan.files import front_matter

PAGE = """---
# who wrote it
number: 3   # the third
variant: null

depends_on:
  - 1
  - 2
# what came of it
walkthrough:
- iteration: 1
  approach: |
    First this.

    # not a comment
    Then that.
status: unimplemented
---

# Heading

---
number: 9
---
"""


def test_fields_and_text_are_told_apart() -> None:
    page = front_matter.read_page(PAGE, "1.md")
    assert page.fields["number"] == 3
    assert (
        page.fields["walkthrough"][0]["approach"] == "First this.\n\n# not a comment\nThen that.\n"
    )
    assert page.body.startswith("\n# Heading\n\n---\nnumber: 9\n")


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "implemented"},
        {"number": 4},
        {"variant": "A"},
        {"depends_on": []},
        {"depends_on": [5, 6, 7]},
        {"walkthrough": [{"iteration": 2, "approach": "x\ny\n"}]},
        {"owner": "ada", "status": "tested"},
    ],
)
def test_a_change_leaves_every_other_line_as_it_was(changes: dict[str, object]) -> None:
    changed = front_matter.render_changed_page(PAGE, "1.md", changes)
    old, new = front_matter.read_page(PAGE, "1.md"), front_matter.read_page(changed, "1.md")
    assert new.fields == {**old.fields, **changes}
    assert new.body == old.body
    for line in ("# who wrote it\n", "# what came of it\n"):
        assert line in changed
    kept = [line for line in PAGE.splitlines() if not any(name in line for name in changes)]
    untouched = [line for line in kept if line.startswith(("#", "number", "variant", "status"))]
    assert [line for line in changed.splitlines() if line in untouched] == untouched


def test_what_is_said_already_is_not_written_again() -> None:
    assert (
        front_matter.render_changed_page(PAGE, "1.md", {"number": 3, "depends_on": [1, 2]}) == PAGE
    )


def test_many_changes_do_not_make_a_file_grow() -> None:
    text = front_matter.render_new_page({"status": "a"}, "Body.")
    for number in range(6):
        text = front_matter.render_changed_page(text, "1.md", {"status": f"s{number}"})
    assert text == "---\nstatus: s5\n---\n\nBody.\n"


def test_another_text_leaves_the_fields_byte_for_byte() -> None:
    changed = front_matter.render_with_body(PAGE, "1.md", "New.\n\n")
    assert changed == PAGE[: PAGE.index("\n# Heading")] + "\nNew.\n"


@pytest.mark.parametrize(
    "text", ["", "# no fields\n", "---\na: 1\n", "---\n- a\n---\n", "x\n---\n---\n"]
)
def test_a_file_without_fields_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        front_matter.read_page(text, "plans/1.md")
    assert str(caught.value.findings[0].place).startswith("plans/1.md")


def test_fields_that_cannot_be_read_are_never_written_over() -> None:
    for text in ("---\na: [1\n---\nbody\n", "---\na: 1\na: 2\n---\nbody\n"):
        with pytest.raises(DefinitionError):
            front_matter.render_changed_page(text, "1.md", {"b": 1})


NAMES = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=5), st.dictionaries(NAMES, VALUES, max_size=3))
def test_whatever_was_written_is_read_and_changed_alone(
    fields: dict[str, object], changes: dict[str, object]
) -> None:
    text = front_matter.render_new_page(fields, "# Body")
    assert front_matter.read_page(text, "x.md").fields == fields
    changed = front_matter.render_changed_page(text, "x.md", changes)
    page = front_matter.read_page(changed, "x.md")
    assert page.fields == {**fields, **changes}
    assert page.body == "\n# Body\n"
    assert front_matter.render_changed_page(changed, "x.md", changes) == changed


def test_front_matter_that_holds_only_a_remark_has_no_fields() -> None:
    text = "---\n# later\n---\n\nBody.\n"
    assert front_matter.read_page(text, "1.md").fields == {}
    assert (
        front_matter.render_changed_page(text, "1.md", {"a": 1})
        == "---\n# later\na: 1\n---\n\nBody.\n"
    )
