"""Old projects of every shape: what the dry run says is what happens, and nothing is lost."""

import fcntl
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from porch.fleet.migration.carry_out import Migrator
from porch.fleet.migration.decisions import MigrationChoice, MigrationPlan, plan_migration
from porch.fleet.migration.old_worktrees import list_old_worktrees
from porch.machine.state import RunState
from porch.run.verbs.read_run import read_run
from porch.store.where import find_project
from porch.store.worktree_records import list_records
from tests import commands
from tests.fleet.migration.old_projects import (
    AHEAD,
    OUTCOMES,
    SHAPES,
    SHARED,
    make_builder,
    make_old_project,
)
from tests.repositories import at_home, make_repository, sh
from tests.torture import FULL


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    at_home(tmp_path / "home", monkeypatch)
    return tmp_path


def new_root(base: Path) -> Path:
    return make_repository(base / f"project-{len(os.listdir(base))}", {"a.txt": "a\n"})


def codev(root: Path, *words: str, code: int | None = None) -> str:
    done = commands.run("codev", ["migrate", *words], root, os.environ)
    assert code in (None, done.returncode), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def read_files(root: Path) -> dict[str, bytes]:
    paths = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    names = {str(path.relative_to(root)): path for path in paths}
    elsewhere = (".git", ".builders/", "worktrees/")
    return {name: p.read_bytes() for name, p in names.items() if not name.startswith(elsewhere)}


def state_of(root: Path, run: str) -> RunState:
    return read_run(find_project(str(root)), run).state


def require_as_decided(root: Path, before: Mapping[str, bytes], project: Any) -> None:
    """That became of a project what was said of it before."""
    after = read_files(root)
    directory = root / "codev" / "projects" / project["run"]
    has_run = find_project(str(root)).has_begun(project["run"])
    if project["outcome"] == "left":
        names = [name for name in before if project["run"] in name]
        assert {name: after.get(name) for name in names} == {name: before[name] for name in names}
        assert project["conflict"]
        assert not has_run
        return
    for old, new in project["files"].items():
        assert after[new] == before[old]
        assert old not in after, "it lies in two places"
    assert (directory / "status.yaml").exists()
    assert has_run is (project["outcome"] == "paused")
    if has_run:
        state = state_of(root, project["run"])
        assert state.paused
        [position] = state.positions.values()
        place = f"{position.state}:{position.item}" if position.item else position.state
        assert (state.run.protocol, place) == (project["protocol"], project["state"])


