"""Stopping a run and going on with it: what `af stop` and `af resume` do."""

from starlette.responses import Response

from porch.fleet.drivers.go_on import start_again
from porch.run.verbs import steer
from porch.store.lock import run_busy_error
from porch.store.run_drivers import find_driver
from porch.web.pages.page_words import run_address
from porch.web.server.call import CHANNEL, Call


def stop_here(call: Call) -> Response:
    """Nothing is lost: the worktree stays, and somebody can go on."""
    project, where, name = call.run()
    done = steer.stop_run(where, name, call.dashboard.as_person, CHANNEL)
    said = done.message.partition(";")[0]
    return call.go(run_address(project, name), f"{said}.")


def resume_here(call: Call) -> Response:
    project, where, name = call.run()
    holder = find_driver(where.run_dir(name)).holder
    if holder is not None:
        raise run_busy_error(name, holder)
    started = start_again(where, name)
    if started.run:
        call.dashboard.forget_note(name)
        said = f"Resumed {name} (pid {started.pid})."
    else:
        said = f"{name} does not go on: {started.said or 'its driver ended without a word'}"
    return call.go(run_address(project, name), said)
