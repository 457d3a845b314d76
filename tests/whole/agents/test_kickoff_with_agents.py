"""From `af kickoff` over a gate to a merge, with each of the real command lines."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import commands
from tests.real_agents import Room
from tests.standin.request import Request
from tests.standin.steps import Step, edit_file, say
from tests.standin.vendors import Vendors
from tests.whole.agents.shop import CODE, TEST, Shop, living, opened
from tests.whole.agents.yard import wait_for

PHASE = {
    "id": "build",
    "signals": {"BUILT": "complete"},
    "checks": {"tests": {"setting": "test"}},
    "gate": {"name": "ship"},
}


def _af(shop: Shop, *words: str) -> str:
    done = commands.run("af", words, shop.root, shop.environ, 120)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_a_kicked_off_run_of_a_real_agent_is_approved_and_merged(
    name: str, tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    cli(name)
    shop = opened(tmp_path, clean_room, vendor)
    shop.write("codev/protocols/p/protocol.json", json.dumps({"name": "p", "phases": [PHASE]}))
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "a protocol")
    place = shop.root / "worktrees/p_0001_greet-people"

    def build(request: Request) -> Step:
        steps = [edit_file(place / "greet.py", CODE), edit_file(place / "test_greet.py", TEST)]
        said = say("The test passes.\n\n<signal>BUILT</signal>")
        return [*steps, said][min(len(request.results), 2)]

    vendor.default = build
    told = _af(shop, "kickoff", "0001", "Greet people", "--protocol", "p", "--agent", name)
    assert "Started 0001-greet-people" in told
    wait_for(lambda: shop.facts("DecisionAsked"))
    assert "ship since" in _af(shop, "status", "--pending-only")
    _af(shop, "approve", "0001", "ship")
    assert "0001-greet-people is complete" in _af(shop, "logs", "0001", "--follow")
    said = shop.porch("finish", "0001", "--merge")
    assert "0001-greet-people: merged into main" in said
    assert "checked on the merged files: test passed" in said
    assert shop.git("show", "main:greet.py") == CODE.strip()
    assert (shop.root / "greet.py").read_text() == CODE, "the checkout follows"
    assert not living(clean_room)
