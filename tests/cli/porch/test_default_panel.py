"""Where nobody is named, the agents that are there review; who they are is settled at the start."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

# Says that its work is done, and approves what it reviews.
AGENT = """#!/bin/sh
case "$1 $2" in
"--setting-sources= auth") echo '{"loggedIn": false}'; exit 1 ;;
"login status") echo "Not logged in"; exit 1 ;;
esac
case $(cat) in
*"## How to reply"*) said='VERDICT: APPROVE\\nSUMMARY: fine\\nFINDINGS:\\n- none' ;;
*) said='<signal>DONE</signal>' ;;
esac
printf '%s\\n' '{"type":"result","subtype":"success","is_error":false,"result":"'"$said"'"}'
"""
PHASE: dict[str, Any] = {
    "id": "one",
    "signals": {"DONE": "complete"},
    "consultation": {"type": "generic"},
    "gate": {"name": "go", "next": None},
}
ONE_MODEL = "in a fresh context. It is one model; a second one would see other mistakes"


@pytest.fixture
def alone(real: "Desk", tmp_path: Path) -> "Desk":
    """A machine with claude and nobody else; the protocol p names no reviewer."""
    add(tmp_path, "claude")
    real.protocol("p", PHASE)
    return real


def add(tmp_path: Path, name: str) -> None:
    path = tmp_path / "names" / name
    path.write_text(AGENT)
    path.chmod(0o755)


def review_lines(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("Reviews: ")]


def reviewers(desk: "Desk") -> list[str]:
    return [effect.split("/")[-2] for effect in desk.started("review")]


def test_q7_with_claude_alone_it_reviews_in_a_fresh_context_and_one_line_says_so(
    alone: "Desk",
) -> None:
    said = alone.porch("run", "p", "0001", "--title", "x", "--plain", code=3).out
    assert review_lines(said) == [
        f"Reviews: claude, {ONE_MODEL} (codex, gemini are not installed)",
    ]
    assert reviewers(alone) == ["claude"]
    assert "claude: APPROVE" in alone.porch("log", "1").out


def test_q5_who_is_installed_and_not_logged_in_is_not_chosen_and_named(
    alone: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "codex")
    add(tmp_path, "gemini")
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    said = alone.porch("run", "p", "0001", "--title", "x", "--plain", code=3).out
    assert review_lines(said) == ["Reviews: claude, gemini (codex is not logged in)"]
    assert set(reviewers(alone)) == {"claude", "gemini"}
    assert "will abstain" not in said


def test_the_panel_of_a_run_changes_only_by_an_upgrade(
    alone: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone.porch("run", "p", "0001", "--title", "x", code=3)
    add(tmp_path, "codex")
    monkeypatch.setenv("CODEX_API_KEY", "a-key")
    # The same words again: somebody has to compare them.
    alone.protocol("p", PHASE)
    assert alone.porch("status", "1", "--json").json["definition_changed"] is False
    alone.porch("reject", "1", "--reason", "more")
    said = alone.porch("resume", "1", "--plain", code=3).out
    (line,) = review_lines(said)
    assert line.endswith(
        "(codex is new here, and `porch upgrade 0001` adds it; gemini is not installed)"
    )
    assert reviewers(alone) == ["claude", "claude"]
    upgrade = re.search(r"`porch (upgrade 0001)`", line)
    assert upgrade is not None
    assert "; reviewers: claude, codex" in alone.porch(*upgrade[1].split()).out
    assert "nothing was changed" in alone.porch("upgrade", "1").all
    alone.porch("reject", "1", "--reason", "more")
    # It says nothing that could be read as a verdict, which is its own affair.
    alone.porch("resume", "1", code=3)
    assert reviewers(alone)[2:4] == ["claude", "codex"]


def test_whoever_was_chosen_and_is_removed_abstains(
    alone: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "codex")
    monkeypatch.setenv("CODEX_API_KEY", "a-key")
    alone.porch("run", "p", "0001", "--title", "x", "--once", code=None)
    (tmp_path / "names" / "codex").unlink()
    said = alone.porch("resume", "1", "--plain", code=3).out
    assert "note: the reviewer codex is not installed and will abstain" in said
    assert review_lines(said) in ([], ["Reviews: claude, codex (gemini is not installed)"])
    assert alone.porch("status", "1", "--json").json["definition_changed"] is False


def test_an_agent_of_ones_own_that_is_alone_reviews_itself(alone: "Desk", tmp_path: Path) -> None:
    (tmp_path / "names" / "claude").unlink()
    add(tmp_path, "mine")
    alone.write("codev/config.toml", '[agents.mine]\ncommand = ["mine"]\n[agent]\nname = "mine"\n')
    alone.porch("trust", "--yes", code=None)
    said = alone.porch("run", "p", "0001", "--title", "x", "--plain", code=None).out
    assert review_lines(said)[0].startswith(f"Reviews: mine, {ONE_MODEL}")


def test_the_scripted_agent_reviews_under_the_same_names_on_every_machine(alone: "Desk") -> None:
    said = alone.porch("run", "p", "0001", "--title", "x", "--no-claude", "--plain", code=None).out
    assert review_lines(said) == []
    assert reviewers(alone) == ["claude", "codex", "gemini"]


def test_without_any_agent_the_missing_one_is_told_and_no_reviewer(
    alone: "Desk", tmp_path: Path
) -> None:
    (tmp_path / "names" / "claude").unlink()
    said = alone.porch("run", "p", "0001", "--title", "x", code=6).err
    assert said.count("error[") == 1
    assert "error[agent-missing]" in said


def test_reviewers_that_are_named_stay_strict_and_the_advice_works(
    alone: "Desk", tmp_path: Path
) -> None:
    named = {**PHASE, "consultation": {"models": ["gemini", "codex"], "type": "generic"}}
    alone.protocol("p", named)
    said = " ".join(alone.porch("run", "p", "0001", "--title", "x", code=2).err.split())
    assert "need 2 of 2 reviewers, and only 0 can be reached: gemini, codex are not inst" in said
    advice = re.search(r"write into (\S+), below \[panel\]: (models = \[.*?\])", said)
    assert advice is not None
    assert advice[2] == 'models = ["claude"]'
    alone.write(advice[1], f"[panel]\n{advice[2]}\n")
    alone.porch("run", "p", "0001", "--title", "x", code=3)
    assert reviewers(alone) == ["claude"]
    (tmp_path / "names" / "claude").unlink()
    said = alone.porch("run", "p", "Something else", code=None).err
    assert "models = []" not in said


def test_a_panel_of_one_is_another_agent_than_the_author_where_there_is_one(
    alone: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone.protocol("p", {**PHASE, "consultation": {"type": "generic", "max_reviewers": 1}})
    said = alone.porch("run", "p", "0001", "--title", "x", "--plain", code=3).out
    assert review_lines(said) == [f"Reviews: claude, {ONE_MODEL}"]
    add(tmp_path, "codex")
    monkeypatch.setenv("CODEX_API_KEY", "a-key")
    said = alone.porch("run", "p", "0002", "--title", "y", "--plain", code=None).out
    assert review_lines(said) == ["Reviews: codex"]
    assert alone.porch("status", "2", "--json").json["definition_changed"] is False
    alone.write("codev/config.toml", '[panel]\nmodels = ["claude", "codex"]\n')
    alone.git("add", "-A")
    alone.git("commit", "-qm", "a panel")
    alone.porch("run", "p", "0003", "--title", "z", code=3)
    started = alone.started("review", "0003-z")
    assert [effect.split("/")[-2] for effect in started] == ["claude"]


@pytest.mark.parametrize("fault", ["not installed", "not logged in"])
def test_an_agent_that_cannot_work_is_answered_with_one_that_is_there(
    alone: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    add(tmp_path, "gemini")
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    if fault == "not installed":
        (tmp_path / "names" / "claude").unlink()
    else:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
    words = ("run", "p", "0001", "--title", "x")
    said = " ".join(alone.porch(*words, code=6).err.split())
    assert f"the agent 'claude' is {fault}" in said
    advice = re.search(r"use one that is there: (--agent gemini), or try", said)
    assert advice is not None, said
    assert "error[" not in alone.porch(*words, *advice[1].split(), "--once", code=None).err


def test_an_agent_whose_cost_nobody_can_tell_is_left_out_where_dollars_are_limited(
    alone: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "codex")
    monkeypatch.setenv("CODEX_API_KEY", "a-key")
    alone.write("codev/config.toml", "[budget]\nmax_usd = 3\n")
    said = alone.porch("run", "p", "0001", "--title", "x", "--plain", code=3).out
    why = "codex is left out because it tells no cost, which max_usd needs; gemini is not installed"
    assert review_lines(said) == [f"Reviews: claude, {ONE_MODEL} ({why})"]
    assert reviewers(alone) == ["claude"]
