"""Signals in an agent's final message: meant ones count, shown and quoted ones do not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.claims.legal_signal import LegalSignal
from porch.claims.signals import Signal, SignalChoice, SignalReading, choose_signal, read_signals

LEGAL = {
    "SPEC_DRAFTED": LegalSignal("drafted"),
    "BLOCKED": LegalSignal("blocked", needs_reason=True),
    "next-step": LegalSignal("next"),
}


def names(message: str) -> list[str]:
    return [signal.name for signal in read_signals(message).signals]


@pytest.mark.req("P-129")
@pytest.mark.parametrize(
    "message, signal",
    [
        ("<signal>DONE</signal>", Signal("DONE")),
        ("All done.\n<signal>DONE</signal>\n", Signal("DONE")),
        ("Text <signal> DONE </signal> more text.", Signal("DONE")),
        ("<signal>\nDONE\n</signal>", Signal("DONE")),
        ("<SIGNAL>Done-2</SIGNAL>", Signal("Done-2")),
        ("<signal >DONE</signal >", Signal("DONE")),
        ("<signal>BLOCKED: no key</signal>", Signal("BLOCKED", "no key")),
        ("<signal>BLOCKED :\n  no\r\n  key </signal>", Signal("BLOCKED", "no key")),
        ("<signal>BLOCKED: a: b</signal>", Signal("BLOCKED", "a: b")),
        ("<signal>BLOCKED: needs `KEY` set</signal>", Signal("BLOCKED", "needs `KEY` set")),
        ("<signal>BLOCKED: \U0001f469\u200d\U0001f4bb</signal>", Signal("BLOCKED", "👩\u200d💻")),
        ("<signal>BLOCKED:</signal>", Signal("BLOCKED")),
        ("<signal type=BLOCKED>no key</signal>", Signal("BLOCKED", "no key")),
        ('<signal type="BLOCKED">no\nkey</signal>', Signal("BLOCKED", "no key")),
        ("<signal type = 'DONE'></signal>", Signal("DONE")),
        ("- item\n  <signal>DONE</signal>", Signal("DONE")),
        ("**<signal>DONE</signal>**", Signal("DONE")),
        ("text\n    <signal>DONE</signal>", Signal("DONE")),
        ("it's a ` tick <signal>DONE</signal>", Signal("DONE")),
        ("```\ncode\n```\n<signal>DONE</signal>", Signal("DONE")),
        ("<!-- c --><signal>DONE</signal>", Signal("DONE")),
        ("\ufeff<signal>DONE</signal>", Signal("DONE")),
    ],
)
def test_tags_in_every_form_are_read(message: str, signal: Signal) -> None:
    assert read_signals(message) == SignalReading((signal,))


@pytest.mark.req("F-050")
@pytest.mark.parametrize(
    "message, signal",
    [
        ("Did it.\n\nPHASE_COMPLETE", Signal("PHASE_COMPLETE")),
        ("PHASE_COMPLETE\n \n\t\n", Signal("PHASE_COMPLETE")),
        ("BLOCKED: no `key` here", Signal("BLOCKED", "no `key` here")),
        ("  BLOCKED : why ", Signal("BLOCKED", "why")),
        ("PHASE_COMPLETE\n<!-- end -->", Signal("PHASE_COMPLETE")),
    ],
)
def test_a_bare_name_counts_as_the_last_line(message: str, signal: Signal) -> None:
    assert read_signals(message) == SignalReading((signal,))


@pytest.mark.parametrize(
    "message",
    [
        "",
        " \n\n",
        "PHASE_COMPLETE\nand more",
        "I will say PHASE_COMPLETE",
        "PHASE_COMPLETE.",
        "`PHASE_COMPLETE`",
        "`x`\nPHASE_COMPLETE\n`y`",
        "Done",
        "OK",
        "AB: two letters",
        "PHASE COMPLETE",
        "```\nPHASE_COMPLETE\n```",
        "```\nPHASE_COMPLETE",
        "> PHASE_COMPLETE",
        "text\n\n    PHASE_COMPLETE",
        "PHASE_COMPLETE\n```\ncode\n```",
        "PHASE_COMPLETE\n> quote",
        "<!-- PHASE_COMPLETE -->",
        "<!--\nPHASE_COMPLETE",
        "- PHASE_COMPLETE",
        "PHASE\u200b_COMPLETE",
        "```\n<signal>DONE</signal>\n```",
        "~~~xml\n<signal>DONE</signal>\n~~~",
        "```\n<signal>DONE</signal>",
        "- ```\n  <signal>DONE</signal>\n  ```\nend",
        "Use `<signal>DONE</signal>` at the end.",
        "Use ``<signal>`DONE`</signal>`` at the end.",
        "> <signal>DONE</signal>",
        "- > <signal>DONE</signal>",
        "text\n\n    <signal>DONE</signal>",
        "text\n\n\t<signal>DONE</signal>",
        "<!-- <signal>DONE</signal> -->",
        "<!--\n<signal>DONE</signal>",
        "<signals>DONE</signals>",
        "<signal-x>DONE</signal-x>",
        "&lt;signal&gt;DONE&lt;/signal&gt;",
    ],
)
def test_what_is_shown_quoted_or_mentioned_is_no_signal(message: str) -> None:
    assert read_signals(message) == SignalReading(())


@pytest.mark.req("P-143")
@pytest.mark.parametrize(
    "message, faults",
    [
        ("<signal>DONE", ["never closed: <signal>DONE"]),
        ("<signal", ["cut off: <signal"]),
        ("<signal>DONE</signal", ["never closed: <signal>DONE</signal", "cut off: </signal"]),
        ("DONE</signal>", ["closed but never opened: </signal>"]),
        (
            "<signal></signal>",
            ["it must have a name, at most one reason, and nothing else: <signal></signal>"],
        ),
        ("<signal/>", ["never closed: <signal/>"]),
    ],
)
def test_malformed_tags_are_reported_with_their_text(message: str, faults: list[str]) -> None:
    assert read_signals(message) == SignalReading((), tuple(faults))


@pytest.mark.parametrize(
    "message",
    [
        "<signal> </signal>",
        "<signal>: reason</signal>",
        "<signal>TWO WORDS</signal>",
        "<signal>1ST</signal>",
        "<signal>`DONE`</signal>",
        "<signal>DO\u200bNE</signal>",
        "<sig\u200bnal>DONE</signal>",
        "<signal\u2060>DONE</signal>",
        "<signal kind=DONE>x</signal>",
        "<signal type=DONE type=DONE>x</signal>",
        "<signal type='DONE\">x</signal>",
        "<signal type=>x</signal>",
        "<signal>A<signal>B</signal></signal>",
        "<signal>\n```\nDONE\n```\n</signal>",
    ],
)
def test_malformed_tags_are_never_signals(message: str) -> None:
    reading = read_signals(message)
    assert reading.signals == ()
    assert reading.malformed


def test_where_a_turn_has_a_nonce_a_bare_name_is_noted_and_no_signal() -> None:
    note = "a signal without this turn's nonce was ignored"
    assert read_signals("Did it.\n\nPHASE_COMPLETE", "n1") == SignalReading((), (), (note,))


def test_an_unclosed_mention_does_not_swallow_the_signal_after_it() -> None:
    reading = read_signals("I end with <signal> soon.\n\n<signal>DONE</signal>")
    assert reading.signals == (Signal("DONE"),)
    assert len(reading.malformed) == 1


def test_signals_come_in_the_order_of_the_message() -> None:
    assert names("<signal>A1</signal> `<signal>B1</signal>` <signal>C1</signal>\nLAST_ONE") == [
        "A1",
        "C1",
        "LAST_ONE",
    ]


def test_only_the_first_faults_are_told_and_the_rest_counted() -> None:
    malformed = read_signals("<signal>" * 50).malformed
    assert len(malformed) == 21
    assert malformed[-1] == "and 30 more"


@pytest.mark.req("P-138")
def test_the_last_legal_signal_wins() -> None:
    reading = SignalReading((Signal("BLOCKED", "x"), Signal("SPEC_DRAFTED", "r")))
    assert choose_signal(reading, LEGAL) == SignalChoice("drafted", "SPEC_DRAFTED", "r")


@pytest.mark.req("P-139")
@pytest.mark.req("P-140")
def test_unknown_signals_are_noted_and_ignored() -> None:
    reading = SignalReading((Signal("SPEC_DRAFTED"), Signal("DEPLOYED")))
    note = "unknown signal DEPLOYED ignored; known here: SPEC_DRAFTED, BLOCKED, next-step"
    expected = SignalChoice("drafted", "SPEC_DRAFTED", "", (note,))
    assert choose_signal(reading, LEGAL) == expected
    assert choose_signal(SignalReading((Signal("DEPLOYED"),)), LEGAL).exit is None


@pytest.mark.req("F-048")
@pytest.mark.req("F-049")
def test_a_signal_without_the_reason_it_needs_is_not_legal() -> None:
    choice = choose_signal(SignalReading((Signal("SPEC_DRAFTED"), Signal("BLOCKED"))), LEGAL)
    assert choice.exit == "drafted"
    assert choice.notes == ("signal BLOCKED ignored: it needs a reason",)
    assert choose_signal(SignalReading((Signal("BLOCKED", "no key"),)), LEGAL) == SignalChoice(
        "blocked", "BLOCKED", "no key"
    )


@pytest.mark.parametrize("name", ["spec_drafted", "Spec-Drafted", "SPEC-DRAFTED"])
def test_names_are_compared_without_case_and_dashes(name: str) -> None:
    assert choose_signal(SignalReading((Signal(name),)), LEGAL).signal == "SPEC_DRAFTED"


def test_an_exact_name_is_preferred_to_a_similar_one() -> None:
    legal = {"done": LegalSignal("small"), "DONE": LegalSignal("large")}
    assert choose_signal(SignalReading((Signal("DONE"),)), legal).exit == "large"
    assert choose_signal(SignalReading((Signal("Done"),)), legal).exit == "small"


def test_malformed_tags_are_in_the_notes() -> None:
    choice = choose_signal(read_signals("<signal>SPEC_DRAFTED"), LEGAL)
    assert choice == SignalChoice(
        None, notes=("malformed signal tag (never closed: <signal>SPEC_DRAFTED)",)
    )


TAGS = [
    "<signal>",
    "</signal>",
    "<signal",
    "DONE",
    ": why",
    " type=X",
    ">",
    "<",
    "\u200b",
    "\ud800",
]
MARKS = ["`", "```\n", "~~~\n", "> ", "\n", "    ", "<!--", "-->", "\r", "- "]
PIECES = st.sampled_from([*TAGS, *MARKS])


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
def test_any_message_is_read_and_what_is_fenced_never_counts(text: str) -> None:
    choose_signal(read_signals(text), LEGAL)
    fenced = "~" * 50 + "\n" + text.replace("~", "-")
    assert read_signals(fenced) == SignalReading(())


@pytest.mark.parametrize(
    "text",
    [
        "<signal>" * 250_000,
        "<signal>" * 50_000 + "</signal>" * 50_000,
        "<signal" * 280_000,
        "<signal>A</signal>" * 50_000,
        "<signal>A" + " " * 2_000_000 + "x</signal>",
        "<" * 2_000_000,
        "<\u200b" * 1_000_000,
        "<signal type=" + "a" * 2_000_000,
        "A" * 2_000_000,
        "<signal>\n" * 50_000,
        "`<signal>` " * 50_000,
        "> <signal>A</signal>\n" * 50_000,
        "s" + "\u200b" * 2_000_000,
    ],
    ids=range(13),
)
def test_two_megabytes_of_spite_end_in_time(text: str) -> None:
    choose_signal(read_signals(text), LEGAL)
