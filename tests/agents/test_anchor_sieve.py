"""What is left of a text says of every anchor whether it is worth a look, and never hides one."""

from hypothesis import given
from hypothesis import strategies as st

from porch.agents.anchor_sieve import QUOTE, AnchorSieve
from porch.agents.secret_forms import SHAPED_FORMS, SecretForm, list_secret_forms

FORMS = (
    *SHAPED_FORMS,
    *list_secret_forms("hunter2-and-more"),
    *list_secret_forms("ÄÖÜ:äöü:ß!"),  # no plain part at all: it may stand anywhere
    SecretForm("eio", "eio"),
    SecretForm("Zz_9", "Zz_9"),
)
ANCHORS = sorted({form.anchor for form in FORMS})
pieces = st.one_of(
    st.sampled_from(ANCHORS),
    st.sampled_from([anchor[at:] for anchor in ANCHORS for at in (1, 2)]),
    st.sampled_from([anchor[:-1] for anchor in ANCHORS]),
    st.text(st.sampled_from('skghAIzaxoKSeyJPRV :/-_n"\n\ud8ff\udc80é'), max_size=4),
)


@given(st.lists(pieces, max_size=12), st.lists(pieces, max_size=3))
def test_a_form_is_near_where_its_anchor_stands(texts: list[str], before: list[str]) -> None:
    kept, text = "".join(before), "".join(texts)
    near = AnchorSieve(FORMS).near_forms(kept, text)
    assert near == tuple(form for form in FORMS if form.anchor in kept + text)


def test_what_is_told_twice_between_quotes_is_looked_at_and_found_once() -> None:
    told = "the parser fails in line 3, and so on"
    for secret in ("AKIA" + "A" * 16, "npm_" + "a" * 36, 'password="' + "x1" * 8 + '"'):
        text = f'{{"a":"{told}","b":"{told}","c":"{told} {secret}","d":"{told} {secret}"}}'
        wanted = [form for form in FORMS if form.anchor in text]
        assert list(AnchorSieve(FORMS).near_forms(text)) == wanted


def test_no_anchor_has_a_quote_in_it_for_texts_are_taken_apart_there() -> None:
    secret = 'a"b\\"c' + "d" * 9
    anchors = [form.anchor for form in (*SHAPED_FORMS, *list_secret_forms(secret))]
    assert [anchor for anchor in anchors if QUOTE in anchor] == []
