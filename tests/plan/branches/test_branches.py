"""What agents ask of git, in real repositories, with a real remote and a `gh` of the test."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from porch.errors import EXIT_FAILED, EXIT_INPUT, EXIT_OUTSIDE, PorchError
from porch.git import gh_command
from porch.plan import branches
from porch.plan.branches import branch_names
from porch.store.where import ProjectPaths, find_project
from tests.repositories import at_home, make_repository, sh

Told = dict[str, Any]
FEATURE = "feat/x"
URL = "https://example.org/pull/7"
GH = """#!/bin/sh
room={room}
printf '%s\\n' "$@" >> "$room/argv"
echo "$GIT_TERMINAL_PROMPT$GH_PROMPT_DISABLED" >> "$room/quiet"
. "$room/$2"
"""
NONE_OPEN = 'echo "no pull requests found for branch" >&2; exit 1'
MADE = f'cat > "$room/body"; echo "Creating pull request"; echo {URL}'


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on a feature branch that is one commit ahead of main."""
    at_home(tmp_path / "home", monkeypatch)
    monkeypatch.delenv(gh_command.VARIABLE, raising=False)
    place = make_repository(tmp_path / "repo", {"a.txt": "one\n"}, FEATURE)
    write(place, "work.txt", "1\n2\n")
    return place


def write(place: Path, name: str, text: str) -> str:
    (place / name).write_text(text)
    sh(place, "add", "-A")
    sh(place, "commit", "-qm", f"write {name}")
    return sh(place, "rev-parse", "HEAD")


@pytest.fixture
def where(repo: Path) -> ProjectPaths:
    return find_project(str(repo))


@pytest.fixture
def remote(repo: Path, tmp_path: Path) -> Path:
    place = tmp_path / "remote.git"
    sh(tmp_path, "init", "-q", "--bare", str(place))
    sh(repo, "remote", "add", "origin", str(place))
    return place


class Gh:
    """A `gh` that does what the test says, and tells how it was called."""

    def __init__(self, room: Path):
        self.room = room

    def says(self, view: str = NONE_OPEN, create: str = MADE) -> None:
        (self.room / "view").write_text(view)
        (self.room / "create").write_text(create)

    @property
    def argv(self) -> list[str]:
        file = self.room / "argv"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gh:
    room = tmp_path / "gh room"
    (room / "bin").mkdir(parents=True)
    (room / "bin/gh").write_text(GH.format(room=f"'{room}'"))
    (room / "bin/gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{room / 'bin'}:{os.environ['PATH']}")
    made = Gh(room)
    made.says()
    return made


def fails(call: Callable[[], object], code: str, exit_code: int) -> str:
    with pytest.raises(PorchError) as caught:
        call()
    first = caught.value.findings[0]
    assert (first.code, caught.value.exit_code) == (code, exit_code), first
    assert first.fix
    return first.message


def verbs(where: ProjectPaths) -> list[Callable[[], object]]:
    return [
        lambda: branches.get_base_branch(where),
        lambda: branches.is_base_branch(where),
        lambda: branches.diff_base(where, where.workspace),
        lambda: branches.checkout_base(where),
        lambda: branches.create_pr(where, "t", "b"),
        lambda: branches.cleanup_worktrees(where),
    ]


@pytest.mark.parametrize("verb", range(6))
def test_on_no_branch_nothing_is_done(repo: Path, where: ProjectPaths, verb: int) -> None:
    sh(repo, "switch", "-q", "--detach")
    fails(verbs(where)[verb], "no-branch", EXIT_FAILED)


@pytest.mark.parametrize("verb", range(6))
@pytest.mark.parametrize("kind", ["plain", "bare"])
def test_outside_of_a_checkout_nothing_is_done(
    repo: Path, tmp_path: Path, verb: int, kind: str
) -> None:
    sh(tmp_path, "init", "-q", "--bare", "bare")
    (tmp_path / "plain").mkdir()
    fails(verbs(find_project(str(tmp_path / kind)))[verb], "no-repository", EXIT_INPUT)


# The base


def test_the_base_is_told_with_where_it_came_from(
    repo: Path, where: ProjectPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"branch": "main", "source": "detected", "exists": True, "note": ""}
    assert to_builtins(branches.get_base_branch(where)) == known
    monkeypatch.setenv("BASE_BRANCH", FEATURE)
    told = to_builtins(branches.get_base_branch(where))
    assert (told["branch"], told["source"]) == (FEATURE, "environment")
    monkeypatch.setenv("BASE_BRANCH", "gone")
    told = to_builtins(branches.get_base_branch(where))
    assert (told["branch"], told["source"]) == ("main", "detected")
    assert "'gone'" in told["note"]


