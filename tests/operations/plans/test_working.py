"""Prompts are claimed by one worker each, told about, and done with once they are merged."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from porch.adapters import owners
from porch.adapters import where as places
from porch.adapters.where import Where
from porch.model.prompt_ids import PromptId, parse
from porch.operations.plans import homecoming, ordering, planning, working
from tests.operations.plans.yards import (
    Branch,
    carried_out,
    disagreements,
    facts,
    fields,
    file,
    git,
    ids,
    mark,
    record,
    refused,
    start,
    write,
)

ONE = PromptId(1)


@pytest.fixture
def passer_by() -> Iterator[dict[str, Any]]:
    """Somebody who works on something, until the test ends them."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield {**owners.present(process.pid), "process": process}
    process.kill()
    process.wait()


def gone(owner: dict[str, Any]) -> None:
    owner["process"].kill()
    owner["process"].wait()


def as_owner(owner: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in owner.items() if name != "process"}


# -- start -----------------------------------------------------------------------------------------


@pytest.mark.req("E-024", "E-027")
def test_a_prompt_is_claimed(shop: Path, where: Where) -> None:
    write(where, "1")
    told = working.start_prompt(where, ONE, "backend", "feat/x--implementation-1", caller="me")
    assert told == {
        "id": "1",
        "in_progress": True,
        "specialist": "backend",
        "worktree": "feat/x--implementation-1",
        "worktree_path": None,
        "current_iteration": 1,
        "resumed": False,
        "notes": [],
    }
    shown = fields(where, "1")
    assert (shown["in_progress"], shown["delegated_to"]) == (True, "backend")
    assert shown["worktree_branch_name"] == "feat/x--implementation-1"
    assert (shown["current_iteration"], shown["status"]) == (1, "unimplemented")
    assert shown["base_commit"] == git(shop, "rev-parse", "feat/x")
    assert shown["walkthrough"] == []
    assert owners.is_present(shown["owner"])
    assert disagreements(where) == []
    assert facts(where)[-1]["agent"] == "me"


@pytest.mark.req("E-021", "E-024")
@pytest.mark.parametrize("id_, branch", [("1", "implementation-1"), ("2_B", "implementation-2-B")])
def test_the_branch_of_a_prompt_has_the_name_of_its_feature(
    where: Where, id_: str, branch: str
) -> None:
    write(where, id_)
    made = Branch(where, id_)
    told = start(where, id_)
    assert told["worktree"] == made.name == f"feat/x--{branch}"
    assert told["worktree_path"] == str(made.path)


@pytest.mark.req("E-025")
def test_work_that_was_begun_is_gone_on_with(where: Where) -> None:
    branch = carried_out(where, "1")
    record(where, "1", 2, "Review feedback: shorter")
    before = fields(where, "1")
    working.release_all(where, force=True)
    Path(where.root, "more.txt").write_text("x")
    git(where.root, "add", "-A")
    git(where.root, "commit", "-qm", "the feature moves on")
    told = working.start_prompt(where, ONE, "frontend")
    assert (told["resumed"], told["current_iteration"]) == (True, 2)
    assert (told["worktree"], told["worktree_path"]) == (branch.name, str(branch.path))
    after = fields(where, "1")
    for name in ("base_commit", "started_at", "walkthrough", "status", "worktree_branch_name"):
        assert after[name] == before[name]
    assert after["delegated_to"] == "frontend"


