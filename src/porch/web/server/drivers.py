"""A driver for a run that a person has answered: started behind the answer, which does not wait."""

from porch.errors import EXIT_BUSY, PorchError
from porch.fleet.drivers.go_on import needs_new_driver, start_again
from porch.run.verbs.read_run import read_run
from porch.store.where import ProjectPaths
from porch.web.server.dashboard import Dashboard


def drive_on(dashboard: Dashboard, where: ProjectPaths, name: str) -> None:
    """What goes wrong here is told on the next pages: whoever clicked has had an answer."""
    try:
        if not needs_new_driver(where, name, read_run(where, name).state):
            return
        started = start_again(where, name)
    except (PorchError, OSError) as error:
        dashboard.note(name, f"its driver could not be started: {error}")
        return
    # Somebody else was quicker to start one: that is as good.
    if not started.run and started.code not in (0, EXIT_BUSY):
        said = started.said or "it ended without a word"
        dashboard.note(name, f"its driver ended at once: {said}")
    else:
        dashboard.forget_note(name)
