"""The main job, shown: a whole project in a throw-away repository with the scripted agent."""

import os
import sys
import tempfile

from porch.adapters import git_command
from porch.adapters import where as places
from porch.operations import decisions, runs
from porch.operations.decisions import Verdict
from porch.operations.runs import Driven, Wanted, Watch
from porch.runtime.driver import Manner
from porch.surfaces.cli.command import View
from porch.surfaces.cli.keys import one_key
from porch.surfaces.cli.stream import Stream, exit_code

SCRIPT = os.path.join(os.path.dirname(__file__), "demo.yaml")
_ID = "0001"


def demo(yes: bool) -> View:
    """Run SPIDER from the first draft to `complete`; the viewer decides the two gates."""
    repository = _throw_away()
    print(f"A new repository: {repository}\n", flush=True)
    stream = Stream()
    watch = Watch(stream.record, stream.output, notice=stream.notice)
    where = places.find(repository)
    wanted = Wanted("spider", _ID, "greeter", agent="scripted", script=SCRIPT)
    driven = runs.run(where, wanted, Manner(), watch)
    while driven.rest == "waiting":
        if not _decided(where, driven, yes):
            break
        driven = runs.resume(where, driven.name, Wanted(""), Manner(), watch)
    return View(_closing(repository, driven), None, exit_code(driven))


def _decided(where: places.Where, driven: Driven, yes: bool) -> bool:
    """Ask the viewer about everything that is open; silence approves nothing."""
    for decision in driven.state.decisions.values():
        print(f"\n  GATE  {decision.name}: {', '.join(decision.artifacts)}", flush=True)
        key = "a" if yes else one_key("        press a to approve, r to reject, q to leave: ")
        print("        approved with --yes" if yes else "", flush=True)
        if key not in ("a", "r"):
            return False
        text = "" if key == "a" else "The viewer of the demonstration wants another look."
        verdict = Verdict("approved" if key == "a" else "rejected", text, channel="demo")
        decisions.decide(where, driven.name, decision.name, verdict)
    return True


def _closing(repository: str, driven: Driven) -> str:
    run = driven.state.run
    front = f"\nThe project is {driven.state.outcome or 'not finished'}. Look at:"
    files = [
        (f"{run.project_dir}/spec.md", "the specification, after a round of review"),
        (f"{run.project_dir}/consultation-specify-round-1.md", "what the reviewers said"),
        (f"{run.project_dir}/plan.md", "the plan and its three phases"),
        (f"{run.project_dir}/status.yaml", "where the run stands, for people and hooks"),
        ("greeter.py", "the code, written twice because the first build failed"),
    ]
    lines = [f"  {os.path.join(repository, path)}\n    {what}" for path, what in files]
    more = f"\n  cd {repository} && porch log {_ID}    # every record of the journal"
    return "\n".join([front, *lines, more])


def _throw_away() -> str:
    directory = tempfile.mkdtemp(prefix="porch-demo-")
    python = sys.executable
    _write(directory, ".gitignore", "__pycache__/\n")
    _write(
        directory,
        "codev/config.toml",
        f"[commands]\nbuild = '\"{python}\" -m py_compile *.py'\n"
        f"test = '\"{python}\" -m unittest -q'\n",
    )
    git_command.ask(directory, "init", "-q", "-b", "main")
    git_command.ask(directory, "add", "-A")
    identity = ("-c", "user.name=Demo", "-c", "user.email=demo@localhost")
    git_command.ask(directory, *identity, "commit", "-qm", "A new project")
    return directory


def _write(directory: str, name: str, text: str) -> None:
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
