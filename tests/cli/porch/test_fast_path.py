"""The commands that agents call hundreds of times load next to nothing."""

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Desk

LOOK = """
import sys
sys.argv[0] = "porch"
from porch.cli.dispatch import porch
code = porch()
sys.stderr.write("\\n".join(sys.modules))
sys.exit(code)
"""
HEAVY = {
    "argparse",
    "asyncio",
    "dataclasses",
    "datetime",
    "inspect",
    "jinja2",
    "pathlib",
    "porch.errors",
    "porch.machine",
    "porch.model",
    "porch.run.verbs.launch",
    "rich",
    "subprocess",
    "tempfile",
    "tomllib",
    "typing",
    "yaml",
}
# What the least of them do without: these cost most of a bare Python.
LEAST = (
    ["status"],
    ["status", "1"],
    ["pending"],
    ["pending", "--hook"],
    ["protocols", "show", "p"],
)


def modules(desk: "Desk", *words: str) -> set[str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOOK, *words],
        cwd=desk.root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return set(done.stderr.splitlines())


@pytest.fixture
def asked(desk: "Desk") -> "Desk":
    desk.begin({"id": "one", "gate": {"name": "go", "next": None}}, code=3)
    return desk


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["status", "--json"],
        ["status", "1"],
        ["status", "1", "--json"],
        ["pending"],
        ["pending", "--json"],
        ["pending", "--hook"],
        ["log", "1"],
        ["log", "1", "--all"],
        ["log", "1", "--json"],
        ["protocols", "show", "p"],
    ],
)
def test_reading_commands_load_no_heavy_module(asked: "Desk", words: list[str]) -> None:
    asked.porch(*words)  # the second time everything is there that can be kept
    loaded = modules(asked, *words)
    ours = {name for name in loaded if name.partition(".")[0] == "porch"}
    assert "porch.cli.porch.fast" in ours
    assert "porch.cli.command" not in ours
    assert not loaded & HEAVY
    if words in LEAST:
        assert not loaded & {"json", "re"}
