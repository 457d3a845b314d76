"""What happened: everything that can arrive at a run, in the past tense."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import field

from porch.model.tagged import Tagged

Payload = Mapping[str, Any]
FinishKind = Literal["merged", "squashed", "committed", "proposed", "pushed", "kept"]


class RunStarted(Tagged, frozen=True, kw_only=True, tag="RunStarted"):
    """The first fact of a run; the definition it names is pinned."""

    run: str
    id: str
    title: str
    protocol: str
    digest: str
    heading: str = ""  # the title as it was typed, where that is more than its slug
    subject: str = ""
    request_from: str = ""  # where the text of the request came from
    inputs: Mapping[str, str] = field(default_factory=dict)
    project_dir: str = ""
    status_file: str = ""
    worktree: str = ""
    base_commit: str = ""
    by: str = ""
    agent: str = ""
    script: str = ""
    spec: Payload = field(default_factory=dict)
    branch: str = ""
    into: str = ""
    base_tree: str = ""  # all files at the start, as measured; runs of release 1 have none
    settings: str = ""  # the digest of those that govern the run
    own_worktree: bool = False  # porch made the worktree, and commits there on `branch`
    settled: Mapping[str, Payload] = field(default_factory=dict)  # states that a plan calls done
    commits_nothing: bool = False  # it works in a person's own checkout, whose commits are theirs
    trust: tuple[str, ...] = ()  # digests of settings that a person trusts for this run


class RunAdopted(Tagged, frozen=True, kw_only=True, tag="RunAdopted"):
    """A status file of somebody else began this journal; as the first fact it has the start."""

    state: str
    item: str = ""
    gates: Mapping[str, Payload] = field(default_factory=dict)
    items: tuple["Item", ...] = ()
    finished: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    start: RunStarted | None = None
    paused: bool = False  # nothing begins before a person resumes the run


class BaseMeasured(Tagged, frozen=True, kw_only=True, tag="BaseMeasured"):
    """A run that was adopted paused goes on: what it changes counts from these files on."""

    base_tree: str
    base_commit: str = ""
    into: str = ""


class SettingsPinned(Tagged, frozen=True, kw_only=True, tag="SettingsPinned"):
    """A run goes on with these: it began before settings were pinned, or trusts more of them."""

    digest: str
    trust: tuple[str, ...] = ()


class RunnerStarted(Tagged, frozen=True, kw_only=True, tag="RunnerStarted"):
    """A driver took the run; host and boot decide whether another may take it over."""

    host: str
    boot: str
    pid: int
    release: str
    resumed: bool = False
    as_person: bool = False  # whoever started it confirmed to be a person
    detached: bool = False  # kicked off by `af`, which starts it again if it dies


DENIED = "denied: "  # how a note begins that says what an agent was not allowed to do


class ExitAccepted(Tagged, frozen=True, kw_only=True, tag="ExitAccepted"):
    """An agent's turn ended with a legal exit."""

    effect: str
    exit: str
    payload: Payload = field(default_factory=dict)
    signal: str = ""
    notes: tuple[str, ...] = ()
    session: str = ""
    usd: float = 0
    tokens: int = 0
    said: str = ""
    tree: str = ""
    evidence: tuple[Payload, ...] = ()
    envelope: Payload = field(default_factory=dict)
    seconds: float = 0
    touched: tuple[str, ...] = ()  # files that decide a measurement, changed since the phase began
    uncompared: str = ""  # why these files could not be compared
    commit: str = ""  # in a worktree of its own: where the engine kept the work of this exit
    target_head: str = ""  # of the branch that a tree merges into, where the tree lacks it
    outside: Payload = field(default_factory=dict)  # what changed outside its worktree meanwhile


class TurnEndedSilent(Tagged, frozen=True, kw_only=True, tag="TurnEndedSilent"):
    """An agent's turn ended without a legal signal."""

    effect: str
    notes: tuple[str, ...] = ()
    said: str = ""
    session: str = ""
    usd: float = 0
    tokens: int = 0
    seconds: float = 0
    touched: tuple[str, ...] = ()
    uncompared: str = ""
    outside: Payload = field(default_factory=dict)


class EffectFailed(Tagged, frozen=True, kw_only=True, tag="EffectFailed"):
    """Infrastructure failed, not the work: a crash, a timeout, a lost connection."""

    effect: str
    why: str
    detail: str = ""
    wait_s: float = 0
    usd: float = 0
    tokens: int = 0
    hopeless: bool = False  # trying again by itself cannot help
    seconds: float = 0
    fault: bool = False  # only a person can fix it; older releases did not say so
    outside: Payload = field(default_factory=dict)


