"""What of a review and of the files under review is told, and where that is cut."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porch.agents.port import Outcome
from porch.git import measured_tree
from porch.machine import facts as f
from porch.machine.effects import QuotedInput
from porch.machine.exits.evidence import review_payload
from porch.run.handlers import panel
from porch.show import prompt, review_feedback
from tests.repositories import sh

EFFECT = "specify:consult#1/review/codex/0"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "start")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_very_many_findings_stand_together_at_the_end_and_none_is_lost() -> None:
    listed = "\n".join(f"- f{number}" for number in range(120))
    reply = f"VERDICT: REQUEST_CHANGES\nSUMMARY: much\nFINDINGS:\n{listed}"
    fact = panel.read_review_outcome(EFFECT, Outcome("ok", final=reply))
    assert isinstance(fact, f.ReviewEnded)
    assert len(fact.findings) == 100
    assert " - ".join(fact.findings) == " - ".join(f"f{number}" for number in range(120))


_BEGINNINGS = ("", "None of ", "Nothing in ", "no changes: ", "n/a ", "N/A. ", "none", "# ", "`")
_FINDINGS = st.builds(
    "{}{}".format,
    st.sampled_from(_BEGINNINGS),
    st.text("abcxyz ,.'0123", min_size=1, max_size=40).map(str.strip).filter(bool),
).map(str.strip)


@settings(max_examples=60, deadline=None)
@given(st.lists(_FINDINGS, min_size=1, max_size=8), st.text(max_size=200))
def test_v10_every_finding_is_in_the_prompt_and_every_byte_of_the_reply_in_the_file(
    findings: list[str], more: str
) -> None:
    listed = "\n".join(f"- {each}" for each in findings)
    reply = f"VERDICT: REQUEST_CHANGES\nSUMMARY: s\nFINDINGS:\n{listed}\n\n{more}"
    fact = panel.read_review_outcome(EFFECT, Outcome("ok", final=reply))
    assert isinstance(fact, f.ReviewEnded)
    file = review_feedback.render_feedback("Specify", 1, {"codex": review_payload(fact)})
    assert reply in file
    shown = {"findings": [{"by": "codex", "finding": each} for each in fact.findings]}
    told = prompt.compose_turn_prompt(
        "", "", item=None, shown=(QuotedInput("Findings of the reviewers", shown),), exits=()
    )
    for each in findings:
        assert f"> - {prompt.one_line(each)}" in told.split("\n")


def test_files_are_told_with_their_lines_and_a_name_makes_no_line_of_its_own(repo: Path) -> None:
    (repo / "a\nb.txt").write_text("1\n2\n")
    (repo / "status.yaml").write_text("ours\n")
    assert (
        panel.describe_changes(str(repo), sh(repo, "rev-parse", "HEAD"), ("status.yaml",))
        == "+2 -0 a b.txt"
    )


def test_what_was_measured_before_a_turn_is_told_and_not_measured_again(repo: Path) -> None:
    head = sh(repo, "rev-parse", "HEAD")
    (repo / "a.txt").write_text("1\n")
    seen = measured_tree.measure_tree(str(repo))
    (repo / "b.txt").write_text("1\n")
    assert panel.describe_changes(str(repo), head, (), now=seen) == "+1 -0 a.txt"
    assert panel.describe_changes(str(repo), head, ()) == "+1 -0 a.txt\n+1 -0 b.txt"


def test_nothing_is_called_nothing_and_what_cannot_be_measured_so(repo: Path) -> None:
    assert panel.describe_changes(str(repo), sh(repo, "rev-parse", "HEAD"), ()) == "nothing"
    assert panel.describe_changes(str(repo), "nowhere", ()).startswith(
        "porch could not count the changes: "
    )
