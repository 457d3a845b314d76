"""Each anchor is found wherever it stands, by its rare letters as well as one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import anchor_sieve
from porch.agents.anchor_sieve import AnchorSieve
from porch.agents.secret_forms import SHAPED_FORMS, SecretForm, list_secret_forms

FORMS = (
    *SHAPED_FORMS,
    *list_secret_forms("hunter2-and-more"),
    *list_secret_forms("ÄÖÜ:äöü:ß!"),  # no plain part at all: it may stand anywhere
    SecretForm("eio", "eio"),
    SecretForm("Zz_9", "Zz_9"),
    # These can stand at one place, with the same letter in the middle.
    *(SecretForm(anchor, anchor) for anchor in ("abQcd", "zabQc", "Q", "QQ", "Qcd0", "aQQ")),
)
ANCHORS = sorted({form.anchor for form in FORMS})
pieces = st.one_of(
    st.sampled_from(ANCHORS),
    st.sampled_from([anchor[at:] for anchor in ANCHORS for at in (1, 2)]),
    st.sampled_from([anchor[:-1] for anchor in ANCHORS]),
    st.text(st.sampled_from('skghAIzaxoKSeyJPRVQ :/-_n"\n\ud8ff\udc80é'), max_size=4),
    # More of a letter than are looked at one by one.
    st.sampled_from("QkKzJ_").map(lambda letter: f"{letter} " * 20),
)


def is_near(form: SecretForm, text: str) -> bool:
    """Where it must be found; a letter behind some anchors makes them another word."""
    ends = [text[at + len(form.anchor) :][:1] for at in _places(text, form.anchor)]
    return any(
        not (form.is_word_end and (end == "_" or (end.isascii() and end.isalpha()))) for end in ends
    )


def _places(text: str, anchor: str) -> list[int]:
    return [at for at in range(len(text) + 1) if text.startswith(anchor, at)]


@pytest.mark.parametrize("short_text", [-1, 1 << 20])
@given(st.lists(st.lists(pieces, max_size=6), min_size=1, max_size=3))
def test_a_form_is_near_where_its_anchor_stands(short_text: int, told: list[list[str]]) -> None:
    texts = ["".join(each) for each in told]
    blocks = [text.encode("utf-8", "surrogatepass") for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anchor_sieve, "_SHORT_TEXT", short_text)
        patch.setattr(anchor_sieve, "_made", {})
        near = AnchorSieve(FORMS).near_forms(blocks)
    needed = [form for form in FORMS if any(is_near(form, text) for text in texts)]
    assert [form for form in needed if form not in near] == []
    if not any(anchor in text for anchor in ANCHORS if anchor for text in texts):
        assert {form.anchor for form in near} == {""}


def test_a_word_that_only_begins_like_an_anchor_is_not_near() -> None:
    """Every message of some agents tells how many tokens it used."""
    text = b'{"input_tokens": 7}' * 10_000
    assert AnchorSieve(SHAPED_FORMS).near_forms([text]) == ()
    near = AnchorSieve(SHAPED_FORMS).near_forms([text, b'"my_token": "a1b2c3d4e5"'])
    assert {form.anchor for form in near} == {"_token"}


def test_searches_are_made_once_for_the_same_secrets() -> None:
    with pytest.MonkeyPatch.context() as patch:
        made: dict[object, object] = {}
        patch.setattr(anchor_sieve, "_made", made)
        for _ in range(2):
            AnchorSieve(SHAPED_FORMS).near_forms([b"x" * 100_000])
        assert len(made) == 1
        for number in range(20):
            AnchorSieve([SecretForm(f"secret{number}", "")]).near_forms([b"x" * 100_000])
        assert len(made) <= anchor_sieve._MOST_MADE


def test_an_ended_anchor_has_no_pattern_that_goes_on_with_a_letter() -> None:
    """What `is_word_end` says is true of the patterns."""
    import re

    for form in SHAPED_FORMS:
        if form.is_word_end:
            for letter in "sS_zA":
                text = f'{form.anchor}{letter}="a1b2c3d4e5f6" {form.anchor}{letter}: a1b2c3d4e5'
                assert re.search(form.pattern, text) is None
