"""A run of a tree is drawn with its own states, and with the questions that somebody was asked."""

import os

import pytest

from porch.machine.approvals import add_engine_states
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.run.definitions import library
from porch.show.graph.picture import make_protocol_picture
from porch.show.graph.walked_ways import drop_idle_questions


@pytest.fixture
def v3() -> Protocol:
    file = os.path.join(library.PACKAGED, "v3", "v3.graph.yaml")
    return add_engine_states(library.load_protocol(file).demand().protocol)


def names(protocol: Protocol, state: RunState) -> set[str]:
    drawn = make_protocol_picture(drop_idle_questions(protocol, state))
    return {node.state for node in drawn.nodes if ":" in node.state}


def test_questions_of_the_engine_that_nobody_was_asked_are_not_drawn(v3: Protocol) -> None:
    assert names(v3, RunState()) == set()
    file = os.path.join(library.PACKAGED, "v3", "v3.graph.yaml")
    own = list(library.load_protocol(file).demand().protocol.states)
    assert list(drop_idle_questions(v3, RunState()).states) == own


def test_a_question_that_was_asked_is_drawn_with_its_end(v3: Protocol) -> None:
    asked = RunState(visits={("a", "impl:fault", ""): 1, ("", "impl", ""): 1})
    assert names(v3, asked) == {"impl:fault", "impl:fault:stopped"}


def test_states_of_other_protocols_are_drawn_whatever_they_are_called() -> None:
    file = os.path.join(library.PACKAGED, "tick", "protocol.json")
    tick = add_engine_states(library.load_protocol(file).demand().protocol)
    assert drop_idle_questions(tick, RunState()) is tick
