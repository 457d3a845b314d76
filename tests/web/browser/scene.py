"""One project with a run in every state, by the scripted agent: all pages are shown with it."""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

from porch.cli.dispatch import run_words
from porch.fleet.setup.demo_project import SCRIPT
from porch.store import where as places
from porch.store.where import ProjectPaths
from tests.repositories import make_repository, sh

_GRAPHS = Path(__file__).parents[3] / "docs/reference/graph.md"

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
        _grow_tree(root, scripts)
        _make_plan(root)
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


def _grow_tree(root: Path, scripts: Path) -> None:
    """The example of the reference of graphs: a root and two children, all of them merged."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", _GRAPHS.read_text(), re.MULTILINE | re.DOTALL)
    graph, *templates, job, _settings, script = blocks[:7]
    protocol = root / "codev/protocols/report"
    (protocol / "templates").mkdir(parents=True)
    (protocol / "report.graph.yaml").write_text(graph)
    for name, text in zip(("plan", "write", "read"), templates, strict=True):
        (protocol / "templates" / f"{name}.md.j2").write_text(text)
    (scripts / "job.yaml").write_text(job)
    (scripts / "tree.yaml").write_text(script)
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "A protocol for texts")
    plays = ("--script", str(scripts / "tree.yaml"))
    _type("run", "report", str(scripts / "job.yaml"), "--into", "main", *plays)


def _make_plan(root: Path) -> None:
    """A plan of envoy with three prompts; nobody has begun one."""
    sh(root, "switch", "-qc", "feat/menu")
    _type("plan", "init", program="envoy")
    prompts = root / ".claude/plans/feat~menu/prompts"
    prompts.mkdir(exist_ok=True)
    for number, what in enumerate(("Read the recipes", "Show them as a list", "Search them"), 1):
        needs = [number - 1] if number > 1 else []
        front = f'number: {number}\ndescription: "{what}"\ndepends_on: {needs}\n'
        (prompts / f"{number}.md").write_text(f"---\n{front}---\n# {what}\n")
    sh(root, "switch", "-q", "main")


def _type(*words: str, code: int = 0, program: str = "porch") -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        left = run_words(program, list(words))
    if left != code:
        raise AssertionError(f"{program} {' '.join(words)} ended with {left}\n{out.getvalue()}")


@contextlib.contextmanager
def _inside(root: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)
