"""Opening the inbox, or the plain list where there is none: no room, no package, or an agent."""

import os
import sys
from typing import TYPE_CHECKING

from porch.cli.verbs import View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from porch.cli.inbox.app import InboxApp
    from porch.cli.inbox.inbox_rows import InboxRow
    from porch.cli.inbox.opened_row import OpenedRow
    from porch.store.where import ProjectPaths

_PLAIN_LISTS = {"porch": ["pending"], "af": ["status"]}
_STARTS = {
    "porch": 'Start something: porch run "what you want"',
    "af": 'Start something: af kickoff "what you want"',
}
PACKAGE = "textual"
_NAMED = 2


def open_inbox(program: str, run_words: "Callable[[str, Sequence[str]], int]") -> int:
    """What `porch` and `af` without further words do on a terminal; `run_words` runs a command."""
    from porch.cli import command

    why = _find_obstacle()
    if not why:
        return command.run_view(lambda _: _run_program(program))
    code = run_words(program, _PLAIN_LISTS[program])
    return max(code, command.run_view(lambda _: View(why, is_prose=True)))


def _find_obstacle() -> str:
    """Why only the plain list can be shown, and what to do; empty if there is no reason."""
    from porch.fleet.setup import extra_package
    from porch.run.engine.caller import find_agent_sign

    if sign := find_agent_sign(os.environ):
        return f"The inbox is for people, and this looks like an agent ({sign})."
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        return "This is the plain list: the inbox needs a terminal that can draw (TERM is dumb)."
    if not sys.stderr.isatty():
        return "This is the plain list: the inbox draws on standard error, which is no terminal."
    if extra_package.list_missing_packages([PACKAGE]):
        install = f"{extra_package.find_install_command()} {PACKAGE}"
        return f"The inbox needs a package that is not installed. Install it: {install}"
    return ""


def find_projects(program: str) -> "Mapping[str, ProjectPaths]":
    """This project; for `af`, and outside of every project, also those that are listed."""
    from porch.fleet.fleet_rows import name_projects
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    is_project = bool(where.common_dir) or os.path.isdir(where.state_dir)
    named = name_projects(where, os.environ)
    if program == "porch" and is_project:
        return dict(list(named.items())[:1])
    return named if is_project or len(named) == 1 else dict(list(named.items())[1:])


def make_app(
    program: str,
    projects: "Mapping[str, ProjectPaths]",
    now: "Callable[[], datetime]",
) -> "InboxApp":
    """The program, with what it reads and opens."""
    from porch.cli.inbox.app import InboxApp
    from porch.cli.inbox.inbox_rows import InboxReader

    def open_row(row: "InboxRow") -> "OpenedRow":
        # Loaded while somebody reads the list: it takes a third of the start.
        from porch.cli.inbox import open_decision, open_run
        from porch.fleet.answer_forms import read_form

        if row.kind == "trouble":
            return open_run.open_trouble(row)
        where, run = projects[row.place.project], row.place.run
        if row.kind == "decision":
            position = row.place.position
            return open_decision.open_decision(where, run, position, read_form)
        if row.kind == "ready":
            return open_run.open_finish(where, row)
        return open_run.open_run(where, row)

    names = ", ".join(projects) if len(projects) <= _NAMED else f"{len(projects)} repositories"
    reader = InboxReader(projects, os.environ, now)
    return InboxApp(f"{program}  {names}", _STARTS[program], reader.read, open_row)


def _run_program(program: str) -> View:
    from datetime import UTC, datetime

    app = make_app(program, find_projects(program), lambda: datetime.now(UTC))
    app.run()
    if app.crash is not None:
        raise app.crash
    return View(app.unread, is_prose=True)
