"""The main job, shown: init, run, gate and finish in a throw-away repository, by the script."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator

from porch.cli.command import View
from porch.cli.products import PRODUCTS
from porch.cli.terminal.one_key import read_one_key
from porch.cli.terminal.stream import Stream, drive_exit_code
from porch.fleet.finish import finish
from porch.fleet.finish.acceptance import FinishRequest
from porch.fleet.setup import extra_package
from porch.fleet.setup.demo_project import SCRIPT, make_demo_project
from porch.fleet.setup.extra_package import WEB_PACKAGES
from porch.run.engine.driver import DriveManner
from porch.run.engine.run_places import workspace_of
from porch.run.verbs import decide, launch
from porch.run.verbs.decide import DecisionRequest
from porch.run.verbs.launch import DriveResult, DriveWatch, RunRequest
from porch.run.verbs.resume import resume_run
from porch.store import where as places

_ID = "0001"
_REQUEST = "Greet people by their name"
_TITLE = "greeter"
_ANSWERS = "        press a to approve, r to reject, q to quit: "
_REASON = "        what must change? (then Enter) "
_NO_REASON = "The viewer of the demo wants another version."
_MERGES = "        press m to merge the work, q to quit: "


def run_demo(yes: bool) -> View:
    """Run SPIDER from the first draft to `complete`; the viewer decides the two gates."""
    repository = make_demo_project(_say)
    where = places.find_project(repository)
    driven = _drive_project(where, yes)
    merged = driven.state.outcome == "complete" and _offer_merge(where, driven, yes)
    code = drive_exit_code(driven)
    return View("\n".join(_closing_lines(where, driven, merged)), None, code)


def _drive_project(where: places.ProjectPaths, yes: bool) -> DriveResult:
    stream = Stream()
    watch = DriveWatch(stream.record, stream.output, notice=stream.notice, protocol=stream.protocol)
    _show_command(f'porch run spider "{_REQUEST}"')
    wanted = RunRequest("spider", _ID, _TITLE, (_REQUEST,), agent="scripted", script=SCRIPT)
    driven = launch.start_run(where, wanted, DriveManner(), watch=watch, products=PRODUCTS)
    while driven.rest == "waiting" and _ask_viewer(where, driven, yes):
        _show_command(f"porch resume {_ID}")
        driven = resume_run(
            where, driven.name, RunRequest(""), DriveManner(), watch=watch, products=PRODUCTS
        )
    return driven


def _ask_viewer(where: places.ProjectPaths, driven: DriveResult, yes: bool) -> bool:
    """Ask the viewer about everything that is open; silence approves nothing."""
    for decision in driven.state.decisions.values():
        _say(f"\n  GATE  {decision.name}: {', '.join(decision.artifacts)}")
        key = "a" if yes else read_one_key(_ANSWERS, "arq")
        _say("        approved (--yes)" if yes else "")
        if key not in ("a", "r"):
            return False
        text = "" if key == "a" else ask_reason()
        _show_command(_decision_command(decision.name, text))
        verdict = DecisionRequest("approved" if key == "a" else "rejected", text, channel="demo")
        decide.decide_question(where, driven.name, decision.name, verdict)
    return True


def ask_reason() -> str:
    """One line of the viewer; the agent gets it."""
    print(_REASON, end="", flush=True)
    return sys.stdin.readline().strip() or _NO_REASON


def _decision_command(gate: str, reason: str) -> str:
    if not reason:
        return f"porch approve {_ID} {gate}"
    return f"porch reject {_ID} {gate} --reason {shlex.quote(reason)}"


def _offer_merge(where: places.ProjectPaths, driven: DriveResult, yes: bool) -> bool:
    _say(f"\n  DONE  the work is on the branch {driven.state.run.branch}")
    key = "m" if yes else read_one_key(_MERGES, "mq")
    _say("" if not yes else "        merged (--yes)")
    if key != "m":
        return False
    _show_command(f"porch finish {_ID} --merge")
    _say(finish.finish_run(where, driven.name, FinishRequest("merge")).message)
    return True


def _closing_lines(where: places.ProjectPaths, driven: DriveResult, merged: bool) -> Iterator[str]:
    """What there is to look at, and what to type; nothing that is not there."""
    state = driven.state
    top = where.root if merged else workspace_of(where, state)
    files = (
        ("spec.md", "the specification, after a round of review"),
        ("consultation-specify-round-1.md", "what the reviewers said"),
        ("plan.md", "the plan and its three phases"),
    )
    named = [(f"{state.run.project_dir}/{name}", what) for name, what in files]
    named.append(("greeter.py", "the code; the first build failed, so it was written twice"))
    yield f"\nThe project is {state.outcome or 'not finished'}. Look at:"
    for path, what in named:
        if os.path.exists(whole := os.path.join(top, path)):
            yield f"  {whole}\n    {what}"
    yield f"\n  cd {where.root}"
    yield from (f"  {find_own_command()} {each}" for each in _next_commands(driven, merged))
    if has_dashboard():
        yield "\nThe same on pages in your browser, where you approve and reject by a click:"
        yield f"  {find_own_command('af')} dashboard --demo"


def _next_commands(driven: DriveResult, merged: bool) -> Iterator[str]:
    for decision in driven.state.decisions.values():
        yield f"approve {_ID} {decision.name}"
    if not driven.state.outcome:
        yield f"resume {_ID}"
    elif not merged:
        yield f"finish {_ID} --merge"
    yield f"log {_ID}"


def find_own_command(program: str = "porch") -> str:
    """The word with which this very program, or one beside it, can be called again."""
    if shutil.which(program):
        return program
    beside = os.path.join(os.path.dirname(sys.executable), program)
    if os.path.exists(beside):
        return shlex.quote(beside)
    python = shlex.quote(sys.executable)
    if program == "porch":
        return f"{python} -m porch"
    return f"{python} -c 'from porch.cli.scripts import {program}; exit({program}())'"


def has_dashboard() -> bool:
    return not extra_package.list_missing_packages(WEB_PACKAGES)


def _show_command(text: str) -> None:
    _say(f"\n$ {text}")


def _say(text: str) -> None:
    print(text, flush=True)
