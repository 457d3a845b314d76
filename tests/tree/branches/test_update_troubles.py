"""Two children, one of which has to take in what the other merged."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from porch.machine import facts as f
from porch.model.definition import Definition
from porch.system import process_marks
from tests.tree.conftest import GOOD, ROOT_ONLY, SCAFFOLD, SPEC, Bench

SHARED = "one\ntwo\nthree\n"
OWN, PLACE = "porch/v3_sum.b", "worktrees/v3_sum.b"
CONFLICT = {
    "conflictFile": "src/shared.txt",
    "ourChange": "2",
    "theirChange": "TWO",
    "whyUnresolvable": "both mean it",
}
GIVEN_UP = {"exit": "RebaseConflict", "payload": CONFLICT}


def make_family(tmp_path: Path, v3: Definition) -> Bench:
    """Its spec has a criterion for each child, because children get no others."""
    more = [{"id": f"c-{name}", "text": f"{name} is there"} for name in "ab"]
    about = {**SPEC, "acceptanceCriteria": [*SPEC["acceptanceCriteria"], *more]}
    return Bench(tmp_path / "bench", v3, spec=about)


@pytest.fixture
def bench(tmp_path: Path, person: None, v3: Definition) -> Iterator[Bench]:
    made = make_family(tmp_path, v3)
    yield made
    process_marks.reap_processes(f"{made.world.mark}:")


def child(name: str) -> dict[str, Any]:
    own = {key: SPEC[key] for key in SPEC if key not in ROOT_ONLY}
    places = {"targetPath": f"src/{name}", "testPath": f"tests/{name}"}
    criteria = [{"id": f"c-{name}", "text": f"{name} is there"}]
    return {**own, "id": name, **places, "acceptanceCriteria": criteria}


def answers(name: str, shared: str) -> Mapping[str, Mapping[str, Any]]:
    """What the agents of a child say; its implementer also writes the shared file."""
    test, suite = f"tests/{name}/{name}.sh", f"tests/{name}/{name}-contract.sh"
    plan = {"criterionId": f"c-{name}", "plannedTestName": name, "approach": "look"}
    written = {f"src/{name}/it.txt": "it\n", "src/shared.txt": shared}
    coverage = {"criteriaWithTests": [[f"c-{name}", name]], "criteriaMissing": []}
    return {
        **GOOD,
        "scaffold": {
            "write": {f"{name}.txt": "", suite: "true\n"},
            "exit": "InitWork",
            "payload": {
                "interfaceFile": f"{name}.txt",
                "contractSuite": suite,
                "testPlan": [plan],
            },
        },
        "write_tests": {
            "write": {test: f"test -f src/{name}/it.txt\n"},
            "exit": "TestsReady",
            "payload": {"testFiles": [test], "pendingCriteria": [f"c-{name}"]},
        },
        "impl": {
            "write": written,
            "exit": "TestsPassed",
            "payload": {"iterations": 1, "passedTests": [name]},
        },
        "review": {
            "exit": "Approved",
            "payload": {"signOff": "good", "coverageReport": coverage},
        },
    }


class Pair:
    """a has merged its change of the shared file; b has made its own and must take that in."""

    def __init__(self, bench: Bench, mine: str, theirs: str = SHARED.replace("two", "TWO")):
        self.bench, self.shared = bench, {"a": theirs, "b": mine}
        payload = {**SCAFFOLD["payload"], "childSpecs": [child("a"), child("b")]}
        written = {**SCAFFOLD["write"], "src/shared.txt": SHARED}
        bench.do("scaffold", {**SCAFFOLD, "write": written, "payload": payload})
        for name in self.shared:
            self.do(name, "scaffold", "contract", "write_tests", "integrate")
        self.do("a", "impl", "review", "candidate", "merger", "judge", "publish")

    def do(self, name: str, *states: str) -> Any:
        known = answers(name, self.shared[name])
        return [self.bench.do(f"{name}/{state}", known.get(state)) for state in states][-1]


@pytest.mark.req("V-003", "V-068")
def test_an_update_without_trouble_rebases_and_keeps_what_was_due(bench: Bench) -> None:
    """D18: no live children, so a rebase; D20: the parent's checkout has followed the merge."""
    pair = Pair(bench, SHARED)
    log = bench.git("log", "--format=%s", "porch/v3_sum").splitlines()
    assert log == ["feat(a): implement", "scaffold(sum): InitWork", "start"]
    assert (bench.root / bench.main / "src/shared.txt").read_text() == "one\nTWO\nthree\n"
    fact = pair.do("b", "impl", "update")
    assert fact.exit == "clean"
    assert fact.payload["base"] == bench.git("rev-parse", "porch/v3_sum")
    assert bench.git("rev-list", "--merges", "porch/v3_sum.b") == ""
    assert bench.wanted("b/review").visit == 1


