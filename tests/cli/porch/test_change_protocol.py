"""`change`: one approval, of the whole difference, and exactly that is merged."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from porch.fleet.finish.merge_approved import merge_when_complete
from porch.fleet.finish.run_changes import compare_run
from porch.run.verbs.read_run import read_run
from porch.store import where as places
from tests.repositories import ACCOUNT

if TYPE_CHECKING:
    from tests.cli.conftest import Desk, Said

RUN = "0001-add-a-line"
ASKED = "ends the run: complete, and merges into main after its checks"


def begin(desk: "Desk", *words: str) -> "Said":
    return desk.porch("run", "change", "Add a line", "--no-claude", *words, code=3)


def told(said: "Said") -> str:
    return " ".join(said.all.split())


def worktree(desk: "Desk", number: int = 1) -> Path:
    return next(desk.root.glob(f"worktrees/change_{number:04}_*"))


def approve(desk: "Desk", number: int = 1, code: int | None = 0) -> str:
    desk.porch("approve", str(number))
    return told(desk.porch("resume", str(number), code=code))


def merged(desk: "Desk") -> str:
    return desk.git("show", "main:work/change.txt")


def test_one_approval_of_the_difference_merges_it_in_the_name_of_who_gave_it(desk: "Desk") -> None:
    begin(desk)
    asked = told(desk.porch("pending"))
    assert ASKED in asked
    (review,) = [desk.prompt(effect, RUN) for effect in desk.started("review", RUN)]
    assert "asks for your judgement. Its documents are in the directory `codev/" in review
    assert "``" not in review.split("## Reply")[0], "no name is empty"
    assert "one of several reviewers" not in review
    place = worktree(desk)
    look = f"git -C worktrees/{place.name} diff {desk.git('rev-parse', '--short=12', 'main')}"
    assert f"see the whole change: {look}" in asked
    assert "+one line" in subprocess.check_output(look.split(), cwd=desk.root, text=True)
    said = approve(desk)
    assert f"{RUN}: merged into main" in said
    assert "the scripted agent wrote these files: examples, not work" in said
    assert f"its worktree and branch {place.name} are still there; remove them: af cleanup" in said
    assert merged(desk) == "one line"
    finished = desk.facts("WorkFinished", RUN)
    assert [(each["how"], each["by"]) for each in finished] == [("merged", ACCOUNT)]
    assert "is already merged into main" in told(desk.porch("finish", "1", "--merge"))
    assert "it is merged into main" in told(desk.porch("resume", "1"))
    assert len(desk.facts("WorkFinished", RUN)) == 1


def test_a_file_that_comes_after_the_approval_is_asked_about_and_not_merged(desk: "Desk") -> None:
    begin(desk)
    desk.porch("approve", "1")
    late = worktree(desk) / "late.txt"
    late.write_text("unseen\n")
    assert "change_approval must be approved again" in told(desk.porch("resume", "1", code=3))
    assert "+unseen" in told(desk.porch("pending"))
    late.unlink()
    assert "merged into main" in told(desk.porch("resume", "1"))
    assert desk.git("ls-tree", "--name-only", "main", "late.txt") == ""


def test_a_file_that_comes_while_a_person_looks_is_not_approved(desk: "Desk") -> None:
    begin(desk)
    desk.porch("pending")
    (worktree(desk) / "late.txt").write_text("unseen\n")
    said = told(desk.porch("approve", "1", code=1))
    assert "change_approval was not approved" in said
    assert "+unseen" in said


def test_work_that_is_sent_back_is_done_again_and_asked_about_again(desk: "Desk") -> None:
    begin(desk)
    desk.porch("reject", "1", "--reason", "Two lines, please")
    again = desk.script(agents={"work:revise": [{"append": {"work/change.txt": "two lines\n"}}]})
    desk.porch("resume", "1", "--script", again, code=3)
    assert "Two lines, please" in desk.prompts(RUN)[-1]
    where = places.find_project(str(desk.root))
    work, *notes = [each.path for each in compare_run(where, read_run(where, RUN).state).files]
    assert work == "work/change.txt"
    assert [each for each in notes if "/consultation-" in each]
    approve(desk)
    assert merged(desk) == "one line\ntwo lines"


def test_what_cannot_be_merged_stays_ready_to_merge_with_the_reason(desk: "Desk") -> None:
    begin(desk)
    config = desk.root / "codev/config.toml"
    before = config.read_text()
    config.write_text(f"{before}# half written\n")
    said = approve(desk)
    assert f"{RUN} is ready to merge, and was not merged into main: 'main' is checked out" in said
    again = "porch finish 0001 --merge"
    for words in (("status", "1"), ("finish", "1")):
        assert again.removesuffix(" --merge") in told(desk.porch(*words))
    assert "not merged: 'main' is checked out" in told(desk.porch("status", "1"))
    config.write_text(before)
    # As of a gate that only a status file calls approved.
    where = places.find_project(str(desk.root))
    state = read_run(where, RUN).state
    unnamed = {name: replace(gate, by="") for name, gate in state.gates.items()}
    merge_when_complete(where, replace(state, gates=unnamed), print)
    assert not desk.facts("WorkFinished", RUN)
    # Behind the end of the run, nobody has seen or measured this.
    (worktree(desk) / "late.txt").write_text("unseen\n")
    desk.git("-C", str(worktree(desk)), "add", "-A")
    desk.git("-C", str(worktree(desk)), "commit", "-qm", "late")
    said = told(desk.porch("finish", "1", "--merge", code=1))
    assert "changed since change_approval was approved" in said
    assert "--accept-changes" in told(desk.porch("resume", "1"))
    desk.git("-C", str(worktree(desk)), "reset", "-q", "--hard", "HEAD~")
    # As after a kill between the end and the merge: whoever resumes it merges it.
    assert f"{RUN}: merged into main" in told(desk.porch("resume", "1"))
    assert "not merged" not in told(desk.porch("status", "1"))


def test_two_changes_are_merged_one_after_the_other_unless_they_clash(desk: "Desk") -> None:
    begin(desk)
    other = desk.script(agents={"work:make": [{"append": {"work/change.txt": "another\n"}}]})
    desk.porch("run", "change", "Add another", "--script", other, code=3)
    assert "merged into main" in approve(desk, 1)
    assert "changed the same places; nothing was changed" in approve(desk, 2)
    assert merged(desk) == "one line"


def test_what_fails_on_the_merged_files_is_not_merged(desk: "Desk") -> None:
    test = "test ! -e other.txt || test ! -e work/change.txt"
    desk.write("codev/config.toml", f'[commands]\ntest = "{test}"\n')
    begin(desk)
    desk.write("other.txt", "other\n")
    desk.git("add", "other.txt")
    desk.git("commit", "-qm", "main moves on")
    assert "was not merged into main" in approve(desk)
    assert desk.git("ls-tree", "--name-only", "main", "work") == ""


def test_in_a_checkout_nothing_is_merged_and_nobody_is_told_so(desk: "Desk") -> None:
    before = desk.git("log", "--format=%H", "-1", "main")
    begin(desk, "--here")
    asked = told(desk.porch("pending"))
    assert "ends the run: complete after its checks" in asked
    assert "and merges" not in asked
    assert "merged" not in approve(desk)
    assert desk.git("log", "--format=%H", "-1", "main") == before


def test_where_git_keeps_other_bytes_than_lie_there_the_approved_ones_are_merged(
    desk: "Desk",
) -> None:
    (desk.root / ".gitattributes").write_text("*.md text eol=crlf\n")
    (desk.root / "notes.md").write_text("one\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "other ends of lines")
    begin(desk)
    assert "merged into main" in approve(desk)


def test_a_branch_that_was_renamed_meanwhile_is_named(desk: "Desk") -> None:
    begin(desk)
    desk.git("branch", "-m", "main", "trunk")
    said = approve(desk)
    assert "was not merged into main: there is no branch 'main'" in said
    assert "--into BRANCH" in said


def test_an_approval_that_ends_a_run_without_a_driver_says_how_it_is_merged(desk: "Desk") -> None:
    gate = {"name": "go", "artifact": "@changes", "next": None}
    agents = {"one": [{"write": {"hello.txt": "hello\n"}}]}
    desk.begin_in_worktree({"id": "one", "gate": gate}, agents=agents, top={"finish": "merge"})
    said = desk.porch("approve", "1", "--json").json
    assert said["next"] == "Ready to merge into main: porch resume 0001"
    again = told(desk.porch("approve", "1", "go"))
    assert "porch finish 0001" in again
    assert "porch resume" not in again
    assert "merged into main" in told(desk.porch("resume", "1"))


def test_an_approval_after_something_was_skipped_says_which_command_merges(desk: "Desk") -> None:
    check = {"command": "test -e late.txt", "max_retries": 0}
    gate = {"name": "go", "artifact": "@changes", "next": None}
    agents = {
        name: [{"write": {f"{file}.txt": "x\n"}}]
        for name, file in (("one", "early"), ("two", "late"))
    }
    phases = ({"id": "one", "checks": {"unit": check}}, {"id": "two", "gate": gate})
    desk.begin_in_worktree(*phases, agents=agents, top={"finish": "merge"})
    desk.porch("skip", "1", "--reason", "later")
    desk.porch("resume", "1", code=3)
    command = "porch finish 0001 --merge --accept REASON"
    asked = told(desk.porch("pending"))
    assert f"merging then needs `{command}`, because one: unit failed" in asked
    assert "merges into main" not in asked
    assert "was not merged into main" in approve(desk)
    assert "merged into main" in told(desk.porch(*command.split()[1:]))
