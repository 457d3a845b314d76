"""The commands of the settings before the first paid work: checks and a question beside it."""

import pytest
from msgspec.structs import replace

from porch.account.consequences import foresee_answers
from porch.account.phases import list_phases
from porch.account.waiting import list_waits
from porch.machine import base_commands
from porch.machine import facts as f
from porch.machine.base_commands import CHECK, STATE, add_base_commands
from porch.machine.budgets import PLAN
from porch.model import protocol as p
from porch.testing import Rig

DUE = f.CommandsDue(commands={"test": "0a", "lint": "0b"})
WORK, CHECKS, QUESTION = "specify:draft#1", f"{CHECK}#1", f"{STATE}#1"


@pytest.fixture
def due(rig: Rig) -> Rig:
    made = Rig(add_base_commands(rig.protocol)).start()
    made.tell(DUE)
    return made


def stands(rig: Rig) -> list[str]:
    return list(rig.state.positions)


def test_each_command_is_a_check_beside_the_work_and_leaves_nothing(due: Rig) -> None:
    assert stands(due) == [WORK, CHECKS]
    due.tell(DUE)
    assert stands(due) == [WORK, CHECKS]
    names = {each.name for each in due.wanted() if each.kind == "check"}
    assert names == {"test", "lint"}
    [waiting] = list_waits(due.protocol, due.state)
    assert (waiting.on, waiting.names) == ("checks", ("test", "lint"))
    due.check("test", "passed", "tree")
    due.check("lint", "passed", "tree")
    assert stands(due) == [WORK]
    assert base_commands.find_base_failure(due.state) is None
    assert due.replayed() == due.state


@pytest.mark.parametrize("result", ["failed", "unmeasured"])
def test_what_does_not_pass_is_one_question(due: Rig, result: str) -> None:
    due.check("test", result)  # type: ignore[arg-type]
    due.check("lint", "passed")
    assert stands(due) == [WORK, QUESTION]
    due.asked()
    failure = base_commands.find_base_failure(due.state)
    assert failure is not None
    assert (*failure.failed, *failure.unmeasured) == ("test",)
    assert failure.answer == ""
    due.decide("expected", position=QUESTION)
    assert stands(due) == [WORK]
    failure = base_commands.find_base_failure(due.state)
    assert failure is not None
    assert failure.answer == "expected"
    assert STATE not in [phase.name for phase in list_phases(due.protocol, due.state)]


def test_fix_it_first_pauses_in_front_of_the_checks(due: Rig) -> None:
    due.check("test", "failed")
    due.check("lint", "passed")
    due.asked()
    due.decide("fix", position=QUESTION)
    assert due.state.paused
    assert stands(due) == [WORK, f"{CHECK}#2"]
    assert base_commands.find_base_failure(due.state) is None
    due.ask("resume")
    assert {each.name for each in due.wanted() if each.kind == "check"} == {"test", "lint"}


def test_what_is_only_known_asks_nobody(rig: Rig) -> None:
    told = Rig(add_base_commands(rig.protocol)).start()
    told.tell(replace(DUE, results={"test": "exit code 1"}))
    assert stands(told) == [WORK]
    assert base_commands.has_tried(told.state)
    assert base_commands.tried_commands(told.state) == dict(DUE.commands)


def test_a_protocol_with_a_phase_of_this_name_has_no_such_question(rig: Rig) -> None:
    mine = p.State(STATE, STATE, p.Human("gate", "ready", "ready", ()))
    taken = replace(rig.protocol, states={**rig.protocol.states, STATE: mine})
    assert add_base_commands(taken) is taken
    assert not base_commands.is_ours(taken)
    driven = Rig(taken).start()
    driven.tell(DUE)
    assert stands(driven) == [WORK]
    assert not base_commands.has_tried(driven.state)
    plan = replace(rig.protocol, subject=PLAN)
    assert add_base_commands(plan) is plan


def test_the_steps_of_a_phase_of_this_name_are_not_taken_for_the_trial(rig: Rig) -> None:
    """A phase may have a step called check; it was replaced by the trial, and called the same."""
    name = base_commands.CHECK
    mine = p.State(name, STATE, p.Human("gate", "ready", "ready", ()))
    taken = replace(rig.protocol, states={**rig.protocol.states, name: mine})
    assert add_base_commands(taken) is taken
    assert not base_commands.is_trial(taken, name)
    whole = add_base_commands(rig.protocol)
    trials = [each for each in whole.states if base_commands.is_trial(whole, each)]
    assert trials == [name, STATE, f"{STATE}:stopped"]


def test_a_retry_of_the_commands_is_not_foreseen_to_fail_again(due: Rig) -> None:
    """They run again: somebody may have mended what no file of the run shows."""
    due.check("test", "failed", "tree")
    due.check("lint", "passed", "tree")
    due.asked()
    [decision] = due.state.decisions.values()
    told = {each.exit: each for each in foresee_answers(due.protocol, due.state, decision)}
    assert {step.result for step in told["retry"].ways[0].steps} == {"passed"}
    assert len(told["retry"].ways) > 1


def test_no_phase_is_at_work_while_commands_are_tried_or_asked_about(due: Rig) -> None:
    def specify() -> str:
        return next(p for p in list_phases(due.protocol, due.state) if p.name == "specify").outcome

    assert specify() == "not run"
    due.check("test", "failed")
    due.check("lint", "passed")
    due.asked()
    assert specify() == "not run"
    due.decide("expected", position=QUESTION)
    assert specify() == "working"
