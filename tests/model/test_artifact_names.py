"""Patterns of files as protocols of other tools write them."""

import pytest

from porch.model.artifact_names import (
    CHANGES,
    describe_name,
    find_changes_base,
    has_wildcard,
    make_values,
    name_changes,
    name_new_file,
    split_pattern,
)

VALUES = make_values("1", "user-auth", "codev/projects/1-user-auth")


@pytest.mark.parametrize(
    "pattern, directory, fitting, others",
    [
        ("/src/**/*.{ts,tsx}", "src", ["src/a.ts", "src/b/c.tsx"], ["src/a.js", "src/a.{ts,tsx}"]),
        ("/{src,lib}/${PROJECT_ID}.{c,h}", "", ["src/1.c", "lib/1.h"], ["src/2.c", "app/1.c"]),
        ("/doc/{a*,b}/x{,-old}.md", "doc", ["doc/abc/x.md", "doc/b/x-old.md"], ["doc/b/y.md"]),
    ],
)
def test_q2_texts_in_braces_each_fit(
    pattern: str, directory: str, fitting: list[str], others: list[str]
) -> None:
    front, fits = split_pattern(pattern, VALUES)
    assert front == directory
    assert [path for path in (*fitting, *others) if fits.fullmatch(path)] == fitting


@pytest.mark.parametrize(
    "text", ["a{b}.md", "a${PROJECT_ID}.md", "a{b/c,d}.md", "{${PROJECT_ID},b}"]
)
def test_other_braces_are_no_wildcard(text: str) -> None:
    assert not has_wildcard(text)


def test_what_braces_leave_open_names_no_new_file() -> None:
    assert has_wildcard(name_new_file("/notes/*.{md,txt}", VALUES))


def test_all_changes_are_called_by_what_they_are_compared_with() -> None:
    path = name_changes("0123456789abcdef")
    assert path == "changes since 0123456789ab"
    assert find_changes_base(path) == "0123456789ab"
    others = ("0123456789ab", "changes since yesterday", f"{path}c", "changes since ghijklmnopqr")
    assert [find_changes_base(each) for each in others] == [""] * 4
    assert describe_name(CHANGES) == "all changes of the run"
