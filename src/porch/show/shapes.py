"""The shapes of what read commands print as JSON; only the type checker looks at them."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

# A question as it is printed: when it was asked, its kind and its name, the text before who drives
# its run, and the parts of the text behind that, between which commands name the run.
ToldDecision = Sequence[str]


class PlaceNames(TypedDict, total=False):
    """What the places of a run are called: titles, counts of plan phases, limits of budgets."""

    titles: Mapping[str, str]
    items: Mapping[str, str]
    limits: Mapping[str, int]


class OptionShape(TypedDict):
    """One answer that can be given, and the command that gives it."""

    answer: str
    meaning: str
    needs_text: bool
    command: str


class ReviewerFinding(TypedDict):
    """What one reviewer objected to."""

    by: str
    finding: str


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
    request: NotRequired[list[str]]
    evidence: NotRequired[list[str]]
    reviews: NotRequired[list[str]]
    problems: NotRequired[list[str]]
    difference: NotRequired[dict[str, str]]
    driver: NotRequired[dict[str, Any] | None]
    driven: NotRequired[str]


class CostShape(TypedDict):
    """What agents and reviewers used; by phase where it is the cost of a run."""

    turns: int
    usd: float
    tokens: int
    seconds: float
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


class RunRowShape(TypedDict):
    """What lists of all runs print of one, and how much of its journal that covers."""

    v: int
    seq: int
    length: int
    sum: str
    row: dict[str, str]
    decisions: list[DecisionShape]
    told: NotRequired[list[ToldDecision]]


class PictureShape(RunRowShape):
    """Everything that a read command prints of a run."""

    run: str
    status: dict[str, Any]
    positions: list[PositionShape]
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
