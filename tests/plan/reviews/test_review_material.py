"""What reviewers are shown: the task, the claims and what really changed, each as what it is."""

import re
from pathlib import Path

import pytest

from porch.errors import FailedError
from porch.machine.plan.prompt_ids import PromptId
from porch.plan.prompts import plan_document, prompt_edits, prompt_work
from porch.plan.prompts.prompt_edits import PromptWords
from porch.plan.reviews.review_material import DIFF_CAP, collect_review_material, list_or_empty
from porch.plan.session import plan_session
from porch.store import where as places
from tests.plan.courts import BRANCH, ONE, Court

WALKTHROUGH = """### Iteration 1

#### Approach
I dropped the cache.

#### Changes Made
- `list.py`: no cache

#### Key Decisions
- no cache: nobody needs it
"""


def shown(
    court: Court,
    id_: PromptId | None = ONE,
    answers: tuple[tuple[str, str], ...] = (),
    wished: str = "",
    at: Path | None = None,
    said: str = "",
) -> tuple[str, str]:
    with plan_session.hold_plan(places.find_project(str(at or court.root))) as held:
        return collect_review_material(held, id_, answers, wished, said=said)


def part(text: str, heading: str) -> str:
    """Up to the next heading of porch; what it shows has headings of its own."""
    ours = r"^## (?:What (?:was|the|really)|Asked for in|How to answer)"
    (found,) = re.findall(rf"^## {heading}.*?$(.*?)(?={ours})", text, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.req("E-031")
def test_what_was_asked_for_and_what_is_claimed_are_told_apart(court: Court) -> None:
    prompt_work.record_implementation(court.where, ONE, WALKTHROUGH, 1)
    plan_document.append_user_input(court.where, "I saw an empty list")
    text, workspace = shown(court)
    assert workspace == str(court.work)
    assert "the list forgets its cache" in part(text, "What was asked for: the description")
    assert "two logins, two lists" in part(text, "What was asked for: when")
    assert "Drop the cache." in part(text, "What was asked for: the text")
    assert "src/list.py" in part(text, "What was asked for: files")
    assert "I saw an empty list" in part(text, "What was asked for: the user's own words")
    claimed = part(text, "What the worker claims")
    for words in ("I dropped the cache.", "list.py: no cache", "no cache: nobody needs it"):
        assert words in claimed
    assert "drop the cache" in part(text, "What really changed: the commits")


def test_what_changed_is_all_of_the_worktree_against_the_feature_branch(court: Court) -> None:
    (court.root / "b.txt").write_text("on the feature branch, later\n")
    court.git("add", "b.txt")
    court.git("commit", "-qm", "goes on")
    (court.work / "a.txt").write_text("one\nnot committed\n")
    (court.work / "new.txt").write_text("not known to git\n")
    (court.work / ".gitignore").write_text("*.log\n")
    (court.work / "x.log").write_text("ignored\n")
    (court.root / "c.txt").write_text("of the main checkout\n")
    text, _ = shown(court)
    diff = part(text, "What really changed: the diff")
    for line in ("+cache = None", "+not committed", "+not known to git"):
        assert line in diff
    for words in ("ignored", "of the main checkout", "later"):
        assert words not in diff
    files = part(text, "What really changed: the files").split("\n")
    assert files[3:-3] == [".gitignore +1 -0", "a.txt +1 -0", "list.py +1 -0", "new.txt +1 -0"]


def test_the_index_and_the_files_of_the_worker_stay_as_they_are(court: Court) -> None:
    (court.work / "new.txt").write_text("new\n")
    before = court.git("status", "--porcelain", at=court.work)
    shown(court)
    assert court.git("status", "--porcelain", at=court.work) == before == "?? new.txt"


def test_without_a_worktree_the_commits_are_shown(court: Court) -> None:
    (court.work / "new.txt").write_text("gone with the worktree\n")
    court.git("worktree", "remove", "--force", str(court.work))
    text, workspace = shown(court)
    diff = part(text, "What really changed: the diff")
    assert ("+cache = None" in diff, "new.txt" in diff) == (True, False)
    assert workspace == str(court.root)


def test_work_in_the_main_checkout_is_seen_there(court: Court) -> None:
    court.git("worktree", "remove", str(court.work))
    court.git("switch", "-q", BRANCH)
    (court.root / "new.txt").write_text("not committed\n")
    text, workspace = shown(court)
    assert "+not committed" in part(text, "What really changed: the diff")
    assert workspace == str(court.root)


def test_a_branch_that_is_not_there_is_not_reviewed(court: Court) -> None:
    court.git("worktree", "remove", str(court.work))
    court.git("branch", "-D", BRANCH)
    with pytest.raises(FailedError) as caught:
        shown(court)
    (found,) = caught.value.findings
    assert (found.code, BRANCH in found.message, bool(found.fix)) == (
        "branch-not-found",
        True,
        True,
    )


def test_work_that_changed_nothing_says_so(court: Court) -> None:
    court.git("reset", "-q", "--hard", "feat/x", at=court.work)
    assert "No change was found" in part(shown(court)[0], "What really changed: the diff")


def test_a_diff_that_is_cut_says_what_is_missing(court: Court) -> None:
    (court.work / "zz-large.txt").write_text("0123456789\n" * (DIFF_CAP // 10))
    (court.work / "zzz-last.txt").write_text("unseen\n")
    text, _ = shown(court)
    note = part(text, "What really changed: about the diff")
    found = re.search(r"(\d+) of (\d+) bytes are shown; cut or missing: (.*)", note)
    assert found is not None
    assert int(found[1]) <= DIFF_CAP < int(found[2])
    assert found[3] == "zz-large.txt"
    assert "+unseen" in text
    assert len(text) < DIFF_CAP * 1.1
    assert "zzz-last.txt +1 -0" in part(text, "What really changed: the files")


def test_v13_a_lock_file_in_front_does_not_hide_the_source_from_a_reviewer(court: Court) -> None:
    (court.work / "package-lock.json").write_text('  "resolved": "x",\n' * 20_000)
    (court.work / "zebra.py").write_text("SECRET_OF_THE_ZEBRA = 1\n")
    text, _ = shown(court)
    assert "+SECRET_OF_THE_ZEBRA = 1" in text
    told = re.search(
        r"\[porch: (\d+) of 2000\d lines of the diff of package-lock.json are not shown; "
        r"see them: git diff [0-9a-f]{12} -- package-lock.json\]",
        text,
    )
    assert told is not None
    assert 15_000 < int(told[1]) < 20_000


def test_a_whole_diff_is_not_called_cut(court: Court) -> None:
    assert "about the diff below" not in shown(court)[0]


def test_answers_and_wishes_of_the_user_are_shown_as_theirs(court: Court) -> None:
    text, _ = shown(court, answers=(("Which login?", "the second"),), wished="rename it")
    said = part(text, "What the user answered")
    assert "Question: Which login?\nAnswer: the second" in said
    assert "the user asked for\nAnswer: rename it" in said
    more = shown(court, said="and be quick")[0]  # K9: what somebody says besides reaches reviewers
    assert "What the user said besides\nAnswer: and be quick" in more
    assert "What the user answered" not in shown(court)[0]


def test_the_mending_of_a_fault_is_reviewed_as_one(court: Court) -> None:
    assert "fixes a bug" not in shown(court)[0]
    prompt_edits.write_prompt(court.where, ONE, PromptWords(debug=True), force=True)
    assert "fixes a bug" in shown(court)[0]


def test_a_whole_plan_is_shown_with_all_its_prompts(court: Court) -> None:
    plan_document.write_plan(court.where, "Fresh lists", "No stale list", "There is a cache")
    prompt_edits.write_prompt(court.where, PromptId(2), PromptWords(context="# Then\n\nRename it."))
    (court.home / "curator.md").write_text("Lists are drawn twice.\n")
    (court.root / "b.txt").write_text("not committed\n")
    court.git("merge", "-q", "--no-edit", BRANCH)
    text, workspace = shown(court, None)
    assert workspace == str(court.root)
    asked = part(text, "What was asked for: the text of the plan")
    for words in ("No stale list", "Lists are drawn twice.", "Prompt 1 (implemented)"):
        assert words in asked
    assert "Prompt 2 (unimplemented)\n\n\n# Then\n\nRename it." in asked
    assert "I dropped the cache." in part(text, "What the worker claims")
    diff = part(text, "What really changed: the diff")
    assert ("+cache = None" in diff, "+not committed" in diff) == (True, True)
    # The plan itself is not what was done for it.
    assert ".claude" not in diff


def test_a_whole_plan_is_reviewed_from_the_worktree_of_a_prompt(court: Court) -> None:
    text, workspace = shown(court, None, at=court.work)
    assert workspace == str(court.root)
    assert "list.py" not in part(text, "What really changed: the diff")
    court.git("switch", "-q", "main")
    assert shown(court, None, at=court.work)[1] == str(court.work)


def test_a_list_that_people_edit_may_be_anything() -> None:
    assert (list_or_empty(None), list_or_empty("a"), list_or_empty([1, {}])) == ([], ["a"], [1, {}])
