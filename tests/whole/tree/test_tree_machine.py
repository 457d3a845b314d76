"""Trees of v3 against real git, whatever agents, people, kills and disks do, in any order.

No commit is lost, the target never goes back, what somebody removed from it does not come back
unseen, nothing is merged that was not approved, and every child settles once.
"""

import itertools
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from porch.machine.state import RunState, effect_parts
from tests.torture import FULL
from tests.whole.tree.orchard import (
    BRANCH,
    MOODS,
    SHARED,
    Orchard,
    Plan,
    git,
    limit_files,
    patch_id,
)

POINTS = (
    "journal.before-write",
    "journal.after-write",
    "journal.after-sync",
    "payload.after-rename",
    "snapshot.after-rename",
    "turn.before-spawn",
    "turn.after-spawn",
    "turn.after-end",
    "git.before-update-ref",
    "git.after-update-ref",
    "worktree.after-add",
    "worktree.after-archive",
    "worktree.after-aside",
    "worktree.after-remove",
    "merge.after-mark",
    "merge.after-lock",
    "merge.before-swap",
    "merge.after-swap",
    "merge.after-checkout",
    "takeover.after-settle",
)
# Where a person's commit meets what the tree makes: beside it, in a file of all, in a file of one.
CLASHES = ("notes", SHARED, "src/root/code", "src/a/code", "tests/root/need")
# What is only a mark of work that goes on; everything else that porch names is somebody's work.
PASSING = ("refs/porch/moving/", "refs/porch/entry/", "refs/porch/begun/")
MOST_DRIVES = 40
MOOD = st.sampled_from([(state, mood) for state, moods in MOODS.items() for mood in moods])
TURNS = st.integers(1, 9)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A root with up to two children, one of whom may have a child; siblings may wait."""
    children = ["a", "b"][: draw(st.integers(0, 2))]
    below = {"a": ["c"]} if children and draw(st.integers(0, 3)) == 0 else {}
    waits = {"b": ["a"]} if len(children) == 2 and draw(st.booleans()) else {}
    names = ["root", *children, *below.get("a", ())]
    return {
        name: {
            "children": children if name == "root" else below.get(name, []),
            "after": waits.get(name, []),
            "shares": draw(st.booleans()),
        }
        for name in names
    }


class TreeInAnyWeather(RuleBasedStateMachine):
    """One run; each rule is something that happens to it while it grows."""

    def __init__(self, base: Path):
        super().__init__()
        self._base = base
        self._seen: set[str] = set()
        self._judged = self._written = 0
        # Which line of which file each commit of a person brought to the target.
        self._lines: dict[str, tuple[str, str]] = {}
        self._removed: set[str] = set()
        self._is_whole = False
        self.state: RunState | None = None

    @initialize(plan=plans())
    def begin(self, plan: Plan) -> None:
        self.orchard = Orchard(self._base, plan)
        self._main = [git(self.orchard.repo, "rev-parse", "main")]
        self._is_whole = True

    # -- what happens ------------------------------------------------------------------------------
    # None of it has a condition: members work side by side, so nobody knows what is there when.

    @rule(turns=TURNS)
    def goes_on(self, turns: int) -> None:
        self._drive(turns)

    @rule(mood=MOOD)
    def an_agent_will_answer_badly(self, mood: tuple[str, str]) -> None:
        self.orchard.put_mood(*mood)

    @rule(name=st.sampled_from(CLASHES), turns=TURNS)
    def a_person_commits_to_the_target(self, name: str, turns: int) -> None:
        if not self._is_whole:
            # Git lets nobody commit there before the next launch has put it right.
            self._drive(1)
        self._write_to_target(name)
        self._drive(turns)

    def _write_to_target(self, name: str) -> None:
        text = (self.orchard.repo / name).read_text() if (self.orchard.repo / name).exists() else ""
        self._written += 1
        first = f"line {self._written} of a person\n"
        commit = self.orchard.commit_on_main(name, first + text)
        self._main.append(commit)
        self._lines[commit] = (name, first)

    @rule(number=st.integers(1, 3), again=st.booleans(), turns=TURNS)
    def a_person_removes_commits_from_the_target(
        self, number: int, again: bool, turns: int
    ) -> None:
        """Only their own: what the tree has merged is the end of it."""
        if not self._is_whole:
            self._drive(1)
        count = min(number, len(git(self.orchard.repo, "rev-list", "main").split()) - 1)
        if count and not any(not done["who"] for done in self._published()):
            self._note_heads()
            gone = set(self.orchard.remove_from_main(count))
            self._removed |= gone
            # Nobody but this person has lost them.
            self._seen -= gone
            self._main = [each for each in self._main if each not in gone]
            if again:
                self._write_to_target("notes")
        self._drive(turns)

    @rule(point=st.sampled_from(POINTS), nth=st.integers(1, 4), turns=TURNS)
    def porch_is_killed(self, point: str, nth: int, turns: int) -> None:
        self._drive_apart(turns, lambda: None, PORCH_CRASH_AT=f"{point}:{nth}")

    @rule(more=st.integers(0, 9_000), turns=TURNS)
    def the_disk_of_the_journal_fills_up(self, more: int, turns: int) -> None:
        size = self.orchard.journal_size + more
        self._drive_apart(turns, lambda: limit_files(max(size, 1_000)))

    @rule(calls=st.integers(1, 60), turns=TURNS)
    def the_disk_of_git_fills_up(self, calls: int, turns: int) -> None:
        self._drive_apart(turns, lambda: None, **self.orchard.fill_disk_of_git(calls))

    @rule(number=st.integers(0, 8))
    def somebody_deletes_a_worktree(self, number: int) -> None:
        found = self._list_worktrees()
        if found:
            self._note_heads()
            shutil.rmtree(found[number % len(found)])

    @rule(words=st.sampled_from([("gc", "-q"), ("pack-refs", "--all"), ("worktree", "prune")]))
    def somebody_tidies_the_repository_up(self, words: tuple[str, ...]) -> None:
        self._note_heads()
        git(self.orchard.repo, *words)

    @rule(number=st.integers(0, 8), moves_target=st.booleans())
    def somebody_commits_to_a_member(self, number: int, moves_target: bool) -> None:
        """What nobody has approved is on its branch then, perhaps behind an approval.

        If the target moves as well, what was built of the approved work is built anew.
        """
        found = [each for each in self._list_worktrees() if "--" not in each.name]
        if self._is_whole and found:
            place = found[number % len(found)]
            name = place.name.rpartition(".")[2].partition("-r")[0].replace("v3_", "")
            self.orchard.commit_in(place, f"src/{name}/extra", "nobody has seen this\n")
            if moves_target:
                self._write_to_target("notes")

    @rule(removed=st.sampled_from(["bring_back", "retry", "stopped"]))
    def a_person_answers(self, removed: str) -> None:
        if self.state is not None:
            self._answer(removed)

    def _answer(self, removed: str) -> None:
        own = self._read_own_branch()
        self._removed -= set(self.orchard.answer_people(removed))
        now = self._read_own_branch()
        if own and now:
            # Whoever takes commits out of a branch has others there, and wants those no more.
            left = git(self.orchard.repo, "rev-list", own, "--not", now)
            self._seen -= set(left.split())

    def _read_own_branch(self) -> str:
        words = ("for-each-ref", "--format=%(objectname)", f"refs/heads/{BRANCH}")
        return git(self.orchard.repo, *words)

    def _list_worktrees(self) -> list[Path]:
        return sorted((self.orchard.repo / "worktrees").glob("*"))

    # -- what always holds -------------------------------------------------------------------------

    @invariant()
    def no_commit_is_lost(self) -> None:
        if not hasattr(self, "orchard"):
            return
        self._note_heads()
        lost = git(self.orchard.repo, "rev-list", *sorted(self._seen), "--not", "--all")
        assert lost == "", f"nothing names {lost}"

    @invariant()
    def the_target_never_goes_back(self) -> None:
        if not hasattr(self, "orchard"):
            return
        heads = [*self._main, *(done["commit"] for done in self._published() if not done["who"])]
        behind = git(self.orchard.repo, "rev-list", "--no-walk", *heads, "--not", "main")
        assert behind == "", f"main lacks {behind}"

    @invariant()
    def what_was_removed_comes_back_only_if_a_person_says_so(self) -> None:
        if not hasattr(self, "orchard"):
            return
        for commit in self._removed & self._lines.keys():
            name, line = self._lines[commit]
            words = ("log", "-1", "--format=%h", "-S", line.strip(), "main", "--", name)
            back = git(self.orchard.repo, *words)
            assert back == "", f"'{line}' of {commit} is on main again, by {back}"

    @invariant()
    def every_child_settles_once(self) -> None:
        if not hasattr(self, "orchard"):
            return
        moves = [move for record in self.orchard.records for move in record["moves"]]
        ended = Counter(move.get("instance", "") for move in moves if move["is"] == "Ended")
        merged = Counter(done["who"] for done in self._published())
        assert [who for who, times in (ended + merged).items() if times > 2] == []
        assert [who for who, times in ended.items() if times > 1] == []
        assert [who for who, times in merged.items() if times > 1] == []

    @invariant()
    def what_was_merged_was_approved(self) -> None:
        if not hasattr(self, "orchard"):
            return
        done = self._published()
        for each in done[self._judged :]:
            if each["commit"] != each["old"]:
                approved = (self.orchard.reviews / (each["who"] or "root")).read_text().split()
                merged = patch_id(self.orchard.repo, each["old"], each["commit"])
                assert merged == approved[-1], f"{each} is not what was approved"
        self._judged = len(done)

    def _published(self) -> list[dict[str, Any]]:
        """Every merge that a record says was made, with the commit on which it stands."""
        built: dict[str, str] = {}
        found = []
        for record in self.orchard.records:
            fact = record["fact"]
            if fact["is"] != "GitEnded" or fact["exit"] != "clean":
                continue
            position, _, operation = effect_parts(fact["effect"])
            if operation == "candidate":
                built[fact["payload"]["commit"]] = fact["payload"]["old"]
            if operation == "publish":
                commit, who = fact["payload"]["commit"], position.rpartition("/")[0]
                found.append({"who": who, "commit": commit, "old": built[commit]})
        return found

    def _note_heads(self) -> None:
        rows = git(self.orchard.repo, "for-each-ref", "--format=%(refname) %(objectname)")
        named = (row.split(" ") for row in rows.splitlines())
        self._seen |= {commit for ref, commit in named if not ref.startswith(PASSING)}

    # -- how it goes on ----------------------------------------------------------------------------

    def _drive(self, turns: int) -> None:
        """Undisturbed: afterwards everything is whole again."""
        done = self.orchard.drive(turns)
        self.state, self._is_whole = done.state, True
        repo = self.orchard.repo
        head = git(repo, "rev-parse", "main")
        if head != self._main[-1]:
            self._main.append(head)
        assert git(repo, "status", "--porcelain", "--untracked-files=no") == ""
        assert git(repo, "for-each-ref", "refs/porch/moving") == ""
        living = sum(not known.outcome for known in done.state.instances.values())
        checkouts = git(repo, "worktree", "list", "--porcelain").count("worktree ") - 1
        # Of a root that failed they stay, for a person to look at.
        assert checkouts <= 3 * max(living, 1), f"{checkouts} checkouts of {living} members"

    def _drive_apart(self, turns: int, fault: Callable[[], None], **environ: str) -> None:
        self.orchard.drive_apart(turns, fault, **environ)
        self._is_whole = False

    def teardown(self) -> None:
        """Left alone, it comes to an end; then all of that still holds."""
        if not self._is_ended_well():
            return
        for _ in range(MOST_DRIVES):
            self._drive(0)
            assert self.state is not None
            if self.state.outcome:
                break
            self._answer("bring_back")
        assert self.state is not None
        assert self.state.outcome, f"it does not end: {self.state.positions}"
        self._check_end(self.state)
        # Thousands of files each, which nobody will look at.
        shutil.rmtree(self._base)

    def _is_ended_well(self) -> bool:
        import sys

        return hasattr(self, "orchard") and sys.exc_info()[0] is None

    def _check_end(self, state: RunState) -> None:
        self.no_commit_is_lost()
        self.the_target_never_goes_back()
        self.what_was_removed_comes_back_only_if_a_person_says_so()
        self.every_child_settles_once()
        self.what_was_merged_was_approved()
        repo = self.orchard.repo
        if state.outcome == "complete":
            files = git(repo, "ls-tree", "-r", "--name-only", "main").splitlines()
            missing = [n for n in self.orchard.plan if f"src/{n}/code" not in files]
            assert missing == [], f"main lacks the work of {missing}"
            assert git(repo, "for-each-ref", f"refs/heads/{BRANCH}*") == ""
            assert git(repo, "worktree", "list", "--porcelain").count("worktree ") == 1


SLOW = settings(
    max_examples=200 if FULL else 3,
    stateful_step_count=20 if FULL else 9,
    deadline=None,
    derandomize=not FULL,
    database=None,
    # An example takes a second: what fails is told as it was found.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.torture
@pytest.mark.timeout(0 if FULL else 600)
@pytest.mark.usefixtures("git_home")
def test_a_tree_loses_nothing_and_merges_only_what_was_approved_whatever_happens(
    tmp_path: Path,
) -> None:
    numbers = itertools.count()

    class PlantedTree(TreeInAnyWeather):
        def __init__(self) -> None:
            place = tmp_path / f"example-{next(numbers)}"
            place.mkdir()
            super().__init__(place)

    run_state_machine_as_test(PlantedTree, settings=SLOW)


@pytest.mark.usefixtures("git_home")
def test_what_a_stranger_commits_behind_an_approval_is_reviewed_before_it_is_merged(
    tmp_path: Path,
) -> None:
    """The one way by which unapproved work comes that close, so it is always gone."""
    tree = TreeInAnyWeather(tmp_path / "tree")
    (tmp_path / "tree").mkdir()
    tree.begin({"root": {"children": [], "after": [], "shares": True}})
    while tree.state is None or not any(p.startswith("merger") for p in tree.state.positions):
        tree.goes_on(1)
    tree.somebody_commits_to_a_member(0, moves_target=True)
    tree.goes_on(9)
    tree.what_was_merged_was_approved()
    ended = [r["fact"] for r in tree.orchard.records if r["fact"]["is"] == "GitEnded"]
    refused = [fact for fact in ended if fact["exit"] == "refused"]
    assert [fact["effect"] for fact in refused] == ["candidate#2/git/candidate/0"]
    assert "nobody" in git(tree.orchard.repo, "show", "main:src/root/extra")
    tree.teardown()


@pytest.mark.usefixtures("git_home")
def test_what_a_stranger_commits_during_a_review_is_reviewed_before_it_is_merged(
    tmp_path: Path,
) -> None:
    """Between what the reviewer reads and what it says; D12 is for the commit that it read."""
    (tmp_path / "tree").mkdir()
    tree = TreeInAnyWeather(tmp_path / "tree")
    tree.begin({"root": {"children": [], "after": [], "shares": True}})
    tree.an_agent_will_answer_badly(("review", "interrupted"))
    tree.goes_on(9)
    tree.what_was_merged_was_approved()
    ended = [r["fact"] for r in tree.orchard.records if r["fact"]["is"] == "GitEnded"]
    refused = [fact["effect"] for fact in ended if fact["exit"] == "refused"]
    assert refused == ["candidate#1/git/candidate/0"]
    assert "nobody" in git(tree.orchard.repo, "show", "main:src/root/meanwhile")
    tree.teardown()


@pytest.mark.usefixtures("git_home")
@pytest.mark.parametrize("said", ["bring_back", "retry", "stopped"])
@pytest.mark.parametrize("state", ["write_tests", "impl", "merger"])
def test_what_a_person_removes_from_the_target_comes_back_only_if_they_say_so(
    tmp_path: Path, said: str, state: str
) -> None:
    """Decision 50, wherever the work is when its ground is removed."""
    (tmp_path / "tree").mkdir()
    tree = TreeInAnyWeather(tmp_path / "tree")
    tree.begin({"root": {"children": [], "after": [], "shares": True}})
    tree.a_person_commits_to_the_target("notes", 1)
    for _ in range(9):
        assert tree.state is not None
        if any(place.startswith(state) for place in tree.state.positions):
            break
        tree.goes_on(1)
    tree.a_person_removes_commits_from_the_target(1, again=state == "impl", turns=9)
    assert tree.state is not None
    assert [each.name for each in tree.state.decisions.values()] == ["candidate:removed"]
    tree.what_was_removed_comes_back_only_if_a_person_says_so()
    tree.a_person_answers(said)
    tree.teardown()
    assert tree.state.outcome == ("failed" if said == "stopped" else "complete")
