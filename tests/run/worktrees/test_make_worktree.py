"""One worktree a run, in ordinary and in awkward repositories: made whole, or not at all."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from porch.errors import BusyError, OutsideError, PorchError, UsageError
from porch.fleet.drivers.leftovers import take_back_unbegun
from porch.git import worktrees
from porch.run.definitions.subject_names import RunSubject
from porch.run.engine.run_places import mark_of
from porch.run.worktrees.make import hold_run_worktree
from porch.run.worktrees.names import make_worktree_name
from porch.store.where import ProjectPaths, find_project
from porch.store.worktree_records import FIRST_PORT, list_records, read_record
from porch.system import process_marks
from porch.testing import kill_python_at
from tests.git_calls import GIT
from tests.repositories import make_repository, sh
from tests.trust import trust_settings

ABOUT = RunSubject(
    "0073-user-auth", "0073", "user-auth", "codev/projects/0073-user-auth", "status.yaml"
)
NAME = "spider_0073_user-auth"
KILLED = (
    "import sys; from porch.run.worktrees.make import hold_run_worktree;"
    "from porch.run.definitions.subject_names import RunSubject;"
    "from porch.store.where import find_project;"
    f"about = RunSubject({ABOUT.run!r}, '0073', 'user-auth', {ABOUT.project_dir!r}, '');"
    "hold_run_worktree(find_project(sys.argv[1]), 'spider', about, print).__enter__()"
)
pytestmark = pytest.mark.usefixtures("git_home")


def make(repo: Path, about: RunSubject = ABOUT, said: list[str] | None = None) -> Path:
    told = said if said is not None else []
    with hold_run_worktree(find_project(str(repo)), "spider", about, told.append) as where:
        pass
    return Path(where.workspace)


def configure(repo: Path, text: str) -> None:
    (repo / "codev").mkdir(exist_ok=True)
    (repo / "codev" / "config.toml").write_text(text)
    trust_settings(repo)
    sh(repo, "add", "codev/config.toml")
    sh(repo, "commit", "-qm", "settings")


def traces(repo: Path) -> tuple[list[str], list[str], list[str]]:
    """Branches, worktrees and records: everything that a worktree leaves behind."""
    branches = sh(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()
    known = [os.path.basename(w.path) for w in worktrees.list_worktrees(str(repo))[1:]]
    place = repo / "worktrees"
    left = sorted(os.listdir(place)) if place.exists() else []
    records = [r.name for r in list_records(find_project(str(repo)))]
    return branches, sorted({*known, *left}), records


NOTHING: tuple[list[str], ...] = (["main"], [], [])
WHOLE = (["main", NAME], [NAME], [NAME])


@pytest.mark.req("P-018", "P-160")
def test_a_worktree_is_made_on_a_branch_of_its_name_at_the_head(repo: Path) -> None:
    place = make(repo)
    assert place == repo / "worktrees" / NAME
    assert sh(place, "symbolic-ref", "--short", "HEAD") == NAME
    assert sh(place, "rev-parse", "HEAD") == sh(repo, "rev-parse", "main")
    assert sh(repo, "status", "--porcelain") == ""
    assert traces(repo) == WHOLE


@pytest.mark.req("P-019", "P-020", "P-021")
@pytest.mark.parametrize(
    "protocol, run, id_, title, name",
    [
        ("spider", "0073-user-auth", "0073", "user-auth", "spider_0073_user-auth"),
        ("mine", "7-x", "7", "x", "mine_7_x"),
        ("spider", "1-a.lock", "1", "a.lock", "spider_1_a-lock"),
        ("spider", "1-a.", "1", "a.", "spider_1_a"),
        ("spider", "1-ünï-cödé", "1", "ünï-cödé", "spider_1_ünï-cödé"),
    ],
)
def test_the_name_is_made_of_protocol_id_and_title(
    protocol: str, run: str, id_: str, title: str, name: str
) -> None:
    about = RunSubject(run, id_, title, f"codev/projects/{run}", "")
    assert make_worktree_name(protocol, about) == name


@pytest.mark.req("P-020", "P-021")
@pytest.mark.parametrize("run", ["tick_0073_add-feature", "bugfix_142"])
def test_an_execution_is_called_like_its_run(run: str) -> None:
    about = RunSubject(run, "1", "x", f"codev/executions/{run}", "")
    assert make_worktree_name(run.partition("_")[0], about) == run


def test_a_long_name_is_cut_and_still_tells_two_runs_apart(repo: Path) -> None:
    one, two = (RunSubject("r" + e, "1", "ü" * 80 + e, "codev/projects/x", "") for e in "ab")
    names = [make_worktree_name("spider", about) for about in (one, two)]
    assert len(set(names)) == 2
    assert all(len(name.encode()) <= 120 for name in names)
    make(repo, one)


def test_a_worktree_that_no_run_has_used_is_used(repo: Path) -> None:
    made = make(repo)
    assert make(repo) == made
    assert traces(repo) == WHOLE


def test_one_that_no_run_has_used_begins_again_at_the_new_head(repo: Path) -> None:
    make(repo)
    sh(repo, "commit", "-q", "--allow-empty", "-m", "second")
    assert sh(make(repo), "rev-parse", "HEAD") == sh(repo, "rev-parse", "main")


# What stands in the way.


def branch_with_a_commit(repo: Path) -> None:
    sh(repo, "switch", "-qc", NAME)
    sh(repo, "commit", "-q", "--allow-empty", "-m", "a person's work")
    sh(repo, "switch", "-q", "main")


def branch_checked_out_here(repo: Path) -> None:
    sh(repo, "switch", "-qc", NAME)


def branch_checked_out_elsewhere(repo: Path) -> None:
    sh(repo, "worktree", "add", "-q", "-b", NAME, str(repo.parent / "elsewhere"))


def branch_below(repo: Path) -> None:
    sh(repo, "branch", f"{NAME}/part")


def packed_branch(repo: Path) -> None:
    sh(repo, "branch", NAME)
    sh(repo, "pack-refs", "--all")


@pytest.mark.parametrize(
    "obstacle",
    [
        branch_with_a_commit,
        branch_checked_out_here,
        branch_checked_out_elsewhere,
        branch_below,
        packed_branch,
    ],
)
def test_r7_a_branch_that_exists_is_refused_and_left_alone(
    repo: Path, obstacle: Callable[[Path], None]
) -> None:
    obstacle(repo)
    before = sh(repo, "for-each-ref"), sh(repo, "worktree", "list")
    with pytest.raises(UsageError, match="exists already") as caught:
        make(repo)
    assert (sh(repo, "for-each-ref"), sh(repo, "worktree", "list")) == before
    assert caught.value.findings[0].code == "branch-exists"


def test_the_way_out_of_an_existing_branch_works(repo: Path) -> None:
    branch_with_a_commit(repo)
    with pytest.raises(UsageError) as caught:
        make(repo)
    way = caught.value.findings[0].fix.removeprefix("rename it: ").partition(";")[0]
    sh(repo, *way.split()[1:])
    make(repo)
    assert sh(repo, "log", "-1", "--format=%s", f"{NAME}-old") == "a person's work"


def test_somebody_elses_directory_is_refused_and_left_alone(repo: Path) -> None:
    (repo / "worktrees" / NAME).mkdir(parents=True)
    (repo / "worktrees" / NAME / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        make(repo)
    assert (repo / "worktrees" / NAME / "notes.txt").read_text() == "mine"
    assert traces(repo)[0] == ["main"]


def test_somebody_elses_worktree_at_the_place_is_refused(repo: Path) -> None:
    sh(repo, "worktree", "add", "-q", "--detach", str(repo / "worktrees" / NAME))
    with pytest.raises(UsageError, match="is a worktree already"):
        make(repo)


def test_a_worktree_that_was_deleted_by_hand_is_made_again(repo: Path) -> None:
    make(repo)
    import shutil

    shutil.rmtree(repo / "worktrees" / NAME)
    assert (make(repo) / "a.txt").exists()
    assert traces(repo) == WHOLE


def test_a_deleted_and_pruned_worktree_is_made_again(repo: Path) -> None:
    import shutil

    make(repo)
    shutil.rmtree(repo / "worktrees")
    sh(repo, "worktree", "prune")
    make(repo)
    assert traces(repo) == WHOLE


def test_work_in_a_worktree_without_a_run_is_not_removed(repo: Path) -> None:
    place = make(repo)
    (place / "new.txt").write_text("somebody's")
    sh(repo, "commit", "-q", "--allow-empty", "-m", "second")
    with pytest.raises(UsageError):
        make(repo)
    assert (place / "new.txt").read_text() == "somebody's"


# Awkward repositories.


def test_outside_git_it_is_said_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError, match="needs a git repository"):
        make(tmp_path / "plain")


def test_without_a_commit_it_is_said_what_to_do(empty: Path) -> None:
    with pytest.raises(UsageError, match="needs a commit"):
        make(empty)


def test_a_bare_repository_has_its_worktrees_beside_it(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "hall" / "repo.git"
    sh(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    place = make(bare)
    assert place == tmp_path / "hall" / "worktrees" / NAME
    inside, outside = find_project(str(place)), find_project(str(bare))
    assert (inside.state_dir, inside.base) == (outside.state_dir, outside.base)


def test_from_a_linked_worktree_it_lies_in_the_main_checkout(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    sh(repo, "worktree", "add", "-q", "-b", "other", str(other))
    sh(other, "commit", "-q", "--allow-empty", "-m", "further")
    place = make(other)
    assert place == repo / "worktrees" / NAME
    assert sh(place, "rev-parse", "HEAD") == sh(other, "rev-parse", "HEAD")


def test_a_repository_reached_through_a_link_is_the_same(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    place = make(tmp_path / "link")
    assert os.path.samefile(place, repo / "worktrees" / NAME)
    assert traces(repo) == WHOLE


@pytest.mark.parametrize("kind", ["submodule", "separate"])
def test_a_git_directory_elsewhere_is_refused(repo: Path, tmp_path: Path, kind: str) -> None:
    if kind == "submodule":
        outer = make_repository(tmp_path / "outer", {"o.txt": "o\n"})
        sh(outer, "submodule", "add", "-q", str(repo), "sub")
        place = outer / "sub"
    else:
        place = tmp_path / "apart"
        sh(tmp_path, "clone", "-q", f"--separate-git-dir={tmp_path / 'gitdir'}", str(repo), "apart")
    with pytest.raises(UsageError, match="is elsewhere"):
        make(place)
    assert not (place / "worktrees").exists()


def test_a_path_with_a_line_break_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    place = make_repository(tmp_path / "two\nlines", {"o.txt": "o\n"})
    with pytest.raises(UsageError, match="line break"):
        make(place)
    assert not (place / "worktrees").exists()
    assert not (place / ".git" / "worktrees").exists()


def test_hooks_of_the_repository_do_not_run(repo: Path) -> None:
    hook = repo / ".git" / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    make(repo)


def test_detached_and_dirty_checkouts_are_a_base_like_others(repo: Path) -> None:
    sh(repo, "switch", "-q", "--detach")
    (repo / "a.txt").write_text("dirty\n")
    said: list[str] = []
    place = make(repo, said=said)
    assert (place / "a.txt").read_text() == "one\n"
    assert said == ["1 file is not committed (a.txt); the new worktree begins without it"]


def test_documents_of_the_run_come_along_though_nobody_committed_them(repo: Path) -> None:
    for name in ("codev/projects/0073-user-auth/spec.md", "codev/specs/0073-user-auth.md"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("# Auth\n")
    (repo / "codev/projects/0073-user-auth/status.yaml").write_text("id: x\n")
    said: list[str] = []
    place = make(repo, said=said)
    assert (place / "codev/projects/0073-user-auth/spec.md").read_text() == "# Auth\n"
    assert (place / "codev/specs/0073-user-auth.md").exists()
    assert not (place / "codev/projects/0073-user-auth/status.yaml").exists()
    assert "copied to the new worktree" in said[0]


# What a fresh worktree needs.


@pytest.mark.req("P-161")
def test_files_are_copied_and_directories_linked_as_the_settings_say(repo: Path) -> None:
    (repo / ".env").write_text("KEY=1\n")
    (repo / ".env").chmod(0o600)
    (repo / "conf" / "deep").mkdir(parents=True)
    (repo / "conf" / "deep" / "x.ini").write_text("x")
    (repo / "node_modules" / "left-pad").mkdir(parents=True)
    configure(
        repo, '[worktree]\ncopy = [".env", "conf", "none*", "a.txt"]\nlink = ["node_modules"]\n'
    )
    said: list[str] = []
    place = make(repo, said=said)
    assert (place / ".env").stat().st_mode & 0o777 == 0o600
    assert (place / "conf/deep/x.ini").read_text() == "x"
    assert (place / "node_modules").is_symlink()
    assert (place / "node_modules" / "left-pad").is_dir()
    assert "note: [worktree] copy: 'none*' matches no file" in said[0]
    assert "a.txt is in the repository" in said[1]
    record = read_record(find_project(str(repo)), NAME)
    assert record is not None
    assert record.placed == (".env", "conf/deep/x.ini", "node_modules")


@pytest.mark.parametrize(
    "line", ['copy = ["../x"]', 'copy = ["/etc/hosts"]', 'link = [".git"]', 'link = ["worktrees"]']
)
def test_paths_out_of_the_project_are_refused_and_nothing_is_left(repo: Path, line: str) -> None:
    configure(repo, f"[worktree]\n{line}\n")
    with pytest.raises(UsageError, match="not a path inside the project"):
        make(repo)
    assert traces(repo) == NOTHING


def test_a_link_in_the_repository_leads_no_copy_out_of_it(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (repo / "way").symlink_to(tmp_path / "out")
    sh(repo, "add", "way")
    sh(repo, "commit", "-qm", "a link")
    (tmp_path / "out" / "new.ini").write_text("x")
    (repo / "sub").mkdir()
    configure(repo, '[worktree]\nlink = ["way/new.ini"]\n')
    said: list[str] = []
    make(repo, said=said)
    assert "way/new.ini is there already" in said[0]


def test_set_up_commands_run_in_the_worktree_with_a_port_block(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("SHOWN", "yes")
    configure(
        repo,
        '[worktree]\nsetup = ["pwd > where.log", "env > env.log"]\n[checks]\nenv = ["SHOWN"]\n',
    )
    place = make(repo)
    env = dict(line.split("=", 1) for line in (place / "env.log").read_text().splitlines())
    assert Path((place / "where.log").read_text().strip()).samefile(place)
    assert int(env["PORCH_PORT_BASE"]) >= FIRST_PORT
    assert ("MY_TOKEN" in env, env.get("SHOWN")) == (False, "yes")


def test_each_worktree_has_ports_of_its_own(repo: Path) -> None:
    for number in range(4):
        make(repo, RunSubject(f"{number}-x", str(number), "x", f"codev/projects/{number}-x", ""))
    ports = [record.port_base for record in list_records(find_project(str(repo)))]
    assert len(set(ports)) == 4


@pytest.mark.parametrize(
    "command, said",
    [
        ("echo no such package >&2; exit 3", "failed with exit code 3"),
        ("kill -9 $$", "failed with signal 9"),
        ("git switch -qc other", "is on other"),
        ("git commit -q --allow-empty -m mine", "moved the branch"),
    ],
)
def test_a_set_up_that_goes_wrong_is_taken_back(repo: Path, command: str, said: str) -> None:
    configure(repo, f"[worktree]\nsetup = ['{command}']\n")
    with pytest.raises(OutsideError, match=said):
        make(repo)
    branches, known, records = traces(repo)
    assert (known, records) == ([], [])
    assert NAME not in branches


def test_a_set_up_that_hangs_is_ended_with_all_it_started(repo: Path) -> None:
    configure(repo, '[worktree]\nsetup = ["sleep 1000 & sleep 1000"]\n[timeouts]\ncheck = 0.2\n')
    with pytest.raises(OutsideError, match=r"did not finish within 0\.2 s"):
        make(repo)
    assert traces(repo) == NOTHING
    mark = mark_of(find_project(str(repo)), ABOUT.run)
    assert process_marks.list_marked_processes(f"{mark}:") == []


def test_a_full_disk_is_said_and_taken_back(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".env").write_text("x")
    configure(repo, '[worktree]\ncopy = [".env"]\n')

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy2", full)
    with pytest.raises(PorchError, match="set up the worktree") as caught:
        make(repo)
    assert caught.value.findings[0].fix
    monkeypatch.undo()
    assert traces(repo) == NOTHING


# Crashes, and several at once.

POINTS = (
    "worktree.after-record",
    "worktree.after-add",
    "worktree.after-placed",
    "worktree.after-setup",
    "worktree.after-ready",
)


@pytest.mark.parametrize("point", POINTS)
def test_whoever_comes_after_a_crash_makes_it_whole(repo: Path, point: str) -> None:
    (repo / ".env").write_text("x")
    configure(repo, '[worktree]\ncopy = [".env"]\nsetup = ["echo x >> a.txt"]\n')
    dead = kill_python_at(point, KILLED, str(repo))
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    place = make(repo)
    assert traces(repo) == WHOLE
    assert (place / "a.txt").read_text() == "one\nx\n", "set up once"
    assert (place / ".env").exists()


def test_a_set_up_command_of_a_killed_porch_does_not_go_on(repo: Path) -> None:
    configure(repo, '[worktree]\nsetup = ["sleep 1000"]\n')
    import subprocess
    import sys

    maker = subprocess.Popen([sys.executable, "-c", KILLED, str(repo)])
    mark = mark_of(find_project(str(repo)), ABOUT.run)
    deadline = time.monotonic() + 60
    while not process_marks.list_marked_processes(f"{mark}:") and time.monotonic() < deadline:
        time.sleep(0.05)
    maker.kill()
    maker.wait()
    configure(repo, "")
    make(repo)
    assert process_marks.list_marked_processes(f"{mark}:") == []
    assert traces(repo) == WHOLE


def test_a_second_maker_of_the_same_name_is_refused(repo: Path) -> None:
    where = find_project(str(repo))
    with hold_run_worktree(where, "spider", ABOUT, print):
        lock = Path(where.state_dir) / "worktrees" / f"{NAME}.lock"
        with lock.open() as file, pytest.raises(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(BusyError, match="right now"):
            make(repo)


def test_a_worktree_that_is_being_made_is_not_taken_back(repo: Path) -> None:
    where = find_project(str(repo))
    with hold_run_worktree(where, "spider", ABOUT, print):
        assert take_back_unbegun(where) == []
    assert traces(repo) == WHOLE
    (found,) = take_back_unbegun(where)
    assert (found.name, found.is_gone) == (NAME, True)
    assert traces(repo) == NOTHING


def begin_and_fail(where: ProjectPaths) -> None:
    with hold_run_worktree(where, "spider", ABOUT, print):
        raise UsageError("the run could not begin")


def test_a_worktree_whose_run_did_not_begin_is_taken_back(repo: Path) -> None:
    with pytest.raises(UsageError, match="could not begin"):
        begin_and_fail(find_project(str(repo)))
    assert traces(repo) == NOTHING


# A git that writes a worktree only after somebody has asked for the status meanwhile.
PATIENT_GIT = """\
#!/bin/sh
case " $* " in
*" worktree add "*)
    n=0
    until [ -e {place}/asked ] || [ $n -gt 1200 ]; do sleep 0.05; n=$((n+1)); done
    [ -e {place}/asked ] || exit 9
    {git} "$@" || exit
    touch {place}/written
    exit ;;
