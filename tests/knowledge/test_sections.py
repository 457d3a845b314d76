"""Front matter and headings of a document, as searching sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.knowledge import query_words, sections

DOCUMENT = """\
---
title: Signing in
description: |
  How people
  log in
relevant_files:
  - src/auth.py
  - src/session.py
tags: auth, session
---
Before everything.

# Authentication

Passwords.

## Tokens ##

They expire.

```sh
# no heading
```

Deep `code`
-----------

Under it.

# Other
"""


def test_front_matter_is_read_as_texts() -> None:
    read = sections.parse_document("docs/a.md", DOCUMENT)
    assert read.title == "Signing in"
    assert read.description == "How people log in"
    assert read.relevant_files == ["src/auth.py", "src/session.py"]
    assert read.tags == ["auth", "session"]
    assert read.problem == ""


def test_sections_know_the_headings_above_them_and_their_line() -> None:
    read = sections.parse_document("docs/a.md", DOCUMENT)
    told = [(each.headings, each.line, each.body.partition("\n")[0]) for each in read.sections]
    assert told == [
        ("", 11, "Before everything."),
        ("Authentication", 13, "Passwords."),
        ("Authentication > Tokens", 17, "They expire."),
        ("Authentication > Deep code", 25, "Under it."),
        ("Other", 30, ""),
    ]


def test_what_stands_in_a_fence_is_no_heading() -> None:
    read = sections.parse_document("a.md", "~~~~\n# a\n~~~\n# b\n~~~~\n# c\n")
    assert [each.headings for each in read.sections] == ["", "c"]


@pytest.mark.parametrize(
    "line", ["#5 is a number", "####### seven", "    # code", "- item\n---", "| a |\n|---|", "#!/x"]
)
def test_a_line_that_only_looks_like_a_heading_is_text(line: str) -> None:
    read = sections.parse_document("a.md", f"first\n\n{line}\n")
    assert [each.headings for each in read.sections] == [""]


@pytest.mark.parametrize(
    "text, title",
    [("# The one\n\n## Two\n", "The one"), ("## Two\n", "some file"), ("text", "some file")],
)
def test_without_front_matter_the_first_heading_is_the_title_or_the_name(
    text: str, title: str
) -> None:
    assert sections.parse_document("docs/some-file.md", text).title == title


def test_a_text_file_has_one_section() -> None:
    read = sections.parse_document("docs/notes.txt", "# not a heading\n\nmore\n")
    assert [(each.headings, each.line) for each in read.sections] == [("", 1)]


@pytest.mark.parametrize(
    "front, problem",
    [
        ("title: [unclosed", "not YAML"),
        ("- a\n- b", "not a mapping"),
        ("just words", "not a mapping"),
        ("title: " + "x" * 70_000, "too long"),
        ("a: &x [*x]", "not YAML"),
    ],
)
def test_front_matter_that_cannot_be_read_is_said_and_the_rest_is_indexed(
    front: str, problem: str
) -> None:
    read = sections.parse_document("a.md", f"---\n{front}\n---\n# Body\n\ntext\n")
    assert problem in read.problem
    assert read.sections[-1].headings == "Body"


@pytest.mark.parametrize("text", ["---\ntitle: x\nno end\n", "", "---", "\ufeff---\n---\n"])
def test_half_front_matter_is_text(text: str) -> None:
    assert sections.parse_document("a.md", text).problem == ""


def test_values_of_another_kind_count_as_none() -> None:
    read = sections.parse_document(
        "a.md", "---\ndescription: {a: b}\nrelevant_files: 3\ntags: [1, [2]]\n---"
    )
    assert (read.description, read.relevant_files, read.tags) == ("", ["3"], ["1"])


@given(st.text(alphabet="#-=`~ ab\n\r\t:>|", max_size=80))
def test_any_text_is_a_document_and_no_word_of_it_is_lost(text: str) -> None:
    read = sections.parse_document("a.md", text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = " ".join(f"{each.headings} {each.body}" for each in read.sections)
    if not lines.startswith("---"):
        assert set(query_words.split_query_words(lines)) <= set(query_words.split_query_words(kept))


@pytest.mark.parametrize(
    "phrase, query",
    [
        ("how do people sign in", '"people" OR "sign"'),
        ('a "quoted" AND near* NEAR(b:c)', '"quoted" OR "near" OR "b" OR "c"'),
        ("the of and", '"the" OR "of" OR "and"'),
        ("Über-Größe", '"über" OR "größe"'),
        ("- * : ^ ( ) \"'", ""),
        ("x x X", '"x"'),
    ],
)
def test_a_phrase_becomes_words_and_never_a_query_language(phrase: str, query: str) -> None:
    assert query_words.make_match_query(phrase) == query
