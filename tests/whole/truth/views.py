"""What each view of a run says of its phases: taken from what it prints, by its signs and words.

Nothing here asks porch what a sign means. A reader gives the outcomes that its view may mean, so a
view that has fewer words than the journal (a page with six looks) is read for what it tells.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Meaning = frozenset[str]

# Lists on a terminal, in one column.
SIGNS: Mapping[str, Meaning] = {
    "x": frozenset({"passed"}),
    "!": frozenset({"failed", "could not measure", "stopped"}),
    "-": frozenset({"skipped"}),
    "~": frozenset({"waived"}),
    "0": frozenset({"nothing to run"}),
    " ": frozenset({"not run", "stale"}),
    ">": frozenset({"working"}),
    "?": frozenset({"waiting"}),
}
# Pages; `done` has the tick.
LOOKS: Mapping[str, Meaning] = {
    "done": frozenset({"passed"}),
    "now": frozenset({"working"}),
    "asked": frozenset({"waiting"}),
    "later": frozenset({"not run", "stale", "nothing to run"}),
    "skipped": frozenset({"skipped", "waived"}),
    "failed": frozenset({"failed", "could not measure", "stopped"}),
}
# What screen readers hear beside the look; beside that of `skipped` it is the outcome itself.
HEARD: Mapping[str, str] = {
    "done": "done",
    "now": "now",
    "asked": "waits for you",
    "later": "later",
    "failed": "failed",
}
# The three words of a status file, and the outcome that stands beside the word.
WORDS: Mapping[str, Meaning] = {
    "complete": frozenset({"passed", "nothing to run"}),
    "in_progress": frozenset({"working", "waiting"}),
    "pending": frozenset(
        {"not run", "stale", "failed", "could not measure", "stopped", "skipped", "waived"}
    ),
}
# What the status of a task in a plan leaves open.
STATUSES: Mapping[str, Meaning] = {
    "TODO": frozenset({"not run", "stale"}),
    "IN_PROGRESS": frozenset({"working", "waiting", "stale", "failed", "stopped"}),
    "BLOCKED": frozenset({"working", "waiting", "stale", "failed", "stopped"}),
    "DONE": frozenset({"passed"}),
    "CANCELLED": frozenset({"skipped"}),
}
# Outcomes that a list must say in words, because others have the same sign.
SAID: Mapping[str, str] = {
    "failed": "failed",
    "could not measure": "could not measure",
    "stopped": "stopped",
    "skipped": "skipped",
    "waived": "waived",
    "stale": "must be done again",
}
_ROW = re.compile(r"^ +\[(.)\] ([^\n]*)$", re.MULTILINE)
_STEP = re.compile(
    r'<p class="step step-(\w+)"><span class="shape" aria-hidden="true"></span>'
    r'<span>(.*?)</span><span class="hidden">: ([\w ]+)</span></p>'
)
_SHORT_STEP = re.compile(
    r'<li class="step step-(\w+)"><span class="shape" aria-hidden="true"></span>'
    r'(.*?)<span class="hidden">: ([\w ]+)</span></li>'
)
_TASK = re.compile(r"^[> ]+\d+ (\S+) ([A-Z_]+) \(agent", re.MULTILINE)
_STATE = re.compile(r"^[>* ]{0,3} *\d+ (\S+) \((\w+)[^)]*\)(?: \[([^\]]*)\])?$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """One phase, or one item of a plan, as a view shows it."""

    name: str
    meaning: Meaning
    told: str


@dataclass
class Seen:
    """Everything that was to be seen of a run at one moment."""

    run: str
    word: str
    records: list[dict[str, Any]]
    definition: dict[str, Any]
    texts: dict[str, str] = field(default_factory=dict)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    decisions: dict[str, str] = field(default_factory=dict)  # page by position


def read_checklist(text: str) -> list[Row]:
    """`af status ID`; what is said of a phase may stand on the lines below it."""
    rows: list[Row] = []
    found = list(_ROW.finditer(text))
    if not found:
        return rows
    ends = [each.start() for each in found[1:]]
    for this, end in zip(found, [*ends, len(text)], strict=True):
        name = re.split(r":(?: |$)", this[2])[0]
        rows.append(Row(name, SIGNS[this[1]], " ".join(text[this.start() : end].split())))
    return rows


def read_status(text: str) -> tuple[list[Row], list[Row]]:
    """`porch status ID`: phases that have not passed, and the items of a plan."""
    gaps = _cut(text, "  not passed\n")
    plan = _cut(text, "  plan\n")
    items = [
        Row(row.name.split()[0], row.meaning, row.told) for row in read_checklist(plan) if row.name
    ]
    return read_checklist(gaps), items


def _cut(text: str, head: str) -> str:
    """The lines below a heading that stand further in."""
    lines = text.partition(head)[2].splitlines(keepends=True)
    block = []
    for line in lines:
        if not line.startswith("    "):
            break
        block.append(line)
    return "".join(block)


def read_gates(text: str) -> dict[str, str]:
    """Of `porch status ID`: each gate with its one word."""
    rows = (line.strip().partition(": ") for line in _cut(text, "  gates\n").splitlines())
    # A gate whose status is `waiting` is one that is not asked now.
    return {
        name: "waiting" if told == "not yet" else told.split()[0] for name, _, told in rows if told
    }


def read_page(text: str) -> list[Row]:
    """The phases and the plan of the page of a run."""
    return [Row(html.unescape(m[2]), _heard(m[1], m[3]), m[1]) for m in _STEP.finditer(text)]


def read_decision_page(text: str) -> list[Row]:
    return [Row(html.unescape(m[2]), _heard(m[1], m[3]), m[1]) for m in _SHORT_STEP.finditer(text)]


def _heard(look: str, word: str) -> Meaning:
    if look == "skipped":
        assert word in LOOKS[look], f"looks {look}, but is read out as {word}"
        return frozenset({word})
    assert HEARD[look] == word, f"looks {look}, but is read out as {word}"
    return LOOKS[look]


def read_graph(text: str) -> tuple[set[str], dict[str, int]]:
    """Where the run stands, and how often each state was entered."""
    here, entered = set[str](), dict[str, int]()
    for name, _, marks in _STATE.findall(text):
        if "here now" in marks:
            here.add(name)
        if times := re.search(r"entered (?:once|(\d+) times)", marks):
            entered[name] = int(times[1] or 1)
    return here, entered


def read_track_graph(text: str) -> dict[str, str]:
    """The status of each task of a plan."""
    return {name: status for name, status in _TASK.findall(text) if status in STATUSES}


def read_pending(data: Mapping[str, Any], run: str) -> set[str]:
    """The positions at which a person is asked."""
    return {each["position"] for each in data["decisions"] if each["run"] == run}


def read_not_passed(lines: list[str]) -> Iterator[tuple[str, str]]:
    """What `porch finish` names before it delivers: a phase, and what is said of it."""
    for line in lines:
        place, _, told = line.partition(": ")
        yield re.sub(r" \(.*\)$", "", place), told


def read_body(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Of a pull request: what has not passed, and each check, with what is said of it."""
    gaps = _read_list(text, "## Not passed")
    checks = _read_list(text, "## Checks")
    return gaps, checks


def _read_list(text: str, head: str) -> dict[str, str]:
    block = text.partition(f"{head}\n\n")[2].partition("\n## ")[0]
    rows = [line[2:].partition(": ") for line in block.splitlines() if line.startswith("- ")]
    return {re.sub(r" \(.*\)", "", place): told for place, _, told in rows}


def read_json(text: str) -> dict[str, Any]:
    told = json.loads(text)
    assert isinstance(told, dict)
    return told
