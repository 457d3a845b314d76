"""The outcomes that a part of a run can have, and the words and signs that people see for them.

Every view takes its words from here, so that a failed phase is called failed everywhere. Only
`passed` may be shown as done.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

Outcome = Literal[
    "passed",
    "failed",
    "skipped",  # a person went on without it
    "waived",  # a person approved in spite of it
    "nothing to run",
    "not run",
    "could not measure",
    "stale",  # done once; the run has gone back to something in front of it since
    "working",
    "waiting",  # for a person
    "stopped",  # left without a result
]
# One column for a list on a terminal.
SIGNS: Mapping[str, str] = {
    "passed": "x",
    "failed": "!",
    "skipped": "-",
    "waived": "~",
    "nothing to run": "0",
    "not run": " ",
    "could not measure": "!",
    "stale": " ",
    "working": ">",
    "waiting": "?",
    "stopped": "!",
}
# What a result of a check is called in journals.
CHECK_OUTCOMES: Mapping[str, Outcome] = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "nothing to run",
    "unmeasured": "could not measure",
}
# From the worst to the best: of several parts, the whole is as good as its worst one.
_RANKS: tuple[Outcome, ...] = (
    "waiting",
    "working",
    "failed",
    "could not measure",
    "stopped",
    "stale",
    "not run",
    "skipped",
    "waived",
    "passed",
    "nothing to run",
)
# What people must be told before work is delivered.
GAPS: tuple[Outcome, ...] = ("failed", "could not measure", "skipped", "waived", "stopped", "stale")


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of a whole; of nothing at all, `not run`.

    A part that was not reached beside one that has passed means that the whole is being worked on
    or was cut short; either way it is not done.
    """
    return min(outcomes, key=_RANKS.index, default="not run")
