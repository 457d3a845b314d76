"""What should be happening: requests that carry all their inputs and name what they use."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from porch.machine.facts import Payload
from porch.machine.state import InHand, Instance
from porch.model.protocol import Ask, Command, Exit, GitOp

WORKTREE = "worktree"
AGENT_SLOT = "agent"


@dataclass(frozen=True, slots=True)
class Shown:
    """Something remembered that the actor gets to see, as quoted data."""

    label: str
    payload: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The part all requests share; ids are derived and never repeat in a run."""

    id: str
    position: str
    kind: str
    name: str
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgent(Effect):
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
    session: str = ""
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgent(Effect):
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
    timeout_s: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveBranch(Effect):
    """What the engine does with the branches of an instance."""

    op: GitOp
    instance: str
    about: Instance
    message: str = ""
    values: Payload = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck(Effect):
    """Run one check; `tree` is the content on which it last passed, where that may stand."""

    command: Command
    item: str = ""
    tree: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskReviewer(Effect):
    """Ask one model for a verdict."""

    state: str
    item: str
    review: str
    subject: str
    round: int
    artifacts: tuple[str, ...] = ()
    timeout_s: float = 0
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFeedback(Effect):
    """Keep the answers of one round in a file of the project."""

    subject: str
    item: str
    round: int
    reviews: Mapping[str, Payload] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPerson(Effect):
    """Open a decision over the named artifacts as they are now."""

    ask: str
    artifacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadItems(Effect):
    """Read the finite list of a loop from its document."""

    loop: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTimer(Effect):
    """Say when a wait that began at an instant is over."""

    since: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPaths(Effect):
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


def in_hand(request: Request) -> InHand:
    """The effect as it is journalled when it begins."""
    state = request.state if isinstance(request, (RunAgent, AskAgent, AskReviewer)) else ""
    return InHand(request.id, request.position, request.kind, request.name, request.uses, state)
