"""A driver for what comes next: where a person has decided, the run goes on by itself."""

from porch.account.consequences import find_merge_target
from porch.account.waiting import wants_driver
from porch.fleet.drivers.revive import forget_tries
from porch.fleet.drivers.start import DriverStart, start_driver
from porch.run.verbs.read_run import read_run
from porch.store.run_drivers import find_driver
from porch.store.where import ProjectPaths


def needs_new_driver(where: ProjectPaths, name: str) -> bool:
    """Whether a driver has to go on with a run, or to merge what was approved, and it has none."""
    run = read_run(where, name)
    protocol, state = run.definition.protocol, run.state
    is_wanted = wants_driver(protocol, state) or bool(find_merge_target(protocol, state))
    return is_wanted and find_driver(where.run_dir(name)).holder is None


def start_again(where: ProjectPaths, name: str) -> DriverStart:
    """A person wants it, so it may fail as often again."""
    forget_tries(where.run_dir(name))
    return start_driver(where, ("resume", name), where.root, run=name).wait()
