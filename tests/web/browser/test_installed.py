"""Where there is no browser, its tests say so; where one is required, they fail."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.browser.conftest import require_browser
from tools import browser as installed


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has nothing of it, and nothing that could install it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PORCH_BROWSER_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("PORCH_REQUIRE", "")


def test_a_missing_browser_is_named_with_what_to_do(
    bare: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(pytest.skip.Exception, match=r"chromium is not installed.*make browser"):
        require_browser()
    monkeypatch.setenv("PORCH_REQUIRE", "agents,chromium")
    with pytest.raises(pytest.fail.Exception, match="make browser"):
        require_browser()


def test_where_nothing_can_be_installed_it_is_said_and_is_no_failure(bare: None) -> None:
    words = [sys.executable, installed.__file__]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "there is no apt-get here" in done.stderr
    assert "npm is not found on PATH" in done.stderr
    assert "will be skipped" in done.stderr
    strict = subprocess.run([*words, "--required"], capture_output=True, check=False)
    assert strict.returncode == 1
