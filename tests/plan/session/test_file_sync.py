"""The files of a plan show its journal: after every command, edit, death and refusal."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId, parse_prompt_id
from porch.plan.claims import prompt_claims
from porch.plan.files import plan_location, prompt_pictures
from porch.plan.files.locked_plan import LockedPlan
from porch.plan.prompts import (
    plan_document,
    plan_merge,
    prompt_edits,
    prompt_queue,
    prompt_work,
    walkthroughs,
)
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.session import plan_session
from porch.store import where as places
from porch.store.where import ProjectPaths
from porch.system import crash_points
from tests.plan.yards import (
    carried_out,
    disagreements,
    facts,
    fields,
    file,
    git,
    journal,
    mark,
    record,
    start,
    tree,
    write,
)
from tests.torture import choose_some

ONE = PromptId(1)
Act = Callable[[ProjectPaths], object]


# -- death -----------------------------------------------------------------------------------------


def nothing(_: ProjectPaths) -> None:
    return


def _written(where: ProjectPaths) -> None:
    write(where, "1", context="words", description="d")
    write(where, "2", 1)


def _started(where: ProjectPaths) -> None:
    _written(where)
    start(where, "1")


def _done(where: ProjectPaths) -> None:
    plan_document.write_plan(where, "T", "o", "c")
    carried_out(where, "1")


def _released(where: ProjectPaths) -> None:
    _started(where)
    prompt_claims.release_all_prompts(where, force=True)


def _merged(where: ProjectPaths) -> None:
    _done(where)
    plan_merge.merge_worktree(where, ONE)


def _edited(where: ProjectPaths) -> None:
    _written(where)
    path = file(where, "1")
    path.write_text(path.read_text().replace("status: unimplemented", "status: merged"))


def _by_hand(where: ProjectPaths) -> None:
    _written(where)
    file(where, "3").write_text("---\n# mine\nstatus: merged\n---\n\nMy words.\n")


# What is done, and what was done before.
COMMANDS: dict[str, tuple[Act, Act]] = {
    "init": (plan_document.init_plan, nothing),
    "write-plan": (lambda where: plan_document.write_plan(where, "T", "o", "c"), nothing),
    "append-user-input": (lambda where: plan_document.append_user_input(where, "words"), _written),
    "write-prompt": (lambda where: write(where, "3", 1, context="c", files=["a"]), _written),
    "write-prompt again": (lambda where: write(where, "1", context="other"), _released),
    "clear-prompt": (lambda where: prompt_edits.clear_prompt(where, PromptId(2)), _written),
    "update": (lambda where: prompt_queue.update_dependencies(where, PromptId(2), []), _written),
    "start-prompt": (lambda where: start(where, "1"), _written),
    "record": (lambda where: record(where, "1"), _started),
    "release": (lambda where: prompt_claims.release_all_prompts(where, force=True), _started),
    "extracted": (lambda where: walkthroughs.mark_prompt_extracted(where, ONE), _written),
    "merge-worktree": (lambda where: plan_merge.merge_worktree(where, ONE), _done),
    "complete-prompt": (lambda where: prompt_work.complete_prompt(where, ONE), _merged),
    "complete": (plan_merge.complete_plan, _merged),
    "an edit": (plan_document.init_plan, _edited),
    "by hand": (plan_document.init_plan, _by_hand),
}
# What a second call says where the first was killed after it had happened.
SAID = {"start-prompt": "already-in-progress", "clear-prompt": "not-found"}


def in_a_child(act: Act, where: ProjectPaths, armed: dict[str, int], log: str = "") -> int:
    """How a child ends that does something with these points armed; it leaves no other trace."""
    pid = os.fork()
    if pid == 0:
        # As the variables do at the start of a process.
        crash_points._hits_left = armed
        crash_points._log_path = log
        try:
            act(where)
        except BaseException:  # noqa: BLE001
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def shown(where: ProjectPaths) -> dict[str, str]:
    """The files of the plan without what no two calls share: times, and hashes made of times."""
    found = tree(plan_location.find_current_plan(where).directory)
    assert disagreements(where) == []
    return {name: _timeless(data.decode()) for name, data in found.items()}


def _timeless(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r"(?m)(said|^  pid:|^  born:) \S+", r"\1 N", text)
    return re.sub(r'"?\b[0-9a-f]{12,40}\b"?', "HASH", text)


def _chosen(name: str, hits: Counter[str]) -> list[tuple[str, int]]:
    """Each point at one of its hits, always the same; all of them in full."""
    every = [(point, nth) for point in sorted(hits) for nth in range(1, hits[point] + 1)]
    if os.environ.get("PORCH_TORTURE") == "full":
        return every
    return [(p, random.Random(name + p).randint(1, hits[p])) for p in sorted(hits)]


@pytest.mark.torture
@pytest.mark.parametrize("name", choose_some(list(COMMANDS), 2))
def test_a_command_that_was_killed_ends_in_the_same_files_when_it_comes_again(
    shop: Path, where: ProjectPaths, tmp_path: Path, name: str
) -> None:
    act, before = COMMANDS[name]
    before(where)
    kept = [path for path in tmp_path.iterdir() if path.name.startswith(("shop", "work"))]
    for path in kept:
        shutil.copytree(path, tmp_path / "kept" / path.name, symlinks=True)

    def again() -> None:
        for path in kept:
            shutil.rmtree(path)
            shutil.copytree(tmp_path / "kept" / path.name, path, symlinks=True)

    log = tmp_path / "points.txt"
    assert in_a_child(act, where, {}, str(log)) == 0
    expected, refs = shown(where), _trees(shop)
    hits = Counter(log.read_text().splitlines())
    assert "journal.after-sync" in hits
    for point, nth in _chosen(name, hits):
        # Whether a measurement has something to note depends on the second it falls into; then
        # the point is reached less often, and the kill falls on an earlier one.
        for hit in range(nth, 0, -1):
            again()
            ended = in_a_child(act, where, {point: hit})
            if ended != 0:
                break
        assert ended == -signal.SIGKILL, (point, nth)
        had_happened = _came_again(act, where, name)
        told = shown(where)
        if name == "append-user-input" and had_happened:
            # Nobody can tell who was not told from who says the same words again.
            assert told["user_input.md"].count("\n\nwords\n") == 2, (point, nth)
        else:
            assert told == expected, (point, nth)
        assert _trees(shop) == refs, (point, nth)
        assert git(shop, "status", "--porcelain") == "", (point, nth)


def _came_again(act: Act, where: ProjectPaths, name: str) -> bool:
    """Do it again; whether the journal had it already."""
    had_happened = name == "append-user-input" and bool(facts(where, name))
    said = complaint(lambda: act(where))
    assert said in ("", SAID.get(name))
    return had_happened or bool(said)


def complaint(act: Callable[[], object]) -> str:
    """The code of what was refused, or nothing."""
    try:
        act()
    except PorchError as error:
        found = error.findings[0]
        return found.code if found.fix and error.exit_code in (1, 2) else str(error)
    return ""


def _trees(shop: Path) -> list[str]:
    """What each branch holds, whenever it was committed."""
    names = git(shop, "for-each-ref", "--format=%(refname)", "refs/heads").split()
    return [f"{name} {git(shop, 'rev-parse', f'{name}^{{tree}}')}" for name in names]


def test_two_deaths_in_a_row_are_not_taken_for_an_edit(where: ProjectPaths) -> None:
    write(where, "1")

    def dies_before_its_stamp(at: ProjectPaths) -> None:
        stamp = prompt_pictures._stamp_file

        def dying(desk: LockedPlan, id_: PromptId, fields: Mapping[str, Any]) -> None:
            if fields["in_progress"]:
                os.kill(os.getpid(), signal.SIGKILL)
            stamp(desk, id_, fields)

        prompt_pictures._stamp_file = dying
        start(at, "1")

    # The file is drawn, its stamp is not; then another command dies before it draws.
    assert in_a_child(dies_before_its_stamp, where, {}) == -signal.SIGKILL
    assert fields(where, "1")["in_progress"] is True
    plan_document.init_plan(where)
    assert in_a_child(lambda w: record(w, "1"), where, {"journal.after-sync": 1}) < 0
    notes = plan_document.init_plan(where).notes
    assert notes == []
    assert not (file(where, "1").parent / "_edited").exists()
    assert disagreements(where) == []


# -- refusals of the disk --------------------------------------------------------------------------

_UNPRIVILEGED = """
import os, sys
from porch.store import where as places
from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims as claims
from porch.plan.prompts import prompt_work as working
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    claims.start_prompt(places.find_project("."), PromptId(1), "backend")
except (PorchError, OSError) as error:
    sys.exit(type(error).__name__ + ": " + str(error))
