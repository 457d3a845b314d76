"""A desk with a real command line of an agent, as far as porch can see."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.repositories import at_home

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

AGENT = """#!/bin/sh
case "$2" in auth)
    for sign in .claude/.credentials.json .claude.json; do
        test -e "$HOME/$sign" && echo '{"loggedIn": true}' && exit 0
    done
    echo '{"loggedIn": false}'
    exit 1 ;;
esac
echo '{"type":"result","subtype":"success","is_error":false,"result":"<signal>DONE</signal>"}'
"""


@pytest.fixture
def real(desk: "Desk", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Desk":
    """A desk with a claude that is installed, logged in and always done; no other agent."""
    home = tmp_path / "home-of-agents"
    at_home(home, monkeypatch)
    names = tmp_path / "names"
    names.mkdir()
    for name in ("git", "sh", "cat", "env"):
        (names / name).symlink_to(shutil.which(name) or name)
    (names / "claude").write_text(AGENT)
    (names / "claude").chmod(0o755)
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CODEX_", "GEMINI_", "GOOGLE_", "CLAUDE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(names))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    return desk
