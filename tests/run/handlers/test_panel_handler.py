"""What of a review and of the files under review is told, and where that is cut."""

import subprocess
from pathlib import Path

import pytest

from porch.agents.port import Outcome
from porch.machine import facts as f
from porch.run.handlers import panel

EFFECT = "specify:consult#1/review/codex/0"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "start")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_findings_beyond_what_anybody_mends_are_counted_not_kept() -> None:
    listed = "\n".join(f"- f{number}" for number in range(60))
    reply = f"VERDICT: REQUEST_CHANGES\nSUMMARY: much\nFINDINGS:\n{listed}"
    fact = panel.read_review_outcome(EFFECT, Outcome("ok", final=reply))
    assert isinstance(fact, f.ReviewEnded)
    assert fact.findings[:50] == tuple(f"f{number}" for number in range(50))
    assert fact.findings[50:] == ("[10 more are not shown; see `porch log`]",)


def test_files_are_told_with_their_lines_and_a_name_makes_no_line_of_its_own(repo: Path) -> None:
    (repo / "a\nb.txt").write_text("1\n2\n")
    (repo / "status.yaml").write_text("ours\n")
    assert panel.describe_changes(str(repo), "HEAD", ("status.yaml",)) == "+2 -0 a b.txt"


def test_nothing_is_called_nothing_and_what_cannot_be_measured_so(repo: Path) -> None:
    assert panel.describe_changes(str(repo), "HEAD", ()) == "nothing"
    assert panel.describe_changes(str(repo), "nowhere", ()).startswith(
        "porch could not count the changes: "
    )
