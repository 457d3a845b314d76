"""The main job, shown: a whole project in a throw-away repository with the scripted agent."""

import os
import sys
import tempfile

from porch.cli.command import View
from porch.cli.products import PRODUCTS
from porch.cli.terminal.stream import Stream, drive_exit_code
from porch.git import command
from porch.run.engine.driver import DriveManner
from porch.run.verbs import decide, launch
from porch.run.verbs.decide import DecisionRequest
from porch.run.verbs.launch import DriveResult, DriveWatch, RunRequest
from porch.store import where as places

SCRIPT = os.path.join(os.path.dirname(__file__), "demo.yaml")
_ID = "0001"


def run_demo(yes: bool) -> View:
    """Run SPIDER from the first draft to `complete`; the viewer decides the two gates."""
    repository = _make_repository()
    print(f"A new repository: {repository}\n", flush=True)
    stream = Stream()
    watch = DriveWatch(stream.record, stream.output, notice=stream.notice, protocol=stream.protocol)
    where = places.find_project(repository)
    wanted = RunRequest("spider", _ID, "greeter", agent="scripted", script=SCRIPT)
    driven = launch.start_run(where, wanted, DriveManner(), watch, PRODUCTS)
    while driven.rest == "waiting":
        if not _ask_viewer(where, driven, yes):
            break
        driven = launch.resume_run(
            where, driven.name, RunRequest(""), DriveManner(), watch, PRODUCTS
        )
    return View(_render_closing(repository, driven), None, drive_exit_code(driven))


def _ask_viewer(where: places.ProjectPaths, driven: DriveResult, yes: bool) -> bool:
    """Ask the viewer about everything that is open; silence approves nothing."""
    for decision in driven.state.decisions.values():
        print(f"\n  GATE  {decision.name}: {', '.join(decision.artifacts)}", flush=True)
        key = "a" if yes else read_one_key("        press a to approve, r to reject, q to quit: ")
        print("        approved (--yes)" if yes else "", flush=True)
        if key not in ("a", "r"):
            return False
        text = "" if key == "a" else "The viewer of the demo wants another version."
        verdict = DecisionRequest("approved" if key == "a" else "rejected", text, channel="demo")
        decide.decide_question(where, driven.name, decision.name, verdict)
    return True


def _render_closing(repository: str, driven: DriveResult) -> str:
    run = driven.state.run
    front = f"\nThe project is {driven.state.outcome or 'not finished'}. Look at:"
    files = [
        (f"{run.project_dir}/spec.md", "the specification, after a round of review"),
        (f"{run.project_dir}/consultation-specify-round-1.md", "what the reviewers said"),
        (f"{run.project_dir}/plan.md", "the plan and its three phases"),
        (f"{run.project_dir}/status.yaml", "the status of the run"),
        ("greeter.py", "the code; the first build failed, so it was written twice"),
    ]
    lines = [f"  {os.path.join(repository, path)}\n    {what}" for path, what in files]
    more = f"\n  cd {repository} && porch log {_ID}    # everything that happened"
    return "\n".join([front, *lines, more])


def _make_repository() -> str:
    directory = tempfile.mkdtemp(prefix="porch-demo-")
    python = sys.executable
    _write_file(directory, ".gitignore", "__pycache__/\n")
    _write_file(
        directory,
        "codev/config.toml",
        f"[commands]\nbuild = '\"{python}\" -m py_compile *.py'\n"
        f"test = '\"{python}\" -m unittest -q'\n",
    )
    command.run_git(directory, "init", "-q", "-b", "main")
    command.run_git(directory, "add", "-A")
    identity = ("-c", "user.name=Demo", "-c", "user.email=demo@localhost")
    command.run_git(directory, *identity, "commit", "-qm", "A new project")
    return directory


def _write_file(directory: str, name: str, text: str) -> None:
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read_one_key(question: str) -> str:
    """The key a person pressed, in lower case; empty when there is nobody to press one."""
    if not sys.stdin.isatty():
        return ""
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        # Before the question is asked, and without a flush: a quick finger must not be lost.
        tty.setcbreak(fd, termios.TCSANOW)
        sys.stdout.write(question)
        sys.stdout.flush()
        return os.read(fd, 1).decode("utf-8", "replace").lower()
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)
