"""The real command lines of the agents in a clean room: nobody's home, nobody's keys, no network.

Everything they would ask a vendor goes to the stand-in. Where the kernel permits, each of them is
started in a network namespace of its own in which only the loopback exists; `Room.sealed` tells.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.standin.room import RELAUNCH, Room, Running, Told
from tests.standin.vendors import Vendors, standing_in
from tools import agents

__all__ = ["MODELS", "Room", "Running", "Told", "clean_room", "cli", "enter_room", "vendor"]

NAMES = ("claude", "codex", "gemini")
MODELS = {"claude": "claude-sonnet-4-5", "codex": "gpt-5.5", "gemini": "gemini-2.5-flash"}
# gemini starts itself a second time, to give itself more memory; that costs as much as the first.
_ONCE = "GEMINI_CLI_NO_RELAUNCH=true"
_ENTER = Path(__file__).with_name("standin") / "enter.py"
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "GEMINI_TELEMETRY_ENABLED": "false",
}
_CODEX = """\
model = "{model}"
model_provider = "standin"
check_for_update_on_startup = false

[model_providers.standin]
name = "standin"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[features]
apps = false
plugins = false

[analytics]
enabled = false
"""
_GEMINI = {
    "general": {"maxAttempts": 1, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "telemetry": {"enabled": False},
}


def find_cli(name: str) -> str:
    """The installed command; without it the test is skipped, or fails where agents are required."""
    directory = agents.installed()
    if directory is not None:
        return str(directory / name)
    reason = f"the real {name} is not installed at its pinned version: run `make agents`"
    if "agents" in os.environ.get("PORCH_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)


def enter_room(place: Path, vendor: Vendors, seal: bool = True) -> Room:
    """A room for all three at once, so that porch itself can be started in it."""
    prefix = sealing() if seal else ()
    home, names = place / "home", place / "bin"
    for directory in (home / ".codex", home / ".gemini", home / "tmp", names):
        directory.mkdir(parents=True, exist_ok=True)
    codex = _CODEX.format(url=vendor.url, model=MODELS["codex"])
    (home / ".codex" / "config.toml").write_text(codex)
    (home / ".gemini" / "settings.json").write_text(json.dumps(_GEMINI))
    for name in NAMES:
        _write_command(names / name, find_cli(name), prefix, vendor)
    path = os.pathsep.join((str(names), os.environ.get("PATH", os.defpath)))
    return Room(place, _environ(home, path, vendor), bool(prefix))


def _environ(home: Path, path: str, vendor: Vendors) -> dict[str, str]:
    return {
        **_QUIET,
        "HOME": str(home),
        "PATH": path,
        "LANG": "C.UTF-8",
        "TMPDIR": str(home / "tmp"),
        "ANTHROPIC_API_KEY": "no-key",
        "ANTHROPIC_BASE_URL": vendor.url,
        "CODEX_HOME": str(home / ".codex"),
        "OPENAI_API_KEY": "no-key",
        "GEMINI_API_KEY": "no-key",
        "GOOGLE_GEMINI_BASE_URL": vendor.url,
    }


def _write_command(path: Path, real: str, prefix: tuple[str, ...], vendor: Vendors) -> None:
    """A word on PATH that starts the real command, sealed if it can be.

    Everything stands in the file, nothing in the environment: whoever starts an agent scrubs that.
    What the agent must hear all the same, though it would be scrubbed, is set in here too.
    """
    enter = (*prefix, sys.executable, "-P", str(_ENTER), vendor.door, str(vendor.port))
    words = (*(enter if prefix else ()), real)
    quiet = "".join(f"export {name}={value}\n" for name, value in _QUIET.items())
    once = f"test -e {shlex.quote(str(path.parent / RELAUNCH))} || export {_ONCE}\n"
    path.write_text(f'#!/bin/sh\n{quiet}{once}exec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)


@cache
def sealing() -> tuple[str, ...]:
    """How this machine lets us start a command without a network; empty if it does not."""
    for words in (("unshare", "-n"), ("unshare", "-r", "-n")):
        if shutil.which(words[0]) is None:
            return ()
        done = subprocess.run([*words, "true"], check=False, capture_output=True)
        if done.returncode == 0:
            return words
    return ()


@pytest.fixture
def vendor() -> Iterator[Vendors]:
    with standing_in() as running:
        yield running


@pytest.fixture
def cli() -> Callable[[str], str]:
    return find_cli


@pytest.fixture
def clean_room(tmp_path: Path, vendor: Vendors) -> Iterator[Room]:
    room = enter_room(tmp_path / "room", vendor)
    yield room
    room.clear()
