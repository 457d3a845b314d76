"""Before anything is paid for: who works, what it may cost, and what must fail is refused."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from porch.cli.dispatch import run_words
from porch.run.settings import USER_FILE, user_directory
from tests.repositories import sh
from tests.trust import trust_settings

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

PANEL = {
    "id": "one",
    "substates": ["draft", "consult", "revise"],
    "signals": {"DRAFTED": "one:consult"},
    "consultation": {"on": "consult", "models": ["gemini", "codex", "claude"], "next": "complete"},
}

ALONE = (
    "Reviews: claude, in a fresh context. It is one model; a second one would see other mistakes"
)


def refused(desk: "Desk", *words: str) -> str:
    """What a run says that must not begin."""
    said = desk.porch("run", *words, code=None)
    assert said.code in (2, 6), said.all
    assert not list((desk.root / ".git/porch").glob("runs/*"))
    assert not (desk.root / "codev/projects").exists()
    return " ".join(said.err.split())


def test_r6_who_works_what_it_costs_and_what_nobody_enforces_are_three_lines(
    real: "Desk",
) -> None:
    real.protocol("p", {"id": "one", "signals": {"DONE": "complete"}})
    real.write("codev/config.toml", "[budget]\nmax_usd = 3\n")
    said = real.porch("run", "p", "Do it", "--plain", code=None).out.splitlines()
    at = next(n for n, line in enumerate(said) if line == "claude will work")
    assert said[at + 1].startswith("cost: porch asks you after $3.00")
    assert said[at + 2].endswith("notes on what agents may do: porch explain 0001 --verbose")


def test_r11_notes_are_one_line_with_the_command_that_shows_them_and_not_said_again(
    real: "Desk",
) -> None:
    real.protocol("p", {"id": "one", "gate": {"name": "ready", "next": "two"}}, {"id": "two"})
    first = real.porch("run", "p", "Do it", "--plain", code=None).out
    (line,) = [each for each in first.splitlines() if "what agents may do" in each]
    shown = real.porch(*line.partition("porch ")[2].split()).out
    count = int(line.split()[0])
    assert len(shown.splitlines()) > count
    real.porch("retry", "1", "--as-person")
    again = real.porch("resume", "1", "--plain", code=None).out
    assert "porch continues" in again
    assert "what agents may do" not in again
    assert "cost: " not in again


def test_r6_a_panel_that_can_never_decide_is_refused_with_the_line_to_write(
    real: "Desk",
) -> None:
    real.protocol("p", PANEL)
    said = refused(real, "p", "Do it")
    assert "error[quorum-unreachable]" in said
    assert "need 2 of 3 reviewers, and only 1 can be reached: gemini, codex are" in said
    assert 'below [panel]: models = ["claude"]' in said
    real.write("codev/config.toml", '[panel]\nmodels = ["claude"]\n')
    told = real.porch("run", "p", "Do it", "--plain", code=None).out.splitlines()
    assert told[told.index("claude will work") + 1] == ALONE


def test_r6_a_required_command_that_is_not_set_is_refused_with_the_line_to_write(
    real: "Desk",
) -> None:
    real.write("codev/config.toml", '[panel]\nmodels = ["claude"]\n')
    said = refused(real, "bugfix", "It crashes")
    assert "error[no-check-command]" in said
    assert 'below [commands]: test = "your command"' in said


def test_r6_an_agent_without_a_login_is_refused_with_the_way_to_log_in(
    real: "Desk", monkeypatch: pytest.MonkeyPatch
) -> None:
    real.protocol("p", {"id": "one"})
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    said = refused(real, "p", "Do it")
    assert "error[agent-login]: the agent 'claude' is not logged in" in said
    assert "or set ANTHROPIC_API_KEY" in said


@pytest.mark.parametrize(
    "sign", ["variable", "address", "credentials", "account", "own command", "named variable"]
)
def test_r6_a_sign_of_a_login_is_enough(
    real: "Desk", sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real.protocol("p", {"id": "one", "signals": {"DONE": "complete"}})
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    home = Path(os.environ["HOME"])
    (home / ".claude").mkdir(parents=True)
    match sign:
        case "variable":
            monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "x")
        case "address":
            monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
        case "credentials":
            (home / ".claude/.credentials.json").write_text("{}")
        case "account":
            (home / ".claude.json").write_text('{"oauthAccount": {"x": 1}}')
        case "own command":
            real.write("codev/config.toml", '[agents.claude]\ncommand = ["claude"]\n')
        case _:
            monkeypatch.setenv("MY_KEY", "x")
            own = Path(user_directory(os.environ), USER_FILE)
            own.parent.mkdir(parents=True, exist_ok=True)
            own.write_text('[agents.claude]\nenv = ["MY_KEY"]\n')
            trust_settings(real.root)
    assert "error[" not in real.porch("run", "p", "Do it", code=None).err


def test_r1_nobody_is_paid_to_guess_what_is_wanted(real: "Desk") -> None:
    real.write("codev/config.toml", '[panel]\nmodels = ["claude"]\n\n[commands]\ntest = "true"\n')
    said = refused(real, "spider")
    assert "error[no-request]: nothing says what this run is to do" in said
    assert 'porch run spider 0073 "what you want"' in refused(real, "spider", "0073")
    said = refused(real, "bugfix", "142")
    assert "nobody knows what issue 142 says: gh, the command line of GitHub" in said
    assert "--issue FILE" in said


def test_r14_a_real_agent_is_not_started_where_there_is_no_commit(
    real: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    said = real.porch("run", "spider", "Add a flag", code=2).err
    assert "error[no-repository]: there is no git here" in said
    assert "`codev init --yes`, which makes a repository with a first commit" in said
    assert list(empty.iterdir()) == []
    sh(empty, "init", "-q")
    assert "has no commit yet" in real.porch("run", "spider", "Add a flag", code=2).err


def test_r14_reading_outside_git_creates_nothing(
    desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    for words in (
        *(("protocols", "show", "spider"), ("protocols", "list"), ("protocols", "graph", "tick")),
        *(("protocols", "lint", "spider"), ("status",), ("pending",), ("settings",)),
        *(("status", "1"), ("log", "1"), ("explain", "1"), ("plan", "phases", "x.md")),
    ):
        desk.porch(*words, code=None)
    assert run_words("envoy", ["protocol", "implementation"]) in (0, 1, 2)
    assert list(empty.iterdir()) == []


def test_r13_a_mistyped_command_protocol_or_setting_is_answered_with_the_near_one(
    desk: "Desk",
) -> None:
    assert "did you mean `porch status`?" in desk.porch("stauts", code=2).err
    assert "did you mean `porch protocols show`?" in desk.porch("protocols", "shwo", code=2).err
    assert "did you mean 'spider'?" in desk.porch("run", "spidr", "x", code=2).err
    assert "did you mean 'spider'?" in desk.porch("protocols", "show", "spidr", code=2).err
    assert "did you mean --request?" in desk.porch("run", "spider", "--reqest", "x", code=2).err
    desk.write("codev/config.toml", '[commands]\ntset = "true"\ntest = "true"\n')
    desk.protocol("p", {"id": "one"})
    said = desk.porch("run", "p", "x", "--no-claude").all
    assert "did you mean 'test'?" in said
    desk.write("codev/config.toml", "[panle]\nmodels = []\n")
    assert "did you mean 'panel'?" in desk.porch("settings", code=2).err


@pytest.mark.parametrize(
    "words", [["stauts", "--json"], ["run", "--json"], ["status", "--jsn", "--json"]]
)
def test_r16_a_wrong_call_with_json_is_answered_in_json(desk: "Desk", words: list[str]) -> None:
    said = desk.porch(*words, code=2)
    assert said.json["error"]["exit"] == 2
    assert said.json["error"]["findings"][0]["code"] == "usage"
    assert "error[usage]" in said.err


@pytest.mark.parametrize("words", [["status"], ["log", "0001"], ["status", "--jsn"], ["--help"]])
def test_r16_a_closed_output_is_no_bug(desk: "Desk", words: list[str]) -> None:
    desk.begin({"id": "one"}, code=0)
    script = f"{sys.executable} -c 'from porch.cli.dispatch import porch; exit(porch())' "
    for closed in (">&-", ">&- 2>&-", "<&- >&-"):
        code = os.waitstatus_to_exitcode(os.system(f"{script} {' '.join(words)} {closed}"))
        assert code == (2 if "--jsn" in words else 0)


def test_r16_a_closed_input_is_no_bug_and_an_empty_request(desk: "Desk") -> None:
    desk.protocol("p", {"id": "one"})
    script = f"{sys.executable} -c 'from porch.cli.dispatch import porch; exit(porch())' run p"
    for words, code in (("0001 --here --no-claude", 0), ("--request - --no-claude", 2)):
        for closed in ("<&-", "<&- >&-"):
            assert os.waitstatus_to_exitcode(os.system(f"{script} {words} {closed}")) == code
