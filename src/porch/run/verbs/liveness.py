"""What views add to a picture when they print it: who drives the run, and hints that fit only it.

A picture is drawn from a journal, and a journal cannot know that its driver was killed. So this is
asked of the lock, by os alone, because the lists that people type most ask it of every run.
"""

from __future__ import annotations

import os

from porch.show import board
from porch.store import run_drivers, run_rows
from porch.store.run_names import (
    list_shared_ids,
    quote_word,
    rename_decision,
    rename_in_commands,
    unique_word,
)
from porch.store.uncommitted_work import read_uncommitted_work, read_unmerged_work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from porch.run.verbs.read_run import ReadRun
    from porch.show.shapes import (
        BoardRowShape,
        CurrentTurnShape,
        DecisionShape,
        DriverEntryShape,
        LiveEntryShape,
        LiveStatusShape,
        PictureShape,
        RunRowShape,
        ToldDecision,
    )
    from porch.store.removed_worktrees import RemovedPlace
    from porch.store.where import ProjectPaths

    Rows = Mapping[str, RunRowShape]
    InHand = list[dict[str, str]]
_BEFORE = "  started "


class LiveRows:
    """Rows of many runs with their drivers; `words` is what names each run in a command."""

    def __init__(self, where: ProjectPaths, rows: Rows) -> None:
        self._rows = rows
        self._where = where
        live = [n for n, row in rows.items() if row["row"]["wants_driver"]]
        self.drivers = run_drivers.find_drivers(os.path.join(where.state_dir, "runs"), live)
        ids = {name: str(row["row"].get("id") or name) for name, row in rows.items()}
        shared = list_shared_ids(ids)
        self.words = {n: quote_word(n if id_ in shared else id_) for n, id_ in ids.items()}

    def board_rows(self) -> list[RunRowShape]:
        """For the board: what a run waits for, and who would have to go on first."""
        return [
            {**row, "row": {**row["row"], "waits": self._waits(name, row["row"])}}
            for name, row in self._rows.items()
        ]

    def _waits(self, name: str, row: BoardRowShape) -> str:
        waits, driver = str(row.get("waits") or ""), self.drivers.get(name)
        if driver is None:
            told = rename_in_commands(waits, str(row.get("id") or ""), self.words[name])
            return f"{told} (makes its worktree again)" if self.is_removed(name) else told
        if driver.is_moving and not driver.is_queued:
            return waits
        if driver.holder is not None:
            return run_drivers.describe_driver(driver, self.words[name])
        nobody = run_drivers.describe_nobody(driver)
        if not any(each["needs_driver"] for each in row["waiting"]):
            return f"{waits} ({nobody})"
        asked = [n for each in row["waiting"] if each["on"] == "person" for n in each["names"]]
        questions = "".join(f"you: {each}, " for each in dict.fromkeys(asked))
        return f"{questions}porch resume {self.words[name]} ({nobody})"

    def is_removed(self, name: str) -> bool:
        return self._find_removed(name) is not None

    def _find_removed(self, name: str) -> RemovedPlace | None:
        """Only stopped runs are looked at: of one that is over nobody needs the worktree."""
        is_stopped = board.waits_on(self._rows[name]["row"], "resume")
        return _find_removed_place(self._where, name) if is_stopped else None

    def _describe_stopped(self, name: str) -> str:
        """Of a stopped run how it continues, and how its files come back; else nothing."""
        if not board.waits_on(self._rows[name]["row"], "resume"):
            return ""
        again, removed = f"porch resume {self.words[name]}", self._find_removed(name)
        if removed:
            return f"none. The run is paused, and {removed.describe(again)}"
        return f"none. The run is paused; after your answer: {again}"

    def data_rows(self) -> list[BoardRowShape]:
        """For programs: of each run that is not over, its driver, or null."""
        return [{**row["row"], **self._driver_data(name)} for name, row in self._rows.items()]

    def _driver_data(self, name: str) -> DriverEntryShape:
        driver = self.drivers.get(name)
        return {"driver": run_drivers.make_driver_data(driver)} if driver else {}

    def decisions(self) -> list[DecisionShape]:
        """What people are asked, oldest first, with answers that name one run each."""
        found = [
            self._decision(name, each)
            for name, row in self._rows.items()
            for each in row["decisions"]
        ]
        found.sort(key=lambda decision: str(decision["asked_at"]))
        return found

    def _decision(self, name: str, decision: DecisionShape) -> DecisionShape:
        driver, named = self.drivers.get(name), rename_decision(decision, self.words[name])
        if driver is None:
            stopped = self._describe_stopped(name)
            return {**named, "driven": stopped, "stopped": True} if stopped else named
        named["driver"] = run_drivers.make_driver_data(driver)
        named["driven"] = run_drivers.describe_driver(driver, self.words[name])
        return named

    def told_decisions(self) -> list[tuple[str, str, str]]:
        """The same as texts: when each was asked, its kind, and how it is printed."""
        found = [
            (told[0], told[1], self._told_text(name, told))
            for name, row in self._rows.items()
            for told in run_rows.draw_decisions(row)
        ]
        found.sort(key=lambda told: told[0])
        return found

    def _told_text(self, name: str, told: ToldDecision) -> str:
        driver, word = self.drivers.get(name), self.words[name]
        driven = (
            run_drivers.describe_driver(driver, word) if driver else self._describe_stopped(name)
        )
        return board.join_told_decision(told[3], driven, word.join(told[4:]))

    def describe_alone(self) -> list[str]:
        """Runs that ask nobody anything and still do not go on: a line each."""
        return [
            f"{name}: {run_drivers.describe_driver(driver, self.words[name])}"
            for name, driver in self.drivers.items()
            if not driver.is_moving and not _asks_anything(self._rows[name])
        ]