@given(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4), st.booleans())
@settings(
    max_examples=60 if FULL else 5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_a_dry_run_says_of_each_project_is_what_becomes_of_it(
    base: Path, shapes: list[str], adopt: bool
) -> None:
    """Q4: the conclusions of the dry run were others than the real ones."""
    root = new_root(base)
    runs = make_old_project(root, shapes)
    choice = "--adopt" if adopt else "--no-adopt"
    before = read_files(root)
    plan = json.loads(codev(root, choice, "--dry-run", "--json", code=0))
    assert read_files(root) == before
    is_left = any(each["outcome"] == "left" for each in plan["projects"])
    done = json.loads(codev(root, choice, "--json", code=int(is_left)))
    assert done["projects"] == plan["projects"]
    assert done["worktrees"] == plan["worktrees"]
    assert (done["left"], done["failed"]) == (plan["left"], [])
    outcomes = {each["run"]: each["outcome"] for each in plan["projects"]}
    assert outcomes == {run: OUTCOMES[shape] for run, shape in runs.items()}
    for project in plan["projects"]:
        require_as_decided(root, before, project)
    # The second time there is nothing left to do but for what was left.
    again = json.loads(codev(root, choice, "--json", code=int(is_left)))
    assert {each["outcome"] for each in again["projects"]} <= {"left"}


def test_a_hundred_old_projects_are_moved_at_once_and_said_in_a_few_lines(base: Path) -> None:
    """Q4: 69 of 175 were refused because others had the checkout, with 1,859 lines of notes."""
    root = new_root(base)
    shapes = [SHAPES[number % (len(SHAPES) - 1)] for number in range(99)]
    runs = make_old_project(root, [*shapes, "builder"])
    before = read_files(root)
    plan = json.loads(codev(root, "--adopt", "--dry-run", "--json", code=0))
    said = codev(root, "--adopt", code=1)
    wanted = {run: OUTCOMES[shape] for run, shape in runs.items()}
    assert {each["run"]: each["outcome"] for each in plan["projects"]} == wanted
    counts = {name: list(wanted.values()).count(name) for name in ("history", "paused", "left")}
    moved = counts["history"] + counts["paused"]
    assert said.startswith(
        f"{moved} of {len(runs)} projects move to codev/projects "
        f"({counts['history']} history, {counts['paused']} paused)\n"
    )
    assert "protocol 'spir' does not exist here: 00" in said
    assert "put its directory into codev/protocols/spir" in said
    assert len(said.splitlines()) < 25
    for project in plan["projects"]:
        require_as_decided(root, before, project)
    paused = [run for run, outcome in wanted.items() if outcome == "paused"]
    assert sorted(find_project(str(root)).runs()) == sorted(paused)
    pending = commands.run("porch", ["pending", "--json"], root, os.environ)
    assert json.loads(pending.stdout)["decisions"] == []
    for command in (("porch", "status"), ("af", "status")):
        shown = commands.run(command[0], [command[1]], root, os.environ).stdout
        assert f"{counts['history']} projects are history" in shown
        listed = json.loads(commands.run(command[0], ["status", "--json"], root, os.environ).stdout)
        assert len(listed["runs"]) == len(paused)
        assert len(listed["history"]) == counts["history"]


def test_history_is_read_without_its_protocol_and_never_continued(base: Path) -> None:
    """Q4: finished projects were adopted, and stood at gates of a protocol that they never had."""
    root = new_root(base)
    runs = list(make_old_project(root, ["status-complete", "archived", "status-and-list-differ"]))
    codev(root, "--adopt", code=0)
    for run, word in zip(runs, ("complete", "abandoned", "committed"), strict=True):
        for program in ("porch", "af"):
            shown = commands.run(program, ["status", run[:4]], root, os.environ)
            assert shown.returncode == 0
            assert (
                f": {word}\nhistory: this project was finished before porch had it" in shown.stdout
            )
        told = commands.run("porch", ["resume", run[:4]], root, os.environ)
        assert told.returncode == 0
        assert f"{run} is history ({word}); nothing was changed" in told.stdout
        begun = commands.run("porch", ["run", "spider", run[:4], "--no-claude"], root, os.environ)
        assert begun.returncode == 2
        assert f"{run}/status.yaml says that this project has ended: {word}" in begun.stderr
    assert find_project(str(root)).runs() == []
    # What the status file said before the list was asked is kept beside it.
    kept = root / "codev" / "projects" / runs[2] / "status.adopted-1.yaml"
    assert "phase: implement" in kept.read_text()


def test_only_the_projects_that_are_named_are_moved(base: Path) -> None:
    """Q4: there was no way to take one project."""
    root = new_root(base)
    first, second, third = make_old_project(root, ["only-a-spec", "reviewed", "with-a-plan"])
    assert "1 of 1 project moves" in codev(root, "--adopt", "2", code=0)
    assert not (root / "codev" / "projects" / first).exists()
    assert (root / "codev" / "projects" / second / "review.md").exists()
    told = codev(root, "0004", code=2)
    assert "there is no project '0004' here" in told
    assert "did you mean '0003'?" in told
    assert "1 of 1 project moves" in codev(root, "--adopt", third, "0003", code=0)
    assert "nothing was changed" in codev(root, "0002", code=0)
    assert (root / "codev" / "specs" / f"{first}.md").exists()


def test_of_two_projects_with_one_number_the_name_says_which_is_meant(base: Path) -> None:
    root = new_root(base)
    one, two = make_old_project(root, ["twin"])
    told = codev(root, "1", code=2)
    assert f"use one of: {one}, {two}" in told
    assert "1 of 1 project moves" in codev(root, two, code=0)
    # The plan of a number that two have belongs to neither, also when one of them has been moved.
    assert "1 of 1 project moves" in codev(root, one, code=0)
    assert (root / "codev" / "plans" / "0001-of-one-of-them.md").exists()


def test_a_project_that_fails_is_taken_back_whole_and_the_others_go_on(base: Path) -> None:
    root = new_root(base)
    first, second = make_old_project(root, ["status-implement", "with-a-plan"])
    before = read_files(root)
    # Where the run would begin there is a file.
    runs = Path(find_project(str(root)).state_dir) / "runs"
    runs.mkdir(parents=True)
    (runs / first).write_text("in the way\n")
    said = codev(root, "--adopt", code=1)
    assert "1 of 2 projects move to codev/projects (1 paused)" in said
    after = read_files(root)
    mine = {name: text for name, text in before.items() if first in name}
    assert {name: after.get(name) for name in mine} == mine
    assert state_of(root, second).paused
    (runs / first).unlink()
    assert "1 of 1 project moves" in codev(root, "--adopt", code=0)
    assert state_of(root, first).paused


def test_a_project_whose_worktree_has_moved_goes_on_from_there_with_the_next_call(
    base: Path,
) -> None:
    root = new_root(base)
    [run] = make_old_project(root, ["builder"])
    runs = Path(find_project(str(root)).state_dir) / "runs"
    runs.mkdir(parents=True)
    (runs / run).write_text("in the way\n")
    said = codev(root, "--adopt", code=1)
    assert "the next `codev migrate` goes on with it" in said
    (runs / run).unlink()
    assert "1 of 1 project moves" in codev(root, code=0)
    assert state_of(root, run).run.worktree == f"worktrees/spider_0001_{run[5:]}"
    assert state_of(root, run).run.own_worktree


def test_two_migrations_at_once_do_not_meet(base: Path) -> None:
    root = new_root(base)
    make_old_project(root, ["with-a-plan"])
    lock = Path(find_project(str(root)).state_dir) / "migration" / "lock"
    lock.parent.mkdir(parents=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "another `codev migrate` is at work here" in codev(root, "--adopt", code=4)
        # It is no use to decide, or to ask anybody, on what the other one is moving.
        assert "another `codev migrate` is at work here" in codev(root, code=4)
        assert "1 of 1 project moves" in codev(root, "--dry-run", code=0)
    codev(root, "--adopt", code=0)


def test_what_was_accepted_before_a_crash_is_not_asked_again(base: Path) -> None:
    root = new_root(base)
    [run] = make_old_project(root, ["with-a-plan"])
    variables = {**os.environ, "PORCH_CRASH_AT": "migrate.after-document"}
    killed = commands.run("codev", ["migrate", "--adopt"], root, variables)
    assert killed.returncode == -signal.SIGKILL
    assert "1 of 1 project moves" in codev(root, code=0)
    gates = state_of(root, run).gates
    assert gates["specify_approval"].status == "approved"


def commit(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "The old layout")
    return root


def migrate_twice(root: Path, *words: str, code: int) -> Any:
    """The dry run, and then the real one, of which the same was said."""
    plan = json.loads(codev(root, "--adopt", *words, "--dry-run", "--json", code=0))
    before = read_files(root)
    done = json.loads(codev(root, "--adopt", *words, "--json", code=code))
    assert [done[key] for key in ("projects", "worktrees", "left", "failed")] == [
        *(plan[key] for key in ("projects", "worktrees", "left")),
        [],
    ]
    for project in done["projects"]:
        require_as_decided(root, before, project)
    return done


def test_two_specifications_for_one_directory_stay_where_they_are(base: Path) -> None:
    """The dry run said that both move; the second one could not."""
    specs = {"codev/specs/0001-Foo Bar.md": "# One\n", "codev/specs/0001-foo-bar.md": "# Two\n"}
    root = commit(new_root(base), {**specs, "codev/specs/0002-other.md": "# Other\n"})
    done = migrate_twice(root, code=1)
    assert [each["outcome"] for each in done["projects"]] == ["left", "left", "paused"]
    assert {path: (root / path).read_text() for path in specs} == specs
    assert (
        "2 projects stay: codev/specs/0001-Foo Bar.md and codev/specs/0001-foo-bar.md would get "
        "the same directory: 0001-foo-bar" in codev(root, code=1)
    )


def test_a_newer_document_in_the_worktree_of_a_project_keeps_the_project_where_it_is(
    base: Path,
) -> None:
    """The dry run said that it moves; the worktree had moved when the documents could not."""
    root = new_root(base)
    [run] = make_old_project(root, ["builder"])
    inside = root / ".builders" / "0001"
    commit(inside, {f"codev/projects/{run}/plan.md": "# Newer\n"})
    [project] = migrate_twice(root, code=1)["projects"]
    assert project["conflict"] == (
        "in its worktree .builders/0001 a document is in the new place with other content"
    )
    assert (inside / "work.py").exists()
    assert "builder/" in sh(root, "branch", "--list", "builder/*")


def test_of_two_worktrees_of_one_project_the_second_is_said_to_be_another(base: Path) -> None:
    root = new_root(base)
    make_old_project(root, ["builder"])
    sh(root, "worktree", "add", "-q", "-b", "builder/again", str(root / ".builders/0001-again"))
    done = migrate_twice(root, code=0)
    assert {each["path"]: each["trouble"] for each in done["worktrees"]} == {
        ".builders/0001": "",
        ".builders/0001-again": "its project goes on in another worktree",
    }


def test_outside_a_repository_a_dry_run_says_that_the_real_one_is_refused(base: Path) -> None:
    spec = base / "plain" / "codev" / "specs" / "0001-a.md"
    spec.parent.mkdir(parents=True)
    spec.write_text("# A\n")
    for words in (["--dry-run"], ["--adopt"]):
        assert "this is not a git repository" in codev(base / "plain", *words, code=2)
    assert read_files(base / "plain") == {"codev/specs/0001-a.md": b"# A\n"}


def test_a_decision_that_cannot_be_read_is_named_and_nothing_is_moved(base: Path) -> None:
    root = new_root(base)
    [run] = make_old_project(root, ["only-a-spec"])
    path = Path(find_project(str(root)).state_dir) / "migration" / f"{run}.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"run": "0001')
    before = read_files(root)
    for words in (["--dry-run"], ["--adopt"]):
        assert f"{path} cannot be read" in codev(root, *words, code=5)
    assert read_files(root) == before
    path.unlink()
    assert "1 of 1 project moves" in codev(root, code=0)


def test_a_gate_that_the_file_has_passed_without_saying_so_counts_and_that_is_the_reason(
    base: Path,
) -> None:
    """The reason was that the file says so, although it said that the gate is pending."""
    root, path = new_root(base), "codev/projects/0001-a/status.yaml"
    gates = "{specify_approval: {status: approved}, plan_approval: {status: pending}}"
    status = f"id: '0001'\nprotocol: spider\nphase: implement\ngates: {gates}\n"
    plan = "# Plan\n\n## Phases\n\n### Phase 1: Table\n- a\n"
    commit(root, {"codev/specs/0001-a.md": "# A\n", "codev/plans/0001-a.md": plan, path: status})
    [project] = migrate_twice(root, code=0)["projects"]
    assert project["claims"] == {
        "specify_approval": f"{path} says so",
        "plan_approval": f"{path} is at implement, behind it",
    }


def test_a_list_means_a_number_also_where_it_writes_it_with_zeros(base: Path) -> None:
    entry = '# List\n\n```yaml\nprojects:\n  - id: "0002"\n    status: integrated\n```\n'
    files = {"codev/specs/2-search.md": "# Search\n", "codev/projectlist.md": entry}
    [project] = migrate_twice(commit(new_root(base), files), code=0)["projects"]
    assert (project["outcome"], project["state"]) == ("history", "integrated")


def test_how_far_a_project_is_counts_in_the_worktree_in_which_it_goes_on(base: Path) -> None:
    """A builder commits its status on its own branch; the checkout learns of it with the merge."""
    root = new_root(base)
    [run] = make_old_project(root, ["builder"])
    path = f"codev/projects/{run}/status.yaml"
    commit(root, {path: "id: '0001'\ntitle: builder-1\nprotocol: spider\nphase: specify\n"})
    commit(root / ".builders" / "0001", {path: AHEAD})
    [project] = migrate_twice(root, code=0)["projects"]
    assert (project["state"], project["claims"]) == (
        "implement:phase_2",
        dict.fromkeys(("specify_approval", "plan_approval"), f".builders/0001/{path} says so"),
    )
    kept = (root / "codev" / "projects" / run).glob("status.adopted-*.yaml")
    assert [name for name in kept if "phase: specify" in name.read_text()]


def test_documents_that_are_only_in_the_worktree_say_how_far_a_project_is(base: Path) -> None:
    root = commit(new_root(base), {"codev/specs/0001-a.md": "# A\n"})
    inside = root / ".builders" / "0001"
    sh(root, "worktree", "add", "-q", "-b", "builder/0001-a", str(inside))
    commit(inside, {"codev/plans/0001-a.md": "# Plan\n\n**Status**: Approved\n"})
    [project] = migrate_twice(root, code=0)["projects"]
    assert project["state"] == "implement:phase_1"
    assert project["claims"] == {
        "specify_approval": "there is .builders/0001/codev/plans/0001-a.md",
        "plan_approval": ".builders/0001/codev/plans/0001-a.md says so",
    }
    assert (root / "worktrees/spider_0001_a/codev/projects/0001-a/plan.md").exists()


def test_a_project_that_its_worktree_calls_complete_is_history_and_the_worktree_stays(
    base: Path,
) -> None:
    root = new_root(base)
    [run] = make_old_project(root, ["builder"])
    path = f"codev/projects/{run}/status.yaml"
    commit(root / ".builders" / "0001", {path: "id: '0001'\nprotocol: gone\nphase: complete\n"})
    done = migrate_twice(root, code=0)
    assert [each["outcome"] for each in done["projects"]] == ["history"]
    assert "protocol: gone" in (root / path).read_text()
    assert (root / ".builders" / "0001" / "work.py").exists()


def test_a_worktree_that_git_has_locked_stays_with_its_branch_and_its_project(base: Path) -> None:
    """The dry run said that it moves; its branch was renamed before git refused to move it."""
    root = new_root(base)
    make_old_project(root, ["builder"])
    sh(root, "worktree", "lock", ".builders/0001")
    refs = sh(root, "for-each-ref")
    [project] = migrate_twice(root, code=1)["projects"]
    assert project["conflict"].endswith("run `git worktree unlock .builders/0001`")
    assert sh(root, "for-each-ref") == refs
    sh(root, "worktree", "unlock", ".builders/0001")
    migrate_twice(root, code=0)


@pytest.mark.parametrize("shape", ["builder", "status-complete"])
def test_a_worktree_that_git_has_locked_is_not_removed_either(base: Path, shape: str) -> None:
    root = new_root(base)
    [run] = make_old_project(root, [shape])
    inside = root / ".builders" / "0001" if shape == "builder" else make_builder(root, run)
    sh(root, "worktree", "lock", str(inside))
    said = codev(root, "--adopt", "--clean", code=int(shape == "builder"))
    assert ".builders/0001: left alone: " in said
    assert "git worktree unlock .builders/0001" in said
    assert (inside / "work.py").read_text() == "changed\n"


def test_a_worktree_that_cannot_be_moved_after_all_keeps_its_branch(base: Path) -> None:
    root = new_root(base)
    [run] = make_old_project(root, ["builder"])
    sh(root, "worktree", "lock", ".builders/0001")
    where = find_project(str(root))
    refs = sh(root, "for-each-ref")
    plan = plan_migration(where, MigrationChoice(adopt=True))
    decision = plan.decisions[0]
    [old] = list_old_worktrees(str(root), {"0001": run})
    decision = replace(decision, outcome="paused", worktree=replace(old, protocol="spider"))
    failed = Migrator(where).carry_out_plan(MigrationPlan((decision,)), clean=False)
    assert "cannot move a locked working tree" in failed[run]
    assert sh(root, "for-each-ref") == refs
    assert list(list_records(where)) == []
    assert not (root / "codev" / "projects").exists()


@pytest.mark.parametrize("shape", ["status-implement", "builder"])
def test_the_status_of_a_project_that_goes_on_is_no_file_of_the_repository_any_more(
    base: Path, shape: str
) -> None:
    """Porch draws it again and again: the checkout never was clean, and nothing could be merged."""
    root = new_root(base)
    [run] = make_old_project(root, [shape])
    path = f"codev/projects/{run}/status.yaml"
    if shape == "builder":
        commit(root / ".builders" / "0001", {path: AHEAD})
        (root / ".builders" / "0001" / path).write_text(f"{AHEAD}# by hand\n")
    migrate_twice(root, code=0)
    assert (root / path).exists()
    commit(root, {"other.txt": "x\n"})
    assert sh(root, "ls-files", path) == ""
    if shape == "builder":
        inside = root / "worktrees" / f"spider_0001_{run[5:]}"
        assert sh(inside, "ls-files", path) == ""
        assert sh(inside, "diff", "--name-only", "HEAD", "--", path) == ""
        copies = (root / "codev" / "projects" / run).glob("status.adopted-*.yaml")
        assert any(copy.read_text().endswith("# by hand\n") for copy in copies)
    commands.run("porch", ["resume", "1", "--no-claude", "--once"], root, os.environ)
    assert sh(root, "status", "--porcelain", "--", "codev") == ""


def test_a_migrated_project_goes_on_in_its_worktree_to_its_end_and_is_merged(base: Path) -> None:
    """Both branches had changed the status, so the merge was a conflict for ever."""
    root = new_root(base)
    [run] = make_old_project(root, ["builder"])
    path, status = f"codev/projects/{run}/status.yaml", "id: '0001'\nprotocol: house\nphase: "
    commit(root, {path: f"{status}specify\n", "codev/config.toml": '[commands]\nbuild = "true"\n'})
    inside = root / ".builders" / "0001"
    commit(inside, {path: f"{status}implement\n"})
    migrate_twice(root, code=0)
    commit(root, {})
    for words in (["resume", "1", "--no-claude"], ["finish", "1", "--merge"]):
        done = commands.run("porch", words, root, os.environ)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (root / "work.py").read_text() == "changed\n"
    assert sh(root, "ls-files", "codev/projects").splitlines() == [
        f"codev/projects/{run}/plan.md",
        f"codev/projects/{run}/spec.md",
    ]
    assert sh(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("names", [("auth", "login"), ("auth",)])
def test_statuses_in_directories_of_other_names_are_not_passed_over(
    base: Path, names: tuple[str, ...]
) -> None:
    """Of one directory the name counts; of two nobody knows which one is the project's."""
    status = "id: '0001'\nprotocol: spider\nphase: implement\n"
    root = commit(
        new_root(base),
        {
            "codev/specs/0001-user-auth.md": "# Auth\n",
            **{f"codev/projects/0001-{name}/status.yaml": status for name in names},
        },
    )
    [project] = migrate_twice(root, code=int(len(names) > 1))["projects"]
    if len(names) == 1:
        assert (project["run"], project["state"]) == ("0001-auth", "implement")
    else:
        assert project["conflict"] == (
            "codev/projects/0001-auth and codev/projects/0001-login have a status of this number"
        )


SHARED_STATUS = (
    "id: '{id}'\nprotocol: shared\nphase: plan\ngates: {{spec-approval: {{status: approved}}}}\n"
)


def shared_project(root: Path, **more: str) -> Path:
    """One project of a protocol that keeps its documents where the old layout has them."""
    home, docs = "codev/protocols/shared", ("codev/specs/0001-a.md", "codev/plans/0001-a.md")
    files = {
        f"{home}/protocol.json": json.dumps(SHARED),
        f"{home}/prompts/write.md": "Write.\n",
        "codev/projects/0001-a/status.yaml": SHARED_STATUS.format(id="0001"),
        **dict.fromkeys(docs, "# A\n"),
        **more,
    }
    return commit(root, files)


def test_documents_go_where_the_protocol_of_the_run_looks_for_them(base: Path) -> None:
    """They went to the directory of the project, and the next turn wrote a second specification."""
    root = shared_project(new_root(base))
    [project] = migrate_twice(root, code=0)["projects"]
    assert project["files"] == {"codev/plans/0001-a.md": "codev/plans/a.md"}
    assert "codev/specs/0001-a.md stays: shared looks for it there" in project["notes"]
    assert (root / "codev/specs/0001-a.md").exists()
    assert not (root / "codev/projects/0001-a/spec.md").exists()


def test_a_run_keeps_its_documents_where_its_protocol_looks_for_them(base: Path) -> None:
    root = shared_project(new_root(base))
    codev(root, "--adopt", code=0)
    assert "there is nothing of the old shape here" in codev(root, code=0)
    assert (root / "codev/specs/0001-a.md").exists()


def test_no_other_document_is_replaced_where_the_protocol_looks(base: Path) -> None:
    root = shared_project(new_root(base), **{"codev/plans/a.md": "# Newer\n"})
    [project] = migrate_twice(root, code=1)["projects"]
    assert project["conflict"] == "codev/plans/a.md is there with other content"


def test_documents_in_a_worktree_go_where_the_protocol_looks_too(base: Path) -> None:
    root = shared_project(new_root(base))
    inside = root / ".builders" / "0001"
    sh(root, "worktree", "add", "-q", "-b", "builder/0001-a", str(inside))
    migrate_twice(root, code=0)
    moved = root / "worktrees" / "shared_0001_a" / "codev"
    assert (moved / "specs/0001-a.md").exists()
    assert (moved / "plans/a.md").exists()
    assert not (moved / "plans/0001-a.md").exists()
