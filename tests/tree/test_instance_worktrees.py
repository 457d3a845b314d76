"""Where an instance works: found again by name, asserted at every launch, never half merged."""

import asyncio
import subprocess
from typing import Any

import pytest
from msgspec.structs import replace

from porch.errors import OutsideError
from porch.machine.state import Instance
from porch.tree import claim, instance_worktrees
from tests.tree.conftest import IMPL, TO_REVIEW, TO_TESTS, Bench


def place(bench: Bench, where: str) -> claim.InstancePlace:
    async def look() -> claim.InstancePlace:
        async with instance_worktrees.open_instance_place(
            bench.world, bench.wanted(where)
        ) as found:
            return found

    return asyncio.run(look())


@pytest.mark.req("V-002")
def test_an_instance_has_a_worktree_on_its_own_branch_from_where_the_run_began(
    bench: Bench,
) -> None:
    """D20."""
    start = bench.git("rev-parse", "main")
    bench.save("later.txt", "main moves on\n")
    found = place(bench, "scaffold")
    assert found.path == str(bench.root / "worktrees" / "v3_sum")
    assert (found.branch, found.entry) == ("porch/v3_sum", start)


def test_where_a_visit_began_is_remembered_however_often_it_is_interrupted(bench: Bench) -> None:
    """D21: ownership is judged since then, also of what was committed before the crash."""
    first = place(bench, "scaffold")
    bench.save("half.txt", "done before the crash\n", at=bench.main)
    assert place(bench, "scaffold").entry == first.entry


def test_a_worktree_that_a_person_switched_is_refused(bench: Bench) -> None:
    """D49: toplevel and branch are asserted at every launch."""
    place(bench, "scaffold")
    bench.git("switch", "-q", "-c", "mine", at=bench.main)
    with pytest.raises(OutsideError, match="is on mine"):
        place(bench, "scaffold")


def test_a_worktree_that_is_gone_is_made_again(bench: Bench) -> None:
    bench.until("scaffold")
    bench.git("worktree", "remove", bench.main)
    bench.until("contract", "write_tests", "integrate")
    assert (bench.root / bench.main / "tests/sum/there.sh").exists()


def test_tests_begin_each_visit_at_the_head_of_the_instance(bench: Bench) -> None:
    """D20."""
    bench.until("scaffold", "contract")
    found = place(bench, "write_tests")
    assert found.branch == "porch/v3_sum--tests"
    assert found.entry == bench.git("rev-parse", "porch/v3_sum")


def test_half_written_tests_are_not_swept_away_by_that(bench: Bench) -> None:
    bench.until("scaffold", "contract")
    before = place(bench, "write_tests")
    ref = bench.git("for-each-ref", "--format=%(refname)", "refs/porch/entry/**/write_tests/*")
    bench.git("update-ref", "-d", ref)
    bench.write("worktrees/v3_sum--tests/tests/sum/half.sh", "true\n")
    bench.save("moved.txt", "the branch moves\n", at=bench.main)
    assert place(bench, "write_tests").entry == before.entry
    assert (bench.root / "worktrees/v3_sum--tests/tests/sum/half.sh").exists()


def test_a_reader_sees_the_commit_and_leaves_no_trace(bench: Bench) -> None:
    bench.until(*TO_TESTS, "impl")
    found = place(bench, "review")
    assert not found.is_own
    assert found.entry == bench.git("rev-parse", "porch/v3_sum")
    bench.write("worktrees/v3_sum--read/scribble.txt", "x\n")
    assert place(bench, "review").entry == found.entry
    assert not (bench.root / "worktrees/v3_sum--read/scribble.txt").exists()


def test_t9_a_graph_may_begin_with_a_state_that_only_reads(bench: Bench) -> None:
    """Its instance has no branch yet, nor has its parent if that has only read, too."""
    first = bench.wanted("scaffold")
    reads = replace(first, ask=replace(first.ask, workspace="read"))
    bench.rig.index[first.position] = (reads,)
    found = place(bench, "scaffold")
    assert (found.is_own, found.entry) == (False, bench.git("rev-parse", "main"))
    assert bench.git("rev-parse", "porch/v3_sum") == found.entry


def test_t9_a_child_begins_though_its_parent_has_no_worktree(bench: Bench) -> None:
    about = Instance("", "a", {}, "", "porch/v3_sum.a", "porch/v3_sum")
    path = instance_worktrees.ensure_main_worktree(bench.world, "a", about)
    assert bench.git("rev-parse", "HEAD", at=path) == bench.git("rev-parse", "porch/v3_sum")


def test_a_merge_that_was_left_in_the_middle_is_given_up_first(bench: Bench) -> None:
    """D17: the tree is proved clean, and what was done in it is kept."""
    bench.until(*TO_TESTS)
    place(bench, "impl")
    bench.save("api.txt", "ours\n", at=bench.main)
    bench.save("api.txt", "theirs\n")
    bench.git("config", "merge.conflictStyle", "merge")
    with pytest.raises(subprocess.CalledProcessError):
        bench.git("merge", "main", at=bench.main)
    assert instance_worktrees.is_merging(str(bench.root / bench.main))
    place(bench, "impl")
    assert not instance_worktrees.is_merging(str(bench.root / bench.main))
    assert (bench.root / bench.main / "api.txt").read_text() == "ours\n"
    assert bench.git("status", "--porcelain", at=bench.main) == ""


def test_a_repository_without_a_commit_is_nowhere_to_begin(bench: Bench) -> None:
    request: Any = bench.wanted("scaffold")
    empty = bench.base / "empty"
    empty.mkdir()
    bench.git("init", "-q", str(empty))
    with pytest.raises(OutsideError, match="has no commit"):
        instance_worktrees._ensure_entry_commit(request, str(empty))


def test_the_implementer_finds_the_tests_and_the_scaffold(bench: Bench) -> None:
    """D20: tests are brought to the branch before Impl begins."""
    bench.until(*TO_TESTS)
    path = place(bench, "impl").path
    fact = bench.do("impl", {**IMPL, "run": ["test", "-f", "tests/sum/there.sh"]})
    assert fact.payload["commitHash"] == bench.git("rev-parse", "porch/v3_sum")
    assert path == str(bench.root / bench.main)


def test_t6_who_only_reads_may_share_one_checkout_and_takes_turns(bench: Bench) -> None:
    bench.setting(share_readers=True)
    order: list[str] = []

    async def read(name: str) -> str:
        async with instance_worktrees.hold_reader(bench.world, name) as path:
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")
        return path

    async def read_both() -> list[str]:
        return list(await asyncio.gather(read("a"), read("b")))

    own = f"{bench.root}/{bench.main}--read"
    assert [asyncio.run(read_both()), asyncio.run(read_both())] == [[own, own]] * 2
    assert order == ["a begins", "a ends", "b begins", "b ends"] * 2


def test_t6_a_shared_checkout_does_for_all_who_read(bench: Bench) -> None:
    bench.setting(share_readers=True)
    bench.until(*TO_REVIEW, "candidate", "merger", "publish")
    assert bench.rig.state.outcome == "complete"
    found = [each.name for each in (bench.root / "worktrees").iterdir()]
    assert sorted(found) == ["v3_sum", "v3_sum--read", "v3_sum--tests"]