class EffectInterrupted(Tagged, frozen=True, kw_only=True, tag="EffectInterrupted"):
    """The runner died under this effect; nobody knows how far it came."""

    effect: str
    usd: float = 0
    tokens: int = 0
    session: str = ""
    outside: Payload = field(default_factory=dict)


class EffectStopped(Tagged, frozen=True, kw_only=True, tag="EffectStopped"):
    """The driver ended an effect that nobody wants any more."""

    effect: str
    usd: float = 0
    tokens: int = 0
    session: str = ""
    seconds: float = 0
    outside: Payload = field(default_factory=dict)


class CheckEnded(Tagged, frozen=True, kw_only=True, tag="CheckEnded"):
    """One check was run, or could not be; `tree` is the content it was measured on."""

    effect: str
    result: Literal["passed", "failed", "skipped", "unmeasured"]
    report: str = ""
    tree: str = ""
    seconds: float = 0
    reused: bool = False
    flaky: bool = False  # failed and then passed on the same files
    touched: tuple[str, ...] = ()  # files that decide a measurement, changed by the check itself
    outside: Payload = field(default_factory=dict)


class ReviewEnded(Tagged, frozen=True, kw_only=True, tag="ReviewEnded"):
    """One reviewer answered; a verdict that could not be read is an abstention.

    `touched` are files that decide a measurement and that changed while the reviewer looked.
    `reply` is all that was said: what is read from it is a reading, and may miss something.
    `cause` says why there is no verdict; a reviewer that abstains on purpose has none.
    `tree` are the files that were judged. A verdict that is `reused` was given for the same files
    in a round that came to no decision, and was not paid again.
    """

    effect: str
    verdict: Literal["APPROVE", "REQUEST_CHANGES", "ABSTAIN"]
    summary: str = ""
    findings: tuple[str, ...] = ()
    why: str = ""
    seconds: float = 0
    usd: float = 0
    tokens: int = 0
    reply: str = ""
    touched: tuple[str, ...] = ()
    cause: str = ""
    tree: str = ""
    reused: bool = False
    outside: Payload = field(default_factory=dict)


class Item(Tagged, frozen=True, kw_only=True, tag="Item"):
    """One element of a loop's finite list, with the digest of its text."""

    id: str
    title: str
    description: str
    digest: str
    text: str = ""


class ItemsRead(Tagged, frozen=True, kw_only=True, tag="ItemsRead"):
    """The list of a loop was read from its document."""

    effect: str
    reading: str
    items: tuple[Item, ...]
    digest: str
    notes: tuple[str, ...] = ()


class DecisionAsked(Tagged, frozen=True, kw_only=True, tag="DecisionAsked"):
    """A person was asked; the digest covers the named artifacts as they were then."""

    effect: str
    digest: str
    artifacts: Mapping[str, str] = field(default_factory=dict)


class FeedbackWritten(Tagged, frozen=True, kw_only=True, tag="FeedbackWritten"):
    """The reviewers' answers of one round lie in a file of the project."""

    effect: str
    path: str


class TimerFired(Tagged, frozen=True, kw_only=True, tag="TimerFired"):
    """A wait is over."""

    effect: str


class CommitEnded(Tagged, frozen=True, kw_only=True, tag="CommitEnded"):
    """The engine committed named paths, found nothing to commit, or git refused.

    `passed_over`: the run commits nothing, so nobody looked.
    """

    effect: str
    commit: str = ""
    refused: str = ""
    passed_over: bool = False


class GitEnded(Tagged, frozen=True, kw_only=True, tag="GitEnded"):
    """The engine moved branches of an instance, could not, or found a conflict."""

    effect: str
    exit: Literal["clean", "conflict", "refused"]
    payload: Payload = field(default_factory=dict)
    target_head: str = ""  # as in ExitAccepted


class BudgetReached(Tagged, frozen=True, kw_only=True, tag="BudgetReached"):
    """Work that would begin now would go beyond what a person allowed; so a person is asked."""

    position: str
    budget: str
    spent: float
    limit: float
    step: float  # what a person allows who says to go on


class CommandsDue(Tagged, frozen=True, kw_only=True, tag="CommandsDue"):
    """Before the first paid work: the commands of the settings that run once, and their digests.

    With the scripted agent nothing is paid. Then `results` says of those that do not pass what is
    known from an earlier look at the same files, and nothing runs.
    """

    commands: Mapping[str, str]
    results: Mapping[str, str] = field(default_factory=dict)


class ApprovalOutdated(Tagged, frozen=True, kw_only=True, tag="ApprovalOutdated"):
    """An approved file is no longer as it was approved; so a person is asked before work begins."""

    gate: str
    question: "GateQuestion"


