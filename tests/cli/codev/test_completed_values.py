"""What a shell completes in a project: names of runs, gates and answers, and never a complaint."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from porch.cli import completion
from porch.cli.codev.fast import answer_completion
from porch.cli.dispatch import run_words
from porch.cli.rows import PROGRAMS
from porch.cli.table import load_all_commands
from tests import commands
from tests.repositories import GITCONFIG, make_repository, sh

GATE: dict[str, Any] = {"id": "write", "gate": {"name": "ready", "next": None}}
FAIL: dict[str, Any] = {"id": "build", "checks": {"unit": {"command": "false", "max_retries": 0}}}
LOOK = """
import sys
sys.argv[0] = "codev"
from porch.cli.dispatch import codev
code = codev()
sys.stderr.write("\\n".join(sys.modules))
"""


def spec(path: str) -> str:
    program, _, name = path.partition(" ")
    found = [each for each in load_all_commands(program) if each.name == name]
    return completion.describe_command(program, found[0]).spec


def values(capsys: pytest.CaptureFixture[str], path: str, *typed: str) -> list[str] | None:
    """What is offered for the last word; None where the shell shall offer something else."""
    code = answer_completion(["completion", "values", spec(path), *typed])
    said = capsys.readouterr()
    assert said.err == ""
    return None if code else said.out.splitlines()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run 1 waits at a gate, run 2 has failed, and no third run is there."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(GITCONFIG)
    files = {
        "codev/protocols/p/protocol.json": json.dumps({"name": "p", "phases": [GATE]}),
        "codev/protocols/q/protocol.json": json.dumps({"name": "q", "phases": [FAIL]}),
        "script.yaml": "{}",
    }
    root = make_repository(tmp_path_factory.mktemp("built") / "project", files)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    for words in (("p", "0001", "--title", "x"), ("q", "0002", "--title", "y")):
        done = commands.run("porch", ("run", *words, "--script", "script.yaml"), root, environ)
        assert done.returncode == 3, done.stderr
    return root


@pytest.fixture
def project(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the test stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = shutil.copytree(built, tmp_path / "project", symlinks=True)
    monkeypatch.chdir(root)
    return root


def run_dir(project: Path, name: str) -> Path:
    return project / ".git" / "porch" / "runs" / name


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_runs_are_offered_where_the_command_can_do_something_with_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert values(capsys, "porch status", "") == ["0001", "0002"]
    assert values(capsys, "af open", "") == ["0001", "0002"]
    assert values(capsys, "porch approve", "") == ["0001"]
    assert values(capsys, "af reject", "") == ["0001"]
    assert values(capsys, "porch answer", "") == ["0001", "0002"]
    assert values(capsys, "porch retry", "") == ["0002"]
    assert values(capsys, "porch skip", "--reason", "it is slow", "") == ["0002"]
    assert values(capsys, "porch protocols graph", "--run", "") == ["0001", "0002"]


def test_the_words_behind_a_run_are_its_gates_decisions_answers_and_phases(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert values(capsys, "porch approve", "1", "") == ["ready"]
    assert values(capsys, "porch approve", "1", "--note", "two words", "--as-person", "") == [
        "ready"
    ]
    assert values(capsys, "porch approve", "2", "r") == []
    assert values(capsys, "porch answer", "0002", "") == ["failed:build"]
    answers = values(capsys, "porch answer", "2", "failed:build", "")
    assert answers is not None
    assert {"retry", "skip", "stopped"} <= set(answers)
    assert values(capsys, "porch answer", "2", "failed:build", "--option", "") == answers
    assert values(capsys, "porch rollback", "1", "") == ["write"]
    assert values(capsys, "porch approve", "9", "r") == []


def test_the_gate_of_a_plan_is_offered_for_approval(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sh(project, "switch", "-qc", "feat/search")
    prompt = "write-prompt 1 --description x --context x --criteria x --files a.py"
    for words in ("init", prompt, "block-plan-gate --wait 0.01"):
        run_words("envoy", ["plan", *words.split()])
    capsys.readouterr()
    assert values(capsys, "porch approve", "") == ["0001", "plan/feat/search"]
    assert values(capsys, "porch approve", "plan/feat/search", "") == ["plan"]


def test_a_run_is_meant_by_its_worktree_too(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "worktrees" / "p_0001_x")
    assert values(capsys, "porch approve", ".", "") == ["ready"]


def test_protocols_agents_steps_and_choices_are_offered(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project / "codev/config.toml", '[agents.mine]\ncommand = ["x"]\n[agents."b c"]\n')
    write(project / "codev/protocols/tree.graph.yaml")
    write(project / "codev/protocols/no-protocol/README.md")
    write(project / ".claude/protocols/careful.yaml")
    runnable = values(capsys, "porch run", "")
    assert runnable is not None
    assert {"p", "q", "spider", "tree", "careful"} <= set(runnable)
    copied = values(capsys, "porch protocols copy", "")
    assert copied == [name for name in runnable if name not in ("p", "q", "tree", "careful")]
    assert not {"no-protocol", "steps", "_reviews"} & set(runnable)
    agents = ["b c", "claude", "codex", "gemini", "mine", "scripted"]
    assert values(capsys, "porch run", "spider", "--agent", "") == agents
    assert values(capsys, "porch agents test", "") == agents
    steps = values(capsys, "envoy protocol", "")
    assert steps is not None
    assert {"careful", "implementation"} <= set(steps)
    assert "spider" not in steps
    assert values(capsys, "porch protocols graph", "--format", "") == [
        "text", "mermaid", "dot", "svg"
    ]  # fmt: skip


def test_a_place_for_a_text_or_a_file_is_left_to_the_shell(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for typed in (("spider", ""), ("./req",), ("--title", ""), ("-",)):
        assert values(capsys, "porch run", *typed) is None
    assert values(capsys, "porch approve", "1", "ready", "") is None
    assert values(capsys, "porch approve", "1", "--note", "") is None


def test_outside_of_a_project_there_is_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("porch status", "porch approve", "porch answer", "af logs"):
        assert values(capsys, command, "") is None  # options, which come from the script
        assert values(capsys, command, "0") == []
    assert values(capsys, "porch approve", "1", "r") == []


def test_words_that_no_script_of_ours_sends_are_answered_without_a_complaint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (
        [],
        ["runs"],
        ["runs", ""],
        ["--x", ""],
        ["a=b --c=d=e", "--c", ""],
        ["gates", ""],
    ):
        assert answer_completion(["completion", "values", *words]) == 1
    assert capsys.readouterr() == ("", "")


def test_damaged_rows_and_names_that_no_terminal_shows_break_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_dir(project, "0001-x")
    for name in ("row.json", "picture.json", "coming_row"):
        (run / name).unlink(missing_ok=True)
    (run / "row.json").write_text('{"row": [1]}\n')
    for name in ("0003-\x1b[31mred", "-rf", "0004-two words", "no-record"):
        (run.parent / name).mkdir()
        if name != "no-record":
            (run.parent / name / "journal.jsonl").write_text("{}\n")
    assert values(capsys, "porch status", "") == ["0001-x", "0002", "0004-two words"]
    assert values(capsys, "porch approve", "0001", "r") == []


def test_an_id_that_two_runs_have_is_offered_as_two_names(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run_dir(project, "0001-x"), run_dir(project, "p_0001_again"))
    assert values(capsys, "porch approve", "") == ["0001-x", "p_0001_again"]


def test_completing_loads_next_to_nothing(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOOK, "completion", "values", spec("porch approve"), "1", ""],
        cwd=project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "ready\n"
    loaded = set(done.stderr.split())
    heavy = {"argparse", "msgspec", "porch.errors", "porch.machine", "subprocess", "typing", "yaml"}
    assert not loaded & heavy


def test_every_kind_is_one_that_can_be_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    paths = {f"{p} {each.name}" for p in PROGRAMS for each in load_all_commands(p)}
    assert set(completion._ARGUMENT_KINDS) <= paths
    options = {path.rpartition(" ")[0] for path in completion._OPTION_KINDS}
    assert options <= paths
    assert run_words("codev", ["completion", "values"]) == 2
    assert "invalid choice: 'values'" in capsys.readouterr().err


def shell(name: str, project: Path, script: str, *words: str) -> list[str]:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    own = str(Path(sys.executable).parent)
    done = subprocess.run(
        [path, *words, "-c", script],
        cwd=project, capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{own}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.splitlines()


def scripted(name: str) -> str:
    return completion.SHELLS[name]({program: load_all_commands(program) for program in PROGRAMS})


def test_bash_completes_names_also_behind_a_colon_and_runs_nothing_that_stands_in_a_name(
    project: Path,
) -> None:
    write(run_dir(project, "0003-$(touch made) 'x") / "journal.jsonl", "{}\n")
    # As bash cuts the words: at a colon, but not where blanks are quoted.
    lines = {
        "porch approve ": "porch approve ''",
        "porch approve 1 --note 'a b' re": "porch approve 1 --note \"'a b'\" re",
        "porch answer 2 failed:b": "porch answer 2 failed : b",
        "porch answer 2 failed:": "porch answer 2 failed :",
        "porch status 0003": "porch status 0003",
        "porch approve 1 --no": "porch approve 1 --no",
        "/bin/af stop 9": "/bin/af stop 9",
    }
    calls = "\n".join(
        f"COMP_LINE={bash_quote(line)}; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({words}); "
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _porch_complete; "
        'printf "%s\\n" "${COMPREPLY[*]}"'
        for line, words in lines.items()
    )
    told = shell("bash", project, f"{scripted('bash')}\n{calls}", "--norc")
    assert dict(zip(lines, told, strict=True)) == {
        "porch approve ": "0001",
        "porch approve 1 --note 'a b' re": "ready",
        "porch answer 2 failed:b": "build",
        "porch answer 2 failed:": "build",
        "porch status 0003": r"0003-\$\(touch\ made\)\ \'x",
        "porch approve 1 --no": "--note",
        "/bin/af stop 9": "",
    }
    assert not (project / "made").exists()


def bash_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def test_zsh_completes_names(project: Path) -> None:
    script = (
        "compdef() { : }; compadd() { print -rl -- ${(P)2} }; _files() { print files }\n"
        f"{scripted('zsh')}\n"
        "words=(porch answer 2 ''); CURRENT=4; PREFIX=''; _porch_complete\n"
        "words=(/bin/porch approve 1 --note 'a b' ''); CURRENT=6; _porch_complete\n"
    )
    assert shell("zsh", project, script, "-f") == ["failed:build", "ready"]


def test_fish_completes_names(project: Path) -> None:
    asked = ("porch answer 2 ", "porch approve 1 --note 'a b' ", "porch protocols graph --format d")
    calls = "\n".join(f"complete -C {bash_quote(line)}" for line in asked)
    told = shell("fish", project, f"{scripted('fish')}\n{calls}", "-N")
    assert [line.partition("\t")[0] for line in told] == ["failed:build", "ready", "dot"]