"""


def test_a_directory_that_may_not_be_written_costs_nothing(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not below tmp_path, which nobody else may enter.
    with tempfile.TemporaryDirectory(prefix="porch-") as name:
        home = Path(name)
        home.chmod(0o755)
        monkeypatch.setenv("HOME", name)
        git(home, "init", "-q", "-b", "feat/x")
        where = places.find_project(name)
        write(where, "1")
        before = tree(home)
        _chmod(home, 0o555)
        done = subprocess.run(
            [sys.executable, "-c", _UNPRIVILEGED],
            cwd=home,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        _chmod(home, 0o755)
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith(("OutsideError", "PermissionError")), done.stderr
        assert tree(home) == before
        assert start(where, "1").notes == []


def _chmod(home: Path, mode: int) -> None:
    for at, _, _ in os.walk(home, topdown=mode & 0o200 != 0):
        os.chmod(at, mode)


_FULL = """
import resource, signal, sys
from porch.store import where as places
from porch.errors import PorchError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.claims import prompt_claims as claims
from porch.plan.prompts import prompt_queue as ordering
from porch.plan.prompts import prompt_edits as prompting
from porch.plan.prompts.prompt_edits import PromptWords
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    prompting.write_prompt(places.find_project("."), PromptId(1), PromptWords(context="x" * 30_000))
except (PorchError, OSError) as error:
    # Whoever measures this process writes a file at its end.
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    sys.exit(type(error).__name__ + ": " + str(error))
"""


def test_a_disk_that_is_full_tears_no_file(shop: Path, where: ProjectPaths) -> None:
    write(where, "1", context="old words")
    before = tree(plan_location.find_current_plan(where).directory)
    done = subprocess.run(
        [sys.executable, "-c", _FULL],
        cwd=shop,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    assert tree(plan_location.find_current_plan(where).directory) == before
    plan_document.init_plan(where)
    assert disagreements(where) == []
    assert prompt_edits.read_prompt(where, ONE).content == "old words"


# -- settling --------------------------------------------------------------------------------------


def test_settling_twice_finds_nothing_to_do(shop: Path, where: ProjectPaths) -> None:
    _by_hand(where)
    plan_document.init_plan(where)
    before = tree(plan_location.find_current_plan(where).directory), journal(where).read_bytes()
    plan_document.init_plan(where)
    assert tree(plan_location.find_current_plan(where).directory) == before[0]
    assert len(journal(where).read_bytes()) == len(before[1])


def test_what_a_discarded_variant_committed_is_archived_and_its_worktree_goes(
    shop: Path, where: ProjectPaths
) -> None:
    branch = carried_out(where, "1_A")
    carried_out(where, "1_B")
    head = git(shop, "rev-parse", branch.name)
    mark(where, "1_A", variant_solution="discard", in_progress=False)
    assert plan_document.init_plan(where).notes == []
    assert git(shop, "rev-parse", f"archive/{branch.name}") == head
    assert not branch.path.exists()
    assert fields(where, "1_A")["worktree_branch_name"] == f"archive/{branch.name}"
    before = journal(where).read_bytes()
    plan_document.init_plan(where)
    assert journal(where).read_bytes() == before
    assert file(where, "1_A").exists(), "what was done for it stays written down"


def test_n6_uncommitted_work_of_a_discarded_variant_is_kept_and_its_place_is_told(
    shop: Path, where: ProjectPaths
) -> None:
    branch = carried_out(where, "1_A")
    (branch.path / "half.txt").write_text("not committed\n")
    mark(where, "1_A", variant_solution="discard", in_progress=False)
    (note,) = plan_document.init_plan(where).notes
    assert not branch.path.exists()
    kept = note.rpartition("git show ")[2]
    assert git(shop, "show", f"{kept}:half.txt") == "not committed"


def test_a_branch_that_cannot_be_archived_yet_keeps_nobody(shop: Path, where: ProjectPaths) -> None:
    branch = carried_out(where, "1_A")
    write(where, "2")
    git(shop, "worktree", "lock", str(branch.path))
    mark(where, "1_A", variant_solution="discard", in_progress=False)
    told = start(where, "2")
    assert "not archived yet" in told.notes[0]
    git(shop, "worktree", "unlock", str(branch.path))
    assert plan_document.init_plan(where).notes == []
    assert not branch.path.exists()


def test_stamps_that_are_lost_or_broken_cost_no_word(where: ProjectPaths) -> None:
    write(where, "1", description="mine")
    stamps = Path(where.run_dir(plan_location.find_current_plan(where).run), "drawn.json")
    for text in (b"", b"{", b"[1]", b"\xff", b'{"1": 5}'):
        stamps.write_bytes(text)
        with plan_session.hold_plan(where) as desk:
            prompt_pictures.refresh_files(desk, desk.prompts)
    stamps.unlink()
    start(where, "1")
    assert disagreements(where) == []
    assert fields(where, "1")["description"] == "mine"


# -- any sequence ----------------------------------------------------------------------------------

IDS = st.sampled_from(["1", "2_A", "2_B", "3"])
EDITS = ("status: merged", "in_progress: true", "depends_on: [9]", "merge_commit_hash: abc")


class Commands(RuleBasedStateMachine):
    """Whatever is done in whatever order, the front matter is the journal's after each command."""

    @initialize()
    def repository(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="porch-"))
        git(self.home, "init", "-q", "-b", "feat/x")
        self.where = places.find_project(str(self.home))
        self.is_edited = False
        plan_document.init_plan(self.where)

    def teardown(self) -> None:
        shutil.rmtree(self.home)

    def _tried(self, act: Callable[[], Any]) -> None:
        said = complaint(act)
        assert re.fullmatch("[a-z-]*", said), said
        if not said:
            self.is_edited = False

    @rule(id_=IDS, needs=st.lists(st.integers(1, 4), max_size=2), force=st.booleans())
    def write(self, id_: str, needs: list[int], force: bool) -> None:
        given = PromptWords(depends_on=needs, context=f"words of {id_}")
        self._tried(
            lambda: prompt_edits.write_prompt(
                self.where, parse_prompt_id([id_]), given, force=force
            )
        )

    @rule(id_=IDS, take_over=st.booleans())
    def start(self, id_: str, take_over: bool) -> None:
        self._tried(lambda: start(self.where, id_, take_over=take_over))

    @rule(id_=IDS, iteration=st.integers(1, 3))
    def record(self, id_: str, iteration: int) -> None:
        self._tried(lambda: record(self.where, id_, iteration, "Review feedback: x"))

    @rule(force=st.booleans())
    def release(self, force: bool) -> None:
        self._tried(lambda: prompt_claims.release_all_prompts(self.where, force=force))

    @rule(id_=IDS, force=st.booleans())
    def clear(self, id_: str, force: bool) -> None:
        self._tried(
            lambda: prompt_edits.clear_prompt(self.where, parse_prompt_id([id_]), force=force)
        )

    @rule(id_=IDS, force=st.booleans())
    def complete(self, id_: str, force: bool) -> None:
        self._tried(
            lambda: prompt_work.complete_prompt(self.where, parse_prompt_id([id_]), force=force)
        )

    @rule(id_=IDS)
    def extract(self, id_: str) -> None:
        self._tried(lambda: walkthroughs.mark_prompt_extracted(self.where, parse_prompt_id([id_])))

    @rule(id_=IDS, needs=st.lists(st.integers(1, 4), max_size=2))
    def update(self, id_: str, needs: list[int]) -> None:
        self._tried(
            lambda: prompt_queue.update_dependencies(self.where, parse_prompt_id([id_]), needs)
        )

    @rule(id_=IDS, line=st.sampled_from(EDITS))
    def edit(self, id_: str, line: str) -> None:
        path = file(self.where, id_)
        if path.exists():
            name = line.partition(":")[0]
            path.write_text(re.sub(rf"(?m)^{name}: .*$", f"{line}  # mine", path.read_text()))
            self.is_edited = True

    @rule(id_=IDS, line=st.sampled_from(EDITS))
    def write_by_hand(self, id_: str, line: str) -> None:
        path = file(self.where, id_)
        if not path.exists():
            path.write_text(f"---\n# mine\n{line}\n---\n\nMine.\n")
            self.is_edited = True

    @invariant()
    def files_show_the_journal(self) -> None:
        if not hasattr(self, "home"):
            return
        if self.is_edited:
            plan_document.init_plan(self.where)
            self.is_edited = False
        assert disagreements(self.where) == []
        told = prompt_queue.list_next_prompts(self.where, 9)
        offered = {parse_prompt_id([str(r.prompt_num), r.variant or ""]) for r in told.prompts}
        for id_ in offered:
            shown = fields(self.where, str(id_))
            assert not shown["in_progress"]
            assert shown["status"] != "merged"


TestCommands = Commands.TestCase
TestCommands.settings = settings(
    max_examples=8,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
