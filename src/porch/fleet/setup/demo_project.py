"""The project of a demonstration, in a temporary directory, and the script that plays in it."""

import os
import shlex
import sys
import tempfile
from collections.abc import Callable

from porch.fleet.setup import first_commit, project_setup
from porch.fleet.setup.project_commands import FoundCommand

SCRIPT = os.path.join(os.path.dirname(__file__), "demo.yaml")


def make_demo_project(say: Callable[[str], None]) -> str:
    """A repository that `codev init` has set up, in a temporary directory; each step is said."""
    directory = tempfile.mkdtemp(prefix="porch-demo-")
    python = shlex.quote(sys.executable)
    commands = (
        FoundCommand("build", f"{python} -m py_compile *.py", ""),
        FoundCommand("test", f"{python} -m unittest -q", ""),
    )
    say(f"\n$ mkdir {directory} && cd {directory}")
    say("\n$ codev init --yes")
    planned = project_setup.plan_setup(directory, project_setup.SetupChoices(commands))
    first_commit.make_repository(directory)
    project_setup.write_setup(directory, planned)
    with open(os.path.join(directory, ".gitignore"), "w", encoding="utf-8") as file:
        file.write("__pycache__/\n")
    first_commit.make_first_commit(directory, [*(each.path for each in planned), ".gitignore"])
    say(f"made a git repository with {len(planned)} files: settings and a protocol")
    return directory
