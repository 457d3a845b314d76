"""The grammar of `porch run PROTOCOL [ID] [REQUEST]`: what each first word means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.errors import UsageError
from porch.run.requests.request_words import KnownNames, RequestWords, read_request_words
from porch.store.run_names import match_run_names

KNOWN = KnownNames(
    ("0073-user-auth", "bugfix_142", "search-untitled", "0005-from-a-spec"),
    frozenset(("request.md", "notes", "codev/specs/0081-x.md", "42", "search-untitled")),
)
CASES = {
    "": RequestWords(),
    "0073": RequestWords("0073"),
    "73": RequestWords("73"),
    "#142": RequestWords("142"),
    "0099": RequestWords("0099"),
    "0073-user-auth": RequestWords("0073-user-auth"),
    "0005-from-a-spec": RequestWords("0005-from-a-spec"),
    "search": RequestWords("search"),
    "bugfix_142": RequestWords("bugfix_142"),
    "request.md": RequestWords(path="request.md"),
    "notes": RequestWords(path="notes"),
    "search-untitled": RequestWords(path="search-untitled"),
    "codev/specs/0081-x.md": RequestWords(path="codev/specs/0081-x.md"),
    "0073 request.md": RequestWords("0073", path="request.md"),
    "0073 add a flag": RequestWords("0073", "add a flag"),
    "add a flag": RequestWords(request="add a flag"),
    "request.md has a typo": RequestWords(request="request.md has a typo"),
    "auth": RequestWords(request="auth"),
    "TCP/IP": RequestWords(request="TCP/IP"),
    "../x y": RequestWords(request="../x y"),
    "0073x": RequestWords(request="0073x"),
}


@pytest.mark.parametrize("typed", CASES)
@pytest.mark.parametrize("subject", ["project", "issue", "amendment"])
def test_r1_the_first_word_is_an_id_a_file_or_begins_the_request(subject: str, typed: str) -> None:
    assert read_request_words(subject, typed.split(), KNOWN) == CASES[typed]


def test_a_quoted_request_is_one_word() -> None:
    words = ("search is slow", "0073 add it", " 0073 ")
    for word in words:
        assert read_request_words("project", (word,), KNOWN) == RequestWords(request=word)


@pytest.mark.parametrize("word", ["reqest.md", "./x", "../x", "/etc/x", "~/x", "a/b.yaml"])
@pytest.mark.parametrize("front", [(), ("0073",)])
def test_r1_the_mistyped_name_of_a_file_is_no_request(word: str, front: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        read_request_words("project", (*front, word), KNOWN)
    assert caught.value.findings[0].code == "no-request-file"


@pytest.mark.parametrize("words", [("00/73",), ("feature/42",), ("0073/auth", "Users can log in")])
def test_w6_an_id_with_a_slash_is_no_request(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        read_request_words("project", words, KNOWN)
    assert caught.value.findings[0].code == "bad-id"
    typed = ["0073", "fix", "src/a1.py"]
    assert read_request_words("project", typed, KNOWN).request == "fix src/a1.py"
    assert read_request_words("project", ("a/1", "is", "slow"), KNOWN).request == "a/1 is slow"


def test_r1_a_number_that_is_a_file_too_is_asked_about_unless_such_a_run_exists() -> None:
    with pytest.raises(UsageError) as caught:
        read_request_words("project", ("42",), KNOWN)
    assert "./42" in caught.value.findings[0].fix
    assert read_request_words("issue", ("#42",), KNOWN) == RequestWords("42")
    assert read_request_words("issue", ("42", "it fails"), KNOWN) == RequestWords("42", "it fails")
    known = KnownNames(("0042-x",), frozenset(("42",)))
    assert read_request_words("project", ("42",), known) == RequestWords("42")


def test_a_protocol_over_a_file_takes_one_path_and_nothing_else() -> None:
    assert read_request_words("spec", ("spec.yaml",), KNOWN) == RequestWords(path="spec.yaml")
    with pytest.raises(UsageError) as caught:
        read_request_words("spec", ("add", "it"), KNOWN)
    assert caught.value.findings[0].code == "no-spec"


@pytest.mark.parametrize("subject", ["inputs", "none"])
def test_where_a_run_is_named_by_its_caller_one_plain_word_is_that_name(subject: str) -> None:
    assert read_request_words(subject, ("nightly",), KNOWN) == RequestWords("nightly")
    asked = read_request_words(subject, ("clean it up",), KNOWN)
    assert asked == RequestWords(request="clean it up")


WORDS = st.lists(
    st.one_of(
        st.sampled_from(["0073", "#142", "request.md", "notes", "search", "42", "add", "x.md"]),
        st.text(min_size=1, max_size=12),
    ),
    max_size=4,
)


@given(WORDS, st.sampled_from(["project", "issue", "amendment", "inputs", "none", "spec"]))
def test_r1_no_word_is_lost_and_no_file_becomes_an_id(words: list[str], subject: str) -> None:
    try:
        meant = read_request_words(subject, words, KNOWN)
    except UsageError:
        return
    assert not (meant.request and meant.path)
    said = [meant.id, *(meant.path or meant.request).split(" ")]
    typed = [part for word in words for part in word.split(" ")]
    assert [w for w in said if w] == [
        w.lstrip("#") if i == 0 and meant.id else w for i, w in enumerate(typed) if w
    ]
    if meant.id and subject not in ("inputs", "none"):
        is_known = bool(match_run_names(list(KNOWN.names), words[0]))
        assert meant.id.isdecimal() or (is_known and words[0] not in KNOWN.files)
