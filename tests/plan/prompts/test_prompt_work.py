"""Prompts are claimed by one worker each, told about, and done with once they are merged."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.plan.claims import prompt_claims
from porch.plan.prompts import (
    claim_owner,
    plan_document,
    plan_merge,
    prompt_queue,
    prompt_work,
)
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.plan.yards import (
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
    yield {**claim_owner.describe_caller(process.pid), "process": process}
    process.kill()
    process.wait()


def gone(owner: dict[str, Any]) -> None:
    owner["process"].kill()
    owner["process"].wait()


def as_owner(owner: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in owner.items() if name != "process"}


# -- start -----------------------------------------------------------------------------------------


@pytest.mark.req("E-024", "E-027")
def test_a_prompt_is_claimed(shop: Path, where: ProjectPaths) -> None:
    write(where, "1")
    told = prompt_claims.start_prompt(
        where, ONE, "backend", "feat/x--implementation-1", caller="me"
    )
    assert to_builtins(told) == {
        "id": "1",
        "in_progress": True,
        "specialist": "backend",
        "worktree": "feat/x--implementation-1",
        "worktree_path": None,
        "current_iteration": 1,
        "resumed": False,
        "status": "unimplemented",
        "recorded": [],
        "next_step": "do the work, commit, then: envoy plan record-implementation 1 "
        '--iteration 1 --walkthrough "..."',
        "notes": [],
    }
    shown = fields(where, "1")
    assert (shown["in_progress"], shown["delegated_to"]) == (True, "backend")
    assert shown["worktree_branch_name"] == "feat/x--implementation-1"
    assert (shown["current_iteration"], shown["status"]) == (1, "unimplemented")
    assert shown["base_commit"] == git(shop, "rev-parse", "feat/x")
    assert shown["walkthrough"] == []
    assert claim_owner.is_owner_present(shown["owner"])
    assert disagreements(where) == []
    assert facts(where)[-1]["agent"] == "me"


@pytest.mark.req("E-021", "E-024")
@pytest.mark.parametrize("id_, branch", [("1", "implementation-1"), ("2_B", "implementation-2-B")])
def test_the_branch_of_a_prompt_has_the_name_of_its_feature(
    where: ProjectPaths, id_: str, branch: str
) -> None:
    write(where, id_)
    made = Branch(where, id_)
    told = start(where, id_)
    assert told.worktree == made.name == f"feat/x--{branch}"
    assert told.worktree_path == str(made.path)


@pytest.mark.req("E-025")
def test_work_that_was_begun_is_gone_on_with(where: ProjectPaths) -> None:
    branch = carried_out(where, "1")
    record(where, "1", 2, "Review feedback: shorter")
    before = fields(where, "1")
    prompt_claims.release_all_prompts(where, force=True)
    Path(where.root, "more.txt").write_text("x")
    git(where.root, "add", "-A")
    git(where.root, "commit", "-qm", "the feature moves on")
    told = prompt_claims.start_prompt(where, ONE, "frontend")
    assert (told.resumed, told.current_iteration) == (True, 2)
    assert (told.worktree, told.worktree_path) == (branch.name, str(branch.path))
    after = fields(where, "1")
    for name in ("base_commit", "started_at", "walkthrough", "status", "worktree_branch_name"):
        assert after[name] == before[name]
    assert after["delegated_to"] == "frontend"


def test_a_prompt_that_somebody_works_on_is_refused(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    before = file(where, "1").read_bytes()
    with refused("already-in-progress") as caught:
        prompt_claims.start_prompt(where, ONE, "frontend")
    assert "backend" in str(caught.value)
    with refused("already-in-progress"):
        prompt_claims.start_prompt(where, ONE, "frontend", force=True)
    assert file(where, "1").read_bytes() == before


def test_a_claim_is_taken_over_only_in_so_many_words_and_that_is_logged(
    where: ProjectPaths,
) -> None:
    write(where, "1")
    start(where, "1")
    prompt_claims.start_prompt(where, ONE, "frontend", take_over=True)
    assert facts(where)[-1]["forced"] == ["already-in-progress"]
    assert fields(where, "1")["delegated_to"] == "frontend"


def test_the_claim_of_a_worker_that_died_is_free(
    where: ProjectPaths, passer_by: dict[str, Any]
) -> None:
    write(where, "1")
    start(where, "1")
    mark(where, "1", owner=as_owner(passer_by))
    with refused("already-in-progress"):
        start(where, "1")
    gone(passer_by)
    assert start(where, "1").resumed is True
    assert facts(where)[-1].get("forced", []) == []


def test_a_prompt_waits_for_what_it_needs(where: ProjectPaths) -> None:
    write(where, "1_A")
    write(where, "1_B")
    write(where, "2", 1)
    with refused("dependencies-not-merged"):
        start(where, "2")
    start(where, "2", force=True)
    assert facts(where)[-1]["forced"] == ["dependencies-not-merged"]
    prompt_claims.release_all_prompts(where, force=True)
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
def test_what_is_over_is_not_started_again(
    where: ProjectPaths, news: dict[str, str], code: str
) -> None:
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
def test_a_branch_that_cannot_be_one_of_a_prompt_is_refused(
    where: ProjectPaths, branch: str
) -> None:
    write(where, "1")
    with refused("bad-worktree"):
        prompt_claims.start_prompt(where, ONE, "backend", branch)
    assert facts(where, "start-prompt") == []


def test_two_prompts_have_two_branches(where: ProjectPaths) -> None:
    write(where, "1")
    write(where, "2")
    start(where, "1")
    with refused("bad-worktree"):
        prompt_claims.start_prompt(where, PromptId(2), "backend", "feat/x--implementation-1")
    start(where, "2")


@pytest.mark.parametrize("branch", ["feat/x--implementation-7", "feat/y--implementation-1"])
def test_n6_a_branch_that_is_named_for_another_prompt_is_refused_with_the_right_one(
    where: ProjectPaths, branch: str
) -> None:
    write(where, "1")
    with refused("bad-worktree") as told:
        prompt_claims.start_prompt(where, ONE, "backend", branch)
    assert "feat/x--implementation-1" in str(told.value)
    assert start(where, "1").worktree == "feat/x--implementation-1"


def test_n6_a_branch_is_corrected_by_starting_again_with_another(where: ProjectPaths) -> None:
    write(where, "1")
    prompt_claims.start_prompt(where, ONE, "backend", "mine")
    told = prompt_claims.start_prompt(where, ONE, "backend", "feat/x--implementation-1")
    assert told.worktree == fields(where, "1")["worktree_branch_name"] == "feat/x--implementation-1"


def test_a_branch_of_another_name_is_taken_with_a_word_of_warning(where: ProjectPaths) -> None:
    write(where, "1")
    told = prompt_claims.start_prompt(where, ONE, "backend", "mine")
    assert "mine" in told.notes[0]
    assert fields(where, "1")["worktree_branch_name"] == "mine"


@pytest.mark.parametrize("branch", ["feat/x/implementation-1", "feat", "other/one", "some"])
def test_e11_a_branch_that_git_cannot_make_is_refused_with_the_name_to_use(
    shop: Path, where: ProjectPaths, branch: str
) -> None:
    write(where, "1")
    git(shop, "branch", "other")
    git(shop, "branch", "some/branch")
    with refused("bad-worktree") as told:
        prompt_claims.start_prompt(where, ONE, "backend", branch)
    assert "use --worktree feat/x--implementation-1" in str(told.value)
    assert not fields(where, "1")["in_progress"]


@pytest.mark.parametrize("name", ["", "../x", "a b"])
def test_nobody_is_no_specialist(where: ProjectPaths, name: str) -> None:
    write(where, "1")
    with refused("invalid-specialist"):
        prompt_claims.start_prompt(where, ONE, name)


_CLAIM = """
import os, sys
from porch.store import where as places
from porch.errors import FailedError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims as claims
from porch.plan.prompts import prompt_work as working
os.read(0, 1)
for number in range(1, 21):
    try:
        claims.start_prompt(places.find_project("."), PromptId(number), sys.argv[1])
        print(number, flush=True)
    except FailedError as error:
        assert error.findings[0].code == "already-in-progress", error
