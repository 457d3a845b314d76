"""What should be happening: requests that carry all their inputs and name what they use."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from porch.machine.facts import Payload
from porch.machine.state import InHand, Instance, RunState, Standing
from porch.model.protocol import Ask, Command, Exit, GitOp, ReviewForm

WORKTREE = "worktree"
AGENT_SLOT = "agent"
# The kind of effect that waits for a decision to become stale; nobody has to stay for it.
PATIENT = "stale"


class QuotedInput(Struct, frozen=True):
    """Something remembered that the actor gets to see, as quoted data."""

    label: str
    payload: Payload


class Effect(Struct, frozen=True, kw_only=True):
    """The part all requests share; ids are derived and never repeat in a run."""

    id: str
    position: str
    kind: str
    name: str
    uses: tuple[str, ...] = ()


class RunAgent(Effect, frozen=True, kw_only=True):
    """Give an agent its prompt in the workspace and follow it to one exit."""

    state: str
    item: str
    visit: int
    attempt: int
    role: str
    prompt: str
    exits: tuple[Exit, ...]
    artifacts: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    timeout_s: float = 0
    reminder: bool = False
    noted: tuple[str, ...] = ()  # for a reminder: what was said like a signal and did not count
    session: str = ""
    shown: tuple[QuotedInput, ...] = ()


class AskAgent(Effect, frozen=True, kw_only=True):
    """Put a typed question to an agent in a worktree, and accept one answer that holds."""

    state: str
    instance: str
    about: Instance
    visit: int
    attempt: int
    role: str
    template: str
    exits: tuple[Exit, ...]
    ask: Ask
    values: Payload = field(default_factory=dict)
    resume: str = ""
    fork_of: str = ""
    told: str = ""
    unread: tuple[QuotedInput, ...] = ()  # what people said that no input of anybody reads
    timeout_s: float = 0


class MoveBranch(Effect, frozen=True, kw_only=True):
    """What the engine does with the branches of an instance."""

    op: GitOp
    instance: str
    about: Instance
    message: str = ""
    values: Payload = field(default_factory=dict)
    # What the graph names; `is_named` is false for a graph that was pinned before it had to.
    approved: str = ""
    own: tuple[str, ...] = ()
    candidate: Payload = field(default_factory=dict)
    is_named: bool = True
    # Removed commits that a person lets come back; and whether a clash is a person's to resolve.
    confirmed: str = ""
    asks_of_clash: bool = False


class RunCheck(Effect, frozen=True, kw_only=True):
    """Run one check; `tree` is the content on which it last passed, where that may stand.

    One that `is_moot` is about the form of documents that no agent of this run has worked on.
    """

    command: Command
    item: str = ""
    tree: str = ""
    is_moot: bool = False


class AskReviewer(Effect, frozen=True, kw_only=True):
    """Ask one model for a verdict."""

    state: str
    item: str
    review: str
    subject: str
    round: int
    artifacts: tuple[str, ...] = ()
    timeout_s: float = 0
    shown: tuple[QuotedInput, ...] = ()
    form: ReviewForm = "verdict"
    given: Payload | None = None  # what it said in the round before, which came to no decision


class WriteFeedback(Effect, frozen=True, kw_only=True):
    """Keep the answers of one round in a file of the project."""

    subject: str
    item: str
    round: int
    reviews: Mapping[str, Payload] = field(default_factory=dict)


class AskPerson(Effect, frozen=True, kw_only=True):
    """Open a decision over the named artifacts as they are now."""

    ask: str
    artifacts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # the same, named from the workspace on


class ReadItems(Effect, frozen=True, kw_only=True):
    """Read the finite list of a loop from its document."""

    loop: str
    source: str


class StartTimer(Effect, frozen=True, kw_only=True):
    """Say when a wait that began at an instant is over."""

    since: str
    seconds: float


class CommitPaths(Effect, frozen=True, kw_only=True):
    """Commit exactly these paths of the project directory."""

    paths: tuple[str, ...]
    message: str


Request = (
    RunAgent
    | AskAgent
    | MoveBranch
    | RunCheck
    | AskReviewer
    | WriteFeedback
    | AskPerson
    | ReadItems
    | StartTimer
    | CommitPaths
)


def as_in_hand(request: Request) -> InHand:
    """The effect as it is journalled when it begins."""
    state = request.state if isinstance(request, (RunAgent, AskAgent, AskReviewer)) else ""
    return InHand(request.id, request.position, request.kind, request.name, request.uses, state)


def effect_header(
    state: RunState, standing: Standing, kind: str, name: str, *, uses: tuple[str, ...] = ()
) -> dict[str, Any]:
    attempt = state.tries.get(standing.position, {}).get(f"{kind}/{name}", 0)
    effect = f"{standing.position}/{kind}/{name}/{attempt}"
    return {
        "id": effect,
        "position": standing.position,
        "kind": kind,
        "name": name,
        "uses": uses,
    }