def test_a_prompt_that_somebody_works_on_is_refused(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    before = file(where, "1").read_bytes()
    with refused("already-in-progress") as caught:
        working.start_prompt(where, ONE, "frontend")
    assert "backend" in str(caught.value)
    with refused("already-in-progress"):
        working.start_prompt(where, ONE, "frontend", force=True)
    assert file(where, "1").read_bytes() == before


def test_a_claim_is_taken_over_only_in_so_many_words_and_that_is_logged(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    working.start_prompt(where, ONE, "frontend", take_over=True)
    assert facts(where)[-1]["forced"] == ["already-in-progress"]
    assert fields(where, "1")["delegated_to"] == "frontend"


def test_the_claim_of_a_worker_that_died_is_free(where: Where, passer_by: dict[str, Any]) -> None:
    write(where, "1")
    start(where, "1")
    mark(where, "1", owner=as_owner(passer_by))
    with refused("already-in-progress"):
        start(where, "1")
    gone(passer_by)
    assert start(where, "1")["resumed"] is True
    assert facts(where)[-1].get("forced", []) == []


def test_a_prompt_waits_for_what_it_needs(where: Where) -> None:
    write(where, "1_A")
    write(where, "1_B")
    write(where, "2", 1)
    with refused("dependencies-not-merged"):
        start(where, "2")
    start(where, "2", force=True)
    assert facts(where)[-1]["forced"] == ["dependencies-not-merged"]
    working.release_all(where, force=True)
    mark(where, "1_B", status="merged")
    start(where, "2")


@pytest.mark.parametrize(
    "news, code",
    [
        ({"status": "merged"}, "already-merged"),
        ({"variant_solution": "alternative"}, "variant-put-aside"),
        ({"variant_solution": "discard"}, "variant-put-aside"),
    ],
)
def test_what_is_over_is_not_started_again(where: Where, news: dict[str, str], code: str) -> None:
    write(where, "1_A")
    write(where, "1_B")
    mark(where, "1_A", **news)
    with refused(code):
        start(where, "1_A")
    if code == "already-merged":
        with refused("other-variant-merged"):
            start(where, "1_B")


@pytest.mark.parametrize(
    "branch",
    ["feat/x", "a b", "../x", "-x", "x..y", "x~1", "@{-1}", "main", "production", "x.lock", "HEAD"],
)
def test_a_branch_that_cannot_be_one_of_a_prompt_is_refused(where: Where, branch: str) -> None:
    write(where, "1")
    with refused("bad-worktree"):
        working.start_prompt(where, ONE, "backend", branch)
    assert facts(where, "start-prompt") == []


def test_two_prompts_have_two_branches(where: Where) -> None:
    write(where, "1")
    write(where, "2")
    start(where, "1")
    with refused("bad-worktree"):
        working.start_prompt(where, PromptId(2), "backend", "feat/x--implementation-1")
    start(where, "2")


def test_a_branch_of_another_name_is_taken_with_a_word_of_warning(where: Where) -> None:
    write(where, "1")
    told = working.start_prompt(where, ONE, "backend", "mine")
    assert "mine" in told["notes"][0]
    assert fields(where, "1")["worktree_branch_name"] == "mine"


@pytest.mark.parametrize("name", ["", "../x", "a b"])
def test_nobody_is_no_specialist(where: Where, name: str) -> None:
    write(where, "1")
    with refused("invalid-specialist"):
        working.start_prompt(where, ONE, name)


_CLAIM = """
import os, sys
from porch.adapters import where as places
from porch.errors import FailedError
from porch.model.prompt_ids import PromptId
from porch.operations.plans import working
os.read(0, 1)
for number in range(1, 21):
    try:
        working.start_prompt(places.find("."), PromptId(number), sys.argv[1])
        print(number, flush=True)
    except FailedError as error:
        assert error.findings[0].code == "already-in-progress", error
"""


@pytest.mark.req("E-024")
def test_of_two_workers_that_start_one_prompt_one_gets_it(shop: Path, where: Where) -> None:
    for number in range(1, 21):
        write(where, str(number))
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _CLAIM, name],
            cwd=shop,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("x")
        worker.stdin.flush()
    told = [worker.communicate(timeout=60)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    assert sorted(map(int, told[0] + told[1])) == list(range(1, 21)), "each has one winner"
    for name, won in zip(("one", "two"), told, strict=True):
        for taken in won:
            assert fields(where, taken)["delegated_to"] == name
    assert disagreements(where) == []


# -- record ----------------------------------------------------------------------------------------


WALKTHROUGH = """\
### Iteration 1

**Type**: initial

#### Approach

I dropped the cache.

#### Changes Made

- `src/a.py`: no cache
- `src/b.py`: reads the list

#### Key Decisions

- No cache: it was never right
"""


@pytest.mark.req("E-028", "E-081")
def test_what_was_done_is_kept_in_its_parts(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    told = working.record_implementation(where, ONE, WALKTHROUGH, 1, caller="me")
    assert told == {
        "id": "1",
        "status": "implemented",
        "iteration": 1,
        "type": "initial",
        "walkthrough_count": 1,
        "notes": [],
    }
    shown = fields(where, "1")
    assert shown["walkthrough"] == [
        {
            "iteration": 1,
            "type": "initial",
            "refinement_reason": None,
            "approach": "I dropped the cache.",
            "changes": [
                {"file": "src/a.py", "description": "no cache"},
                {"file": "src/b.py", "description": "reads the list"},
            ],
            "decisions": [{"decision": "No cache", "rationale": "it was never right"}],
        }
    ]
    assert (shown["status"], shown["current_iteration"]) == ("implemented", 1)
    assert disagreements(where) == []


@pytest.mark.req("E-028")
def test_what_was_done_can_be_told_as_an_object(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    text = json.dumps(
        {"approach": "By hand.", "changes": [{"file": "a", "description": "b"}], "decisions": []}
    )
    working.record_implementation(where, ONE, text, 1)
    entry = fields(where, "1")["walkthrough"][0]
    assert (entry["approach"], entry["changes"]) == (
        "By hand.",
        [{"file": "a", "description": "b"}],
    )
    with pytest.raises(Exception, match="unknown"):
        working.record_implementation(where, ONE, '{"aproach": "x"}', 1)
    assert len(facts(where, "record-implementation")) == 1


@pytest.mark.req("E-030", "E-088")
def test_a_further_iteration_needs_a_reason(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    before = file(where, "1").read_bytes()
    for reason in ("", "  "):
        with refused("missing-refinement-reason"):
            record(where, "1", 2, reason)
    assert file(where, "1").read_bytes() == before
    told = record(where, "1", 2, "Review feedback: shorter")
    assert (told["type"], told["walkthrough_count"]) == ("review-refinement", 2)
    shown = fields(where, "1")
    assert shown["current_iteration"] == 2
    assert [each["iteration"] for each in shown["walkthrough"]] == [1, 2]
    assert shown["walkthrough"][1]["refinement_reason"] == "Review feedback: shorter"


@pytest.mark.req("E-088")
def test_what_is_told_again_replaces_what_was_told(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    record(where, "1", 2, "Review feedback: x")
    text = "Otherwise."
    told = working.record_implementation(where, ONE, text, 2, "Review feedback: y")
    assert told["walkthrough_count"] == 2
    last = fields(where, "1")["walkthrough"][-1]
    assert (last["approach"], last["refinement_reason"]) == (text, "Review feedback: y")


@pytest.mark.parametrize("done, iteration", [(0, 0), (0, 2), (0, -1), (2, 1), (2, 4), (2, 10**9)])
def test_an_iteration_follows_the_last_or_tells_it_again(
    where: Where, done: int, iteration: int
) -> None:
    write(where, "1")
    start(where, "1")
    for number in range(1, done + 1):
        record(where, "1", number, "Review feedback: x" if number > 1 else "")
    with refused("invalid-iteration"):
        record(where, "1", iteration, "why")
    assert len(facts(where, "record-implementation")) == done


@pytest.mark.parametrize(
    "testing, reason, named, expected",
    [
        ("", "Review feedback: x", "", "review-refinement"),
        ("", "Testing feedback: x", "", "testing-refinement"),
        ("failed", "anything", "", "testing-refinement"),
        ("failed", "anything", "review-refinement", "review-refinement"),
    ],
)
def test_the_kind_of_a_refinement_is_known(
    where: Where, testing: str, reason: str, named: str, expected: str
) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    mark(where, "1", testing=testing)
    told = working.record_implementation(where, ONE, "Done.", 2, reason, named)
    assert told["type"] == fields(where, "1")["walkthrough"][-1]["type"] == expected


@pytest.mark.parametrize(
    "iteration, named", [(1, "review-refinement"), (2, "initial"), (2, "other")]
)
def test_a_kind_that_does_not_fit_is_refused(where: Where, iteration: int, named: str) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    with refused("invalid-type"):
        working.record_implementation(where, ONE, "Done.", iteration, "why", named)


def test_nothing_is_no_walkthrough(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    with refused("missing-walkthrough"):
        working.record_implementation(where, ONE, " \n", 1)


@pytest.mark.parametrize(
    "news, code",
    [
        ({"in_progress": False}, "not-started"),
        ({"status": "merged"}, "already-merged"),
        ({"variant_solution": "discard"}, "variant-put-aside"),
        ({"kind": "debug"}, "logging-gate-open"),
    ],
)
def test_only_what_is_worked_on_is_recorded(where: Where, news: dict[str, Any], code: str) -> None:
    write(where, "1")
    start(where, "1")
    mark(where, "1", **news)
    with refused(code):
        record(where, "1")
    assert fields(where, "1")["walkthrough"] == []
    working.record_implementation(where, ONE, "Done.", 1, force=True)
    assert facts(where)[-1]["forced"] == [code]


def test_new_work_is_untested(where: Where) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    mark(where, "1", status="tested", testing="passed")
    record(where, "1", 2, "Review feedback: x")
    shown = fields(where, "1")
    assert (shown["status"], shown["testing"]) == ("implemented", None)


# -- complete --------------------------------------------------------------------------------------


@pytest.mark.req("E-041", "E-081")
def test_a_prompt_is_done_with_once_it_is_merged(where: Where) -> None:
    carried_out(where, "1")
    with refused("not-merged"):
        working.complete_prompt(where, ONE)
    assert fields(where, "1")["status"] == "implemented"
    merged = homecoming.merge_worktree(where, ONE)["merge_commit_hash"]
    told = working.complete_prompt(where, ONE, caller="me")
    assert told == {
        "id": "1",
        "status": "merged",
        "merge_commit_hash": merged,
        "unmerged_alternatives": [],
        "forced": [],
        "notes": [],
    }
    shown = fields(where, "1")
    assert (shown["status"], shown["in_progress"]) == ("merged", False)
    once = file(where, "1").read_bytes()
    working.complete_prompt(where, ONE)
    assert file(where, "1").read_bytes() == once


@pytest.mark.req("E-041")
@pytest.mark.parametrize("how", [("--no-ff",), ("--ff-only",)])
def test_work_that_was_merged_by_hand_is_found(
    shop: Path, where: Where, how: tuple[str, ...]
) -> None:
    branch = carried_out(where, "1")
    git(shop, "merge", "-q", *how, "-m", "by hand", branch.name)
    head = git(shop, "rev-parse", "HEAD")
    (shop / "later.txt").write_text("x")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "later")
    assert working.complete_prompt(where, ONE)["merge_commit_hash"] == head
    assert fields(where, "1")["merge_commit_hash"] == head


def test_a_branch_on_which_nothing_was_done_is_not_merged_work(shop: Path, where: Where) -> None:
    write(where, "1")
    start(where, "1")
    (shop / "other.txt").write_text("x")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "somebody else's work")
    Branch(where, "1")  # made after the feature moved on, and empty
    record(where, "1")
    with refused("not-merged"):
        working.complete_prompt(where, ONE)
    with refused("nothing-to-merge"):
        homecoming.merge_worktree(where, ONE)
    assert fields(where, "1")["merge_commit_hash"] is None


@pytest.mark.req("E-041")
def test_what_the_protocol_asks_for_is_asked_for_and_force_is_logged(where: Where) -> None:
    write(where, "1", requires_testing=True)
    with refused("not-merged") as caught:
        working.complete_prompt(where, ONE)
    for words in ("feature branch", "no implementation", "test it"):
        assert words in str(caught.value)
    told = working.complete_prompt(where, ONE, force=True)
    assert told["forced"] == ["not-merged", "invalid-status", "testing-not-passed"]
    assert facts(where)[-1]["forced"] == told["forced"]


@pytest.mark.req("E-042")
def test_alternatives_that_are_still_there_are_told(shop: Path, where: Where) -> None:
    made = {id_: carried_out(where, id_) for id_ in ("1_A", "1_B", "1_C")}
    mark(where, "1_A", variant_solution="main")
    mark(where, "1_B", variant_solution="alternative", in_progress=False)
    mark(where, "1_C", variant_solution="discard", in_progress=False)
    main = parse(["1A"])
    told = homecoming.merge_worktree(where, main)
    assert told["unmerged_alternatives"] == [made["1_B"].name]
    assert working.complete_prompt(where, main)["unmerged_alternatives"] == [made["1_B"].name]
    git(shop, "worktree", "remove", "--force", str(made["1_B"].path))
    git(shop, "branch", "-qD", made["1_B"].name)
    assert working.complete_prompt(where, main)["unmerged_alternatives"] == []


# -- release ---------------------------------------------------------------------------------------


def test_the_claims_of_the_living_are_kept(where: Where, passer_by: dict[str, Any]) -> None:
    for number in "123":
        write(where, number)
        start(where, number)
    mark(where, "2", owner=as_owner(passer_by))
    gone(passer_by)
    told = working.release_all(where)
    assert (told["released_count"], told["released"], told["total_prompts"]) == (1, ["2"], 3)
    assert [each["id"] for each in told["kept"]] == ["1", "3"]
    assert set(told["kept"][0]) == {"id", "specialist", "since"}
    assert fields(where, "2")["in_progress"] is False
    assert disagreements(where) == []
    assert working.release_all(where)["released_count"] == 0
    told = working.release_all(where, force=True)
    assert (told["released"], told["kept"]) == (["1", "3"], [])
    assert facts(where)[-1]["forced"] == ["already-in-progress"]
    assert disagreements(where) == []


def test_a_broken_file_keeps_nobody_from_being_released(
    where: Where, passer_by: dict[str, Any]
) -> None:
    for number in "123":
        write(where, number)
        start(where, number)
        mark(where, number, owner=as_owner(passer_by))
    gone(passer_by)
    file(where, "2").write_bytes(b"broken")
    told = working.release_all(where)
    assert told["released"] == ["1", "2", "3"]
    assert sum("2.md" in note for note in told["notes"]) == 1
    assert fields(where, "3")["in_progress"] is False
    assert file(where, "2").read_bytes() == b"broken"
    file(where, "1").write_bytes(b"broken")
    mark(where, "1", in_progress=True)
    told = working.release(where, ONE, "no compiler")
    assert told["released"] is True
    assert any("1.md" in note for note in told["notes"])


def test_work_goes_on_from_its_own_worktree(where: Where) -> None:
    write(where, "1")
    branch = Branch(where, "1")
    inside = places.find(str(branch.path))
    start(inside, "1")
    branch.commit("new.txt")
    record(inside, "1")
    homecoming.merge_worktree(inside, ONE)
    told = working.complete_prompt(inside, ONE)
    assert told["status"] == "merged"
    assert ordering.following(inside, 1)["all_done"] is True
    assert Path(where.root, "new.txt").read_text() == "done\n"
    assert planning.check(inside)["branch"] == "feat/x"
    assert not (branch.path / ".claude").exists()


_DYING = """
import os, signal, sys
from porch.adapters import where as places
from porch.model.prompt_ids import PromptId
from porch.operations.plans import opening
with opening.held(places.find(".")) as desk:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_whoever_died_with_the_plan_in_hand_keeps_nobody_out(shop: Path, where: Where) -> None:
    write(where, "1")
    done = subprocess.run([sys.executable, "-c", _DYING], cwd=shop, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert start(where, "1")["id"] == str(*ids("1"))


def test_a_prompt_that_could_not_be_finished_is_given_back_and_offered_again(where: Where) -> None:
    write(where, "1")
    working.start_prompt(where, PromptId(1), "be")
    claimed = ordering.following(where, None)
    assert [row["id"] for row in claimed["in_progress"]] == ["1"]
    assert (claimed["prompts"], claimed["all_done"]) == ([], False)
    back = working.release(where, PromptId(1), "no compiler")
    assert (back["released"], back["blocked_reason"]) == (True, "no compiler")
    assert [row["prompt_num"] for row in ordering.following(where, None)["prompts"]] == [1]
    assert working.release(where, PromptId(1))["released"] is False
