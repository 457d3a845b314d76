"""Steps as a protocol that can be run: one agent, one exit for each output."""

from typing import TYPE_CHECKING

import pytest

from porch.dialects.registry import parse_definition
from porch.dialects.result import ProtocolReading
from porch.model.protocol import Agent, Check, End, Human
from porch.text.formats import read_yaml
from porch.text.nodes import Node

if TYPE_CHECKING:
    from tests.dialects.steps.conftest import Merge

BASE = """\
name: a
description: A way
inputs: [{name: n, type: integer}]
outputs:
  - {value: "{ success: true, merged: true }", description: merged}
  - {value: '{ "success": false, reason: "<why>" }', description: failed}
steps: {1: "read <N>"}
"""


def read(text: str, name: str = "a", **others: str) -> ProtocolReading:
    def fetch(wanted: str) -> Node | None:
        return read_yaml(others[wanted], f"{wanted}.yaml") if wanted in others else None

    return parse_definition(text, f"{name}.yaml", fetch)


def agent(reading: ProtocolReading) -> Agent:
    assert reading.protocol is not None
    actor = reading.protocol.states["work"].actor
    assert isinstance(actor, Agent)
    return actor


def test_outputs_become_exits_and_failures_lead_to_failure() -> None:
    found = read(BASE)
    exits = {exit_.name: exit_ for exit_ in agent(found).exits}
    assert list(exits) == ["SUCCESS_TRUE_MERGED_TRUE", "SUCCESS_FALSE_REASON"]
    assert [exit_.needs_reason for exit_ in exits.values()] == [False, True]
    assert exits["SUCCESS_FALSE_REASON"].description.endswith(": failed")
    assert found.protocol is not None
    ways = {e.exit: e.targets[0].state for e in found.protocol.edges if e.state == "work"}
    assert ways["SUCCESS_TRUE_MERGED_TRUE"] == "complete"
    assert ways["SUCCESS_FALSE_REASON"] == "failed"
    end = found.protocol.states["failed"].actor
    assert isinstance(end, End)
    assert end.shows == ("work.SUCCESS_FALSE_REASON",)


def test_an_output_with_a_check_is_a_claim_until_it_has_passed() -> None:
    found = read(BASE.replace("description: failed", "description: failed, check: is-it-so"))
    assert found.findings == ()
    assert found.protocol is not None
    ways = {(e.state, e.exit): e for e in found.protocol.edges}
    claim = "work:success_false_reason"
    assert ways["work", "SUCCESS_FALSE_REASON"].targets[0].state == claim
    check = found.protocol.states[claim].actor
    assert isinstance(check, Check)
    assert [command.shell for command in check.commands] == ["is-it-so"]
    assert ways[claim, "passed"].targets[0].state == "failed"
    again = ways[claim, "failed"]
    assert (again.targets[0].state, again.charges) == ("work", "claims")
    assert again.spent[0].state == ways[claim, "unmeasured"].targets[0].state == "failed:work"
    assert ways["failed:work", "retry"].resets == ("claims",)
    trouble = found.protocol.states["failed:work"].actor
    assert isinstance(trouble, Human)
    assert trouble.shows[-2:] == (f"{claim}.failed", f"{claim}.unmeasured")
    heard = [given.path for given in found.protocol.states["work"].inputs]
    assert heard[-1] == f"{claim}.failed"
    assert ways["work", "SUCCESS_TRUE_MERGED_TRUE"].targets[0].state == "complete"


def test_without_a_check_there_is_no_budget_for_claims() -> None:
    found = read(BASE)
    assert found.protocol is not None
    assert not found.protocol.budgets


def test_inputs_and_the_prompt_come_with_it() -> None:
    found = read(BASE)
    assert found.parameters is not None
    assert [each.name for each in found.parameters] == ["n"]
    assert "1: read{{" not in found.texts["work"]
    assert "1: read" in found.texts["work"]
    assert found.findings == ()


@pytest.mark.parametrize(
    "values, names",
    [
        (["done", "done"], ["DONE", "OUTPUT_2"]),
        (["7 days", "<x>", "BLOCKED"], ["OUTPUT_1", "OUTPUT_2", "OUTPUT_3"]),
        (["a-b c"], ["A_B_C"]),
        (["x" * 80], ["X" * 60]),
    ],
)
def test_every_exit_has_a_word_of_its_own(values: list[str], names: list[str]) -> None:
    outputs = "".join(f"  - value: '{value}'\n" for value in values)
    found = read(f"name: a\noutputs:\n{outputs}steps: {{1: x}}\n")
    assert [exit_.name for exit_ in agent(found).exits] == names


def test_without_outputs_an_agent_can_be_done() -> None:
    found = read("name: a\nsteps: {1: x}\n")
    assert [exit_.name for exit_ in agent(found).exits] == ["DONE"]
    assert found.protocol is not None
    assert "failed" not in found.protocol.states


def test_a_protocol_that_extends_is_read_with_its_base() -> None:
    found = read("name: b\nextends: a\n", "b", a=BASE)
    assert found.protocol is not None
    assert (found.protocol.name, found.protocol.description) == ("b", "A way")


def test_a_base_that_nobody_can_fetch_is_a_finding() -> None:
    found = parse_definition("name: b\nextends: a\n", "b.yaml")
    assert found.protocol is None
    assert [finding.code for finding in found.findings] == ["base-not-found"]


def test_a_lost_reference_is_told_and_stops_nothing() -> None:
    found = read("name: a\nsteps: {1: see step 9}\n")
    assert found.protocol is not None
    assert [(f.code, f.severity) for f in found.findings] == [("unknown-reference", "warning")]


def test_what_has_no_steps_is_no_protocol_of_steps(merge: "Merge") -> None:
    assert [f.code for f in parse_definition("name: a\n", "a.yaml").findings] == ["unknown-dialect"]
