"""Steering one of many runs: what `porch` has for it, and a driver that goes on by itself."""

import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from porch.cli.command import PERSON, Args, Verb, Verbs, View, make_argument
from porch.cli.decision_words import ARGUMENTS

if TYPE_CHECKING:
    from porch.run.worktrees.remove import RemovedWorktree
    from porch.store.where import ProjectPaths

_ID = make_argument("id", help="the run: id, short id or directory name; `.` means here")
_LOOK_S = 0.2
_LEAVE_S = 10.0


def _find(word: str) -> tuple["ProjectPaths", str]:
    from porch.run.verbs.run_lookup import find_run
    from porch.store import where as places

    where = places.find_project(os.getcwd())
    return where, find_run(where, word)


def _decide(verb: str, args: Args) -> View:
    """What was decided, and a driver for what comes next if the run has none."""
    from porch.cli.porch.decide import COMMANDS as DECIDING
    from porch.fleet.drivers.go_on import needs_new_driver
    from porch.run.trust_requests import UntrustedSettingsError
    from porch.text.printable import make_printable

    decided: View = DECIDING[verb].run(args)
    where, name = _find(args.id)
    if not needs_new_driver(where, name):
        return decided
    try:
        began = _start(where, name, "Resumed")
    except UntrustedSettingsError:
        # The answer is recorded, and the error that follows is not about it.
        if not args.json:
            print(make_printable(decided.text), flush=True)
        raise
    # The note that it is not running was true until now.
    data = {key: value for key, value in decided.data.items() if key != "next"}
    text = decided.text.removesuffix(f"\n{decided.data.get('next', '')}")
    return View(f"{text}\n{began.text}", {**data, "driver": began.data}, began.code)


def _start(where: "ProjectPaths", name: str, verb: str) -> View:
    from porch.cli.af.kickoff import make_start_view, raise_untrusted
    from porch.fleet.drivers.go_on import start_again
    from porch.run.verbs.read_run import read_run

    started = start_again(where, name)
    if not started.run:
        raise_untrusted(where, started, read_run(where, name).state.run.trust)
    return make_start_view(started, verb)


def _resume(args: Args) -> View:
    from porch.store.lock import run_busy_error
    from porch.store.run_drivers import find_driver

    where, name = _find(args.id)
    holder = find_driver(where.run_dir(name)).holder
    if holder is not None:
        raise run_busy_error(name, holder)
    return _start(where, name, "Resumed")


def _stop(args: Args) -> View:
    """The run is stopped, and its driver has left."""
    from porch.fleet.drivers.leaving import wait_until_gone
    from porch.run.verbs import steer
    from porch.store.run_drivers import find_driver

    where, name = _find(args.id)
    driver = find_driver(where.run_dir(name)).holder
    steered = steer.stop_run(where, name, args.as_person, program="af")
    wait_until_gone(driver.pid if driver else 0, _LEAVE_S)
    return View(steered.message, {**steered.data, "message": steered.message})


def _clean_up(args: Args) -> View:
    from porch.run.engine.run_places import (
        require_known_place,
        require_own_worktree,
        workspace_of,
    )
    from porch.run.verbs.read_run import read_run
    from porch.run.worktrees.remove import remove_run_worktree

    where, name = _find(args.id)
    state = read_run(where, name).state
    require_known_place(where)
    require_own_worktree(where, workspace_of(where, state))
    if not state.instances:
        gone = remove_run_worktree(where, state)
        return View("\n".join(gone.describe()), _removed_data(name, gone))
    from porch.tree.remove_tree import remove_tree

    removed = remove_tree(where, state)
    lines = [line for each in removed for line in each.describe()]
    data = {"run": name, "removed": [_removed_data(name, each) for each in removed]}
    return View("\n".join(lines) or f"{name}: its worktrees and branches are gone already", data)


def _removed_data(name: str, gone: "RemovedWorktree") -> dict[str, str]:
    return {"run": name, "worktree": gone.path, "branch": gone.branch, "kept": gone.kept.ref}


def _open(args: Args) -> View:
    from porch.run.engine.run_places import workspace_of
    from porch.run.verbs.read_run import read_run

    where, name = _find(args.id)
    state = read_run(where, name).state
    path = workspace_of(where, state)
    if not os.path.isdir(path):
        from porch.run.worktrees.gone_worktree import gone_worktree_error

        raise gone_worktree_error(where, state, "af")
    return View(path, {"run": name, "path": path})


def _show_logs(args: Args) -> View:
    from porch.errors import UsageError
    from porch.fleet.drivers.kickoff_logs import LOG
    from porch.fleet.drivers.leaving import wait_until_gone
    from porch.fleet.drivers.revive import find_last_driver
    from porch.store.run_drivers import find_driver

    where, name = _find(args.id)
    path = os.path.join(where.run_dir(name), LOG)
    if not os.path.exists(path):
        raise UsageError(
            f"{name} was not kicked off, so its driver has no log",
            fix=f"see what happened: porch log {name}",
            code="no-driver-log",
        )
    with open(path, encoding="utf-8", errors="replace") as file:
        if not args.follow:
            return View(file.read(), {"run": name, "log": path})
        pid = int(find_last_driver(where, name).get("pid", 0))
        while holder := find_driver(where.run_dir(name)).holder:
            pid = holder.pid
            _print_news(file.read())
            time.sleep(_LOOK_S)
        # It gives the run back before it says how the run ended.
        wait_until_gone(pid, _LEAVE_S)
        _print_news(file.read())
    return View(data={"run": name, "log": path})


def _print_news(text: str) -> None:
    from porch.text.printable import make_printable

    sys.stdout.write(make_printable(text))
    sys.stdout.flush()


COMMANDS: Verbs = {
    "approve": Verb(partial(_decide, "approve"), ARGUMENTS["approve"]),
    "reject": Verb(partial(_decide, "reject"), ARGUMENTS["reject"]),
    "stop": Verb(_stop, (_ID, PERSON)),
    "resume": Verb(_resume, (_ID, PERSON)),
    "cleanup": Verb(_clean_up, (_ID, PERSON)),
    "logs": Verb(
        _show_logs,
        (
            _ID,
            make_argument(
                "--follow",
                action="store_true",
                help="keep showing it while somebody drives the run",
            ),
        ),
    ),
    "open": Verb(_open, (_ID,)),
}
