"""A leaf of v3 with each of the real command lines: typed answers, repairs, threads, places.

Each of them makes the same run once. All begin with a mistake: codex plans badly until its try is
over, claude plans badly and forgets its answer, gemini gives an answer that may be a quotation.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real_agents import Room
from tests.standin.vendors import Vendors
from tests.torture import only_in_full
from tests.whole.agents.family import Family, family_shop
from tests.whole.agents.leaf import COMMIT, PROSE, Leaf, leaf_shop
from tests.whole.agents.shop import Shop, living
from tests.whole.v3.conftest import ADD

EXITS = ["InitWork", "TestsReady", "TestsPassed", "Approved", "MergeComplete"]
Run = Callable[[str, int], tuple[Shop, Leaf]]


@pytest.fixture
def run(tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room) -> Run:
    """A whole run with one of them; what holds for all is seen here."""

    def done(name: str, bad_plans: int) -> tuple[Shop, Leaf]:
        cli(name)
        shop, model = leaf_shop(tmp_path, clean_room, vendor), Leaf(bad_plans)
        vendor.default = model
        words = ("run", "v3", "spec.yaml", "--into", "main", "--agent", name)
        told = shop.porch(*words, timeout_s=240)
        _merged(shop, told)
        _kept_apart(shop, model)
        assert model.changed == [], "whoever reads changes nothing"
        assert len(model.requests("review")) >= 3, "and tried to"
        assert not living(clean_room)
        return shop, model

    return done


def _merged(shop: Shop, told: str) -> None:
    assert shop.git("log", "--format=%s", "main").splitlines()[0] == "feat(add): implement", told
    assert shop.git("show", f"main:{ADD.target}") == ADD.code.strip()
    assert [fact["exit"] for fact in shop.facts("ExitAccepted")] == EXITS
    log = shop.git("log", "--format=%s", "refs/porch/archive/porch/v3_add").splitlines()
    assert log[0] == "impl(add): TestsPassed", "the engine commits"
    assert shop.git("status", "--porcelain", "calc", "tests") == ""


def _kept_apart(shop: Shop, model: Leaf) -> None:
    """What one thread says is never heard in another; each is a conversation of its own."""
    for state in ("scaffold", "impl", "merger"):
        assert all(PROSE not in json.dumps(r.body) for r in model.requests(state))
    for state in ("scaffold", "write_tests", "merger"):
        assert all(ADD.code not in json.dumps(r.body) for r in model.requests(state)[:1])
    sessions = {fact["exit"]: fact["session"] for fact in shop.facts("ExitAccepted")}
    apart = {sessions[name] for name in ("InitWork", "TestsReady", "TestsPassed", "MergeComplete")}
    assert len(apart) == 4
    assert model.heard("merger") == ["merger"]


def test_codex_is_held_to_the_form_and_may_not_commit(run: Run) -> None:
    shop, model = run("codex", 2)
    assert all(request.schema is not None for _, _, request in model.asked)
    assert model.kinds("scaffold") == ["", "refused", "refused"]
    (failed,) = shop.facts("EffectFailed")
    same = "the same answer was refused 2 times: 'c-add' is not covered"
    assert (failed["why"], failed["detail"]) == ("refused", same)
    assert model.kinds("write_tests") == ["", "reminder"]
    assert model.heard("write_tests") == ["scaffold", "write_tests"], "begun from the planner's"
    assert model.heard("impl") == ["scaffold", "impl"]
    assert model.heard("review") == ["scaffold", "write_tests", "review"], "gone on, elsewhere"
    told = model.requests("impl")[-1].results[-1]
    assert "Read-only file system" in told, f"{COMMIT}: {told}"


def test_claude_answers_by_its_tool_and_goes_on_in_other_places(run: Run) -> None:
    shop, model = run("claude", 1)
    assert all("StructuredOutput" in request.tools for _, _, request in model.asked)
    assert model.kinds("scaffold") == ["", "refused"]
    assert model.kinds("write_tests") == ["", "reminder"]
    repaired = model.requests("scaffold")[-1]
    assert repaired.users[0].startswith("# Scaffold: "), "in the same conversation"
    assert "'c-add' is not covered" in repaired.prompt
    assert model.heard("write_tests") == ["scaffold", "write_tests"], "begun from the planner's"
    assert model.heard("impl") == ["scaffold", "impl"]
    assert model.heard("review") == ["scaffold", "write_tests", "review"], "gone on, elsewhere"
    assert not any("## What was said before" in r.prompt for _, _, r in model.asked)
    assert "a new conversation" not in shop.porch("log", "add", "--all")
    assert all(fact["usd"] > 0 for fact in shop.facts("ExitAccepted"))


def test_a_tree_of_claude_shares_the_conversation_of_its_planner(
    tmp_path: Path, cli: Callable[[str], str], vendor: Vendors, clean_room: Room
) -> None:
    """E2, E3: four roles in four directories; what the planners and the judge say comes late."""
    cli("claude")
    shop, model = family_shop(tmp_path, clean_room, vendor), Family(late_s=2.5)
    vendor.default = model
    words = ("run", "v3", "spec.yaml", "--into", "main", "--agent", "claude")
    told = shop.porch(*words, timeout_s=500)
    log = shop.git("log", "--format=%s", "main").splitlines()
    assert log[0] == "feat(calc): implement", told
    heard = {
        ("scaffold", "calc"): ["scaffold"],
        ("write_tests", "calc"): ["scaffold", "write_tests"],
        ("impl", "calc"): ["scaffold", "impl"],
        ("review", "calc"): ["scaffold", "write_tests", "review"],
        ("judge", "add"): ["scaffold", "write_tests", "judge"],
        ("write_tests", "add"): ["scaffold", "write_tests"],
        ("impl", "add"): ["scaffold", "impl"],
        ("review", "add"): ["scaffold", "write_tests", "review"],
    }
    assert {place: model.heard(*place) for place in heard} == heard
    assert model.reminded == [], "whoever waits for its provider is left alone"
    assert shop.facts("EffectFailed") == []
    assert not living(clean_room)


@pytest.mark.torture
@only_in_full
def test_gemini_answers_at_the_end_of_its_message(run: Run) -> None:
    """It has no form, and may not write the exit file: that lies in `.git`."""
    shop, model = run("gemini", 0)
    assert all(request.schema is None for _, _, request in model.asked)
    assert model.kinds("scaffold") == [""]
    assert model.kinds("write_tests") == ["", "refused"]
    told = model.requests("write_tests")
    assert "as the last thing in your final message" in told[0].prompt
    assert "exit.json" not in told[0].prompt
    assert "more than one block that looks like an answer" in told[-1].prompt
    assert model.heard("write_tests") == ["scaffold", "write_tests"], "begun from the planner's"
    assert model.heard("impl") == ["scaffold", "impl"]
    assert model.heard("review") == ["scaffold", "write_tests", "review"], "gone on, elsewhere"
    assert shop.facts("EffectFailed") == []
