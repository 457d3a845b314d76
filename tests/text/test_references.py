"""X10: words of others in a pull request call nobody and close no issue."""

import pytest

from porch.text.references import defuse_markup, defuse_references

MARK = "\u200b"


@pytest.mark.parametrize(
    "text",
    [
        *("Closes #1", "fixes: #12", "FIX #3", "resolved owner/repo#4", "close GH-5"),
        *("Fixed https://host.example/o/r/issues/6", "this (resolves #7) too", "closed\n#8"),
    ],
)
def test_x10_no_words_of_others_close_an_issue(text: str) -> None:
    told = defuse_references(text)
    assert told.replace(MARK, "") == text
    start = next(n for n, (old, new) in enumerate(zip(text, told, strict=False)) if old != new)
    assert told[start] == MARK
    assert text[start - 1].lower() in "cfr"


@pytest.mark.parametrize("text", ["@everyone", "ask @a-b, please", "x@host.example"])
def test_x10_no_words_of_others_call_anybody(text: str) -> None:
    assert f"@{MARK}" in defuse_references(text)


@pytest.mark.parametrize(
    "text", ["see #1", "it fixes the bug", "a prefix #1", "10 @ 5", "closes the door", "refixes #1"]
)
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert defuse_references(text) == text


@pytest.mark.parametrize("text", ["<!-- so", "<details>", "</ul>", "<?php", "a <b>c</b>", "<PRE>"])
def test_no_words_of_others_hide_what_stands_below_them(text: str) -> None:
    told = defuse_markup(text)
    assert told.replace(MARK, "") == text
    assert told.count(MARK) == text.count("<")


@pytest.mark.parametrize("text", ["1 < 2", "a <- b", "<3", "x << y", "> quoted"])
def test_what_is_no_markup_stays_as_it_is(text: str) -> None:
    assert defuse_markup(text) == text
