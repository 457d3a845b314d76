"""What people type where no state reads it still reaches the agent that works next."""

from msgspec.structs import replace

from porch.machine.effects import QuotedInput, RunAgent
from porch.testing import Rig


def heard(rig: Rig) -> list[QuotedInput]:
    request = rig.request("agent")
    assert isinstance(request, RunAgent)
    return [each for each in request.shown if each.label.startswith("Said by a person")]


def at_gate(rig: Rig) -> None:
    rig.exit("SPEC_DRAFTED")
    rig.check("lint", "passed")
    rig.check("unit/fast", "passed")
    rig.panel(gemini="APPROVE", codex="APPROVE", claude="APPROVE")
    rig.asked()


def test_k9_a_note_that_no_state_reads_is_shown_to_the_next_agent_and_then_no_more(
    rig: Rig,
) -> None:
    at_gate(rig)
    rig.decide("approved", "mind the billing tables")
    rig.check("unit/fast", "passed")
    rig.reads("one", "two")
    said = QuotedInput("Said by a person at specify:gate", {"text": "mind the billing tables"})
    assert heard(rig) == [said]


def test_k9_words_that_a_state_reads_are_shown_once_and_not_again_by_default(rig: Rig) -> None:
    at_gate(rig)
    rig.decide("rejected", "too vague")
    request = rig.request("agent")
    assert isinstance(request, RunAgent)
    assert [each.label for each in request.shown] == ["The architect said no"]


def test_k10_a_definition_that_reads_them_nowhere_shows_them_by_default(rig: Rig) -> None:
    states = {name: replace(state, inputs=()) for name, state in rig.protocol.states.items()}
    bare = Rig(replace(rig.protocol, states=states)).start()
    at_gate(bare)
    bare.decide("rejected", "too vague")
    assert [each.payload for each in heard(bare)] == [{"text": "too vague"}]
    bare.exit("REVISED")
    bare.panel(gemini="REQUEST_CHANGES", codex="APPROVE", claude="APPROVE")
    assert heard(bare) == []
