"""The lines of a difference."""

from porch.show.difference_lines import list_difference_lines


def test_lines_of_a_difference_say_what_they_are() -> None:
    told = list(list_difference_lines("--- a\n+++ b\n@@ 1\n-x\n+y\n z"))
    assert [kind for kind, _ in told] == ["file", "file", "where", "removed", "added", "same"]
