"""A driver for what comes next: where a person has decided, the run goes on by itself."""

from porch.fleet.drivers.revive import forget_tries
from porch.fleet.drivers.start import DriverStart, start_driver
from porch.machine.state import RunState
from porch.store.run_drivers import find_driver
from porch.store.run_names import DRIVERLESS
from porch.store.where import ProjectPaths


def needs_new_driver(where: ProjectPaths, name: str, state: RunState) -> bool:
    """Whether a run has work and nobody drives it; a plan moves by commands alone."""
    is_done = bool(state.outcome or state.paused) or name.startswith(DRIVERLESS)
    return not is_done and find_driver(where.run_dir(name)).holder is None


def start_again(where: ProjectPaths, name: str) -> DriverStart:
    """A person wants it, so it may fail as often again."""
    forget_tries(where.run_dir(name))
    return start_driver(where, ("resume", name), where.root, run=name).wait()
