"""The tool that installs the agents, with an npm and a node that do only what a test wants."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import agents

TOOL = Path(agents.__file__)
# Puts in place what a real installation would: commands that tell their version.
NPM = """#!/bin/sh
echo "$@" >> "$PORCH_WITNESS"
mkdir -p node_modules/.bin node_modules/@anthropic-ai/claude-code
for each in VERSIONS; do
  printf '#!/bin/sh\\necho %s\\n' "${each#*:}" > "node_modules/.bin/${each%%:*}"
  chmod +x "node_modules/.bin/${each%%:*}"
done
"""
PINS = agents.pins()
VERSION = {name: PINS["packages"][package] for name, package in PINS["commands"].items()}
NPM = NPM.replace("VERSIONS", " ".join(f"{name}:{said}" for name, said in VERSION.items()))
NODE = '#!/bin/sh\necho "node $@" >> "$PORCH_WITNESS"\n'


def run(tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Only the commands of `tmp_path/bin` and the plainest of the system are on PATH."""
    environ = {
        "PATH": os.pathsep.join((str(tmp_path / "bin"), str(tmp_path / "system"))),
        "PORCH_AGENTS_DIR": str(tmp_path / "cache"),
        "PORCH_WITNESS": str(tmp_path / "witness"),
    }
    return subprocess.run(
        [sys.executable, str(TOOL), *words],
        check=False,
        capture_output=True,
        text=True,
        env=environ,
    )


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    (tmp_path / "system").mkdir()
    for name in ("sh", "mkdir", "chmod", "sleep"):
        (tmp_path / "system" / name).symlink_to(f"/bin/{name}")
    (tmp_path / "bin").mkdir()
    _command(tmp_path, "npm", NPM)
    _command(tmp_path, "node", NODE)
    return tmp_path


def _command(machine: Path, name: str, text: str) -> None:
    path = machine / "bin" / name
    path.write_text(text)
    path.chmod(0o755)


def test_it_is_installed_once_and_then_only_found(machine: Path) -> None:
    first = run(machine)
    second = run(machine)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert (Path(first.stdout.strip()) / "codex").exists()
    calls = (machine / "witness").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["install", "node"]
    assert "--ignore-scripts" in calls[0]


def test_nothing_is_left_of_an_installation_that_failed(machine: Path) -> None:
    _command(machine, "npm", NPM + "echo no network >&2\nexit 1\n")
    done = run(machine)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no network" in done.stderr
    assert list((machine / "cache").iterdir()) == []


def test_a_command_of_another_version_is_not_taken(machine: Path) -> None:
    _command(machine, "npm", NPM.replace(f"codex:{VERSION['codex']}", "codex:0.1.0"))
    done = run(machine)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"codex --version says '0.1.0', not {VERSION['codex']}" in done.stderr


def test_two_at_once_agree(machine: Path) -> None:
    _command(machine, "npm", NPM + "sleep 0.3\n")
    environ = {
        "PATH": f"{machine / 'bin'}:{machine / 'system'}",
        "PORCH_AGENTS_DIR": str(machine / "cache"),
        "PORCH_WITNESS": str(machine / "witness"),
    }
    both = [
        subprocess.Popen([sys.executable, str(TOOL)], env=environ, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=60)[0] for process in both]
    assert told[0] == told[1] != b""
    assert [process.returncode for process in both] == [0, 0]
    assert len(list((machine / "cache").iterdir())) == 1


def test_without_npm_it_says_so_and_goes_on(machine: Path) -> None:
    (machine / "bin" / "npm").unlink()
    done = run(machine)
    assert (done.returncode, done.stdout) == (0, "")
    assert "NOT INSTALLED: npm" in done.stderr
    assert run(machine, "--required").returncode == 1


def test_asked_where_it_installs_nothing(machine: Path) -> None:
    done = run(machine, "--where")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (machine / "witness").exists()
