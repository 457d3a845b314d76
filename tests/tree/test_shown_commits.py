"""D12: an approval is for what the reader was shown, whoever moves the branch meanwhile."""

from typing import Any

from porch.machine import facts as f
from porch.tree.instance_worktrees import READ_SUFFIX
from tests.tree.conftest import REVIEW, TO_REVIEW, Bench

TO_READ = TO_REVIEW[:-1]


def meanwhile(bench: Bench, entry: dict[str, Any], *lines: str) -> dict[str, Any]:
    """The same answer of an agent in whose turn somebody does this in the member's worktree."""
    place = bench.root / bench.main
    clean = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE"
    return {**entry, "run": ["sh", "-ec", "\n".join((clean, f"cd '{place}'", *lines))]}


EVIL = ("echo evil > src/evil.txt", "git add -A", "git commit -qm evil")


def test_what_a_stranger_commits_while_it_is_reviewed_is_not_approved(bench: Bench) -> None:
    bench.until(*TO_READ)
    shown = bench.git("rev-parse", "porch/v3_sum")
    accepted = bench.do("review", meanwhile(bench, REVIEW, *EVIL))
    assert accepted.tree == bench.git("rev-parse", f"{shown}^{{tree}}")
    refused = bench.do("candidate")
    assert (refused.exit, "must be reviewed again" in refused.payload["details"]) == (
        "refused",
        True,
    )
    bench.until("impl", "review", "candidate", "merger", "publish")
    assert bench.git("show", "main:src/evil.txt") == "evil"


def test_a_reader_that_is_asked_again_is_shown_what_it_was_shown_before(bench: Bench) -> None:
    """Its first answer may have come after its runner had died: it counts for that commit."""
    bench.until(*TO_READ)
    shown = bench.git("rev-parse", "porch/v3_sum")
    first = bench.attempt("review", {"exit": "Approved", "payload": {}})
    assert isinstance(first, f.EffectFailed)
    bench.save("src/evil.txt", "evil\n", at=bench.main)
    bench.do("review")
    reader = f"{bench.main}{READ_SUFFIX}"
    assert bench.git("rev-parse", "HEAD", at=reader) == shown
    assert bench.do("candidate").exit == "refused"


def test_a_reader_that_goes_elsewhere_has_read_what_it_was_shown(bench: Bench) -> None:
    bench.until(*TO_READ)
    shown = bench.git("rev-parse", "porch/v3_sum")
    away = {**REVIEW, "run": ["git", "checkout", "-q", "--detach", "main"]}
    accepted = bench.do("review", away)
    assert accepted.tree == bench.git("rev-parse", f"{shown}^{{tree}}")
    assert bench.do("candidate").exit == "clean"


def test_who_judges_a_candidate_judges_that_commit_and_no_other(bench: Bench) -> None:
    """What comes to the branch behind a candidate is not in it."""
    bench.until(*TO_REVIEW, "candidate")
    bench.do("merger", meanwhile(bench, {"exit": "MergeComplete", "payload": MERGED}, *EVIL))
    bench.do("publish")
    assert "evil" not in bench.git("log", "-p", "main")


MERGED = {"impactLevel": "Trivial", "changes": []}
