"""What is read at the prompt, from the disk as the commands read it."""

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console, Group

from porch.cli.terminal.reading import read_changes, read_cost, read_documents
from porch.dialects.registry import parse_definition
from porch.errors import UsageError
from porch.machine.approvals import add_engine_states
from porch.machine.state import Cost, InHand, RunState
from porch.run.verbs.read_run import read_run
from porch.store.where import find_project

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


def printed(parts: Any) -> str:
    file = io.StringIO()
    Console(file=file, width=80).print(Group(*parts))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_all_changes_that_are_asked_about_are_shown_as_a_difference(desk: "Desk") -> None:
    desk.porch("run", "change", "0001", "Add a page", "--no-claude", code=3)
    where = find_project(str(desk.root))
    state = read_run(where, "0001-add-a-page").state
    told = printed(read_documents(where, state, list(state.decisions.values()), "", 80))
    assert "changes since" in told
    assert "+one line" in told
    changes = printed(read_changes(where, state, "change.txt"))
    assert "work/change.txt (new, +1 -0 lines)" in changes
    assert "+one line" in changes
    with pytest.raises(UsageError, match="there is no file"):
        printed(read_changes(where, state, "nothing.txt"))


@pytest.mark.parametrize(
    "is_scripted, usd, tokens", [(False, "unknown", "unknown"), (True, "0", "0")]
)
def test_a_cost_that_was_not_measured_is_unknown(is_scripted: bool, usd: str, tokens: str) -> None:
    text = '{"name": "p", "phases": [{"id": "build"}]}'
    protocol = parse_definition(text, "protocol.json").protocol
    assert protocol is not None
    hand = InHand("build#2/agent/build/0", "build#2", "agent", "build")
    state = RunState(costs={"build": Cost(1, 0, 0, 65)}, in_hand={hand.effect: hand})
    told = printed(read_cost(add_engine_states(protocol), state, 5, is_scripted=is_scripted))
    assert told.splitlines()[1].split() == ["build", "1", usd, tokens, "1", "min", "5", "s"]
    assert ("limit 5.00 USD" in told) is not is_scripted
    assert told.endswith("a turn is counted when it ends")
    assert "no cost is known" in printed(read_cost(protocol, RunState(), 0, is_scripted=False))
