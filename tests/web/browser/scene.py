"""One project with a run in every state, by the scripted agent: all pages are shown with it."""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

from porch.cli.dispatch import run_words
from porch.cli.porch.demo import SCRIPT
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.repositories import make_repository

_SETTINGS = (
    '[agent]\nname = "scripted"\nback_off = 0.01\n\n[commands]\nbuild = "true"\ntest = "true"\n'
)
_ASKING = """
agents:
  diagnose:
    - say: I have read the form and both of its buttons.
      signal: "BLOCKED: Which button do you mean: the one that sends, or the one that goes back?"
"""
_BROKEN = """
agents:
  diagnose:
    - {crash: 1}
"""
_FILES = {
    "codev/config.toml": _SETTINGS,
    ".gitignore": "__pycache__/\n",
    "README.md": "# Kitchen\n\nThe words with which we greet people.\n",
}


def build_scene(place: Path) -> ProjectPaths:
    """In a directory `kitchen`. Whoever calls has made sure that git knows a person."""
    root = make_repository(place / "kitchen", _FILES)
    scripts = place / "scripts"
    scripts.mkdir()
    told = re.sub(r"sleep: [0-9.]+", "sleep: 0", Path(SCRIPT).read_text(encoding="utf-8"))
    (scripts / "waits.yaml").write_text(told)
    (scripts / "asks.yaml").write_text(_ASKING)
    (scripts / "fails.yaml").write_text(_BROKEN)
    with _inside(root):
        for protocol, number, title, request, script, code in _RUNS:
            words = ["run", protocol, number, request, "--title", title, "--worktree"]
            plays = ["--script", str(scripts / script)] if script else []
            _type(*words, "--no-claude", *plays, code=code)
        _type("stop", "0005")
    return places.find_project(str(root))


_RUNS = (
    ("bugfix", "0001", "title", "The title of the page is missing", "", 0),
    ("spider", "0002", "greeter", "Greet people by their name", "waits.yaml", 3),
    ("bugfix", "0003", "button", "The button of the form does nothing", "asks.yaml", 3),
    ("bugfix", "0004", "umlauts", "Names with umlauts come out wrong", "fails.yaml", 3),
    ("bugfix", "0005", "commas", "Names with commas are cut", "fails.yaml", 3),
)


def _type(*words: str, code: int = 0) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        left = run_words("porch", list(words))
    if left != code:
        raise AssertionError(f"porch {' '.join(words)} ended with {left}\n{out.getvalue()}")


@contextlib.contextmanager
def _inside(root: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)
