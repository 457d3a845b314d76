"""V11: temporary debug lines do not come to the feature branch, whichever way the work goes."""

from pathlib import Path

import pytest

from porch.machine.plan.prompt_ids import PromptId
from porch.plan.prompts import plan_document, plan_merge, prompt_work
from porch.store.where import ProjectPaths
from tests.plan.yards import Branch, carried_out, facts, fields, git, mark, refused

ONE = PromptId(1)
# In pieces, so that this file holds no marker that somebody seems to have meant.
OPEN = "[" + "DEBUG-TEMP]"
LOGGED = f"def f(x):\n    # {OPEN}\n    print(x)\n\n    return x\n"
CLEAN = "def f(x):\n\n    return x\n"


@pytest.fixture
def logged(where: ProjectPaths) -> Branch:
    """A prompt that is ready to be merged, but for a debug line."""
    return carried_out(where, "1", "f.py", LOGGED)


def test_v11_a_marked_line_is_not_merged_and_the_way_out_is_said(
    shop: Path, where: ProjectPaths, logged: Branch
) -> None:
    before = git(shop, "rev-parse", "feat/x")
    with refused("debug-lines") as caught:
        plan_merge.merge_worktree(where, ONE)
    assert "f.py:2" in str(caught.value)
    assert str(logged.path) in caught.value.findings[0].fix
    assert "envoy plan cleanup-debug-logs" in caught.value.findings[0].fix
    assert git(shop, "rev-parse", "feat/x") == before
    logged.commit("f.py", CLEAN)
    assert plan_merge.merge_worktree(where, ONE).forced == []
    assert (shop / "f.py").read_text() == CLEAN


def test_v11_force_merges_a_marked_line_and_that_is_logged(
    where: ProjectPaths, logged: Branch
) -> None:
    assert plan_merge.merge_worktree(where, ONE, force=True).forced == ["debug-lines"]
    assert facts(where, "merge-worktree")[-1]["forced"] == ["debug-lines"]
    with refused("debug-lines"):
        prompt_work.complete_prompt(where, ONE)


def test_v11_who_sets_another_rule_aside_hears_of_marked_lines_first(
    where: ProjectPaths, logged: Branch
) -> None:
    mark(where, "1", requires_manual_testing=True)
    with refused("testing-not-passed") as caught:
        plan_merge.merge_worktree(where, ONE)
    assert "f.py:2" in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        LOGGED.encode("utf-16"),
        LOGGED.encode("utf-16-be"),
        b"\xef\xbb\xbf" + LOGGED.encode(),
        LOGGED.lower().encode(),
        LOGGED.replace("    # ", "    pass  # ").encode(),
        f'def f(x):\n    print("{OPEN} here", x)\n'.encode(),
        LOGGED.replace("\n", "\r\n").encode(),
    ],
    ids=["utf-16", "no order mark", "order mark", "small", "behind code", "printed", "crlf"],
)
def test_v11_however_it_is_written_a_marked_line_is_found(where: ProjectPaths, data: bytes) -> None:
    branch = carried_out(where, "1")
    (branch.path / "sub dir").mkdir()
    (branch.path / "sub dir" / "ü.py").write_bytes(data)
    git(branch.path, "add", "-A")
    git(branch.path, "commit", "-qm", "logs")
    with refused("debug-lines") as caught:
        plan_merge.merge_worktree(where, ONE)
    assert "sub dir/ü.py:2" in str(caught.value)


def test_v11_what_only_names_the_marker_is_merged(shop: Path, where: ProjectPaths) -> None:
    branch = carried_out(where, "1", "tool.py", f'MARK = "{OPEN}"\n')
    branch.commit("page.md", f"```py\n# {OPEN}\nprint(1)\n\n```\n")
    assert plan_merge.merge_worktree(where, ONE).status == "merged"


def test_v11_nobody_is_blamed_for_what_was_there_before(shop: Path, where: ProjectPaths) -> None:
    (shop / "old.py").write_text(LOGGED)
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "theirs")
    branch = carried_out(where, "1")
    branch.commit("old.py", "import sys\n\n" + LOGGED)
    git(branch.path, "mv", "old.py", "new.py")
    git(branch.path, "commit", "-qm", "moved")
    assert plan_merge.merge_worktree(where, ONE).status == "merged"


def test_v11_a_second_block_in_an_old_file_is_found(shop: Path, where: ProjectPaths) -> None:
    (shop / "old.py").write_text(LOGGED)
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "theirs")
    carried_out(where, "1", "old.py", LOGGED + LOGGED)
    with refused("debug-lines") as caught:
        plan_merge.merge_worktree(where, ONE)
    assert "old.py:7" in str(caught.value)
    assert "old.py:2" not in str(caught.value)


def test_v11_a_marked_line_in_a_submodule_is_not_merged(
    shop: Path, where: ProjectPaths, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    git(tmp_path, "init", "-q", str(inner))
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    branch = carried_out(where, "1")
    added = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    git(branch.path, *added)
    # Neither of these hides anything.
    git(branch.path, "config", "-f", ".gitmodules", "submodule.lib.ignore", "all")
    git(branch.path, "config", "submodule.recurse", "true")
    (branch.path / "lib/f.py").write_text(LOGGED)
    git(branch.path / "lib", "add", "-A")
    git(branch.path / "lib", "commit", "-qm", "logs")
    git(branch.path, "add", "-A")
    git(branch.path, "commit", "-qm", "lib")
    with refused("debug-lines") as caught:
        plan_merge.merge_worktree(where, ONE)
    assert "lib/f.py:2" in str(caught.value)
    (branch.path / "lib/f.py").write_text(CLEAN)
    git(branch.path / "lib", "commit", "-qam", "clean")
    git(branch.path, "commit", "-qam", "clean")
    assert plan_merge.merge_worktree(where, ONE).notes == []


def test_v11_a_submodule_that_nobody_has_is_said(shop: Path, where: ProjectPaths) -> None:
    branch = carried_out(where, "1")
    git(branch.path, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},gone")
    git(branch.path, "commit", "-qm", "a link to nowhere")
    (branch.path / "gone").mkdir(exist_ok=True)
    told = plan_merge.merge_worktree(where, ONE)
    assert any("submodule gone" in note for note in told.notes)


@pytest.mark.parametrize("how", ["--no-ff", "--ff-only"])
def test_v11_merged_by_hand_they_are_found_where_they_are(
    shop: Path, where: ProjectPaths, logged: Branch, how: str
) -> None:
    git(shop, "merge", "-q", how, "-m", "by hand", logged.name)
    for command in (plan_merge.merge_worktree, prompt_work.complete_prompt):
        with refused("debug-lines") as caught:
            command(where, ONE)
        assert "f.py:2" in str(caught.value)
    assert fields(where, "1")["status"] == "implemented"
    (shop / "f.py").write_text(CLEAN)
    git(shop, "commit", "-qam", "without the logs")
    assert prompt_work.complete_prompt(where, ONE).forced == []


def test_v11_a_plan_does_not_end_with_marked_lines(
    shop: Path, where: ProjectPaths, logged: Branch
) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    plan_merge.merge_worktree(where, ONE, force=True)
    prompt_work.complete_prompt(where, ONE, force=True)
    with refused("debug-lines"):
        plan_merge.complete_plan(where)
    assert plan_merge.complete_plan(where, force=True).stage == "completed"
    assert facts(where)[-1]["forced"] == ["debug-lines"]
