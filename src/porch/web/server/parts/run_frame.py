"""The run of an address, read once, and what all of its pages have in common."""

import os
from typing import Any
from urllib.parse import urlencode

from porch.account.waiting import wants_driver
from porch.machine.records import RawRecord
from porch.run.decisions.asked_files import stamp_asked_files
from porch.run.verbs import run_log
from porch.run.verbs.liveness import (
    complete_status,
    describe_current_turns,
    find_current_turns,
)
from porch.run.verbs.read_run import read_run
from porch.show.fleet.checklist import describe_place, list_checklist
from porch.store import journal, run_drivers
from porch.store.run_names import unique_word
from porch.web.pages import run_view
from porch.web.pages.page_words import run_address
from porch.web.server.call import Call


class OpenRun:
    """One run as its journal has it now, with who drives it."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.project, self.where, self.name = call.run()
        self.found = read_run(self.where, self.name)
        self.state = self.found.state
        self.protocol = self.found.definition.protocol
        self._driver = run_drivers.find_driver(self.where.run_dir(self.name))

    @property
    def needs_driver(self) -> bool:
        return wants_driver(self.protocol, self.state) and self._driver.holder is None

    @property
    def is_moving(self) -> bool:
        return not self.needs_driver and not self._driver.is_suspended

    @property
    def can_resume(self) -> bool:
        is_stopped = self.state.paused and not self.state.outcome
        return self.needs_driver or (is_stopped and self._driver.holder is None)

    def describe_driver(self) -> str:
        """Who drives it, or how to go on; nothing of a run that needs nobody."""
        if not wants_driver(self.protocol, self.state):
            return ""
        return run_drivers.describe_driver(self._driver, self.word(), "af")

    def word(self) -> str:
        """What somebody types who means this run."""
        return unique_word(self.where.names(), self.name, self.state.run.id)

    def records(self, first: int, last: int) -> list[RawRecord]:
        """By their numbers; from the whole journal if a part cannot be believed by itself."""
        found = run_log.read_numbered_records(self.where, self.name, first, last)
        if found is not None:
            return found
        path = os.path.join(self.where.run_dir(self.name), "journal.jsonl")
        return [each for each in journal.scan_journal(path).records if first <= each["seq"] <= last]

    def picture(self) -> dict[str, Any]:
        """With commands that name this run and no other."""
        drawn = self.found.picture()
        return {**drawn, "decisions": complete_status(self.where, self.name, drawn)["decisions"]}

    def describe_work(self, picture: dict[str, Any]) -> list[str]:
        """What turns under way have done so far; the figures of the run do not have it yet."""
        if not self._driver.is_moving:
            return []
        return describe_current_turns(find_current_turns(self.where, self.name, picture["in_hand"]))

    def stream(self, at: str = "") -> dict[str, str]:
        """What makes a page of this run a live one; `at` is the decision that it shows."""
        held = "driven" if self._driver.is_moving else "alone"
        asked = f"?{urlencode({'at': at})}" if at else ""
        return {
            "stream": f"/events{run_address(self.project, self.name)}{asked}",
            "since": f"{self.state.seq}-{held}{self._stamp(at)}",
        }

    def _stamp(self, at: str) -> str:
        decision = self.state.decisions.get(at)
        return f"-{stamp_asked_files(self.where, self.state, decision)}" if decision else ""

    def frame(self, picture: dict[str, Any], tab: str) -> dict[str, Any]:
        now = self._call.dashboard.now()
        return {
            **run_view.make_frame(
                self.project, self.name, picture, tab, has_tree=bool(self.state.instances)
            ),
            **self.stream(),
            "sentence": run_view.make_sentence(
                picture,
                self.is_moving,
                run_drivers.describe_holder(self._driver),
                now,
                notes=describe_place(list_checklist(self.protocol, self.state)),
            ),
            "project": self.project if self._call.dashboard.has_several else "",
        }