def _find_removed_place(where: ProjectPaths, name: str) -> RemovedPlace | None:
    """Loaded late: most runs are not stopped."""
    from porch.store.removed_worktrees import read_removed_place

    return read_removed_place(where.run_dir(name))


def _asks_anything(row: RunRowShape) -> bool:
    return bool(row.get("told") or row.get("decisions"))


def describe_explained_driver(where: ProjectPaths, run: ReadRun) -> list[str]:
    """Who would have to go on first; nothing if somebody does, or nobody has to."""
    from porch.account.waiting import wants_driver

    state = run.state
    if state.paused and (removed := _find_removed_place(where, run.name)):
        word = unique_word(where.names(), run.name, state.run.id)
        told = removed.describe(f"porch resume {word}")
        return [f"{told[0].upper()}{told[1:]}."]
    if not wants_driver(run.definition.protocol, state):
        return []
    driver = run_drivers.find_driver(where.run_dir(run.name))
    if driver.is_moving and not driver.is_queued:
        return []
    told = run_drivers.describe_driver(driver, unique_word(where.names(), run.name, state.run.id))
    return [f"{told[0].upper()}{told[1:]}."]


def complete_status(where: ProjectPaths, name: str, picture: PictureShape) -> LiveStatusShape:
    """Text and data of one run's picture, with its driver and with hints that are unique."""
    id_ = str(picture["status"].get("id") or name)
    word = unique_word(where.names(), name, id_)
    lines = [rename_in_commands(line, id_, word) for line in picture["text"]]
    asked = [rename_decision(each, word) for each in picture["decisions"]]
    if board.waits_on(picture["row"], "finish") and (
        unmerged := read_unmerged_work(where.run_dir(name))
    ):
        lines = _with_line(lines, "merge", f"not merged: {unmerged}")
    if why := read_uncommitted_work(where.run_dir(name)):
        again = {"": "the end of the next phase", "complete": f"porch finish {word}"}
        next_try = again.get(picture["outcome"], "")
        told = f" ({next_try} tries it again)" if next_try else ""
        lines = _with_line(lines, "work", f"not committed: {why}{told}")
    removed = _find_removed_place(where, name) if picture["paused"] else None
    if removed and not picture["outcome"]:
        lines = _with_line(lines, "removed", removed.describe(f"porch resume {word}"))
    if not picture["row"]["wants_driver"]:
        return {"text": lines, "decisions": asked, "driver": {}}
    driver = run_drivers.find_driver(where.run_dir(name))
    lines = _with_line(lines, "process", run_drivers.describe_driver(driver, word))
    data: LiveEntryShape = {"driver": run_drivers.make_driver_data(driver)}
    if driver.is_moving and (turns := find_current_turns(where, name, picture["in_hand"])):
        data["working"] = turns
        for told in describe_current_turns(turns):
            lines = _with_line(lines, "working", told)
    return {"text": lines, "decisions": asked, "driver": data}


def find_current_turns(where: ProjectPaths, name: str, in_hand: InHand) -> list[CurrentTurnShape]:
    """Loaded late: most of the time nobody works."""
    if not any(hand["kind"] in ("agent", "review") for hand in in_hand):
        return []
    from porch.run.agents.current_turns import list_current_turns

    return list_current_turns(where, name, in_hand)


def describe_current_turns(turns: list[CurrentTurnShape]) -> list[str]:
    if not turns:
        return []
    from porch.run.agents.current_turns import describe_current_turn

    return [describe_current_turn(each) for each in turns]


def _with_line(lines: list[str], name: str, told: str) -> list[str]:
    at = next((n for n, line in enumerate(lines) if line.startswith(_BEFORE)), len(lines))
    return [*lines[:at], f"  {name:<10}  {told}", *lines[at:]]


def describe_next_move(where: ProjectPaths, name: str) -> str:
    """After a decision: who goes on with the run now; nothing if it is over."""
    from porch.store import picture_cache

    driver = run_drivers.find_driver(where.run_dir(name))
    if driver.holder is not None:
        told = run_drivers.describe_driver(driver, name)
        return f"The run continues ({told})" if not driver.is_queued else told
    picture = picture_cache.read_current_picture(where.run_dir(name))
    if picture is None or picture["outcome"]:
        return ""
    if not (picture["row"]["wants_driver"] or picture["paused"]):
        return ""
    word = unique_word(where.names(), name, str(picture["status"].get("id") or ""))
    return f"The run is not running. Start it again: porch resume {word}"
