"""The branch that a run merges into moves meanwhile: the run takes that in, and ends."""

from typing import Any

from porch.machine import facts as f
from tests.tree.conftest import IMPL, TO_REVIEW, TO_TESTS, Bench

CLASH: dict[str, Any] = {
    "exit": "RebaseConflict",
    "payload": {
        "conflictFile": "src/sum.txt",
        "ourChange": "numbers",
        "theirChange": "a word",
        "whyUnresolvable": "both wrote the whole file",
    },
}
OWN = "porch/v3_sum"


def impl(text: str) -> dict[str, Any]:
    return {**IMPL, "write": {"src/sum.txt": text}}


def finish(bench: Bench) -> None:
    bench.until("review", "candidate", "merger", "publish")
    assert bench.rig.state.outcome == "complete"


def test_t1_a_target_that_moved_is_taken_in_before_the_next_work(bench: Bench) -> None:
    bench.until(*TO_TESTS[:3])
    head = bench.save("elsewhere.txt", "main moves\n")
    bench.until("integrate", "update")
    assert bench.git("merge-base", head, OWN) == head
    bench.until("impl", "review", "candidate", "merger", "publish")
    assert bench.rig.state.outcome == "complete"
    assert bench.git("log", "--format=%s", "-2", "main").splitlines()[1] == "say elsewhere.txt"


def test_t1_a_clash_in_text_is_redone_on_top_of_their_side_and_merged(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    head = bench.save("src/sum.txt", "a word\n")
    bench.do("review")
    assert bench.do("update").exit == "conflict"
    asked = bench.wanted("rebase")
    assert asked.values["mergeEvent"]["author"] == "main"
    assert asked.values["mergeEvent"]["impactLevel"] == "Breaking"
    bench.do("rebase", CLASH)
    assert bench.git("merge-base", head, OWN) == head, "the branch has what came in"
    assert (bench.root / bench.main / "src/sum.txt").read_text() == "a word\n"
    assert bench.git("status", "--porcelain", at=bench.main) == ""
    redo = bench.wanted("impl")
    bench.do("impl", impl("a word\none\ntwo\nthree\n"))
    assert "theirs was kept" in bench.prompt(redo)
    # What was given up is asked for once more, and is there.
    assert bench.do("update").exit == "clean"
    finish(bench)
    assert bench.git("show", "main:src/sum.txt") == "a word\none\ntwo\nthree"


def test_t1_a_clash_in_behaviour_goes_to_the_implementer_with_what_came_in(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    bench.save("tests/other/old.sh", "! grep -q three src/sum.txt\n")
    bench.do("review")
    red = bench.do("update")
    assert (red.exit, red.payload["kind"]) == ("refused", "regression")
    bench.do("rebase", CLASH)
    assert (bench.root / bench.main / "tests/other/old.sh").exists()
    bench.do("impl", impl("one\ntwo\n"))
    bench.do("update")
    finish(bench)
    assert bench.git("show", "main:src/sum.txt") == "one\ntwo"


def test_t1_a_target_that_moves_while_it_is_merged_is_taken_in_before_the_next_try(
    bench: Bench,
) -> None:
    bench.until(*TO_REVIEW)
    bench.save("tests/other/old.sh", "! grep -q three src/sum.txt\n")
    assert bench.do("candidate").exit == "refused"
    assert bench.do("update").exit == "refused"
    bench.do("rebase", CLASH)
    bench.do("impl", impl("one\ntwo\n"))
    bench.do("update")
    finish(bench)


def test_t1_who_never_gets_it_right_ends_with_a_person_after_the_budget(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    bench.save("src/sum.txt", "0\n")
    bench.do("review")
    bench.do("update")
    bench.do("rebase", CLASH)
    for number in range(1, 6):
        bench.do("impl", impl(f"{number}0\n"))
        bench.do("update")
        bench.save("src/sum.txt", f"{number}\n")
        bench.do("review")
        bench.do("update")
        if number < 5:
            bench.do("rebase", CLASH)
    fact = bench.do("rebase", CLASH)
    assert isinstance(fact, f.ExitAccepted)
    assert bench.wanted("person").kind == "ask"


def test_t1_their_side_is_taken_whatever_the_clash_is(bench: Bench) -> None:
    """They deleted what we changed; git has no side to choose by itself."""
    bench.save("src/sum.txt", "zero\n")
    bench.until("scaffold")
    bench.until("contract", "write_tests", "integrate", "update")
    bench.do("impl")
    bench.git("rm", "-q", "src/sum.txt")
    head = bench.save("gone.txt", "gone\n")
    bench.do("review")
    assert bench.do("update").payload["files"] == ["src/sum.txt"]
    bench.do("rebase", CLASH)
    assert bench.git("merge-base", head, OWN) == head
    assert not (bench.root / bench.main / "src/sum.txt").exists()
    assert bench.git("status", "--porcelain", at=bench.main) == ""
