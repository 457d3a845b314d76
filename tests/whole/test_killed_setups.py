"""`codev init` that was killed, or met a full disk, completes when it is called again."""

import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from porch.testing import unmeasured
from tests import commands
from tests.full_disk import count_calls, make_short_of_room
from tests.killed_git import KillingGit, remove_named_locks
from tests.repositories import sh
from tests.torture import FULL, choose_some

pytestmark = [pytest.mark.torture, pytest.mark.timeout(1200)]
KILLS = 200 if FULL else 20
POINTS = tuple(
    f"atomic.{each}" for each in ("before-write", "after-write", "before-rename", "after-rename")
)


def init(root: Path, **environ: str) -> int:
    done = commands.run("codev", ("init", "--yes"), root, {**unmeasured(), **environ})
    assert done.returncode in (0, 6, -signal.SIGKILL), done.stdout + done.stderr
    return done.returncode


def project(place: Path) -> Path:
    place.mkdir(parents=True)
    (place / "Makefile").write_text("test:\n\ttrue\n")
    return place


def outcome(root: Path) -> dict[str, str]:
    """Every file, and what git says of it."""
    paths = (path for path in root.rglob("*") if path.is_file())
    files = {str(path.relative_to(root)): path for path in paths}
    return {
        **{name: path.read_text() for name, path in files.items() if not name.startswith(".git/")},
        "commits": sh(root, "log", "--format=%B"),
        "tree": sh(root, "rev-parse", "HEAD^{tree}"),
        "status": sh(root, "status", "--porcelain", "-uall"),
        # Those of git; files that porch itself locks stay where they are.
        "locks": " ".join(map(str, (root / ".git").glob("*.lock"))),
        "worktrees": str(sh(root, "worktree", "list").count("\n")),
    }


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], Counter[str]]:
    place = tmp_path_factory.mktemp("calm")
    root, log = project(place / "p"), place / "points"
    assert init(root, PORCH_CRASH_LOG=str(log)) == 0
    return outcome(root), Counter(log.read_text().split())


def test_an_init_killed_anywhere_completes_when_it_is_called_again(
    tmp_path: Path, calm: tuple[dict[str, str], Counter[str]]
) -> None:
    """R5: no first commit, or one without the settings, and "everything is there already"."""
    expected, hits = calm
    named = [(point, nth) for point in POINTS for nth in range(1, hits[point] + 1)]
    luck = random.Random(20260201)
    ends = [("git.before-update-ref", 1), ("git.after-update-ref", 1), ("git.after-index", 1)]
    for number, (point, nth) in enumerate([*ends, *luck.sample(named, KILLS - len(ends))]):
        root = project(tmp_path / str(number))
        assert init(root, PORCH_CRASH_AT=f"{point}:{nth}") == -signal.SIGKILL
        assert init(root) == 0
        assert outcome(root) == expected, f"{point}:{nth}"


@pytest.mark.parametrize("nap_s", choose_some([None, 0.001, 0.004], 3))
def test_an_init_killed_with_its_git_completes_once_the_lock_that_it_names_is_gone(
    tmp_path: Path, calm: tuple[dict[str, str], Counter[str]], nap_s: float | None
) -> None:
    """R5, R3: at each call of git, which has locked what it is about to write, or is at work."""
    git = KillingGit(tmp_path / "bin")
    for call in range(1, 100):
        root = project(tmp_path / str(call))
        git.arm(call, nap_s)
        if init(root, PATH=git.path) == 0:
            break
        told = ""
        while not told or remove_named_locks(root, told):
            again = commands.run("codev", ("init", "--yes"), root, unmeasured())
            told = again.stdout + again.stderr
        assert outcome(root) == calm[0], f"call {call}"
    else:
        pytest.fail("git was called more often than that")


def test_an_init_killed_when_the_repository_got_its_name_leaves_nothing_beside_it(
    tmp_path: Path, calm: tuple[dict[str, str], Counter[str]]
) -> None:
    """R5: it is made in a directory of its own, which is empty then."""
    root = project(tmp_path / "p")
    sh(root, "init", "-q")
    (root / ".porch-init").mkdir()
    assert init(root) == 0
    assert not (root / ".porch-init").exists()
    assert outcome(root) == calm[0]


def test_an_init_without_room_completes_when_there_is_room_again(
    tmp_path: Path, calm: tuple[dict[str, str], Counter[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5: whichever call of git finds the disk full."""
    expected, _ = calm
    path, last = os.environ["PATH"], 100
    for calls in choose_some(range(1, last), 4):
        root = project(tmp_path / str(calls))
        full = tmp_path / f"full-{calls}"
        init(root, PATH=make_short_of_room(full, calls))
        assert init(root, PATH=path) == 0
        assert outcome(root) == expected, f"call {calls}"
        if count_calls(full, calls) < calls:
            break
    else:
        pytest.fail("git was called more often than that")
