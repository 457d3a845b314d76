"""A summary that grows is the same as one made event by event, and does not copy what it holds."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porch.agents import events
from porch.agents.events import Event, GrowingSummary, Said, TurnSummary
from porch.agents.transcripts import TranscriptListener
from porch.system.growing_file import OutputLine

TEXTS = st.text(alphabet="ab\n", max_size=4)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Said, TEXTS),
    st.builds(Said, TEXTS, st.booleans()),
    st.just(events.ToolStarted("t")),
    st.just(events.ToolEnded("o")),
    st.just(events.Done()),
    st.builds(events.Final, TEXTS),
    st.just(events.Answered("Done", {})),
    st.builds(
        events.Used,
        st.sampled_from([0.5, 0.25]),
        st.integers(1, 9),
        is_total=st.booleans(),
        part=st.sampled_from(["", "m-1", "m-2"]),
    ),
    st.builds(events.Failed, TEXTS, is_last=st.booleans()),
    st.builds(events.Warned, TEXTS),
)


@pytest.mark.parametrize("pieces_kept", [1, 3, 4096])
@given(told=st.lists(EVENTS, max_size=30), looked=st.sets(st.integers(0, 30)))
def test_growing_summary_is_that_of_one_event_after_the_other(
    pieces_kept: int, told: list[Event], looked: set[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # So short that messages are cut, and joined for each reason that there is.
        patch.setattr(events, "LONGEST_MESSAGE", 7)
        patch.setattr(events, "PIECES_KEPT", pieces_kept)
        tally, wanted = GrowingSummary(), TurnSummary()
        for number, event in enumerate(told):
            tally.add(event)
            wanted = wanted.then(event)
            if number in looked:
                assert tally.summary == wanted
        assert tally.summary == wanted


def test_message_of_many_pieces_is_not_copied_for_each_of_them() -> None:
    """Ten times the pieces take about ten times as long; copying would take a hundred times."""
    few, many = (min(_seconds(count) for _ in range(3)) for count in (20_000, 200_000))
    assert many < 40 * few


def _seconds(pieces: int) -> float:
    listener = TranscriptListener(lambda text: (Said(text),))
    line = OutputLine("four")
    began = time.thread_time()
    for _ in range(pieces):
        listener.take(line)
    assert len(listener.summary.said) == 4 * pieces
    return time.thread_time() - began
