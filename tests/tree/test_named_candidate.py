"""V5: what was approved is named in the graph, and nothing is found by how a field is called."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine.instances.git_state_inputs import add_unnamed_questions
from porch.model.definition import Definition
from porch.model.protocol import Git, Human
from porch.system import process_marks
from tests.tree.conftest import TO_REVIEW, Bench

PATHS = ("instance.spec.testPath", "InitWork.contractSuite", "Approved.patch")


def pin_as_before(v3: Definition) -> Definition:
    """The definition as an older release compiled it: paths that are read, none with a name."""
    states, canonical = dict(v3.protocol.states), ("scaffold.InitWork.contractSuite",)
    old = Git(
        op="candidate",
        message="feat({id}): implement",
        reads=(PATHS[0], *canonical, "review.Approved.patch"),
    )
    states["candidate"] = replace(states["candidate"], actor=old)
    states["publish"] = replace(
        states["publish"], actor=Git(op="publish", reads=("candidate.clean",))
    )
    return replace(v3, protocol=add_unnamed_questions(replace(v3.protocol, states=states)))


@pytest.fixture
def old_bench(tmp_path: Path, person: None, v3: Definition) -> Iterator[Bench]:
    made = Bench(tmp_path / "old", pin_as_before(v3))
    yield made
    process_marks.reap_processes(f"{made.world.mark}:")


def answer(bench: Bench, exit_: str) -> None:
    [request] = [r for r in bench.rig.wanted() if r.kind == "ask"]
    bench.rig.tell(f.DecisionAsked(effect=request.id, digest=""))
    [decision] = bench.rig.state.decisions.values()
    wish = f.Wish(id=decision.position, kind="decide", position=decision.position, exit=exit_)
    bench.rig.tell(f.WishTaken(wish=wish))


def test_v5_a_field_called_otherwise_is_an_approval_all_the_same(
    tmp_path: Path, person: None, v3: Definition
) -> None:
    """The approval lies under another name; what nobody approved is refused as before."""
    states = dict(v3.protocol.states)
    review = states["review"].actor
    known = next(each for each in review.exits if each.name == "Approved")  # type: ignore[union-attr]
    fields = tuple(
        replace(each, name="fingerprint") if each.name == "patch" else each
        for each in known.record.fields
    )
    renamed = replace(
        known, record=replace(known.record, fields=fields), filled={"fingerprint": "engine.patch"}
    )
    exits = tuple(renamed if each is known else each for each in review.exits)  # type: ignore[union-attr]
    states["review"] = replace(states["review"], actor=replace(review, exits=exits))
    candidate = replace(states["candidate"].actor, approved="review.Approved.fingerprint")
    states["candidate"] = replace(states["candidate"], actor=candidate)
    bench = Bench(tmp_path / "named", replace(v3, protocol=replace(v3.protocol, states=states)))
    bench.until(*TO_REVIEW)
    bench.save("src/more.txt", "nobody has seen this\n", at=bench.main)
    assert bench.do("candidate").exit == "refused"
    assert "nobody has seen this" not in bench.git("log", "-p", "main")


def test_v5_tests_under_a_path_that_says_patch_are_own_tests(bench: Bench) -> None:
    bench.until(*TO_REVIEW)
    request = replace(bench.wanted("candidate"), own=("tests/patch",))
    fact = bench.perform(request)
    # No case lies there, so nothing is proved; left out, all tests would have counted as none.
    assert (fact.exit, fact.payload["reason"]) == ("refused", "ContractViolation")
    assert bench.wanted("candidate").own == ("tests/sum", "tests/sum/contract.sh")


def test_v5_a_graph_pinned_before_asks_a_person_at_its_candidate(old_bench: Bench) -> None:
    old_bench.until(*TO_REVIEW)
    fact = old_bench.do("candidate")
    assert (fact.exit, fact.payload["reason"]) == ("refused", "UnnamedInputs")
    assert "porch/v3_sum" in fact.payload["details"]
    answer(old_bench, "confirmed")
    old_bench.until("candidate", "merger", "publish")
    assert old_bench.rig.state.outcome == "complete"


def test_v5_what_a_person_confirmed_holds_for_that_patch_alone(old_bench: Bench) -> None:
    old_bench.until(*TO_REVIEW)
    old_bench.do("candidate")
    answer(old_bench, "confirmed")
    old_bench.save("src/more.txt", "slipped in afterwards\n", at=old_bench.main)
    fact = old_bench.do("candidate")
    assert (fact.exit, fact.payload["reason"]) == ("refused", "UnnamedInputs")
    answer(old_bench, "stopped")
    assert old_bench.rig.state.outcome == "failed"


def test_v5_a_graph_that_names_its_inputs_gets_no_question(v3: Definition) -> None:
    assert add_unnamed_questions(v3.protocol) is v3.protocol
    old = pin_as_before(v3).protocol
    assert isinstance(old.states["candidate:unnamed"].actor, Human)
    assert add_unnamed_questions(old) is old