class ApprovalRestored(Tagged, frozen=True, kw_only=True, tag="ApprovalRestored"):
    """The files of a gate are again as they were approved."""

    gate: str


class PlanMoved(Tagged, frozen=True, kw_only=True, tag="PlanMoved"):
    """A command of envoy changed a plan; the fields on top of its prompts are pictures of this.

    `prompts` holds the fields that are new, by prompt; None means that the prompt is gone.
    """

    action: str
    prompts: Mapping[str, Payload | None] = field(default_factory=dict)
    plan: Payload = field(default_factory=dict)
    payload: Payload = field(default_factory=dict)
    who: str = ""
    agent: str = ""
    forced: tuple[str, ...] = ()  # the rules that were set aside


class QuestionPosed(Tagged, frozen=True, kw_only=True, tag="QuestionPosed"):
    """A command of envoy asks a person; the same question stands once."""

    state: str
    item: str = ""
    payload: Payload = field(default_factory=dict)
    digest: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""


class GateQuestion(Tagged, frozen=True, kw_only=True, tag="GateQuestion"):
    """A gate that has to be asked again: why, over which files, and what is different in them.

    `is_changed` says that its files are others than approved; putting them back answers it.
    """

    digest: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    difference: Mapping[str, str] = field(default_factory=dict)
    is_changed: bool = False


class Wish(Tagged, frozen=True, kw_only=True, tag="Wish"):
    """What somebody outside asks of a run; it names what it is for, so order means nothing.

    `who` is established by the holder of the lock; `claimed` is another name that the wish gave.
    """

    id: str
    kind: str
    position: str = ""
    exit: str = ""
    text: str = ""
    digest: str = ""
    who: str = ""
    channel: str = ""
    as_person: bool = False
    data: Payload = field(default_factory=dict)
    claimed: str = ""


class WishTaken(Tagged, frozen=True, kw_only=True, tag="WishTaken"):
    """The holder of the lock granted a wish.

    Of a decision it names what was decided about: the files as they were at that instant, and the
    definition and settings in force. `items` is the list of a plan that was approved anew, `gates`
    what has to be asked before the wish counts, or because of it.
    """

    wish: Wish
    artifacts: Mapping[str, str] = field(default_factory=dict)
    definition: str = ""
    settings: str = ""
    loop: str = ""
    items: tuple[Item, ...] = ()
    gates: Mapping[str, GateQuestion] = field(default_factory=dict)


class WishRefused(Tagged, frozen=True, kw_only=True, tag="WishRefused"):
    """The holder of the lock answered no, and why."""

    wish: Wish
    reason: str
    notice: bool = False


class JournalRepaired(Tagged, frozen=True, kw_only=True, tag="JournalRepaired"):
    """A damaged journal was moved aside and its good beginning kept."""

    kept: int
    lost_bytes: int
    aside: str
    by: str = ""
    as_person: bool = False
    decisions: tuple[str, ...] = ()  # of people, in the part that was lost


class WorkFinished(Tagged, frozen=True, kw_only=True, tag="WorkFinished"):
    """A person gave the work of a run away: it was merged, proposed, or left where it is.

    `head` is the work that it is about: more commits can be finished once more.
    """

    how: FinishKind
    branch: str = ""
    head: str = ""
    into: str = ""
    commit: str = ""  # the commit of the target that holds the work
    url: str = ""
    checks: Mapping[str, str] = field(default_factory=dict)  # on the merged files, by name
    by: str = ""
    as_person: bool = False
    accepted: tuple[str, ...] = ()  # what differs from what was approved, or came after the end
    not_passed: tuple[str, ...] = ()  # parts of the run, delivered for this reason
    reason: str = ""


class StatusEdited(Tagged, frozen=True, kw_only=True, tag="StatusEdited"):
    """Somebody edited the status picture; their file was kept aside."""

    aside: str


EffectFact = (
    ExitAccepted
    | TurnEndedSilent
    | EffectFailed
    | EffectInterrupted
    | EffectStopped
    | CheckEnded
    | ReviewEnded
    | ItemsRead
    | FeedbackWritten
    | DecisionAsked
    | TimerFired
    | CommitEnded
    | GitEnded
)
Fact = (
    RunStarted
    | RunAdopted
    | BaseMeasured
    | SettingsPinned
    | RunnerStarted
    | EffectFact
    | WishTaken
    | WishRefused
    | JournalRepaired
    | WorkFinished
    | StatusEdited
    | BudgetReached
    | CommandsDue
    | ApprovalOutdated
    | ApprovalRestored
    | PlanMoved
    | QuestionPosed
)