*" status "*)
    echo "$@" > {place}/asked.new
    mv {place}/asked.new {place}/asked
    {answer}
esac
exec {git} "$@"
"""


def put_patient_git(place: Path, answer: str = "") -> str:
    """The directory to put in front of PATH."""
    bin_ = place / "bin"
    bin_.mkdir()
    git = shutil.which("git")
    (bin_ / "git").write_text(PATIENT_GIT.format(place=place, git=git, answer=answer))
    (bin_ / "git").chmod(0o755)
    return f"{bin_}:{os.environ['PATH']}"


def test_what_is_not_committed_is_asked_while_git_writes_the_files(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "new.txt").write_text("new\n")
    monkeypatch.setenv("PATH", put_patient_git(tmp_path))
    said: list[str] = []
    with GIT.heard() as commands:
        make(repo, said=said)
    assert said == ["1 file is not committed (new.txt); the new worktree begins without it"]
    assert (commands[0], commands[1], commands.count("status")) == ("cat-file", "worktree", 1)
    one_thread = "-c core.preloadIndex=false status "
    assert one_thread in (tmp_path / "asked").read_text(), "the git that writes needs the others"
    assert traces(repo) == WHOLE


def test_if_that_cannot_be_told_git_writes_on_and_then_all_is_taken_back(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", put_patient_git(tmp_path, "echo no status >&2; exit 128"))
    with pytest.raises(OutsideError, match="no status"):
        make(repo)
    assert (tmp_path / "written").exists(), "nobody killed it half way"
    assert traces(repo) == NOTHING


def test_whoever_comes_after_a_kill_while_git_writes_makes_it_whole(
    repo: Path, tmp_path: Path
) -> None:
    env = {**os.environ, "PATH": put_patient_git(tmp_path, "kill -KILL $PPID; exit 1")}
    words = [sys.executable, "-c", KILLED, str(repo)]
    done = subprocess.run(words, env=env, capture_output=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL
    while not (tmp_path / "written").exists():
        time.sleep(0.01)
    make(repo)
    assert traces(repo) == WHOLE