@pytest.mark.req("V-069", "V-071")
def test_a_conflict_of_two_additions_is_settled_by_keeping_both(bench: Bench) -> None:
    """D17: the agent edits files, the engine ends the merge."""
    pair = Pair(bench, f"{SHARED}mine\n", f"{SHARED}theirs\n")
    assert pair.do("b", "impl", "update").exit == "conflict"
    both = {"src/shared.txt": f"{SHARED}theirs\nmine\n"}
    fact = bench.do("b/rebase", {"write": both, "exit": "RebaseClean", "payload": {}})
    assert isinstance(fact, f.ExitAccepted)
    parents = bench.git("log", "-1", "--format=%P", "porch/v3_sum.b").split()
    assert parents[1] == bench.git("rev-parse", "porch/v3_sum")
    assert bench.git("show", "porch/v3_sum.b:src/shared.txt").endswith("theirs\nmine")
    assert bench.wanted("b/review").visit == 1


@pytest.mark.req("V-069")
def test_who_cannot_adapt_leaves_their_side_on_top_of_the_branch_as_it_was(bench: Bench) -> None:
    """D17: a resolution that was refused is not left in the branch; what was tried is kept."""
    pair = Pair(bench, SHARED.replace("two", "2"))
    assert pair.do("b", "impl", "update").payload["files"] == ["src/shared.txt"]
    before = bench.git("rev-parse", OWN)
    # The sibling is canon; but whether a dropped change still means something is Impl's to say.
    taken = {"src/shared.txt": "one\nTWO\nthree\n"}
    dropped = {"write": taken, "exit": "RebaseClean", "payload": {}}
    asked = bench.wanted("b/rebase")
    fact = bench.do("b/rebase", {**dropped, "refused": GIVEN_UP})
    assert isinstance(fact, f.ExitAccepted)
    assert fact.exit == "RebaseConflict"
    assert "not a mechanical change: gone: src/shared.txt: +2" in bench.prompt(asked, 2)
    assert bench.git("rev-parse", f"{OWN}^1") == before
    assert bench.git("status", "--porcelain", at=PLACE) == ""
    kept = bench.git("for-each-ref", "--format=%(refname)", "refs/porch/archive").splitlines()
    assert any("TWO" in bench.git("show", f"{ref}:src/shared.txt") for ref in kept)
    assert bench.wanted("b/impl").visit == 2


def test_a_merge_that_is_half_done_is_ended_before_anything_else(bench: Bench) -> None:
    """D17: after a crash in the middle, and where an agent gives up in the middle."""
    pair = Pair(bench, SHARED.replace("two", "2"))
    pair.do("b", "impl")
    before = bench.git("rev-parse", OWN)
    with pytest.raises(subprocess.CalledProcessError):
        bench.git("merge", "-q", "porch/v3_sum", at=PLACE)
    assert pair.do("b", "update").exit == "conflict"
    assert bench.git("status", "--porcelain", at=PLACE) == ""
    bench.do("b/rebase", GIVEN_UP)
    assert bench.git("rev-parse", f"{OWN}^1") == before
    assert bench.git("status", "--porcelain", at=PLACE) == ""
    assert (bench.root / PLACE / "src/shared.txt").read_text() == "one\nTWO\nthree\n"


def test_a_child_is_green_beside_tests_that_wait_for_its_parent(bench: Bench) -> None:
    """D31: its branch may hold the parent's red tests; its own are still its own."""
    payload = {**SCAFFOLD["payload"], "childSpecs": [child("a"), child("b")]}
    bench.do("scaffold", {**SCAFFOLD, "payload": payload})
    bench.until("write_tests", "integrate")
    good = answers("a", SHARED)
    for state in ("scaffold", "contract", "write_tests", "integrate"):
        bench.do(f"a/{state}", good.get(state))
    assert (bench.root / "worktrees/v3_sum.a/tests/sum/there.sh").exists()
    lazy = {**good["impl"], "write": {"src/a/other.txt": "x\n"}}
    fact = bench.do("a/impl", {**lazy, "refused": good["impl"]})
    assert "refused: tests::a failed: no" in bench.told
    assert isinstance(fact, f.ExitAccepted)
    assert fact.notes == (
        "these tests failed before the work began and are not counted: tests::there",
    )
    (tests,) = fact.evidence
    assert (tests["result"], tests["report"]) == ("passed", "3 passed")
