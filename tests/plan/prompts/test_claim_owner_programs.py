"""What only starts a command is told from what works for longer."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from porch.plan.prompts import claim_owner
from porch.plan.prompts.claim_owner import is_launcher

Start = Callable[..., int]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a program under a name of the test's own, and waits until it is that program."""
    started: list[subprocess.Popen[str]] = []

    def run(name: str, *words: str) -> int:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.symlink_to(sys.executable)
        process = subprocess.Popen(
            [str(path), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        return process.pid

    yield run
    for process in started:
        process.kill()
        process.communicate(timeout=60)


STAY = "print('here', flush=True); input()"


@pytest.mark.parametrize("name", ["uv", "npx", "pipx", "env", "sudo", "timeout", "make", "bash"])
def test_n1_a_launcher_is_known_by_its_name(start: Start, name: str) -> None:
    assert is_launcher(start(name, "-c", STAY))


@pytest.mark.parametrize("name", ["claude", "gemini", "my-agent", "python3"])
def test_n1_whoever_works_is_no_launcher(start: Start, name: str) -> None:
    assert not is_launcher(start(name, "-c", STAY))


@pytest.mark.parametrize(
    "script, expected",
    [("npx-cli.js", True), ("pipx", True), ("bin/poetry", True), ("agent.py", False)],
)
def test_n1_under_an_interpreter_the_script_tells(
    start: Start, tmp_path: Path, script: str, expected: bool
) -> None:
    path = tmp_path / "scripts" / script
    path.parent.mkdir(parents=True)
    path.write_text(STAY)
    assert is_launcher(start("python3", "-I", str(path))) is expected


def test_n1_a_module_that_is_run_tells_too(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pipx", "agent"):
        (tmp_path / f"{name}.py").write_text(STAY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert is_launcher(start("python3", "-m", "pipx"))
    assert not is_launcher(start("python3", "-m", "agent"))


def test_n1_a_process_that_is_gone_is_nobody() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert is_launcher(process.pid)


_ASK = (
    "import os; from porch.plan.prompts import claim_owner; "
    "print(claim_owner.describe_caller(os.getppid())['pid'])"
)


@pytest.mark.parametrize("names", [["uv"], ["uvx", "uv"], ["make", "sh", "npx"]])
def test_n1_behind_launchers_the_claim_belongs_to_who_lives_on(
    tmp_path: Path, names: list[str]
) -> None:
    command = [sys.executable, "-c", _ASK]
    for name in reversed(names):
        (tmp_path / name).symlink_to(sys.executable)
        run = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
        command = [str(tmp_path / name), "-c", run, *command]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert int(done.stdout) == os.getpid() == claim_owner.describe_caller(os.getpid())["pid"]
