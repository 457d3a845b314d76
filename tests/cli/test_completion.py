"""A shell completes every command and every option that there is, but for one."""

import shutil
import subprocess
from functools import cache

import pytest

from porch.cli import completion
from porch.cli.dispatch import run_words
from porch.cli.rows import PROGRAMS
from porch.cli.table import load_all_commands


@cache
def script(shell: str) -> str:
    programs = {program: load_all_commands(program) for program in PROGRAMS}
    return completion.SHELLS[shell](programs)


def complete(lines: list[str]) -> dict[str, list[str]]:
    """What bash offers for each line, whose last word is being typed."""
    calls = "\n".join(
        f"COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; "
        f"COMP_WORDS=({line if not line.endswith(' ') else line + chr(34) * 2}); "
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _porch_complete; "
        'echo "${COMPREPLY[*]}"'
        for line in lines
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script('bash')}\n{calls}"],
        capture_output=True, text=True, check=True, cwd="/",
    )  # fmt: skip
    assert done.stderr == ""
    return dict(zip(lines, (told.split() for told in done.stdout.splitlines()), strict=True))


def test_bash_offers_commands_then_groups_then_options() -> None:
    told = complete(
        ["porch ", "porch sta", "porch protocols ", "porch protocols sc", "porch run spider --ti",
         "/somewhere/bin/codev adopt --d", "codev completion f", "envoy plan write-p",
         "porch protocols schema g", "porch approve 1 ", "nobody "]
    )  # fmt: skip
    assert "run" in told["porch "]
    assert told["porch sta"] == ["status"]
    assert told["porch protocols "] == ["list", "show", "graph", "copy", "lint", "schema"]
    assert told["porch protocols sc"] == ["schema"]
    assert told["porch run spider --ti"] == ["--title"]
    assert told["/somewhere/bin/codev adopt --d"] == ["--dry-run"]
    assert told["codev completion f"] == ["fish"]
    assert told["envoy plan write-p"] == ["write-plan", "write-prompt"]
    assert told["porch protocols schema g"] == ["graph"]
    assert "--note" in told["porch approve 1 "]
    assert told["nobody "] == []


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_every_command_and_option_stands_in_every_script(shell: str) -> None:
    text = script(shell)
    for program in PROGRAMS:
        assert program in text
        for command in load_all_commands(program):
            assert command.name.split()[-1] in text
            for argument in command.arguments:
                name = argument.names[-1]
                if name.startswith("--") and name != "--as-person":
                    assert (f"-l {name[2:]}" if shell == "fish" else name) in text
    # Agents may read a completion; the word of people is in no text that they read.
    assert "as-person" not in text


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_each_shell_reads_its_script(shell: str) -> None:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([path, "-n"], input=script(shell), text=True, capture_output=True,
                          check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_words("codev", ["completion", "bash"]) == 0
    assert capsys.readouterr().out == script("bash")
    assert run_words("codev", ["completion", "csh"]) == 2