def test_whoever_works_with_another_base_than_was_named_is_told_so(
    where: ProjectPaths, remote: Path, gh: Gh, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert branches.diff_base(where, where.workspace).note == ""
    monkeypatch.setenv("BASE_BRANCH", "gone")
    said = "BASE_BRANCH names 'gone', which is not a branch here"
    assert branches.is_base_branch(where).note == said
    assert branches.diff_base(where, where.workspace).note == said
    Path(where.workspace, "left.txt").write_text("uncommitted\n")
    made = to_builtins(branches.create_pr(where, "t", "b"))
    assert made["base_branch"] == "main"
    assert made["note"] == f"{said}; 1 uncommitted files are not part of it"


def test_we_are_on_the_base_or_not(repo: Path, where: ProjectPaths) -> None:
    told = {"is_base": False, "current_branch": FEATURE, "base_branch": "main", "is_direct": False}
    told["note"] = ""
    assert to_builtins(branches.is_base_branch(where)) == told
    sh(repo, "switch", "-q", "main")
    told |= {"is_base": True, "current_branch": "main", "is_direct": True}
    assert to_builtins(branches.is_base_branch(where)) == told


@pytest.mark.req("E-026")
def test_the_difference_of_a_worktree_has_all_of_its_work(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "one"
    sh(repo, "worktree", "add", "-q", "-b", "feat/x--implementation-1", str(place))
    (place / "sub").mkdir()
    write(place, "sub/done.txt", "1\n")
    (place / "sub/new.txt").write_text("1\n2\n3\n")
    told = to_builtins(branches.diff_base(find_project(str(place)), str(place / "sub")))
    rows = {row["path"]: (row["added"], row["deleted"]) for row in told["changed_files"]}
    assert rows == {"sub/done.txt": (1, 0), "sub/new.txt": (3, 0), "work.txt": (2, 0)}
    assert (told["base_branch"], told["current_branch"]) == ("main", "feat/x--implementation-1")
    assert (told["added"], told["deleted"], told["path"], told["truncated"]) == (6, 0, "", False)
    assert "+++ b/sub/new.txt" in told["diff"]


@pytest.mark.req("E-026")
def test_the_sums_are_those_of_all_files_and_one_without_lines_adds_nothing(
    repo: Path, where: ProjectPaths
) -> None:
    write(repo, "kept.txt", "1\n2\n3\n")
    (repo / "kept.txt").write_text("1\n4\n")
    (repo / "a.txt").write_text("")
    (repo / "picture.bin").write_bytes(b"\x00\x01\n")
    told = to_builtins(branches.diff_base(where, str(repo)))
    rows = {row["path"]: (row["added"], row["deleted"]) for row in told["changed_files"]}
    assert rows["picture.bin"] == (None, None)
    assert (told["added"], told["deleted"]) == tuple(
        sum(numbers[side] or 0 for numbers in rows.values()) for side in (0, 1)
    )
    assert told["added"] == 4
    assert told["deleted"] == 1


def test_the_difference_can_be_narrowed_and_cut(repo: Path, where: ProjectPaths) -> None:
    (repo / "sub").mkdir()
    (repo / "sub/new.txt").write_text("1\n" * 100)
    told = to_builtins(branches.diff_base(where, str(repo / "sub"), path="new.txt", cap=150))
    assert [row["path"] for row in told["changed_files"]] == ["sub/new.txt"]
    assert (told["path"], told["truncated"], told["truncated_files"]) == (
        "sub/new.txt",
        True,
        ["sub/new.txt"],
    )
    assert told["bytes_shown"] == len(told["diff"].encode()) <= 150 < told["bytes_total"]
    both = to_builtins(branches.diff_base(where, str(repo), path="sub", summary=True))
    assert (both["diff"], len(both["changed_files"])) == ("", 1)
    fails(
        lambda: branches.diff_base(where, str(repo), path="../x"),
        "outside-path",
        EXIT_INPUT,
    )
    fails(lambda: branches.diff_base(where, str(repo), cap=-1), "usage", EXIT_INPUT)


# Back to the base


def test_the_base_is_checked_out(repo: Path, where: ProjectPaths) -> None:
    (repo / "untouched.txt").write_text("mine\n")
    told = {"success": True, "branch": "main", "previous_branch": FEATURE}
    assert to_builtins(branches.checkout_base(where)) == told
    assert sh(repo, "branch", "--show-current") == "main"
    assert (repo / "untouched.txt").read_text() == "mine\n"
    assert to_builtins(branches.checkout_base(where)) == told | {"previous_branch": "main"}


def test_changes_that_would_be_overwritten_refuse(repo: Path, where: ProjectPaths) -> None:
    (repo / "work.txt").write_text("changed\n")
    said = fails(lambda: branches.checkout_base(where), "checkout-failed", EXIT_FAILED)
    assert "work.txt" in said
    assert sh(repo, "branch", "--show-current") == FEATURE
    assert (repo / "work.txt").read_text() == "changed\n"


def test_a_base_that_is_checked_out_elsewhere_says_where(repo: Path, tmp_path: Path) -> None:
    sh(repo, "switch", "-q", "main")
    sh(repo, "worktree", "add", "-q", str(tmp_path / "linked"), FEATURE)
    linked = find_project(str(tmp_path / "linked"))
    said = fails(lambda: branches.checkout_base(linked), "checkout-failed", EXIT_FAILED)
    assert str(repo) in said


def test_a_base_that_only_origin_has_is_made(repo: Path, tmp_path: Path) -> None:
    sh(tmp_path, "clone", "-q", "-b", FEATURE, str(repo), "clone")
    told = to_builtins(branches.checkout_base(find_project(str(tmp_path / "clone"))))
    assert told["branch"] == "main"
    assert sh(tmp_path / "clone", "rev-parse", "main") == sh(repo, "rev-parse", "main")


def test_a_base_that_is_not_there_cannot_be_checked_out(repo: Path, where: ProjectPaths) -> None:
    sh(repo, "branch", "-D", "main")
    said = fails(lambda: branches.checkout_base(where), "checkout-failed", EXIT_FAILED)
    assert "main" in said


# Pull requests


def test_a_branch_is_pushed_and_a_pull_request_made(
    repo: Path, where: ProjectPaths, remote: Path, gh: Gh
) -> None:
    body = 'Why & how: `code` $HOME\n\n- "quoted"; rm -rf /\n'
    told = to_builtins(branches.create_pr(where, " A title; $(false) ", body, draft=True))
    assert told == {
        "success": True,
        "pr_url": URL,
        "base_branch": "main",
        "head_branch": FEATURE,
        "remote": "origin",
        "created": True,
        "note": "",
    }
    assert sh(remote, "rev-parse", FEATURE) == sh(repo, "rev-parse", "HEAD")
    view = ["pr", "view", FEATURE, "--json", "url,state,headRefName"]
    made = ["--base", "main", "--head", FEATURE, "--title", "A title; $(false)"]
    assert gh.argv == [*view, "pr", "create", *made, "--body-file", "-", "--draft"]
    assert (gh.room / "body").read_text() == body
    assert (gh.room / "quiet").read_text() == "01\n01\n"


def test_an_open_pull_request_is_found_and_gets_the_new_commits(
    repo: Path, where: ProjectPaths, remote: Path, gh: Gh
) -> None:
    gh.says(view=f'echo \'{{"url": "{URL}", "state": "OPEN", "headRefName": "{FEATURE}"}}\'')
    (repo / "left.txt").write_text("uncommitted\n")
    told = to_builtins(branches.create_pr(where, "t", "b"))
    assert (told["pr_url"], told["created"]) == (URL, False)
    assert "already open" in told["note"]
    assert "1 uncommitted" in told["note"]
    assert "create" not in gh.argv
    assert sh(remote, "rev-parse", FEATURE) == sh(repo, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    "view",
    [
        '{"url": "https://example.org/1", "state": "MERGED", "headRefName": "feat/x"}',
        '{"url": "https://example.org/1", "state": "OPEN", "headRefName": "another"}',
        "not json",
        "[]",
    ],
)
def test_what_is_not_open_for_this_branch_is_not_taken_for_it(
    where: ProjectPaths, remote: Path, gh: Gh, view: str
) -> None:
    gh.says(view=f"echo '{view}'")
    told = to_builtins(branches.create_pr(where, "t", "b"))
    assert (told["pr_url"], told["created"]) == (URL, True)


def test_one_that_somebody_made_meanwhile_is_taken(
    where: ProjectPaths, remote: Path, gh: Gh
) -> None:
    first = f'if [ -f "$room/made" ]; then echo \'{{"url": "{URL}", "state": "OPEN"}}\'; else'
    gh.says(view=f"{first} {NONE_OPEN}; fi", create='touch "$room/made"; exit 1')
    assert branches.create_pr(where, "t", "b").pr_url == URL


@pytest.mark.parametrize("create", ["echo oh no >&2; exit 1", "echo oh no"])
def test_a_pull_request_that_is_not_made_is_said(
    where: ProjectPaths, remote: Path, gh: Gh, create: str
) -> None:
    gh.says(create=create)
    said = fails(lambda: branches.create_pr(where, "t", "b"), "pr-create-failed", EXIT_OUTSIDE)
    assert "oh no" in said


def test_without_gh_nothing_is_pushed(
    where: ProjectPaths, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = tmp_path / "only"
    only.mkdir()
    (only / "git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(only))
    fails(lambda: branches.create_pr(where, "t", "b"), "gh-not-found", EXIT_OUTSIDE)
    assert sh(remote, "for-each-ref") == ""


@pytest.mark.parametrize(
    "view", ["exit 4", "echo 'To get started, run: gh auth login' >&2; exit 1"]
)
def test_without_a_login_nothing_is_pushed(
    where: ProjectPaths, remote: Path, gh: Gh, view: str
) -> None:
    gh.says(view=view)
    fails(
        lambda: branches.create_pr(where, "t", "b"),
        "gh-not-authenticated",
        EXIT_OUTSIDE,
    )
    assert sh(remote, "for-each-ref") == ""


def test_a_push_that_is_refused_makes_no_pull_request(
    repo: Path, where: ProjectPaths, remote: Path, gh: Gh
) -> None:
    sh(repo, "push", "-q", "origin", FEATURE)
    sh(repo, "commit", "-q", "--amend", "-m", "another history")
    said = fails(lambda: branches.create_pr(where, "t", "b"), "push-failed", EXIT_OUTSIDE)
    assert "rejected" in said
    assert "create" not in gh.argv


def test_without_a_remote_nothing_is_asked(where: ProjectPaths, gh: Gh) -> None:
    fails(lambda: branches.create_pr(where, "t", "b"), "no-remote", EXIT_FAILED)
    assert gh.argv == []


def test_the_remote_of_the_upstream_is_used_and_its_branch_is_not_touched(
    repo: Path, where: ProjectPaths, remote: Path, gh: Gh, tmp_path: Path
) -> None:
    sh(tmp_path, "init", "-q", "--bare", "fork.git")
    sh(repo, "remote", "add", "fork", str(tmp_path / "fork.git"))
    sh(repo, "push", "-q", "fork", "main")
    sh(repo, "branch", "-q", "--set-upstream-to=fork/main")
    assert branches.create_pr(where, "t", "b").remote == "fork"
    fork = tmp_path / "fork.git"
    assert sh(fork, "rev-parse", "main") == sh(repo, "rev-parse", "main")
    assert sh(fork, "rev-parse", FEATURE) == sh(repo, "rev-parse", FEATURE)
    assert sh(remote, "for-each-ref") == ""


def test_a_branch_that_follows_one_of_our_own_goes_to_origin(
    repo: Path, where: ProjectPaths, remote: Path, gh: Gh
) -> None:
    sh(repo, "branch", "-q", "--set-upstream-to=main")
    assert branches.create_pr(where, "t", "b").remote == "origin"


def test_the_base_itself_and_a_blank_title_are_refused(
    repo: Path, where: ProjectPaths, remote: Path, gh: Gh
) -> None:
    fails(lambda: branches.create_pr(where, " ", "b"), "usage", EXIT_INPUT)
    sh(repo, "switch", "-q", "main")
    fails(lambda: branches.create_pr(where, "t", "b"), "on-base-branch", EXIT_FAILED)
    assert gh.argv == []


def test_a_gh_that_hangs_is_ended_with_what_it_started(
    where: ProjectPaths, remote: Path, gh: Gh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVOY_TIMEOUT_MS", "400")
    gh.says(create="sleep 60 & sleep 60")
    began = time.monotonic()
    said = fails(lambda: branches.create_pr(where, "t", "b"), "pr-create-failed", EXIT_OUTSIDE)
    assert "0.4 s" in said
    assert time.monotonic() - began < 20


def test_a_push_that_hangs_is_ended(
    repo: Path, where: ProjectPaths, gh: Gh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 5\n")
    slow.chmod(0o755)
    monkeypatch.setenv("ENVOY_TIMEOUT_MS", "400")
    monkeypatch.setenv("GIT_SSH_COMMAND", str(slow))
    sh(repo, "remote", "add", "origin", "ssh://example.invalid/x.git")
    said = fails(lambda: branches.create_pr(where, "t", "b"), "push-failed", EXIT_OUTSIDE)
    assert "0.4 s" in said


@pytest.mark.parametrize("given, seconds", [("1500", 1.5), ("0", 120), ("-1", 120), ("x", 120)])
def test_a_time_that_is_none_means_the_usual_one(given: str, seconds: float) -> None:
    assert gh_command.network_timeout_s({"ENVOY_TIMEOUT_MS": given}) == seconds
    assert gh_command.network_timeout_s({}) == 120


# Worktrees that are left


def prompt(repo: Path, number: int, *files: str, feature: str = FEATURE) -> Path:
    """A worktree of a prompt, with a commit for each of the files."""
    branch = branch_names.branch_of(feature, number)
    place = repo.parent / f"prompt {number}"
    sh(repo, "worktree", "add", "-q", "-b", branch, str(place), FEATURE)
    for name in files:
        write(place, name, f"{number}\n")
    return place


def name(number: int) -> str:
    return f"{FEATURE}--implementation-{number}"


def merge(repo: Path, number: int) -> None:
    sh(repo, "merge", "-q", "--no-ff", "-m", "merge", name(number))


def sorted_out(told: Told) -> dict[str, list[str]]:
    lists = ("cleaned", "orphaned", "kept", "errors")
    return {each: [row["branch"] for row in told[each]] for each in lists}


def reasons(told: Told) -> dict[str, str]:
    return {row["branch"]: row["reason"] for row in told["kept"]}


def heads(repo: Path) -> list[str]:
    return sh(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()


def test_merged_ones_go_and_are_kept_in_the_archive(repo: Path, where: ProjectPaths) -> None:
    place = prompt(repo, 1, "one.txt")
    head = sh(place, "rev-parse", "HEAD")
    merge(repo, 1)
    told = to_builtins(branches.cleanup_worktrees(where))
    assert told == {
        "cleaned": [{"branch": name(1), "path": str(place), "reason": "merged"}],
        "orphaned": [],
        "kept": [],
        "errors": [],
        "dry_run": False,
    }
    assert not place.exists()
    assert heads(repo) == [FEATURE, "main"]
    assert sh(repo, "rev-parse", f"refs/porch/archive/{name(1)}") == head
    assert sorted_out(to_builtins(branches.cleanup_worktrees(where)))["cleaned"] == []


def test_a_dry_run_says_the_same_and_does_nothing(repo: Path, where: ProjectPaths) -> None:
    place = prompt(repo, 1, "one.txt")
    merge(repo, 1)
    told = to_builtins(branches.cleanup_worktrees(where, dry_run=True))
    assert (sorted_out(told)["cleaned"], told["dry_run"]) == ([name(1)], True)
    assert place.is_dir()
    assert name(1) in heads(repo)
    assert sh(repo, "for-each-ref", "refs/porch") == ""
    assert sorted_out(to_builtins(branches.cleanup_worktrees(where)))["cleaned"] == [name(1)]


def test_squashed_and_copied_ones_go(repo: Path, where: ProjectPaths) -> None:
    prompt(repo, 1, "one.txt", "two.txt")
    prompt(repo, 2, "three.txt")
    sh(repo, "merge", "-q", "--squash", name(1))
    sh(repo, "commit", "-qm", "squashed")
    sh(repo, "cherry-pick", name(2))
    assert sorted_out(to_builtins(branches.cleanup_worktrees(where)))["cleaned"] == [
        name(1),
        name(2),
    ]


def test_all_others_stay_and_say_why(repo: Path, where: ProjectPaths) -> None:
    prompt(repo, 1, "one.txt")
    prompt(repo, 2)
    dirty, locked = prompt(repo, 3, "three.txt"), prompt(repo, 4, "four.txt")
    merging = prompt(repo, 5, "five.txt")
    for number in (3, 4, 5):
        merge(repo, number)
    for number in range(7):
        (dirty / f"half{number}.txt").write_text("half\n")
    sh(repo, "worktree", "lock", str(locked))
    begun = sh(merging, "rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD")
    Path(begun).write_text(sh(repo, "rev-parse", "main") + "\n")
    before = sh(repo, "for-each-ref")
    told = to_builtins(branches.cleanup_worktrees(where, force_orphans=True))
    assert sorted_out(told)["cleaned"] == []
    assert reasons(told) == {
        name(1): f"it is not merged into {FEATURE} (commits missing there: 1)",
        name(2): "nothing was committed on it yet",
        name(3): "uncommitted changes in half0.txt, half1.txt, half2.txt, half3.txt, half4.txt"
        " and 2 more",
        name(4): "it is locked",
        name(5): "a merge is in progress in it",
    }
    assert (sh(repo, "for-each-ref"), len(list(dirty.iterdir()))) == (before, 7 + 4)


def test_the_one_we_stand_in_stays(repo: Path) -> None:
    place = prompt(repo, 1, "one.txt")
    merge(repo, 1)
    told = to_builtins(branches.cleanup_worktrees(find_project(str(place))))
    assert reasons(told) == {name(1): "it is the current worktree"}


def test_worktrees_of_other_branches_are_nobodys_business(repo: Path, where: ProjectPaths) -> None:
    sh(repo, "worktree", "add", "-q", "-b", "feat/other", str(repo.parent / "other"))
    sh(repo, "worktree", "add", "-q", "--detach", str(repo.parent / "detached"))
    assert sorted_out(to_builtins(branches.cleanup_worktrees(where, force_orphans=True))) == {
        "cleaned": [],
        "orphaned": [],
        "kept": [],
        "errors": [],
    }


def test_orphans_are_listed_and_go_only_by_force(repo: Path, where: ProjectPaths) -> None:
    place = prompt(repo, 1, "one.txt", feature="feat/gone")
    dirty = prompt(repo, 2, "two.txt", feature="feat/gone")
    (dirty / "half.txt").write_text("half\n")
    head = sh(place, "rev-parse", "HEAD")
    first, second = "feat/gone--implementation-1", "feat/gone--implementation-2"
    told = to_builtins(branches.cleanup_worktrees(where))
    assert (sorted_out(told)["orphaned"], sorted_out(told)["cleaned"]) == ([first], [])
    assert reasons(told) == {
        second: "uncommitted changes in half.txt; its feature branch feat/gone is gone"
    }
    row = told["orphaned"][0]
    assert (row["path"], row["last_commit"]["commit"]) == (str(place), head)
    assert row["last_commit"]["subject"] == "write one.txt"
    assert row["last_commit"]["date"].startswith("20")
    trial = to_builtins(branches.cleanup_worktrees(where, dry_run=True, force_orphans=True))
    assert (sorted_out(trial)["cleaned"], place.is_dir()) == ([first], True)
    told = to_builtins(branches.cleanup_worktrees(where, force_orphans=True))
    assert told["cleaned"] == [{"branch": first, "path": str(place), "reason": "orphaned"}]
    assert (place.exists(), dirty.exists(), first in heads(repo)) == (False, True, False)
    assert sh(repo, "rev-parse", f"refs/porch/archive/{first}") == head


def test_a_merged_one_whose_directory_is_gone_goes(repo: Path, where: ProjectPaths) -> None:
    place = prompt(repo, 1, "one.txt")
    merge(repo, 1)
    shutil.rmtree(place)
    assert sorted_out(to_builtins(branches.cleanup_worktrees(where)))["cleaned"] == [name(1)]
    assert str(place) not in sh(repo, "worktree", "list")


def test_one_failure_does_not_stop_the_others(repo: Path, where: ProjectPaths) -> None:
    broken, other = prompt(repo, 1, "one.txt"), prompt(repo, 2, "two.txt")
    for number in (1, 2):
        merge(repo, number)
    (broken / ".git").write_text("gitdir: /nowhere\n")
    told = to_builtins(branches.cleanup_worktrees(where))
    assert sorted_out(told)["cleaned"] == [name(2)]
    assert not other.exists()
    (row,) = told["errors"]
    assert (row["branch"], row["path"], broken.is_dir()) == (name(1), str(broken), True)
    assert row["message"]
    assert row["suggestion"]


def test_names_that_are_no_text_can_be_told(repo: Path, where: ProjectPaths) -> None:
    odd = os.fsdecode(b"caf\xe9--implementation-1")
    sh(repo, "worktree", "add", "-q", "-b", odd, str(repo.parent / "odd"))
    told = to_builtins(branches.cleanup_worktrees(where))
    assert [row["branch"] for row in told["orphaned"]] == ["caf\\xe9--implementation-1"]
