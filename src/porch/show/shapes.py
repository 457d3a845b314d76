"""The shapes of what read commands print as JSON; only the type checker looks at them."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from porch.errors import FindingShape

# A question as it is printed: when it was asked, its kind and its name, the text before who drives
# its run, and the parts of the text behind that, between which commands name the run.
ToldDecision = Sequence[str]


class PlaceNames(TypedDict, total=False):
    """What the places of a run are called: titles, counts of plan phases, limits of budgets.

    `rounds` are the limits of rounds of reviews, `firsts` what budgets count before they are
    charged; `answers` those of failures that do not offer the usual ones; `questions` are those
    that porch asks by itself, by their names; `uncounted` are states whose positions end in the
    number of a record.
    """

    titles: Mapping[str, str]
    items: Mapping[str, str]
    limits: Mapping[str, int]
    rounds: Mapping[str, int]
    firsts: Mapping[str, int]
    answers: Mapping[str, str]
    questions: Mapping[str, str]
    uncounted: Sequence[str]


class OptionShape(TypedDict):
    """One answer that can be given, and the command that gives it."""

    answer: str
    meaning: str
    needs_text: bool
    command: str
    then: NotRequired[str]  # what the run does after it


class ReviewerFinding(TypedDict):
    """What one reviewer objected to."""

    by: str
    finding: str


class DriverShape(TypedDict):
    """Who drives a run: the process that holds its lock."""

    pid: int
    host: str
    since: str
    what: str


class FailureShape(TypedDict):
    """Why a phase failed: what, how often, and what the agent said last; `changes` shows them."""

    checks: list[str]
    attempt: str
    claim: str
    denied: list[str]
    changes: NotRequired[str]


class ChangedShape(TypedDict):
    """Files of a question that are not as they were asked about, or shown last; lines by path."""

    since: str
    difference: dict[str, str]


class DecisionShape(TypedDict):
    """Something that a person is asked."""

    run: str
    id: str
    title: str
    position: str
    kind: str
    name: str
    asked_at: str
    by: str
    question: str
    description: str
    reason: str
    options: list[OptionShape]
    artifacts: list[str]
    digest: str
    deadline: str | None
    stale: bool
    findings: list[ReviewerFinding]
    reports: dict[str, str]
    needs_override: bool
    heading: NotRequired[str]
    worktree: NotRequired[str]
    repository: NotRequired[str]  # another one, that the person's settings list
    request: NotRequired[list[str]]
    evidence: NotRequired[list[str]]
    measured: NotRequired[dict[str, list[str]]]  # names of passed, flaky, skipped checks ...
    subject: NotRequired[str]  # of what no driver moves alone: a plan, a track, questions
    reviews: NotRequired[list[str]]
    open_reviews: NotRequired[list[str]]  # those of them that asked for changes or had no result
    asked_changes: NotRequired[list[str]]  # those of these in which a reviewer asked for changes
    failure: NotRequired[FailureShape]
    problems: NotRequired[list[str]]
    settings: NotRequired[list[str]]  # what differs from those that the run keeps
    missing: NotRequired[list[str]]
    difference: NotRequired[dict[str, str]]
    changed: NotRequired[ChangedShape]
    driver: NotRequired[DriverShape | None]
    driven: NotRequired[str]
    stopped: NotRequired[bool]  # by a person; the answer alone does not make it continue


class CostShape(TypedDict):
    """What agents and reviewers used; by phase where it is the cost of a run."""

    turns: int
    usd: float
    tokens: int
    seconds: float
    reviews: NotRequired[int]  # of the turns; left out where there were none
    agent_turns: NotRequired[int]  # of the run, with those that are under way or were cut short
    phases: NotRequired["dict[str, CostShape]"]


class PositionShape(TypedDict):
    """Where a run stands."""

    position: str
    state: str
    item: str
    visit: int
    instance: str
    since: str
    title: str


class WaitShape(TypedDict):
    """One thing that a run waits for: an actor of `account/waiting.py`, and which."""

    on: str
    names: list[str]
    needs_driver: bool
    until: NotRequired[str]


class BoardRowExtras(TypedDict, total=False):
    """What only some lines of the board have."""

    heading: str
    driver: DriverShape | None


class BoardRowShape(BoardRowExtras):
    """One line of the board: a run, where it stands, and what it waits for."""

    id: str
    title: str
    protocol: str
    state: str
    waits: str
    waiting: list[WaitShape]
    wants_driver: bool


class RunRowShape(TypedDict):
    """What lists of all runs print of one, and how much of its journal that covers."""

    v: int
    seq: int
    length: int
    sum: str
    row: BoardRowShape
    decisions: list[DecisionShape]
    told: NotRequired[list[ToldDecision]]
    stamps: NotRequired[list[list[Any]]]  # of files that had a say in what answers do


class PlanPhaseShape(TypedDict):
    """One phase of a plan as its status shows it; `level` says how deep a row of a track is."""

    id: str
    title: str
    description: str
    level: NotRequired[int]


class StatusExtras(TypedDict, total=False):
    """What the status of only some runs has."""

    heading: str
    paused: bool
    finished: str


class StatusDocument(StatusExtras):
    """The status of a run as plain data: what its status file, picture and prompts show."""

    id: str
    title: str
    protocol: str
    state: str
    current_phase: str
    worktree: str
    gates: dict[str, dict[str, str]]
    phases: dict[str, dict[str, str]]
    plan_phases: list[PlanPhaseShape]
    iteration: int
    started_at: str
    last_updated: str
    log: list[Mapping[str, Any]]


class OutcomeShape(TypedDict):
    """What became of a phase, or of a child that gave up.

    `by` and `reason` are those of the person who went on without it.
    """

    phase: str
    outcome: str
    kind: NotRequired[str]
    by: NotRequired[str]
    reason: NotRequired[str]


class PictureShape(RunRowShape):
    """Everything that a read command prints of a run."""

    run: str
    status: StatusDocument
    positions: list[PositionShape]
    outcomes: list[OutcomeShape]
    paused: bool
    outcome: str
    usd: float
    tokens: int
    cost: CostShape
    in_hand: list[dict[str, str]]
    text: list[str]
    request: NotRequired[dict[str, str]]
    files: NotRequired[Any]
    names: NotRequired[PlaceNames]


class FleetRowShape(TypedDict):
    """One line of the table of all runs: its group, what to do, and who drives it."""

    group: str
    repository: str
    run: str
    id: str
    title: str
    heading: NotRequired[str]
    protocol: str
    state: str
    since: str
    told: str
    decisions: list[str]
    driver: DriverShape | None


class LiveStatusShape(TypedDict):
    """A picture as it is printed: its lines, what people are asked, and who drives the run."""

    text: list[str]
    decisions: list[DecisionShape]
    driver: "LiveEntryShape"


class CurrentTurnShape(TypedDict):
    """A turn under way, as far as its transcript has it; no cost of the run has it yet."""

    effect: str
    agent: str
    began_at: str
    seconds: int
    tools: int
    tokens: int
    usd: float
    notes: list[str]


class DriverEntryShape(TypedDict, total=False):
    """Who drives a run that is not over: null if nobody does."""

    driver: DriverShape | None


class LiveEntryShape(DriverEntryShape, total=False):
    """With the turns under way of one run."""

    working: list[CurrentTurnShape]


class ProtocolDataShape(TypedDict):
    """A compiled protocol as `protocols show --json` prints it."""

    name: str
    file: str
    digest: str
    protocol: Any
    findings: list[FindingShape]


class ShownProtocolShape(TypedDict):
    """What `protocols show` prints: for people, and for programs."""

    text: str
    json: ProtocolDataShape


class ProtocolWordsShape(TypedDict):
    """What a protocol says of itself in a list."""

    version: str
    description: str


class ListedProtocolShape(TypedDict):
    """What is listed of one protocol file, and the stamps of all files that had a say in it."""

    files: list[list[Any]]
    told: ProtocolWordsShape


class DrawnProtocolShape(TypedDict):
    """A protocol drawn in one format; of a run `run` names it, otherwise `file` its file."""

    name: str
    file: NotRequired[str]
    run: NotRequired[str]
    format: str
    picture: str
