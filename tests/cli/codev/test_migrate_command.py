"""`codev migrate`: a project of each old shape runs under porch afterwards, and nothing is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from porch.cli.dispatch import run_words
from tests.cli.conftest import Terminal
from tests.repositories import sh

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

CODEV = (sys.executable, "-c", "from porch.cli.dispatch import codev; exit(codev())")
PLAN = "# Plan\n\n## Implementation Phases\n\n### Phase 1: First\n\n**Done when**\n\n- it's there\n"
OLD = {
    "codev/specs/0001-user-auth.md": "# Spec: User auth\n",
    "codev/specs/0002-billing.md": "# Billing\n",
    "codev/plans/0002-billing.md": PLAN,
    "codev/specs/0003-search.md": "# Search\n\n**Status**: Approved (2025-01-02)\n",
    "codev/plans/0003-search.md": "---\napproved: 2025-01-03\n---\n" + PLAN,
    "codev/specs/0004-done.md": "# Done\n",
    "codev/plans/0004-done.md": PLAN,
    "codev/reviews/0004-done-review.md": "# Review\n",
    "codev/plans/0009-lonely.md": PLAN,
    "codev/specs/README.md": "not a specification\n",
}


class OldProject:
    """A project of the old shape, and somebody who migrates it."""

    def __init__(self, desk: "Desk", capsys: pytest.CaptureFixture[str]):
        self.desk, self._capsys = desk, capsys
        for path, text in OLD.items():
            desk.write(path, text)
        desk.git("add", "-A")
        desk.git("commit", "-qm", "old")

    def codev(self, *words: str, code: int = 0) -> str:
        self._capsys.readouterr()
        left = run_words("codev", ["migrate", *words])
        out, err = self._capsys.readouterr()
        assert left == code, out + err
        return out + err

    def builder(self, name: str, branch: str) -> Path:
        """A worktree of the old kind, with committed, changed and new work in it."""
        place = self.desk.root / ".builders" / name
        self.desk.git("worktree", "add", "-q", "-b", branch, str(place))
        (place / "work.py").write_text("committed\n")
        sh(place, "add", "-A")
        sh(place, "commit", "-qm", "work")
        (place / "work.py").write_text("changed\n")
        (place / "new.py").write_text("new\n")
        return place

    def files(self) -> dict[str, bytes]:
        root = self.desk.root
        found = (path for path in root.rglob("*") if path.is_file())
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in found
            if ".git" not in path.relative_to(root).parts
        }


@pytest.fixture
def old(desk: "Desk", capsys: pytest.CaptureFixture[str]) -> OldProject:
    return OldProject(desk, capsys)


@pytest.mark.req("P-202", "P-203", "P-204")
def test_each_specification_gets_its_directory_with_all_of_its_documents(old: OldProject) -> None:
    old.codev("--no-adopt")
    files = old.files()
    for id_, name in (("0001", "user-auth"), ("0002", "billing"), ("0003", "search")):
        path = f"codev/projects/{id_}-{name}/spec.md"
        assert files[path].decode() == OLD[f"codev/specs/{id_}-{name}.md"]
    assert files["codev/projects/0002-billing/plan.md"].decode() == PLAN
    assert files["codev/projects/0004-done/review.md"] == b"# Review\n"
    gone = [path for path in OLD if path not in files]
    kept = {"codev/plans/0009-lonely.md", "codev/specs/README.md"}
    assert set(gone) == set(OLD) - kept


@pytest.mark.req("P-205")
def test_the_status_says_how_far_each_one_was_and_is_adopted(old: OldProject) -> None:
    old.codev("--adopt")
    runs = {row["id"]: row for row in old.desk.porch("status", "--json").json["runs"]}
    assert set(runs) == {"0001", "0002", "0003"}
    assert old.desk.facts("RunAdopted", "0001-user-auth")[0]["state"] == "specify:gate"
    assert old.desk.facts("RunAdopted", "0002-billing")[0]["state"] == "plan:gate"
    assert old.desk.facts("RunAdopted", "0003-search")[0]["state"] == "implement"
    gates = old.desk.facts("RunAdopted", "0003-search")[0]["gates"]
    assert {name: gate["status"] for name, gate in gates.items()} == {
        "specify_approval": "approved",
        "plan_approval": "approved",
    }
    # What has ended needs no run.
    status = old.desk.root / "codev/projects/0004-done/status.yaml"
    assert "state: 'complete'" in status.read_text()


@pytest.mark.req("P-009")
def test_a_migrated_project_runs(old: OldProject) -> None:
    old.codev("--adopt")
    told = old.desk.porch("run", "spider", "0001", "--no-claude", code=3)
    assert "specify_approval" in told.all
    old.desk.porch("stop", "0001")
    told = old.desk.porch("resume", "0002", "--no-claude", code=3)
    assert "plan_approval" in told.all
    # A checkout has one live run.
    assert "0002" in old.desk.porch("resume", "0003", "--no-claude", "--once", code=4).all
    old.desk.porch("stop", "0002")
    told = old.desk.porch("resume", "0003", "--no-claude", "--once", code=None)
    assert old.desk.prompts("0003-search")
    assert "First" in old.desk.prompts("0003-search")[0]


def test_approvals_are_listed_and_asked_once(old: OldProject) -> None:
    before = old.files()
    said = old.codev(code=2)
    assert "0002-billing specify_approval (there is codev/plans/0002-billing.md)" in said
    assert "0003-search plan_approval (codev/plans/0003-search.md says so)" in said
    assert "--adopt" in said
    assert old.files() == before
    old.codev("--no-adopt")
    for run in ("0001-user-auth", "0002-billing", "0003-search"):
        text = (old.desk.root / "codev/projects" / run / "status.yaml").read_text()
        assert 'state: "specify:gate"' in text
        assert "status: approved" not in text
    rows = old.desk.porch("status", "--json").json["runs"]
    assert {row["state"] for row in rows} == {"specify:gate"}


def test_on_a_terminal_a_person_is_asked_once_for_all_of_them(old: OldProject) -> None:
    terminal = Terminal((*CODEV, "migrate"), old.desk.root, columns=120)
    try:
        terminal.until("0002-billing: paused, spider at plan:gate")
        terminal.until("Count these gates as approved? [y/N]")
        terminal.type("y\r")
        terminal.until("to continue one: porch resume ID")
        assert terminal.leave() == 0
    finally:
        terminal.close()
    assert old.desk.facts("RunAdopted", "0002-billing")


def test_only_a_person_counts_approvals(old: OldProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    before = old.files()
    assert "not-a-person" in old.codev("--adopt", code=2)
    assert "not-a-person" in old.codev("--clean", code=2)
    assert "4 of 4 projects move" in old.codev("--dry-run")
    assert old.files() == before


def test_a_dry_run_says_everything_and_changes_nothing(old: OldProject) -> None:
    old.builder("0002", "builder/0002-billing")
    before, refs = old.files(), old.desk.git("for-each-ref")
    said = old.codev("--dry-run", "--verbose")
    for line in (
        "0003-search: paused, spider at implement:phase_1",
        "  codev/specs/0003-search.md -> codev/projects/0003-search/spec.md",
        "  specify_approval counts as approved: codev/specs/0003-search.md says so",
        ".builders/0002 -> worktrees/spider_0002_billing, branch builder/0002-billing -> ",
        "1 file left alone: there is no specification with this number and name: codev/plans/0009",
        "nobody here approved these gates: add --adopt to count them all the same, or --no-adopt",
        "nothing was changed (--dry-run)",
    ):
        assert line in said
    for decided in ("--adopt", "--no-adopt"):
        assert "nobody here approved" not in old.codev("--dry-run", decided)
    told = json.loads(old.codev("--dry-run", "--json"))
    assert told["projects"][0]["run"] == "0001-user-auth"
    assert (old.files(), old.desk.git("for-each-ref")) == (before, refs)


def test_the_second_time_there_is_nothing_to_do(old: OldProject) -> None:
    old.builder("0002", "builder/0002-billing")
    old.codev("--adopt")
    before = old.files()
    said = old.codev("--adopt")
    assert "1 file left alone" in said
    os.unlink(old.desk.root / "codev/plans/0009-lonely.md")
    del before["codev/plans/0009-lonely.md"]
    assert "nothing of the old shape" in old.codev()
    assert old.files() == before


@pytest.mark.req("P-209")
def test_an_old_worktree_is_moved_with_everything_in_it(old: OldProject) -> None:
    old.builder("0002", "builder/0002-billing")
    old.codev("--adopt")
    place = old.desk.root / "worktrees" / "spider_0002_billing"
    assert sh(place, "branch", "--show-current") == "spider_0002_billing"
    assert sh(place, "log", "-1", "--format=%s") == "work"
    assert (place / "work.py").read_text() == "changed\n"
    assert (place / "new.py").read_text() == "new\n"
    assert (place / "codev/projects/0002-billing/plan.md").read_text() == PLAN
    assert not (place / "codev/specs/0002-billing.md").exists()
    assert (place / "codev/specs/0003-search.md").exists()
    assert not (old.desk.root / ".builders").exists()
    # The project goes on in its worktree.
    start = old.desk.facts("RunAdopted", "0002-billing")[0]["start"]
    assert start["worktree"] == "worktrees/spider_0002_billing"
    assert (start["own_worktree"], start["branch"]) == (True, "spider_0002_billing")


@pytest.mark.req("P-209")
def test_an_old_worktree_is_removed_with_all_of_its_work_kept(old: OldProject) -> None:
    old.builder("0002", "builder/0002-billing")
    old.builder("task-x7", "builder/task-x7")
    said = old.codev("--no-adopt", "--clean")
    assert not (old.desk.root / ".builders").exists()
    for name, branch in (("0002", "builder/0002-billing"), ("task-x7", "builder/task-x7")):
        ref = f"refs/porch/salvage/{name}"
        assert ref in said
        assert branch in said
        assert old.desk.git("show", f"{ref}:new.py") == "new"
        assert old.desk.git("show", f"{ref}:work.py") == "changed"
        assert old.desk.git("log", "-1", "--format=%s", branch) == "work"


def test_what_cannot_be_told_is_left_alone(old: OldProject) -> None:
    old.builder("task-x7", "builder/task-x7")
    old.desk.write(".builders/notes.txt", "mine\n")
    said = old.codev("--no-adopt")
    assert ".builders/task-x7: left alone: it belongs to no project" in said
    assert "1 file left alone: it is not a worktree of this repository: .builders/notes" in said
    assert (old.desk.root / ".builders" / "task-x7" / "new.py").exists()


def test_a_worktree_in_which_somebody_works_is_left_alone(old: OldProject) -> None:
    place = old.builder("0002", "builder/0002-billing")
    process = subprocess.Popen(["sleep", "60"], cwd=place)
    try:
        said = old.codev("--no-adopt", "--clean", code=1)
    finally:
        process.kill()
        process.wait()
    assert f"process {process.pid} works in it" in said
    assert (place / "new.py").exists()


@pytest.mark.req("P-206")
def test_nothing_is_removed_before_all_of_it_was_verified(
    old: OldProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = old.builder("0002", "builder/0002-billing")
    # A protocol of the project in which the state of a migrated project is unknown.
    phase: dict[str, Any] = {"id": "write", "prompt": "write.md"}
    old.desk.protocol("spider", phase)
    before = old.files()
    said = old.codev("--adopt", code=1)
    assert "'implement' is neither a state nor a phase of 'spider'" in said
    after = old.files()
    ended = [path for path in before if "0004-done" in path]
    assert {path: after.get(path) for path in before if path not in ended} == {
        path: text for path, text in before.items() if path not in ended
    }
    assert (place / "new.py").exists()


def test_a_document_that_is_there_already_is_not_replaced(old: OldProject) -> None:
    old.desk.write("codev/projects/0001-user-auth/spec.md", "newer\n")
    said = old.codev("--no-adopt", code=1)
    assert "1 project stays: a document is in the new place with other" in said
    assert "fix: compare it with the old one, and remove the one that is wrong" in said
    assert (old.desk.root / "codev/projects/0001-user-auth/spec.md").read_text() == "newer\n"
    assert (old.desk.root / "codev/specs/0001-user-auth.md").exists()


def test_a_migration_that_was_cut_short_is_finished(old: OldProject) -> None:
    old.codev("--adopt")
    for path in ("codev/specs/0002-billing.md", "codev/plans/0002-billing.md"):
        old.desk.write(path, OLD[path])
    seq = len(old.desk.records("0002-billing"))
    said = old.codev()
    assert "1 of 1 project moves to codev/projects (1 with a run already)" in said
    assert not (old.desk.root / "codev/specs/0002-billing.md").exists()
    assert len(old.desk.records("0002-billing")) == seq


def test_a_number_keeps_the_directory_that_it_has(old: OldProject) -> None:
    (old.desk.root / "codev/projects/0001-login").mkdir(parents=True)
    old.codev("--no-adopt")
    assert (old.desk.root / "codev/projects/0001-login/spec.md").exists()
    assert not (old.desk.root / "codev/projects/0001-user-auth").exists()


def test_two_specifications_of_one_number_stay_apart(old: OldProject) -> None:
    old.desk.write("codev/specs/0002-other.md", "# Other\n")
    old.builder("0002", "builder/0002")
    said = old.codev("--no-adopt")
    assert (old.desk.root / "codev/projects/0002-other/spec.md").exists()
    assert (old.desk.root / "codev/projects/0002-billing/plan.md").exists()
    assert ".builders/0002: left alone: it belongs to no project" in said


def test_outside_git_nothing_is_moved(
    old: OldProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "plain" / "codev" / "specs" / "0001-a.md"
    spec.parent.mkdir(parents=True)
    spec.write_text("# A\n")
    monkeypatch.chdir(tmp_path / "plain")
    assert "no-repository" in old.codev(code=2)
    assert spec.exists()


def test_a_link_in_the_place_of_a_specification_is_refused(old: OldProject) -> None:
    path = old.desk.root / "codev/specs/0001-user-auth.md"
    path.unlink()
    path.symlink_to("/etc/hostname")
    said = old.codev("--adopt", code=1)
    assert "0001-user-auth.md is not a regular file" in said
    assert "3 of 4 projects move" in said


def test_an_old_plan_needs_not_have_the_sections_that_porch_asks_of_new_ones(
    old: OldProject,
) -> None:
    """Q4: approving a migrated plan sent the agent four times for sections of the template."""
    old.codev("--adopt")
    old.desk.porch("resume", "0002", "--no-claude", code=3)
    asked = old.desk.porch("pending", "0002").all
    assert "Approve: starts Implement after its checks" in asked
    old.desk.porch("approve", "0002", "plan_approval")
    old.desk.porch("resume", "0002", "--no-claude", "--once", code=None)
    ended = {
        fact["effect"].split("/")[-2]: fact
        for fact in old.desk.facts("CheckEnded", "0002-billing")
        if fact["effect"].startswith("plan:recheck")
    }
    assert {name: fact["result"] for name, fact in ended.items()} == dict.fromkeys(
        ("plan_sections", "plan_filled_in", "plan_phases"), "skipped"
    )
    assert "were there before the run" in ended["plan_sections"]["report"]
    assert "# IMPLEMENT" in old.desk.prompts("0002-billing")[0].upper()


def test_what_an_agent_of_the_run_has_worked_on_needs_the_form(old: OldProject) -> None:
    old.codev("--adopt")
    old.desk.porch("resume", "0002", "--no-claude", code=3)
    old.desk.porch("reject", "0002", "plan_approval", "--reason", "divide it")
    old.desk.porch("resume", "0002", "--no-claude", "--once", code=None)
    results = {
        fact["effect"].split("/")[-2]: fact["result"]
        for fact in old.desk.facts("CheckEnded", "0002-billing")
    }
    assert results["plan_sections"] == "failed"


def test_what_others_changed_before_a_paused_run_goes_on_is_none_of_its_work(
    old: OldProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q4: many runs are adopted at once, and resumed one after the other."""
    old.codev("--adopt")
    old.desk.write("work/of_another.txt", "by a person, or by another run\n")
    with monkeypatch.context() as patch:
        patch.setenv("CLAUDECODE", "1")
        assert "not-a-person" in old.desk.porch("resume", "0003", "--no-claude", code=2).err
    assert old.desk.facts("BaseMeasured", "0003-search") == []
    old.desk.porch("resume", "0003", "--no-claude", "--once", code=None)
    [base] = old.desk.facts("BaseMeasured", "0003-search")
    kept = sh(old.desk.root / ".git/porch/tree.git", "ls-tree", "-r", base["base_tree"])
    assert "work/of_another.txt" in kept
    old.desk.porch("stop", "0003", code=None)
    old.desk.porch("resume", "0003", "--no-claude", "--once", code=None)
    assert old.desk.facts("BaseMeasured", "0003-search") == [base]


def test_projects_are_moved_while_a_run_has_the_checkout(old: OldProject) -> None:
    """Q4: 69 of 175 were refused, because each run leased the checkout as it was adopted."""
    old.codev("--adopt", "2")
    old.desk.porch("resume", "0002", "--no-claude", code=3)
    assert "3 of 3 projects move to codev/projects (1 history, 2 paused)" in old.codev("--adopt")
    refused = old.desk.porch("resume", "0003", "--no-claude", "--once", code=4).all
    assert "the run 0002-billing works in" in refused
    assert "plan_approval" in old.desk.porch("approve", "0002", "plan_approval").all
