"""What the inbox lists: decisions first, then runs at work, then what is ready to be merged.

It is read from the same rows as `af status`, `porch pending` and the first page of the dashboard,
and nothing is decided here. A look costs a stat of each journal; only a project in which one of
them changed is read again. What cannot be read is a row of its own, and hides no other.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from porch.agents.transcripts import list_transcript_parts
from porch.cli.inbox.opened_row import describe_error
from porch.errors import PorchError
from porch.fleet.fleet_rows import KnownRuns, RunsOfProjects, list_repository_faults
from porch.run.settings import load_settings
from porch.show.board import cut_text, lay_out_table, one_line
from porch.store import picture_cache
from porch.store.known_runs import list_lost_runs
from porch.store.where import ProjectPaths
from porch.web.pages.decision_cards import describe_message
from porch.web.pages.page_words import describe_time_since

if TYPE_CHECKING:
    from porch.show.shapes import FleetRowShape, PictureShape

Kind = Literal["decision", "trouble", "alone", "paused", "working", "queued", "ready"]
# The titles of the list, and what stands under each, in this order.
SECTIONS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    ("Waiting for you", ("decision", "alone", "paused", "trouble")),
    ("Working", ("working", "queued")),
    ("Ready to merge", ("ready",)),
)
SIGNS: Mapping[Kind, str] = {
    "decision": "?",
    "alone": "!",
    "paused": "-",
    "trouble": "!",
    "working": ">",
    "queued": ".",
    "ready": "+",
}
_KINDS: Mapping[str, Kind] = {
    "alone": "alone",
    "stopped": "paused",
    "running": "working",
    "queued": "queued",
}
_ASKS = {"gate": "Approve", "question": "Answer", "failure": "Failed", "undecided": "Decide"}
# The names of these are given by a protocol; others are made by porch.
NAMED = ("gate",)
_FAULTS_S = 5.0  # settings are read again after this time
# A file that anybody may have written, and that holds something else than rows.
_BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError)

# The columns, each with the width from which on it is shown. Narrower than that it is left out.
_COLUMNS = {"id": 0, "project": 72, "title": 56, "what": 0, "who": 96, "cost": 96, "time": 0}
_, _PROJECT, _TITLE, _WHAT, _WHO, _, _ = range(7)
# What gives way first where a row is too wide, and how far. An id is typed, and a time that is cut
# says something else, so both stay whole.
_SHRINKING = (
    (_TITLE, 28),
    (_WHAT, 36),
    (_PROJECT, 12),
    (_TITLE, 18),
    (_WHAT, 24),
    (_TITLE, 10),
    (_WHO, 10),
    (_WHAT, 8),
)


class RowPlace(Struct, frozen=True):
    """What a row is about: a run of a project, and a question of it; also after a refresh."""

    project: str
    run: str = ""
    position: str = ""


class InboxRow(Struct, frozen=True, kw_only=True):
    """One line; `what` is what is asked or done, `who` the gate or the agent."""

    kind: Kind
    place: RowPlace
    id: str = ""
    project: str = ""  # empty where there is only one
    title: str = ""
    what: str = ""
    who: str = ""
    cost: str = ""
    time: str = ""


class Inbox(Struct, frozen=True):
    """All rows, in the order of the list."""

    rows: tuple[InboxRow, ...] = ()

    def section(self, kinds: Sequence[Kind]) -> list[InboxRow]:
        return [row for kind in kinds for row in self.rows if row.kind == kind]

    def sentence(self) -> str:
        """As many as stand in the first section."""
        number = len(self.section(SECTIONS[0][1]))
        return f"{number or 'Nothing'} {'wait' if number > 1 else 'waits'} for you"


def lay_out_rows(rows: Sequence[InboxRow], width: int) -> list[str]:
    """A line for each row, as wide as there is room; columns are as wide in all sections.

    What is wrong has no columns, and takes the whole line.
    """
    shown = [key for key, least in _COLUMNS.items() if width >= least]
    in_table = [row for row in rows if row.kind != "trouble"]
    cells = [
        [one_line(getattr(row, key)) if key in shown else "" for key in _COLUMNS]
        for row in in_table
    ]
    table = iter(lay_out_table(cells, width - 2, _SHRINKING) if cells else ())
    lines = (_lay_out_trouble(r, width) if r.kind == "trouble" else next(table) for r in rows)
    return [f"{SIGNS[row.kind]} {line}" for row, line in zip(rows, lines, strict=True)]


def _lay_out_trouble(row: InboxRow, width: int) -> str:
    front = f"{row.project}: " if row.project else ""
    return cut_text(one_line(f"{front}{row.what}"), width - 2)


class InboxReader:
    """Looks at all projects; what did not change is kept from the last look."""

    def __init__(
        self,
        projects: Mapping[str, ProjectPaths],
        environ: Mapping[str, str],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.projects = projects
        self._environ = environ
        self._now = now
        self._runs = RunsOfProjects()
        self._pictures: dict[RowPlace, PictureShape] = {}
        self._faults: tuple[float, list[InboxRow]] | None = None

    def read(self) -> Inbox:
        """In the order of the sections; decisions that wait longest come first."""
        found: list[tuple[str, InboxRow]] = []
        for key, where in self.projects.items():
            try:
                found += self._read_project(key, where)
            except PorchError as error:
                found.append(("", _make_trouble(key, self._label(key), describe_error(error))))
            except _BROKEN as error:
                what = f"its runs cannot be read: {type(error).__name__}: {error}"
                found.append(("", _make_trouble(key, self._label(key), what)))
        rows = [row for _, row in sorted(found, key=lambda each: each[0])]
        whole = Inbox((*rows, *self._read_faults()))
        return Inbox(tuple(row for _, kinds in SECTIONS for row in whole.section(kinds)))

    def _label(self, key: str) -> str:
        return key if len(self.projects) > 1 else ""

    def _read_project(self, key: str, where: ProjectPaths) -> Iterator[tuple[str, InboxRow]]:
        if not os.path.isdir(where.root):
            yield "", _make_trouble(key, self._label(key), f"the directory {where.root} is gone")
            return
        found = self._runs.read(key, where, self._label(key))
        now, rows = self._now(), {row["run"]: row for row in found.rows}
        for decision in found.decisions:
            yield str(decision["asked_at"]), self._make_decision(key, decision, now)
        for row in rows.values():
            if (kind := _find_kind(row, found)) is not None:
                yield row["since"], self._make_run(key, where, kind, row, now)
        for name in list_lost_runs(where, found.records):
            what = f"{name}: there was a run, but its journal is gone"
            yield "", _make_trouble(key, self._label(key), what)
        for trouble in found.troubles:
            yield "", _make_trouble(key, self._label(key), trouble)

    def _make_decision(self, key: str, decision: Mapping[str, Any], now: datetime) -> InboxRow:
        asks = _ASKS.get(str(decision["kind"]), "Decide")
        return InboxRow(
            kind="decision",
            place=RowPlace(key, str(decision["run"]), str(decision["position"])),
            id=str(decision["id"]),
            project=self._label(key),
            title=str(decision.get("heading") or decision["title"]),
            what=f"{asks}: {describe_message(decision)}",
            who=str(decision["name"]) if decision["kind"] in NAMED else "",
            time=describe_time_since(str(decision["asked_at"]), now),
        )

    def _make_run(
        self, key: str, where: ProjectPaths, kind: Kind, row: "FleetRowShape", now: datetime
    ) -> InboxRow:
        place = RowPlace(key, row["run"])
        picture = self._read_picture(place, where)
        is_working = kind == "working"
        return InboxRow(
            kind=kind,
            place=place,
            id=row["id"],
            project=self._label(key),
            title=row.get("heading") or row["title"],
            what=_describe_run(kind, row, picture),
            who=_name_workers(where, picture) if is_working and picture else "",
            cost=_describe_spent(picture),
            time=_describe_time(kind, picture, now),
        )

    def _read_picture(self, place: RowPlace, where: ProjectPaths) -> "PictureShape | None":
        """As it was drawn last; while records come in quickly, the one before will do."""
        found = picture_cache.read_current_picture(where.run_dir(place.run))
        if found is not None:
            self._pictures[place] = found
        return self._pictures.get(place)

    def _read_faults(self) -> list[InboxRow]:
        if self._faults is None or time.monotonic() - self._faults[0] > _FAULTS_S:
            self._faults = (time.monotonic(), list(self._find_faults()))
        return self._faults[1]

    def _find_faults(self) -> Iterator[InboxRow]:
        """Settings that cannot be used, and listed repositories that are not there."""
        told = []
        for key, where in self.projects.items():
            try:
                load_settings(where.root)
            except PorchError as error:
                told.append(str(error))
                yield _make_trouble(key, self._label(key), describe_error(error))
            except OSError as error:
                yield _make_trouble(key, self._label(key), str(error))
        if len(self.projects) > 1:
            first = next(iter(self.projects.values()))
            for fault in list_repository_faults(first, self._environ):
                if not any(each in fault for each in told):
                    yield _make_trouble("", "", fault)


def _make_trouble(key: str, label: str, what: str) -> InboxRow:
    return InboxRow(
        kind="trouble", place=RowPlace(key, "", what), project=label, title=label, what=what
    )


def _find_kind(row: "FleetRowShape", found: KnownRuns) -> Kind | None:
    """None for a run of which its decisions tell, and for one that is over."""
    if row["group"] == "over":
        return "ready" if row["run"] in found.finishable else None
    return _KINDS.get(row["group"])


def _describe_run(kind: Kind, row: "FleetRowShape", picture: "PictureShape | None") -> str:
    if kind == "ready":
        return "Merge it, or keep it"
    if kind == "paused":
        return "Paused: resume it"
    if kind == "alone":
        # A driver that was halted by hand is still there, and has a way on of its own.
        return f"Not running: {row['told'] if row['driver'] else 'resume it'}"
    return _describe_phase(picture) or row["told"]


def _describe_phase(picture: "PictureShape | None") -> str:
    """`Implement, 2 of 4`: the phase that is worked on, and how many there are."""
    if picture is None or not picture["positions"]:
        return ""
    title = ", ".join(dict.fromkeys(str(each["title"]) for each in picture["positions"]))
    outcomes = [each["outcome"] for each in picture["outcomes"]]
    at = next((n for n, told in enumerate(outcomes, 1) if told in ("working", "waiting")), 0)
    return f"{title}, {at} of {len(outcomes)}" if at and len(outcomes) > 1 else title


def _name_workers(where: ProjectPaths, picture: "PictureShape") -> str:
    """The agents of turns under way; else what runs instead of one."""
    hands = picture["in_hand"]
    agents = [
        part.agent
        for hand in hands
        if hand["kind"] in ("agent", "review")
        for part in list_transcript_parts(where.run_dir(picture["run"]), hand["effect"])
    ]
    return ", ".join(dict.fromkeys(agents or (hand["kind"] for hand in hands)))


def _describe_spent(picture: "PictureShape | None") -> str:
    if picture is None:
        return ""
    usd, turns = picture["usd"], picture["cost"].get("agent_turns", picture["cost"]["turns"])
    if usd:
        return f"{usd:.2f} USD"
    return f"{turns} turn{'' if turns == 1 else 's'}" if turns else ""


def _describe_time(kind: Kind, picture: "PictureShape | None", now: datetime) -> str:
    """Of work how long the phase has taken; else how long ago the last record was."""
    if picture is None:
        return ""
    since = [str(each["since"]) for each in picture["positions"]]
    at = since[0] if kind == "working" and since else picture["status"]["last_updated"]
    return describe_time_since(at, now)
