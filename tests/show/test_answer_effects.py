"""A button says what follows: which phase begins, where the work goes back to, or the end."""

import json
from typing import Any

from msgspec.structs import replace

from porch.account.consequences import FilesNow
from porch.dialects.registry import parse_definition
from porch.machine.approvals import add_engine_states
from porch.show.answer_effects import describe_answers
from porch.show.decision import list_decisions
from porch.testing import Rig

ONE: dict[str, Any] = {"id": "one", "name": "Specify", "gate": {"name": "go", "next": "two"}}
TWO: dict[str, Any] = {"id": "two", "name": "Build"}


def start(*phases: dict[str, Any]) -> Rig:
    text = json.dumps({"name": "p", "phases": list(phases)})
    protocol = parse_definition(text, "protocol.json").protocol
    assert protocol is not None
    return Rig(add_engine_states(protocol)).start()


def go_to_question(rig: Rig, **results: Any) -> dict[str, str]:
    """Everybody does their part until a person is asked; then what each answer does."""
    while not rig.state.decisions:
        kinds = {hand.kind: hand for hand in rig.state.in_hand.values()}
        if "agent" in kinds:
            exits = getattr(rig.request("agent"), "exits", ())
            rig.exit(next(each.name for each in exits if each.name != "BLOCKED"))
        elif "check" in kinds:
            name = kinds["check"].name
            rig.check(name, results.get(name, "passed"), "t1")
        elif "timer" in kinds:
            rig.fires()
        elif "items" in kinds:
            rig.reads("phase_1=1", "phase_2=2")
        elif "commit" in kinds:
            rig.commits()
        else:
            rig.asked()
    decision = next(iter(rig.state.decisions.values()))
    return describe_answers(rig.protocol, rig.state, decision)


def test_it_names_the_phase_that_begins_or_the_way_back() -> None:
    rig = start(ONE, {**TWO, "gate": {"name": "end", "next": None}})
    effects = go_to_question(rig)
    assert effects["approved"] == "starts Build"
    assert effects["rejected"] == "goes back to Specify"
    rig.decide("approved")
    assert go_to_question(rig)["approved"] == "ends the run: complete"


def test_an_approval_behind_which_porch_merges_says_into_which_branch() -> None:
    rig = start({**ONE, "gate": {"name": "look", "artifact": "@changes", "next": None}})
    merging = replace(rig.protocol, finish="merge")
    go_to_question(rig)
    for is_own, into in ((True, "main"), (False, "main"), (True, "")):
        run = replace(rig.state.run, own_worktree=is_own, into=into, base_commit="c" * 40)
        state = replace(rig.state, run=run)
        place, decision = next(iter(state.decisions.items()))
        told = describe_answers(merging, state, decision)
        merges = ", and merges into main" if is_own and into else ""
        assert told["approved"] == f"ends the run: complete{merges}"
        assert told["rejected"] == "goes back to Specify"
        files = {place: FilesNow({"changes since 0123456789ab": "x"})}
        (shown,) = list_decisions(merging, state, files=files)
        assert shown["artifacts"] == []
        assert "see the whole change:\ngit diff cccccccccccc" in shown["reason"]


def test_an_approval_behind_which_porch_refuses_the_merge_says_so_and_what_to_type() -> None:
    checks = {"unit": {"command": "true", "max_retries": 1}}
    last = {**TWO, "gate": {"name": "look", "artifact": "@changes", "next": None}}
    rig = start({"id": "one", "name": "Specify", "checks": checks}, last)
    go_to_question(rig, unit="failed")
    rig.decide("skip", "for now")
    go_to_question(rig)
    run = replace(rig.state.run, id="0001", own_worktree=True, into="main")
    state = replace(rig.state, run=run)
    (decision,) = state.decisions.values()
    told = describe_answers(replace(rig.protocol, finish="merge"), state, decision)["approved"]
    promise, why = told.split(", because ")
    command = "porch finish 0001 --merge --accept REASON"
    assert promise == f"ends the run: complete after its checks; merging then needs `{command}`"
    assert why.startswith("one: unit failed")
    assert why.endswith(": for now")


def test_it_passes_over_the_checks_behind_a_gate() -> None:
    rig = start({**ONE, "checks": {"build": {"command": "true"}}}, TWO)
    assert go_to_question(rig)["approved"] == "starts Build after its checks"


def test_it_passes_over_what_porch_commits_itself() -> None:
    rig = start({**ONE, "artifacts": ["spec.md"], "on_complete": {"commit": True}}, TWO)
    assert any(name.endswith(":commit") for name in rig.protocol.states)
    assert go_to_question(rig)["approved"].startswith("starts Build")


def test_it_says_where_skipping_a_failed_check_really_leads() -> None:
    """T6: the button said that it goes back to the phase; the journal asks for the approval."""
    checks = {"unit": {"command": "true", "max_retries": 1}}
    rig = start({**ONE, "checks": checks}, TWO)
    effects = go_to_question(rig, unit="failed")
    assert effects["skip"] == "asks you: go"
    assert effects["retry"].startswith("goes back to Specify")
    assert effects["stopped"] == "ends the run: abandoned"


def test_an_approval_that_a_known_failure_sends_back_says_so() -> None:
    """T6: `starts Plan after its checks` although a required check had already failed."""
    checks = {"unit": {"command": "true", "max_retries": 1}}
    rig = start({**ONE, "checks": checks}, TWO)
    go_to_question(rig, unit="failed")
    rig.decide("skip", "for now")
    effects = go_to_question(rig)
    assert effects["approved"].startswith("goes back to Specify, because unit failed before")


def test_what_could_not_be_measured_before_is_not_said_to_have_failed() -> None:
    checks = {"unit": {"command": "true", "max_retries": 0}}
    effects = go_to_question(start({**ONE, "checks": checks}, TWO), unit="unmeasured")
    assert effects["retry"] == (
        "asks you again, because unit could not be measured before on the same files"
    )


def test_nothing_is_said_where_nobody_is_asked() -> None:
    rig = start(ONE, TWO)
    go_to_question(rig)
    decision = next(iter(rig.state.decisions.values()))
    rig.decide("approved")
    assert describe_answers(rig.protocol, rig.state, decision) == {}


def test_within_a_plan_phase_skipping_starts_what_is_next_and_retrying_goes_back() -> None:
    plan = {**ONE, "artifact": "plan.md", "gate": {"name": "go", "next": "build"}}
    loop = {"phased": True, "phases_from": "plan.md"}
    checks = {"unit": {"command": "true", "max_retries": 0}}
    build = {"id": "build", "name": "Build", **loop, "checks": checks}
    rig = start(plan, build, {"id": "test", "name": "Test", **loop}, {"id": "last"})
    assert go_to_question(rig)["approved"] == "starts Build"
    rig.decide("approved")
    effects = go_to_question(rig, unit="failed")
    assert effects["retry"] == "goes back to Build"
    assert effects["skip"] == "starts Test"
