"""Which outcome of which kind of run is shown by which drive; and why the others cannot be.

A cell names a drive, the moment at which it is looked at, and the phase that has the outcome then.
For what is said of a run and not of a phase (it is stopped, its driver is dead) the phase is empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass

KINDS = ("phases", "graph", "tree", "track", "plan", "steps", "ask")
OF_PHASES = (
    *("passed", "failed", "skipped", "waived", "nothing to run", "not run"),
    *("could not measure", "stale"),
)
OF_RUNS = (
    *("open findings", "gate waiting", "artifact missing", "stopped", "rate-limited"),
    *("driver dead", "rolled back"),
)
OUTCOMES = (*OF_PHASES, *OF_RUNS)


@dataclass(frozen=True)
class Cell:
    """One outcome of one kind of run, and where it is to be seen."""

    kind: str
    outcome: str
    drive: str
    moment: str
    phase: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.outcome}"


def _cells(kind: str, **places: str) -> list[Cell]:
    """`passed="drive moment phase"`; a name of an outcome has underscores for blanks."""
    cells = []
    for name, place in places.items():
        drive, moment, phase = (*place.split("/"), "")[:3]
        outcome = {"rate_limited": "rate-limited"}.get(name, name.replace("_", " "))
        cells.append(Cell(kind, outcome, f"{kind}_{drive}", moment, phase))
    return cells


CELLS: list[Cell] = [
    *_cells(
        "phases",
        passed="skipped/ended/ship",
        failed="failed/ended/build",
        skipped="skipped/ended/build",
        waived="waived/ended/build",
        nothing_to_run="passed/ended/build",
        not_run="failed/ended/ship",
        could_not_measure="unmeasured/ended/build",
        stale="looped/rolled back/ship",
        open_findings="reviewed/gate/build",
        gate_waiting="passed/gate/ship",
        artifact_missing="missing/gate/build",
        stopped="halted/stopped",
        rate_limited="halted/limited",
        driver_dead="halted/dead",
        rolled_back="rolled_back/rolled back/ship",
    ),
    *_cells(
        "graph",
        passed="passed/ended/read",
        failed="failed/ended/write",
        not_run="halted/dead/read",
        stale="failed/ended/read",
        gate_waiting="passed/asked",
        stopped="halted/stopped",
        rate_limited="halted/limited",
        driver_dead="halted/dead",
    ),
    *_cells(
        "tree",
        passed="passed/ended/look",
        failed="passed/ended",
        not_run="halted/dead/tell",
        stale="failed/ended/tell",
        gate_waiting="passed/children",
        stopped="halted/stopped",
        rate_limited="halted/limited",
        driver_dead="halted/dead",
    ),
    *_cells(
        "track",
        passed="passed/ended/T2",
        failed="abandoned/ended/T1",
        skipped="cancelled/ended/T1",
        waived="cancelled/cancelled",
        not_run="passed/confirm/T3",
        open_findings="passed/issues/T2",
        gate_waiting="passed/confirm/T1",
        artifact_missing="removed/asked/T1",
        stopped="halted/stopped",
        rate_limited="halted/limited",
        driver_dead="halted/dead",
        rolled_back="reopened/rolled back/T1",
    ),
    *_cells("plan", passed="approved/approved", gate_waiting="approved/asked"),
    *_cells(
        "steps",
        passed="passed/ended/work",
        failed="failed/ended/work",
        could_not_measure="unmeasured/ended/work",
        gate_waiting="passed/asked/work",
        stopped="halted/stopped",
        rate_limited="halted/limited",
        driver_dead="halted/dead",
        rolled_back="passed/rolled back/work",
    ),
    *_cells("ask", passed="answered/ended", gate_waiting="answered/asked"),
]

_NO_SKIP = "a graph has only the answers that it names; none goes on without a result"
_NO_WAIVER = "what a graph asks a person is answered, not approved in spite of something"
_CLAIMS = "an exit is refused until its checks pass, so none is left with another result"
_NO_PANEL = "its reviewers are agents with exits; what they find leads somewhere else"
_NO_BACK = "a tree cannot go back; it makes a new plan instead"
_GIVEN = "an exit that names a file which is missing is refused"
_GRAPH = {
    "skipped": _NO_SKIP,
    "waived": _NO_WAIVER,
    "nothing to run": _CLAIMS,
    "could not measure": _CLAIMS,
    "open findings": _NO_PANEL,
    "artifact missing": _GIVEN,
    "rolled back": _NO_BACK,
}
_NO_PHASES = "it has gates and questions only; a review answers the command that asks for it"
_ONE_PHASE = "there is one phase, so nothing lies in front of it or behind it"
IMPOSSIBLE: Mapping[str, Mapping[str, str]] = {
    "phases": {},
    "graph": _GRAPH,
    "tree": _GRAPH,
    "track": {
        "nothing to run": "a track has no checks of its own",
        "could not measure": "a track has no checks of its own",
        "stale": "work that is done behind a task that is reopened stays done",
    },
    "plan": {
        outcome: _NO_PHASES for outcome in OUTCOMES if outcome not in ("passed", "gate waiting")
    },
    "steps": {
        "skipped": "its questions offer another try or the end",
        "waived": "it has no gates",
        "nothing to run": "a claim is checked, or is none",
        "not run": _ONE_PHASE,
        "stale": _ONE_PHASE,
        "open findings": "it has no reviewers",
        "artifact missing": "it names no files",
    },
    "ask": {
        outcome: _NO_PHASES for outcome in OUTCOMES if outcome not in ("passed", "gate waiting")
    },
}
