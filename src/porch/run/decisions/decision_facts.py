"""What can be known of a question besides its files, as values that pages and commands show."""

from collections.abc import Mapping

from msgspec import Struct


class LastRound(Struct, frozen=True):
    """The answer before this one to the same question, and the files as they were then."""

    seq: int
    at: str
    answer: str
    artifacts: Mapping[str, str]


class ReviewerWords(Struct, frozen=True, kw_only=True):
    """One reviewer of the newest round; `reply` is all that was said."""

    name: str
    verdict: str
    summary: str = ""
    findings: tuple[str, ...] = ()
    why: str = ""
    reply: str = ""


class WorkMeasure(Struct, frozen=True, kw_only=True):
    """How much is different from the base of a run, and on which files its checks passed.

    `fresh` are the checks of a phase that passed on exactly these files, `stale` passed on others.
    """

    files: int
    added: int
    removed: int
    fresh: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class DecisionHistory(Struct, frozen=True):
    """What the journal has of a question."""

    last_round: LastRound | None = None
    reviewers: tuple[ReviewerWords, ...] = ()
