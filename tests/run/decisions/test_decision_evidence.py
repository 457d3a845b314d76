"""What is known beside the files of a question: the round before, whole words, measured work."""

from pathlib import Path
from typing import Any

from porch.run.decisions.decision_evidence import measure_work, read_history
from porch.run.verbs.read_run import ReadRun, read_run
from porch.store.where import ProjectPaths, find_project
from tests.cli.conftest import Desk, desk, home
from tests.cli.porch.test_panels_in_runs import specify

__all__ = ["desk", "home"]

YES = {"verdict": "APPROVE", "summary": "Good"}
LONG = "There is no limit for the size of a file. " * 200
CHECKED: dict[str, Any] = {
    "id": "one",
    "artifacts": ["spec.md"],
    "checks": {"small": {"command": "true"}, "large": {"command": "true"}},
    "gate": {"name": "go", "next": None},
}
# With the check of porch itself, that the named files are there.
NAMES = ["large", "small", "written_files"]


def read(desk: Desk) -> tuple[ProjectPaths, ReadRun]:
    where = find_project(str(desk.root))
    return where, read_run(where, "0001-x")


def test_the_words_of_the_newest_reviews_are_whole(desk: Desk) -> None:
    no = {"verdict": "REQUEST_CHANGES", "summary": "Too vague", "findings": ["old"]}
    last = {"verdict": "REQUEST_CHANGES", "summary": "Still vague", "findings": [LONG]}
    reviews = {"specify:consult": {"codex": [no, last], "*": [YES]}}
    panel = specify(models=["codex", "claude"], max_rounds=2)
    desk.begin(panel, reviews=reviews, code=3)
    where, run = read(desk)
    (decision,) = run.state.decisions.values()
    told = read_history(where, run.definition.protocol, run.state, decision).reviewers
    assert sorted((each.name, each.verdict) for each in told) == [
        ("claude", "APPROVE"),
        ("codex", "REQUEST_CHANGES"),
    ]
    codex = next(each for each in told if each.name == "codex")
    assert codex.summary == "Still vague"
    assert LONG.strip() in codex.findings[0]
    assert LONG.strip() in codex.reply


def test_the_round_before_is_the_last_answer_to_the_same_question(desk: Desk) -> None:
    desk.begin(CHECKED, code=3)
    where, run = read(desk)
    (first,) = run.state.decisions.values()
    assert read_history(where, run.definition.protocol, run.state, first).last_round is None
    desk.porch("reject", "1", "go", "--reason", "shorter")
    desk.porch("resume", "1", code=3)
    where, run = read(desk)
    (second,) = run.state.decisions.values()
    last = read_history(where, run.definition.protocol, run.state, second).last_round
    assert last is not None
    assert last.answer == "rejected"
    taken = next(each for each in desk.records() if each["fact"]["is"] == "WishTaken")
    assert (last.seq, dict(last.artifacts)) == (taken["seq"], taken["fact"]["artifacts"])
    kept = Path(where.run_dir("0001-x")) / "payloads"
    for digest in last.artifacts.values():
        assert list(kept.rglob(f"*{digest}*")), "the bytes of a rejected file are kept"


def test_a_journal_that_cannot_be_believed_tells_nothing(desk: Desk) -> None:
    desk.begin(CHECKED, code=3)
    where, run = read(desk)
    (decision,) = run.state.decisions.values()
    journal = desk.run_dir() / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"seq":2', b'"seq":7', 1))
    told = read_history(where, run.definition.protocol, run.state, decision)
    assert (told.last_round, told.reviewers) == (None, ())


def test_checks_are_fresh_until_a_file_changes_and_lines_are_counted_from_the_base(
    desk: Desk,
) -> None:
    desk.write("notes.txt", "not committed\n")
    desk.begin(CHECKED, code=3)
    where, run = read(desk)
    (decision,) = run.state.decisions.values()
    before = measure_work(where, run.definition.protocol, run.state, decision)
    assert before is not None
    assert (sorted(before.fresh), before.stale) == (NAMES, ())
    desk.write("more.txt", "one\ntwo\n")
    after = measure_work(where, run.definition.protocol, run.state, decision)
    assert after is not None
    assert (after.fresh, sorted(after.stale)) == ((), NAMES)
    assert (after.files - before.files, after.added - before.added) == (1, 2)
    assert before.files == 1, "what a person had not committed is no work of the run"


def test_what_cannot_be_measured_is_not_said(desk: Desk) -> None:
    desk.begin(CHECKED, code=3)
    where, run = read(desk)
    (decision,) = run.state.decisions.values()
    (desk.root / ".git" / "HEAD").unlink()
    assert measure_work(where, run.definition.protocol, run.state, decision) is None
