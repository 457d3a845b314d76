"""What a person is asked before a merge: of commits that were removed, and of a clash."""

from collections.abc import Callable
from pathlib import Path

import pytest

from porch.model.definition import Definition
from porch.run.definitions import library
from tests.tree.branches.test_update_troubles import SHARED, Pair, make_family
from tests.tree.conftest import IMPL, REVIEW, TO_REVIEW, Bench, decide

OWN = "porch/v3_sum"
NOTE = """\
document: {name: note, version: "1"}
spec: Job
types:
  Job: {id: Text, file: FilePath}
budgets: {rounds: 3}
supervision: {silent: stuck, exhausted: stuck, no_progress: stuck}
INTERRUPTS
states:
  write:
    role: writer
    template: say.md.j2
    allows: [instance.spec.file]
    input: {job: instance.spec}
    exits:
      Written: {}
  read:
    role: reader
    workspace: read
    template: say.md.j2
    input: {job: instance.spec}
    exits:
      Good: {patch: Text = engine.patch}
  candidate: {git: candidate, approved: Good.patch, own: [instance.spec.file]}
  publish: {git: publish, candidate: candidate.clean}
  UPDATE
  stuck: {human: failure, title: Stuck, options: {retry: {means: again}, stop: {means: end}}}
  done: {end: complete}
  failed: {end: failed}
edges:
  write.Written: {to: read}
  read.Good: [{when: instance.target, to: candidate}, {to: done}]
  candidate.clean: {to: publish}
  candidate.refused: {to: write, charge: rounds, spent: stuck}
  candidate.conflict: {to: write, charge: rounds, spent: stuck}
  publish.clean: {to: done}
  publish.refused: {to: stuck}
  publish.conflict: {to: candidate, charge: rounds, spent: stuck}
  WAYS
  stuck.retry: {to: write, reset: [rounds]}
  stuck.stop: {to: failed}
"""
SIBLING = "{state: update, on: publish.clean, event: Written, before: [write, read, candidate]}"
UPDATES = {
    "INTERRUPTS": f"interrupts: {{sibling: {SIBLING}}}",
    "UPDATE": "update: {git: update, holds: [main]}",
    "WAYS": """update.clean: {to: due}
  update.conflict: {to: write, charge: rounds, spent: stuck}
  update.refused: {to: write, charge: rounds, spent: stuck}""",
}
WRITE = {"write": {"tea.md": "Boil.\n"}, "exit": "Written", "payload": {}}
READ = {"exit": "Good", "payload": {}}
JOB = {"id": "sum", "file": "tea.md"}


def make_note(place: Path, **updates: str) -> Definition:
    text = NOTE
    for word in UPDATES:
        text = text.replace(word, updates.get(word, ""))
    (place / "templates").mkdir(parents=True)
    (place / "templates" / "say.md.j2").write_text("Write {{ job.file | code }}\n")
    (place / "note.graph.yaml").write_text(text)
    return library.load_protocol(str(place / "note.graph.yaml")).demand()


@pytest.fixture
def make_bench(tmp_path: Path, person: None) -> Callable[..., Bench]:
    def make(**updates: str) -> Bench:
        made = Bench(tmp_path / "bench", make_note(tmp_path / "note", **updates), spec=JOB)
        made.setting(commands={"test": "true"})
        return made

    return make


def remove_secret(bench: Bench) -> None:
    """The target loses its last commit, and gets another one."""
    bench.git("reset", "-q", "--hard", "HEAD~1")
    bench.save("notes.txt", "main goes another way\n")


def begin_on_secret(bench: Bench) -> None:
    """A run that begins on a commit of which the target will know nothing."""
    bench.restart(bench.save("secret.txt", "s\n"))


@pytest.mark.parametrize("when", ["impl", "review", "candidate", "merger"])
def test_what_was_removed_from_the_target_does_not_come_back_unseen(
    bench: Bench, when: str
) -> None:
    begin_on_secret(bench)
    states = [*TO_REVIEW, "candidate", "merger", "publish"]
    at = states.index(when)
    bench.until(*states[:at])
    remove_secret(bench)
    bench.until(*states[at : states.index("candidate")])
    if when == "merger":
        bench.until("merger", "publish")
    refused = bench.do("candidate")
    assert (refused.exit, refused.payload["reason"]) == ("refused", "RemovedCommits")
    assert "say secret.txt" in refused.payload["details"]
    assert "secret.txt" not in bench.git("ls-tree", "--name-only", "main")
    decide(bench, "stopped")
    assert bench.rig.state.outcome == "failed"


def test_removed_commits_come_back_if_a_person_says_so_and_are_reviewed(bench: Bench) -> None:
    begin_on_secret(bench)
    bench.until(*TO_REVIEW)
    remove_secret(bench)
    bench.do("candidate")
    decide(bench, "bring_back")
    assert bench.do("candidate").payload["reason"] == "IntegrationFailure"
    # What else came to the target is taken in first, now that nothing stands against it.
    bench.until("update")
    assert bench.do("candidate").payload["reason"] == "IntegrationFailure"
    bench.until("impl", "review", "candidate", "merger", "publish")
    assert bench.git("show", "main:secret.txt") == "s"


