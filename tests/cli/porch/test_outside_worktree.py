"""X1, X2: what changes outside the worktree during a turn is shown; early merges ask a person."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

TITLE = "changed outside the worktree during a turn"
WORK: Mapping[str, Any] = {"id": "work"}
LOOK: Mapping[str, Any] = {"id": "look", "gate": "look"}
COMMIT = "echo x > work.py; git add -A; git commit -qm 'the work'"
MERGE = f"{COMMIT}; git -C ../.. merge -q p_0001_x"


def runs(shell: str) -> dict[str, Any]:
    return {"run": [["sh", "-ec", shell]]}


def begin(desk: "Desk", shell: str, *phases: Mapping[str, Any], **more: Any) -> str:
    """The run until a person is asked; answers what stands at the question, as one line."""
    desk.protocol("p", *(phases or (WORK, LOOK)))
    desk.write(".gitignore", "/script.yaml\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    agents = {"work": [runs(shell)], **more}
    desk.begin_in_worktree(*(phases or (WORK, LOOK)), agents=agents, code=3)
    return pending(desk)


def pending(desk: "Desk") -> str:
    return " ".join(desk.porch("pending", code=None).out.split())


def outside(desk: "Desk") -> list[str]:
    return [line for fact in desk.facts("ExitAccepted") for line in changes(fact)]


def changes(fact: Mapping[str, Any]) -> list[str]:
    return list(fact.get("outside", {}).get("changes", ()))


def test_x1_a_quiet_turn_is_shown_as_nothing(desk: "Desk") -> None:
    said = begin(desk, f"{COMMIT}; git branch mine; git branch -D mine")
    assert TITLE not in said
    assert "outside" not in json.dumps(desk.facts("ExitAccepted"))


@pytest.mark.parametrize(
    "shell, line",
    [
        ("git branch other", "branch other: none -> "),
        ("git tag v9", "tag v9: none -> "),
        ("git -C ../.. switch -qc other", "HEAD of the main checkout: main -> other"),
        ("git -C ../.. commit -q --allow-empty -m hi", "branch main: "),
        ("echo x > ../../new.txt", "new.txt"),
        ("echo more >> ../../dirty.txt", "dirty.txt"),
        ("rm ../../codev/config.toml", "codev/config.toml"),
        ('mkdir -p "$HOME/.config/porch"; echo > "$HOME/.config/porch/config.toml"', "/porch/"),
        ("git config alias.x status", ".git/config"),
        ("mkdir -p ../../.git/hooks; echo > ../../.git/hooks/pre-commit", ".git/hooks/pre-commit"),
        ("mkdir -p ../../.git/info; echo x > ../../.git/info/attributes", ".git/info/attributes"),
        ("git push -q origin HEAD:refs/heads/main", "branch main of origin: none -> "),
    ],
)
def test_x1_x2_what_changed_outside_is_recorded_and_shown(
    desk: "Desk", tmp_path: Path, shell: str, line: str
) -> None:
    """X1, X2: the file in which the person works is there before and counts by its content."""
    desk.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    desk.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    desk.write("dirty.txt", "a person writes this\n")
    desk.git("commit", "-q", "--allow-empty", "-m", "first")
    desk.write(".git/info/exclude", "/script.yaml\n")
    desk.protocol("p", WORK, LOOK)
    desk.git("add", "codev")
    desk.git("commit", "-qm", "a protocol")
    desk.begin_in_worktree(WORK, LOOK, agents={"work": [runs(shell)]}, code=3)
    assert [each for each in outside(desk) if line in each], outside(desk)
    assert len(outside(desk)) <= 2
    assert TITLE in pending(desk)
    [decision] = desk.porch("pending", "--json").json["decisions"]
    assert line in decision["reports"][TITLE]
    assert "you, another run or the agent" in decision["reports"][TITLE]
    assert TITLE in " ".join(desk.porch("status", "1").out.split())
    assert f"changed outside the worktree: {outside(desk)[0]}"[:60] in " ".join(
        desk.porch("log", "1", "--all").out.split()
    )


def test_x1_commits_of_the_run_in_the_target_ask_a_person_before_anything_else(
    desk: "Desk",
) -> None:
    """The gate of the phase is not asked, and no other agent begins."""
    said = begin(desk, MERGE)
    assert desk.entered()[-2:] == ["target_branch", "look"]
    assert "main has come to contain commits of this run" in said
    assert "the work" in said
    assert len(desk.porch("pending", "--json").json["decisions"]) == 1
    assert len(desk.started("agent")) == 1
    desk.porch("answer", "1", "target_branch", "go_on", code=0)
    desk.porch("resume", "1", code=3)
    assert "look" in pending(desk)
    assert len(desk.started("agent")) == 2, "nobody is paid again"


CHECKED: Mapping[str, Any] = {
    **WORK,
    "checks": {"own": {"command": "sh own.sh", "max_retries": 0}},
}
BY_TEST = "git add -A; git commit -qm 'the work'; git -C ../.. merge -q p_0001_x"


def test_x1_a_test_of_the_agent_that_merges_asks_a_person_too(desk: "Desk") -> None:
    """The turn is over when the check runs what the agent wrote."""
    said = begin(desk, f'echo "{BY_TEST}" > own.sh', CHECKED, LOOK)
    assert "main has come to contain commits of this run" in said
    assert len(desk.started("agent")) == 1
    desk.porch("answer", "1", "target_branch", "go_on")
    desk.porch("resume", "1", code=3)
    assert f"{TITLE}: branch main" in pending(desk)


@pytest.mark.parametrize(
    "shell, line",
    [
        ("git branch other", "branch other: none -> "),
        ("git config alias.x status", ".git/config"),
        ("echo > ../../codev/config.toml", "codev/config.toml"),
    ],
)
def test_x1_what_changes_during_a_check_is_shown(desk: "Desk", shell: str, line: str) -> None:
    said = begin(desk, f"echo '{shell}' > own.sh", CHECKED, LOOK)
    assert f"{TITLE}: {line}" in said
    (fact,) = [each for each in desk.facts("CheckEnded") if changes(each)]
    assert line in changes(fact)[0]
    assert "changed outside the worktree: " in " ".join(desk.porch("log", "1", "--all").out.split())


def test_x1_a_check_that_changes_nothing_outside_is_no_news(desk: "Desk") -> None:
    assert TITLE not in begin(desk, "echo 'touch a.log' > own.sh", CHECKED, LOOK)


def test_x1_the_stamp_of_a_check_outlives_the_driver(desk: "Desk") -> None:
    desk.protocol("p", CHECKED, LOOK)
    shell = "git branch other; sed -i d own.sh"
    script = desk.script(agents={"work": [runs(f"echo '{shell}' > own.sh")]})
    words = ("run", "p", "0001", "--title", "x", "--script", script)
    desk.call(*words, code=None, PORCH_CRASH_AT="check.after-end")
    desk.porch("resume", "1", code=3)
    assert "branch other" in pending(desk)


def test_x1_who_went_on_is_not_asked_the_same_again(desk: "Desk") -> None:
    begin(desk, MERGE, WORK, {"id": "more"}, LOOK)
    desk.porch("answer", "1", "target_branch", "go_on")
    desk.porch("resume", "1", code=3)
    assert desk.entered().count("target_branch") == 1
    assert len(desk.started("agent")) == 3


def test_x1_who_stops_there_ends_the_run(desk: "Desk") -> None:
    begin(desk, MERGE)
    desk.porch("answer", "1", "target_branch", "stopped")
    assert desk.entered()[-1] == "abandoned"


def test_x1_what_a_person_commits_on_the_target_is_only_shown(desk: "Desk") -> None:
    said = begin(desk, f"{COMMIT}; git -C ../.. commit -q --allow-empty -m 'by hand'")
    assert "target_branch" not in desk.entered()
    assert f"{TITLE}: branch main: " in said


def test_x1_a_gate_that_was_answered_has_shown_it(desk: "Desk") -> None:
    again = {"id": "again", "gate": "again"}
    assert "branch other" in begin(desk, "git branch other", WORK, LOOK, again)
    desk.porch("approve", "1")
    desk.porch("resume", "1", code=3)
    assert "again" in pending(desk)
    assert "branch other" not in pending(desk)


def test_x1_a_turn_that_failed_is_compared_too(desk: "Desk") -> None:
    desk.protocol("p", WORK, LOOK)
    turn = {**runs("git branch other"), "crash": 3}
    desk.begin_in_worktree(WORK, LOOK, agents={"work": [turn, {}]}, code=3)
    assert changes(desk.facts("EffectFailed")[0])
    assert "branch other" in pending(desk)


def test_x1_in_the_checkout_its_own_files_and_branch_are_no_news(desk: "Desk") -> None:
    desk.begin(WORK, LOOK, agents={"work": [runs(COMMIT)]}, code=3)
    assert TITLE not in pending(desk)


def test_x1_the_stamp_outlives_the_driver(desk: "Desk") -> None:
    """What the turn came to is adopted by the next driver, and compared with how it was before."""
    desk.protocol("p", WORK, LOOK)
    script = desk.script(agents={"work": [runs("git branch other")]})
    words = ("run", "p", "0001", "--title", "x", "--script", script)
    desk.call(*words, code=None, PORCH_CRASH_AT="turn.after-end")
    desk.porch("resume", "1", code=3)
    assert len(desk.started("agent")) == 2, "the turn is not paid again"
    assert "branch other" in pending(desk)


def test_x1_a_turn_without_its_stamp_says_so(desk: "Desk") -> None:
    desk.protocol("p", WORK, LOOK)
    script = desk.script(agents={"work": [runs("git branch other")]})
    words = ("run", "p", "0001", "--title", "x", "--script", script)
    desk.call(*words, code=None, PORCH_CRASH_AT="turn.after-end")
    [stamp] = (desk.run_dir() / "outside").iterdir()
    stamp.unlink()
    desk.porch("resume", "1", code=3)
    assert f"{TITLE}: could not be compared" in pending(desk)


BREAK: Mapping[str, str] = {
    "settings": "git config core.worktree /nowhere; git config core.bare true",
    "index": "echo junk > ../../.git/index",
    "worktree": 'here=$PWD; cd ../..; git worktree remove --force "$here"',
}


@pytest.mark.parametrize("broken", BREAK)
def test_x1_an_early_merge_is_found_also_if_the_agent_breaks_what_porch_compares_with(
    desk: "Desk", broken: str
) -> None:
    said = begin(desk, f"{COMMIT}; git update-ref refs/heads/main HEAD; {BREAK[broken]}")
    assert "main has come to contain commits of this run" in said
    assert len(desk.started("agent")) == 1
    assert [line for line in all_changes(desk) if line.startswith("branch main: ")]


def all_changes(desk: "Desk") -> list[str]:
    facts = [*desk.facts("ExitAccepted"), *desk.facts("EffectFailed")]
    return [line for fact in facts for line in changes(fact)]


@pytest.mark.parametrize("broken", ["settings", "index"])
def test_x1_files_that_git_could_not_list_are_named_as_such_with_what_git_said(
    desk: "Desk", broken: str
) -> None:
    """The words of an error are no file that changed; hooks and refs are compared all the same."""
    said = begin(desk, f"git branch other; {BREAK[broken]}")
    assert "branch other: none -> " in said
    assert "other files of the main checkout: could not be compared: " in said
    assert f"{TITLE}: fatal" not in said
    assert all("\n" not in line and "to do" not in line for line in all_changes(desk))


def test_x1_an_early_merge_is_found_also_without_a_look_before_the_turn(desk: "Desk") -> None:
    delete = "rm ../../.git/porch/runs/*/outside/*.json"
    said = begin(desk, f"{MERGE}; {delete}")
    assert "main has come to contain commits of this run" in said
    assert "could not be compared: porch does not know how it was before" in all_changes(desk)[0]


def test_x1_an_early_merge_by_an_agent_that_porch_did_not_start_asks_a_person_once(
    desk: "Desk",
) -> None:
    """Such an agent works between `porch next` and `porch done`."""
    desk.protocol("p", WORK, {"id": "more"}, LOOK)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "a protocol")
    desk.porch("run", "p", "0001", "--title", "x", "--hands-off")
    place = desk.root / "worktrees" / "p_0001_x"
    (place / "work.py").write_text("x = 1\n")
    desk.git("-C", str(place), "add", "-A")
    desk.git("-C", str(place), "commit", "-qm", "the work")
    desk.git("merge", "-q", "p_0001_x")
    assert "main has come to contain commits of this run" in done(desk)
    desk.porch("answer", "1", "target_branch", "go_on")
    desk.git("commit", "-q", "--allow-empty", "-m", "by hand")
    assert "target_branch" not in done(desk)
    assert "look (gate)" in done(desk)
    assert desk.entered().count("target_branch") == 1


def done(desk: "Desk") -> str:
    desk.porch("done", "1", code=None)
    return pending(desk)


def test_x1_a_target_of_which_git_cannot_tell_the_commits_asks_a_person(desk: "Desk") -> None:
    """What could not be measured is no pass."""
    junk = "1234567890123456789012345678901234567890"
    said = begin(desk, f"{COMMIT}; echo {junk} > ../../.git/refs/heads/main")
    assert "porch cannot tell whether it contains commits of this run" in said
