"""What an agent may do, in its one written form."""

import pytest

from porch.errors import Place
from porch.model.permissions import (
    INSIDE,
    READ_ONLY,
    UNLIMITED,
    Permissions,
    check_permissions,
    parse_permissions,
)


def test_texts_become_globs_of_three_kinds_and_reading_is_free_unless_said() -> None:
    found = parse_permissions(["write:src/**", "bash:npm *", "write: docs/*.md"])
    assert found == Permissions(("src/**", "docs/*.md"), ("npm *",), ("*",))
    assert parse_permissions(["read:src/**"]).read == ("src/**",)
    assert parse_permissions(["write:a", "all"]) == UNLIMITED


def test_permissions_print_as_they_are_written() -> None:
    assert INSIDE.texts() == ("write:**", "bash:*", "read:*")
    assert READ_ONLY.texts() == ("read:*",)
    assert UNLIMITED.texts() == ("all",)
    assert parse_permissions(INSIDE.texts()) == INSIDE


def test_everywhere_and_anything_are_claims_about_globs() -> None:
    assert INSIDE.writes_everywhere
    assert INSIDE.runs_anything
    assert UNLIMITED.writes_everywhere
    assert not parse_permissions(["write:src/**"]).writes_everywhere
    assert not READ_ONLY.runs_anything


@pytest.mark.parametrize(
    "text, why",
    [
        ("src/**", "does not begin with"),
        ("delete:src", "does not begin with"),
        ("write:", "nothing follows the colon"),
        ("bash:  ", "nothing follows the colon"),
        ("write:/etc/**", "points outside the workspace"),
        ("write:~/x", "points outside the workspace"),
        ("write:a/../../b", "points outside the workspace"),
    ],
)
def test_what_is_no_permission_is_told_and_left_out(text: str, why: str) -> None:
    (found,) = check_permissions([text, "read:*", "all"], Place("config.toml", 3, 1))
    assert (found.code, why in found.message) == ("bad-permission", True)
    assert parse_permissions([text]) == READ_ONLY
