"""A whole TICK with each of the real command lines: they edit files and run the tests."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real_agents import Room
from tests.standin.steps import say
from tests.standin.vendors import Vendors
from tests.torture import only_in_full
from tests.whole.agents.shop import Tick, living, opened


@pytest.mark.req("P-007")
@pytest.mark.torture
@pytest.mark.parametrize("name", ["claude", "codex", pytest.param("gemini", marks=only_in_full)])
def test_a_whole_tick_is_done_by_a_real_agent(
    name: str, tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    cli(name)
    shop = opened(tmp_path, clean_room, vendor)
    place = shop.root / "worktrees/tick_0007_x"
    model = Tick(place)
    vendor.default = model
    told = shop.porch("run", "tick", "0007", "--title", "x", "--agent", name, timeout_s=240)
    assert shop.entered()[-1] == "complete", told
    assert (place / "greet.py").read_text().startswith("def greet")
    passed = [f for f in shop.facts("CheckEnded") if f["effect"].find("/tests/") > 0]
    assert [(f["result"], f.get("reused", False)) for f in passed] == [
        ("passed", False),
        ("passed", False),  # nothing says that these tests depend on files alone
    ]
    assert sorted(model.reviews) == ["anthropic", "google", "openai"]
    assert not living(clean_room)
    sessions = [fact["session"] for fact in shop.facts("ExitAccepted")]
    assert len(set(sessions)) == len(sessions) == 3, "each phase begins a conversation of its own"
    assert all(fact["tokens"] > 0 for fact in shop.facts("ExitAccepted"))
    assert '{"type"' not in told, "raw events have no place on a terminal"
    allowed = shop.porch("explain", "0007", "--verbose")
    assert "may in implement, verify: write:**, bash:*, read:*" in allowed


PLAN = "# Plan\n\n## Phases\n\n### Phase 1: One\n- a\n\n### Phase 2: Two\n- b\n"


@pytest.mark.req("P-060")
@pytest.mark.req("P-098")
def test_each_phase_of_a_plan_begins_a_conversation_of_its_own(
    tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    cli("claude")
    shop = opened(tmp_path, clean_room, vendor)
    phase = {"id": "build", "type": "per_plan_phase", "signals": {"BUILT": "next_phase"}}
    shop.write("codev/protocols/p/protocol.json", json.dumps({"name": "p", "phases": [phase]}))
    shop.write("codev/projects/0001-x/plan.md", PLAN)
    vendor.default = lambda _request: say("<signal>BUILT</signal>")
    shop.porch("run", "p", "0001", "--title", "x", "--agent", "claude")
    assert shop.entered()[-1] == "complete"
    sessions = [fact["session"] for fact in shop.facts("ExitAccepted")]
    assert len(sessions) == len(set(sessions)) == 2
    # Nothing of the first conversation is known in the second.
    asked = [request for request in vendor.requests if "BUILT" in request.prompt]
    roles = [[message["role"] for message in request.body["messages"]] for request in asked]
    assert len(asked) == 2
    assert all("assistant" not in each for each in roles)