def test_a_branch_without_what_was_removed_is_merged_as_it_was_approved(bench: Bench) -> None:
    begin_on_secret(bench)
    secret = bench.git("rev-parse", "main")
    bench.until(*TO_REVIEW)
    remove_secret(bench)
    bench.do("candidate")
    bench.git("rebase", "-q", "--onto", "main", secret, at=bench.main)
    decide(bench, "retry")
    bench.until("candidate", "merger", "publish")
    assert bench.git("ls-tree", "--name-only", "main", "secret.txt") == ""
    assert bench.rig.state.outcome == "complete"


def test_what_was_removed_after_it_was_taken_in_does_not_come_back_either(bench: Bench) -> None:
    bench.until(*TO_REVIEW[:3])
    bench.save("secret.txt", "s\n")
    bench.until("integrate", "update", "impl")
    remove_secret(bench)
    bench.do("review", REVIEW)
    assert bench.do("candidate").payload["reason"] == "RemovedCommits"


def test_an_update_never_replays_what_was_removed(bench: Bench) -> None:
    """The target moved, which is to be taken in, and then lost what the branch stands on."""
    begin_on_secret(bench)
    bench.until(*TO_REVIEW[:4])
    bench.save("more.txt", "more\n")
    bench.do("impl", IMPL)
    before = bench.git("rev-parse", OWN)
    bench.git("reset", "-q", "--hard", "HEAD~2")
    head = bench.save("notes.txt", "main goes another way\n")
    request = bench.wanted("update")
    event = {**request.values["update"], "newParentHead": head}
    done = bench.perform(bench.changed(request, values={**request.values, "update": event}))
    assert (done.exit, done.payload["commit"]) == ("clean", before)


def test_what_was_removed_before_it_was_taken_in_is_not_taken_in(bench: Bench) -> None:
    bench.until(*TO_REVIEW[:3])
    bench.save("secret.txt", "s\n")
    bench.do("integrate")
    before = bench.git("rev-parse", OWN)
    remove_secret(bench)
    done = bench.do("update")
    assert (done.exit, done.payload["commit"]) == ("clean", before)
    # What the target has instead is heard of at once.
    bench.until("update", "impl", "review", "candidate", "merger", "publish")
    assert bench.git("ls-tree", "--name-only", "main", "secret.txt") == ""
    assert bench.git("show", "main:notes.txt") == "main goes another way"


def test_the_work_of_a_sibling_that_was_removed_is_not_taken_in(
    tmp_path: Path, person: None, v3: Definition
) -> None:
    bench = make_family(tmp_path, v3)
    pair = Pair(bench, SHARED)
    bench.git("reset", "-q", "--hard", "HEAD~1", at=bench.main)
    pair.do("b", "impl", "update", "review", "candidate", "merger", "judge", "publish")
    assert bench.git("ls-tree", "--name-only", "porch/v3_sum", "src/") == "src/b\nsrc/shared.txt"


def test_t1_without_an_update_the_target_is_taken_in_by_git_before_the_candidate(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench()
    bench.do("write", WRITE)
    bench.do("read", READ)
    head = bench.save("elsewhere.txt", "main moves\n")
    made = bench.do("candidate")
    assert (made.exit, made.payload["old"]) == ("clean", head)
    assert bench.git("merge-base", head, OWN) == head, "what came in is there to be worked on"
    bench.do("publish")
    assert bench.rig.state.outcome == "complete"


def test_t1_without_an_update_a_clash_asks_a_person_at_once_and_then_the_reader(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench()
    bench.do("write", WRITE)
    bench.do("read", READ)
    bench.save("tea.md", "Something else.\n")
    asked = bench.do("candidate")
    assert (asked.exit, asked.payload["reason"]) == ("conflict", "TargetClash")
    assert "git merge main" in asked.payload["details"]
    assert bench.rig.state.spent == {}
    place = bench.root / bench.main
    with pytest.raises(Exception, match="git"):
        bench.git("merge", "-q", "main", at=bench.main)
    decide(bench, "retry")
    assert "is not finished" in bench.do("candidate").payload["details"]
    (place / "tea.md").write_text("Boil something else.\n")
    bench.git("commit", "-qam", "both", at=bench.main)
    decide(bench, "retry")
    assert "reviewed again" in bench.do("candidate").payload["details"]
    bench.do("write", {**WRITE, "write": {"tea.md": "Boil something.\n"}})
    bench.do("read", READ)
    bench.do("candidate")
    bench.do("publish")
    assert bench.git("show", "main:tea.md") == "Boil something."


def test_t1_an_update_that_nobody_is_given_asks_a_person_and_goes_on_with_what_was_due(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench(**UPDATES)
    bench.do("write", WRITE)
    bench.save("tea.md", "Something else.\n")
    bench.do("read", READ)
    asked = bench.do("update")
    assert (asked.exit, asked.payload["reason"]) == ("conflict", "TargetClash")
    assert "git merge main" in asked.payload["report"]
    with pytest.raises(Exception, match="git"):
        bench.git("merge", "-q", "main", at=bench.main)
    decide(bench, "retry")
    assert "is not finished" in bench.do("update").payload["report"]
    bench.git("checkout", "-q", "--ours", "tea.md", at=bench.main)
    bench.git("commit", "-qam", "mine", at=bench.main)
    decide(bench, "retry")
    assert bench.do("update").exit == "clean"
    assert bench.wanted("candidate")
