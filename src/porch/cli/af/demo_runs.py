"""What `af dashboard --demo` shows: two runs of the scripted agent in a temporary project.

One stops where a person decides. The other has its decisions in its script, and plays by itself.
"""

import os
import re

from porch.errors import PorchError
from porch.fleet.drivers.leaving import wait_until_gone
from porch.fleet.drivers.start import StartingDriver, start_driver
from porch.fleet.setup.demo_project import SCRIPT, make_demo_project
from porch.run.verbs import steer
from porch.store import where as places
from porch.store.run_drivers import find_driver
from porch.store.where import ProjectPaths

# So long an agent of the demonstration seems to think: people want to see it at work.
_THINK_S = 2.5
_DECISIONS = """
decisions:
  specify_approval: [{approve: true}]
  plan_approval: [{approve: true}]
"""
_LEAVE_S = 10.0


class DemoRuns:
    """The project of a demonstration and its runs, until whoever looked has seen enough."""

    def __init__(self, as_person: bool) -> None:
        self._as_person = as_person
        self.where = places.find_project(make_demo_project(lambda _: None))

    def start(self) -> list[str]:
        """The names of both runs; each is driven by a process of its own."""
        waiting = self._begin("0001", "greeter", "Greet people by their name", "").wait()
        moving = self._begin("0002", "farewell", "Say goodbye to people, too", _DECISIONS).wait()
        return [waiting.run, moving.run]

    def _begin(self, id_: str, title: str, request: str, decisions: str) -> StartingDriver:
        script = os.path.join(self.where.state_dir, f"{title}.yaml")
        os.makedirs(self.where.state_dir, exist_ok=True)
        with open(SCRIPT, encoding="utf-8") as given, open(script, "w", encoding="utf-8") as made:
            slow = re.sub(r"sleep: [0-9.]+", f"sleep: {_THINK_S}", given.read())
            made.write(slow + decisions)
        words = ["run", "spider", id_, request, "--title", title, "--script", script]
        words += ["--no-claude", *(["--as-person"] if self._as_person else [])]
        return start_driver(self.where, words, self.where.root)

    def stop(self) -> None:
        """Nobody is left behind who would wait for an answer for ever."""
        for name in self.where.runs():
            _stop(self.where, name, self._as_person)


def _stop(where: ProjectPaths, name: str, as_person: bool) -> None:
    driver = find_driver(where.run_dir(name)).holder
    try:
        steer.stop_run(where, name, as_person)
    except PorchError:
        return  # it was busy with its end
    wait_until_gone(driver.pid if driver else 0, _LEAVE_S)