"""


@pytest.mark.req("E-024")
def test_of_two_workers_that_start_one_prompt_one_gets_it(shop: Path, where: ProjectPaths) -> None:
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
def test_what_was_done_is_kept_in_its_parts(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    told = prompt_work.record_implementation(where, ONE, WALKTHROUGH, 1, caller="me")
    assert to_builtins(told) == {
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
def test_what_was_done_can_be_told_as_an_object(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    text = json.dumps(
        {"approach": "By hand.", "changes": [{"file": "a", "description": "b"}], "decisions": []}
    )
    prompt_work.record_implementation(where, ONE, text, 1)
    entry = fields(where, "1")["walkthrough"][0]
    assert (entry["approach"], entry["changes"]) == (
        "By hand.",
        [{"file": "a", "description": "b"}],
    )
    with pytest.raises(Exception, match="unknown"):
        prompt_work.record_implementation(where, ONE, '{"aproach": "x"}', 1)
    assert len(facts(where, "record-implementation")) == 1


@pytest.mark.req("E-030", "E-088")
def test_a_further_iteration_needs_a_reason(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    before = file(where, "1").read_bytes()
    for reason in ("", "  "):
        with refused("missing-refinement-reason"):
            record(where, "1", 2, reason)
    assert file(where, "1").read_bytes() == before
    told = record(where, "1", 2, "Review feedback: shorter")
    assert (told.type, told.walkthrough_count) == ("review-refinement", 2)
    shown = fields(where, "1")
    assert shown["current_iteration"] == 2
    assert [each["iteration"] for each in shown["walkthrough"]] == [1, 2]
    assert shown["walkthrough"][1]["refinement_reason"] == "Review feedback: shorter"


@pytest.mark.req("E-088")
def test_what_is_told_again_replaces_what_was_told(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    record(where, "1", 2, "Review feedback: x")
    text = "Otherwise."
    told = prompt_work.record_implementation(where, ONE, text, 2, reason="Review feedback: y")
    assert told.walkthrough_count == 2
    last = fields(where, "1")["walkthrough"][-1]
    assert (last["approach"], last["refinement_reason"]) == (text, "Review feedback: y")


@pytest.mark.parametrize("done, iteration", [(0, 0), (0, 2), (0, -1), (2, 1), (2, 4), (2, 10**9)])
def test_an_iteration_follows_the_last_or_tells_it_again(
    where: ProjectPaths, done: int, iteration: int
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
    where: ProjectPaths, testing: str, reason: str, named: str, expected: str
) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    mark(where, "1", testing=testing)
    told = prompt_work.record_implementation(where, ONE, "Done.", 2, reason=reason, type_=named)
    assert told.type == fields(where, "1")["walkthrough"][-1]["type"] == expected


@pytest.mark.parametrize(
    "iteration, named", [(1, "review-refinement"), (2, "initial"), (2, "other")]
)
def test_a_kind_that_does_not_fit_is_refused(
    where: ProjectPaths, iteration: int, named: str
) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    with refused("invalid-type"):
        prompt_work.record_implementation(where, ONE, "Done.", iteration, reason="why", type_=named)


def test_nothing_is_no_walkthrough(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    with refused("missing-walkthrough") as caught:
        prompt_work.record_implementation(where, ONE, "-", 1)
    assert "--walkthrough-file" in caught.value.findings[0].fix
    with refused("missing-walkthrough"):
        prompt_work.record_implementation(where, ONE, " \n", 1)


@pytest.mark.parametrize(
    "news, code",
    [
        ({"in_progress": False}, "not-started"),
        ({"status": "merged"}, "already-merged"),
        ({"variant_solution": "discard"}, "variant-put-aside"),
        ({"kind": "debug"}, "logging-gate-open"),
    ],
)
def test_only_what_is_worked_on_is_recorded(
    where: ProjectPaths, news: dict[str, Any], code: str
) -> None:
    write(where, "1")
    start(where, "1")
    mark(where, "1", **news)
    with refused(code):
        record(where, "1")
    assert fields(where, "1")["walkthrough"] == []
    prompt_work.record_implementation(where, ONE, "Done.", 1, force=True)
    assert facts(where)[-1]["forced"] == [code]


def test_new_work_is_untested(where: ProjectPaths) -> None:
    write(where, "1")
    start(where, "1")
    record(where, "1")
    mark(where, "1", status="tested", testing="passed")
    record(where, "1", 2, "Review feedback: x")
    shown = fields(where, "1")
    assert (shown["status"], shown["testing"]) == ("implemented", None)


# -- complete --------------------------------------------------------------------------------------


@pytest.mark.req("E-041", "E-081")
def test_a_prompt_is_done_with_once_it_is_merged(where: ProjectPaths) -> None:
    carried_out(where, "1")
    with refused("not-merged"):
        prompt_work.complete_prompt(where, ONE)
    assert fields(where, "1")["status"] == "implemented"
    merged = plan_merge.merge_worktree(where, ONE).merge_commit_hash
    told = prompt_work.complete_prompt(where, ONE, caller="me")
    assert to_builtins(told) == {
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
    prompt_work.complete_prompt(where, ONE)
    assert file(where, "1").read_bytes() == once


@pytest.mark.req("E-041")
@pytest.mark.parametrize("how", [("--no-ff",), ("--ff-only",)])
def test_work_that_was_merged_by_hand_is_found(
    shop: Path, where: ProjectPaths, how: tuple[str, ...]
) -> None:
    branch = carried_out(where, "1")
    git(shop, "merge", "-q", *how, "-m", "by hand", branch.name)
    head = git(shop, "rev-parse", "HEAD")
    (shop / "later.txt").write_text("x")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "later")
    assert prompt_work.complete_prompt(where, ONE).merge_commit_hash == head
    assert fields(where, "1")["merge_commit_hash"] == head


def test_a_branch_on_which_nothing_was_done_is_not_merged_work(
    shop: Path, where: ProjectPaths
) -> None:
    write(where, "1")
    start(where, "1")
    (shop / "other.txt").write_text("x")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "somebody else's work")
    Branch(where, "1")  # made after the feature moved on, and empty
    record(where, "1")
    with refused("not-merged"):
        prompt_work.complete_prompt(where, ONE)
    with refused("nothing-to-merge"):
        plan_merge.merge_worktree(where, ONE)
    assert fields(where, "1")["merge_commit_hash"] is None


@pytest.mark.req("E-041")
def test_what_the_protocol_asks_for_is_asked_for_and_force_is_logged(where: ProjectPaths) -> None:
    write(where, "1", requires_testing=True)
    with refused("not-merged") as caught:
        prompt_work.complete_prompt(where, ONE)
    for words in ("feature branch", "no implementation", "test it"):
        assert words in str(caught.value)
    told = prompt_work.complete_prompt(where, ONE, force=True)
    assert told.forced == ["not-merged", "invalid-status", "testing-not-passed"]
    assert facts(where)[-1]["forced"] == told.forced


@pytest.mark.req("E-042")
def test_n6_nobody_is_told_to_merge_an_alternative(shop: Path, where: ProjectPaths) -> None:
    for each in ("1_A", "1_B"):
        carried_out(where, each)
    mark(where, "1_A", variant_solution="main")
    mark(where, "1_B", variant_solution="alternative", in_progress=False)
    with refused("variant-put-aside") as told:
        prompt_work.complete_prompt(where, PromptId(1, "B"))
    assert [each.code for each in told.value.findings] == ["variant-put-aside"]
    assert "merge-worktree" not in str(told.value)
    assert "go on with the main variant" in str(told.value)


def test_alternatives_that_are_still_there_are_told(shop: Path, where: ProjectPaths) -> None:
    made = {id_: carried_out(where, id_) for id_ in ("1_A", "1_B", "1_C")}
    mark(where, "1_A", variant_solution="main")
    mark(where, "1_B", variant_solution="alternative", in_progress=False)
    mark(where, "1_C", variant_solution="discard", in_progress=False)
    main = parse_prompt_id(["1A"])
    told = plan_merge.merge_worktree(where, main)
    assert told.unmerged_alternatives == [made["1_B"].name]
    assert prompt_work.complete_prompt(where, main).unmerged_alternatives == [made["1_B"].name]
    git(shop, "worktree", "remove", "--force", str(made["1_B"].path))
    git(shop, "branch", "-qD", made["1_B"].name)
    assert prompt_work.complete_prompt(where, main).unmerged_alternatives == []


# -- release ---------------------------------------------------------------------------------------


def test_the_claims_of_the_living_are_kept(where: ProjectPaths, passer_by: dict[str, Any]) -> None:
    for number in "123":
        write(where, number)
        start(where, number)
    mark(where, "2", owner=as_owner(passer_by))
    gone(passer_by)
    told = prompt_claims.release_all_prompts(where)
    assert (told.released_count, told.released, told.total_prompts) == (1, ["2"], 3)
    assert [each.id for each in told.kept] == ["1", "3"]
    assert set(to_builtins(told.kept[0])) == {"id", "specialist", "since"}
    assert fields(where, "2")["in_progress"] is False
    assert disagreements(where) == []
    assert prompt_claims.release_all_prompts(where).released_count == 0
    told = prompt_claims.release_all_prompts(where, force=True)
    assert (told.released, told.kept) == (["1", "3"], [])
    assert facts(where)[-1]["forced"] == ["already-in-progress"]
    assert disagreements(where) == []


def test_a_broken_file_keeps_nobody_from_being_released(
    where: ProjectPaths, passer_by: dict[str, Any]
) -> None:
    for number in "123":
        write(where, number)
        start(where, number)
        mark(where, number, owner=as_owner(passer_by))
    gone(passer_by)
    file(where, "2").write_bytes(b"broken")
    told = prompt_claims.release_all_prompts(where)
    assert told.released == ["1", "2", "3"]
    assert sum("2.md" in note for note in told.notes) == 1
    assert fields(where, "3")["in_progress"] is False
    assert file(where, "2").read_bytes() == b"broken"
    file(where, "1").write_bytes(b"broken")
    mark(where, "1", in_progress=True)
    given_back = prompt_claims.release_prompt(where, ONE, "no compiler")
    assert given_back.released is True
    assert any("1.md" in note for note in given_back.notes)


def test_work_goes_on_from_its_own_worktree(where: ProjectPaths) -> None:
    write(where, "1")
    branch = Branch(where, "1")
    inside = places.find_project(str(branch.path))
    start(inside, "1")
    branch.commit("new.txt")
    record(inside, "1")
    plan_merge.merge_worktree(inside, ONE)
    told = prompt_work.complete_prompt(inside, ONE)
    assert told.status == "merged"
    assert prompt_queue.list_next_prompts(inside, 1).all_done is True
    assert Path(where.root, "new.txt").read_text() == "done\n"
    assert plan_document.check_plan(inside).branch == "feat/x"
    assert not (branch.path / ".claude").exists()


_DYING = """
import os, signal, sys
from porch.store import where as places
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims as claims
from porch.plan.session import plan_session as opening
with opening.hold_plan(places.find_project(".")) as desk:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_whoever_died_with_the_plan_in_hand_keeps_nobody_out(
    shop: Path, where: ProjectPaths
) -> None:
    write(where, "1")
    done = subprocess.run([sys.executable, "-c", _DYING], cwd=shop, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert start(where, "1").id == str(*ids("1"))


def test_a_prompt_that_could_not_be_finished_is_given_back_and_offered_again(
    where: ProjectPaths,
) -> None:
    write(where, "1")
    prompt_claims.start_prompt(where, PromptId(1), "be")
    claimed = prompt_queue.list_next_prompts(where, None)
    assert [row.id for row in claimed.in_progress] == ["1"]
    assert (claimed.prompts, claimed.all_done) == ([], False)
    back = prompt_claims.release_prompt(where, PromptId(1), "no compiler")
    assert (back.released, back.blocked_reason) == (True, "no compiler")
    assert [row.prompt_num for row in prompt_queue.list_next_prompts(where, None).prompts] == [1]
    assert prompt_claims.release_prompt(where, PromptId(1)).released is False
