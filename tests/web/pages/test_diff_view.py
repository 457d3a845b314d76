"""What a run changed, as a page: numbers, folding, and lines that somebody made to harm."""

from typing import Any

from porch.git.file_changes import ChangedContent
from porch.web.pages.diff_view import (
    LARGEST_ALONE,
    LARGEST_BESIDE,
    LINES_ON_PAGE,
    describe_total,
    is_shown_beside,
    make_file,
    make_file_key,
    make_files,
    number_lines,
)


def changed(path: str = "a.py", **more: Any) -> ChangedContent:
    told = {"status": "M", "old": "1", "new": "2", "added": 1, "removed": 1, **more}
    return ChangedContent(path=path, **told)


def test_lines_have_their_numbers_before_and_now() -> None:
    patch = "@@ -3,3 +5,3 @@ def f\n same\n-old\n+new\n same\n\\ No newline at end of file"
    assert list(number_lines(patch)) == [
        ("where", "", "", "", "@@ -3,3 +5,3 @@ def f"),
        ("same", "3", "5", " ", "same"),
        ("removed", "4", "", "-", "old"),
        ("added", "", "6", "+", "new"),
        ("same", "5", "7", " ", "same"),
        ("where", "", "", "", "No newline at end of file"),
    ]
    assert list(number_lines("")) == []


def test_lines_lose_what_would_turn_them_around_and_long_ones_their_end() -> None:
    patch = "@@ -1 +1 @@\n+\x1b[31mred\u202eevil\n+" + "x" * 5_000
    (_, red, long) = number_lines(patch)
    assert red[4] == "redevil"
    assert long[4].endswith("x (4,000 more characters)")
    assert len(long[4]) < 1_100


def test_a_line_that_looks_like_a_place_of_git_is_a_line() -> None:
    (_, line) = number_lines("@@ -1 +1 @@\n+@@ -9 +9 @@")
    assert line == ("added", "", "1", "+", "@@ -9 +9 @@")


def test_what_is_large_or_gone_or_generated_is_folded() -> None:
    long = "@@ -1 +1 @@\n" + "\n".join("+x" for _ in range(500))
    files = [
        changed("short.py"),
        changed("long.py"),
        changed("gone.py", status="D"),
        changed("package-lock.json"),
    ]
    patches = {file.path: "@@ -1 +1 @@\n+x" for file in files} | {"long.py": long}
    assert [row["is_open"] for row in make_files(files, patches, "/d")] == [
        True,
        False,
        False,
        False,
    ]


def test_many_short_files_are_open_only_as_far_as_a_reader_gets() -> None:
    files = [changed(f"{n}.py") for n in range(30)]
    patch = "@@ -1 +1 @@\n" + "\n".join("+x" for _ in range(100))
    rows = make_files(files, {file.path: patch for file in files}, "/d")
    assert 0 < sum(row["is_open"] for row in rows) < 20


def test_what_cannot_be_shown_says_why() -> None:
    def why(file: ChangedContent, patch: str | None = None) -> str:
        return str(make_file(file, patch, "/d")["why"])

    assert why(changed(added=None, removed=None, new_size=2_500)) == (
        "Binary file, 2.5 KB. It has no lines."
    )
    assert "repository in the repository" in why(changed(is_repository=True))
    large = changed(added=5_000, new_size=LARGEST_BESIDE)
    assert why(large) == "Large: 5,001 lines in a file of 400.0 KB."
    assert make_file(large, None, "/d")["is_alone"]
    huge = changed(new_size=LARGEST_ALONE + 1)
    assert "Huge file, 4.0 MB" in why(huge)
    assert not make_file(huge, None, "/d")["is_alone"]
    assert "No line is different" in why(changed(), "")
    assert why(changed(), "@@ -1 +1 @@\n+x") == ""
    assert [is_shown_beside(each) for each in (changed(), large, huge)] == [True, False, False]


def test_a_long_patch_is_shown_by_pages() -> None:
    patch = "@@ -1 +1 @@\n" + "\n".join(f"+{n}" for n in range(LINES_ON_PAGE + 10))
    row = make_file(changed(), patch, "/d", LINES_ON_PAGE)
    assert (len(row["lines"]), row["total"]) == (11, LINES_ON_PAGE + 11)
    assert row["lines"][-1][4] == str(LINES_ON_PAGE + 9)


def test_an_address_holds_no_path_whatever_the_path_is() -> None:
    for path in ("../../etc/passwd", "a b", "x\udcff", '"><script>', "a/" * 4_000):
        key = make_file_key(path)
        assert (len(key), key.isalnum()) == (20, True)
    assert describe_total([changed(), changed(added=None, removed=None)]) == {
        "files": "2 files",
        "added": 1,
        "removed": 1,
    }
