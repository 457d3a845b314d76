"""A plan as it was read, whichever shape its file has; elements are kept for who edits the file."""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from porch.errors import Finding, Place
from porch.model.track_names import GateKind, Moment
from porch.text.nodes import ElementNode

STATUSES = ("TODO", "IN_PROGRESS", "DONE", "BLOCKED", "CANCELLED")


class StatusMark(Struct, frozen=True):
    """Where a status is written: an attribute of an element, or the text of one of its children."""

    element: ElementNode
    attribute: str
    value: str


class PlanConfirm(Struct, frozen=True, kw_only=True):
    """A confirm element: who is asked at which moments, and how far it says that is."""

    kind: GateKind
    moments: tuple[Moment, ...]
    status: str
    place: Place
    mark: StatusMark | None = None  # none where the file has no place for it
    agent: str = ""


class PlanCriterion(Struct, frozen=True):
    """Something that must hold, and whether the file says that it does."""

    text: str
    is_checked: bool
    element: ElementNode | None = None


class PlanSubtask(Struct, frozen=True):
    """A part of a task; parts of parts follow it in the list."""

    id: str
    name: str
    status: str
    mark: StatusMark | None


class TrackTask(Struct, frozen=True, kw_only=True):
    """One piece of work for an agent."""

    id: str
    name: str
    status: str
    mark: StatusMark
    place: Place
    text: str = ""
    priority: str = ""
    blocker: str = ""
    needs: tuple[str, ...] = ()
    confirms: tuple[PlanConfirm, ...] = ()
    criteria: tuple[PlanCriterion, ...] = ()
    subtasks: tuple[PlanSubtask, ...] = ()
    files: tuple[str, ...] = ()
    wave: str = ""


class PlanWave(Struct, frozen=True):
    """Tasks of a phase that need nothing of each other; `after` are waves that come first."""

    id: str
    after: tuple[str, ...]
    place: Place


class TrackPhase(Struct, frozen=True, kw_only=True):
    """Tasks that belong together; the next phase begins when this one is closed."""

    id: str
    name: str
    place: Place
    goal: str = ""
    confirms: tuple[PlanConfirm, ...] = ()
    tasks: tuple[TrackTask, ...] = ()
    criteria: tuple[PlanCriterion, ...] = ()
    mark: StatusMark | None = None
    waves: tuple[PlanWave, ...] = ()  # none where the tasks are done one after another


class TrackPlan(Struct, frozen=True, kw_only=True):
    """The whole plan of a track."""

    id: str
    name: str
    place: Place
    goal: str = ""
    status: str = ""
    mark: StatusMark | None = None
    commit_mode: str = ""
    words: Literal["plan", "track"] = "plan"  # the statuses of plan.xml, or those of track.xml
    phases: tuple[TrackPhase, ...] = ()

    @property
    def file_name(self) -> str:
        return self.place.file.rpartition("/")[2]

    def tasks(self) -> Iterator[TrackTask]:
        for phase in self.phases:
            yield from phase.tasks

    def nodes(self) -> Iterator[TrackPhase | TrackTask]:
        for phase in self.phases:
            yield phase
            yield from phase.tasks


class TrackReading(Struct, frozen=True):
    """What was read, and everything that was noticed; an error among it means: not fit to run."""

    plan: TrackPlan
    findings: tuple[Finding, ...]
