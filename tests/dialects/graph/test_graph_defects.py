"""Sixty defects in good graphs, each found at its line; and twenty good graphs without a finding.

A defect is a small edit of a good text. The finding points at the line of the edit, or at the line
that begins with the last word of a row.
"""

import re
from pathlib import Path

import pytest

from porch.dialects.registry import parse_definition
from porch.errors import DefinitionError, Finding
from porch.text import formats
from tests.dialects.graph import good_graphs as good

FILE = "some.graph.yaml"
ROOT = Path(__file__).parents[3]
V3 = (ROOT / "src/porch/protocols/v3/v3.graph.yaml").read_text("utf-8")
TEXTS = {"LINE": good.LINE, "TREE": good.TREE, "OUTER": good.OUTER, "V3": V3}


def read(text: str) -> tuple[Finding, ...]:
    def fetch(name: str) -> formats.Node | None:
        found = good.OTHERS.get(name)
        return formats.read_tree(found, f"{name}.graph.yaml") if found else None

    try:
        return parse_definition(text, FILE, fetch).findings
    except DefinitionError as error:
        return tuple(error.findings)


def edited(name: str, old: str, new: str) -> str:
    text = TEXTS[name]
    assert text.count(old) == 1, f"{text.count(old)} times: {old}"
    return text.replace(old, new)


EXISTS, SOME = "[{exists: instance.spec.file}]", "[{some: remarks}]"
NOT_YET = "{to: write, charge: rounds, spent: stuck}"
PART = "Part: {id: Text, file: FilePath,"
# Which graph, the code, what stands there, what is written instead, and where it is told.
DEFECTS = [
    # words
    ("LINE", "unknown-key", "spec: Task\n", "spec: Task\nstate: {}\n", "state:"),
    ("LINE", "unknown-type", "spec: Task", "spec: Tusk", ""),
    ("TREE", "unknown-type", "spec: Task", "spec: Size", ""),
    ("OUTER", "unknown-type", "spec: Job", "spec: Jab", ""),
    ("V3", "unknown-type", "spec: Spec\n", "spec: Spek\n", ""),
    ("LINE", "missing-key", "spec: Task\n", "", "document:"),
    ("V3", "missing-key", "spec: Spec\n", "", "document:"),
    ("LINE", "unknown-type", "size: Size}", "size: Sise}", ""),
    ("LINE", "bad-type", "Small | Large", "Small | Small", ""),
    ("LINE", "endless-type", "Task: {id", "Task: {again: Task, id", ""),
    ("LINE", "unknown-state", "Written: {to: read", "Written: {to: raed", ""),
    ("LINE", "unknown-exit", "read.Good:", "read.Goood:", ""),
    ("LINE", "unknown-path", "done: Written}", "done: Writen}", ""),
    ("LINE", "unknown-path", "remarks?: NotYet.remarks", "remarks?: NotYet.remark", ""),
    ("LINE", "unknown-check", EXISTS, "[{exist: instance.spec.file}]", ""),
    ("LINE", "unknown-word", "workspace: read", "workspace: reed", ""),
    ("LINE", "unknown-word", "human: failure", "human: failures", ""),
    ("LINE", "unknown-word", "end: complete", "end: completed", ""),
    ("LINE", "reserved-name", "{task: instance.spec, done", "{budget: instance.id, done", ""),
    ("LINE", "reserved-name", "budgets: {rounds: 3", "budgets: {rounds: 3, children: 1", ""),
    ("LINE", "missing-key", "    template: write.j2\n", "", "role: writer"),
    ("LINE", "yaml-alias", "rounds: 3", "rounds: &three 3", ""),
    ("LINE", "yaml-alias", "nudges: 3", "nudges: *three", ""),
    # budgets
    ("LINE", "idle-budget", "rounds: 3}", "rounds: 3, tries: 2}", ""),
    ("LINE", "unknown-budget", "charge: rounds", "charge: round", ""),
    ("LINE", "bad-budget", NOT_YET, "{to: write, charge: rounds}", ""),
    ("LINE", "bad-budget", "rounds: 3", "rounds: three", ""),
    ("LINE", "endless", NOT_YET, "{to: write}", "write:"),
    ("LINE", "endless", NOT_YET, "{to: write, charge: rounds, spent_as: NotYet}", ""),
    ("TREE", "endless", "conflict: {to: candidate, charge: rounds, spent: halt}",
     "conflict: {to: candidate}", "candidate: {git"),
    # tests on a wrong type
    ("LINE", "wrong-type", EXISTS, "[{exists: words}]", ""),
    ("LINE", "wrong-type", EXISTS, "[{empty: words}]", ""),
    ("LINE", "wrong-type", EXISTS, "[{ran: instance.spec.file}]", ""),
    ("LINE", "wrong-type", EXISTS, "[{finished: summary}]", ""),
    ("LINE", "wrong-type", EXISTS, "[{disjoint: [summary]}]", ""),
    ("LINE", "wrong-type", EXISTS, "[{some: task.size}]", ""),
    ("LINE", "wrong-type", EXISTS, "[{within: {every: summary, by: [task.file]}}]", ""),
    ("LINE", "wrong-type", EXISTS, "[{red: {every: task.file, by: [task.file]}}]", ""),
    ("LINE", "wrong-type", SOME, "[{once: remarks}]", ""),
    ("LINE", "wrong-type", SOME, "[{names: remarks.line}]", ""),
    ("LINE", "wrong-type", SOME, "[{covers: {every: remarks, by: [task.id]}}]", ""),
    ("LINE", "wrong-type", "write.Written: {to", "write.Written: {when: words, to", ""),
    ("LINE", "wrong-type", "write.Written: {to", "write.Written: {unless: words, to", ""),
    ("LINE", "wrong-type", "read.Good: {to", "read.Good: {when: why within task.file, to", ""),
    ("LINE", "wrong-value", "read.Good: {to",
     "read.Good: {when: instance.spec.size == Huge, to", ""),
    ("LINE", "wrong-value", "read.Good: {to",
     "read.Good: {when: engine.rounds.count == few, to", ""),
    ("LINE", "wrong-value", "read.Good: {to", "read.Good: {when: Written.words == 007, to", ""),
    ("LINE", "wrong-value", "read.Good: {to", "read.Good: {when: Written.words == \u00b2, to", ""),
    ("LINE", "wrong-value", "read.NotYet: {to", "read.NotYet: {when: remarks == some, to", ""),
    ("LINE", "wrong-type", "allows: [instance.spec.file]", "allows: [instance.spec.id]", ""),
    ("LINE", "wrong-type", "read.Good: {to: done", "read.Good: {to: done, spec: {size: why}", ""),
    ("TREE", "wrong-type", "Text = engine.patch", "Commit = engine.patch", ""),
    ("TREE", "wrong-type", "{text: Text, patch", "{text: Text = instance.revision.kind, patch", ""),
    ("TREE", "wrong-type", "stuck.retry: {to: plan",
     "stuck.retry: {to: plan, spec: {id: instance.revision.kind}", ""),
    # data
    ("LINE", "dead-field", "    unused: [Good.why]\n", "", "Good: {why"),
    ("LINE", "dead-field", "read.Good: {to: done", "read.Good: {to: done, keep: {said: why}", ""),
    ("LINE", "unsupplied", "remarks?: NotYet.remarks", "remarks: NotYet.remarks", "write:"),
    ("LINE", "unread-text", "retry: {means: again}", "retry: {means: again, text: true}", ""),
    ("LINE", "duplicate-name", "{task: instance.spec, rem",
     "{task: instance.spec, task?: NotYet, rem", ""),
    # ways
    ("LINE", "missing-edge", f"  read.NotYet: {NOT_YET}\n", "", "NotYet: {remarks"),
    ("LINE", "guarded-edge", "read.Good: {to", "read.Good: {when: why, to", ""),
    ("LINE", "dead-edge", "Good: {to: done}", "Good: [{to: done}, {when: why, to: stuck}]", ""),
    ("LINE", "unreachable", "  done: {end",
     "  idle: {human: gate, options: {ok: {means: on}}}\n  done: {end", "idle:"),
    ("TREE", "unreachable-join", "[Drafted, kids", "[Drafted, publish.clean, kids", ""),
    ("TREE", "duplicate-name", "{to: [kids, draft, both]}", "{to: [kids, draft, kids, both]}", ""),
    ("V3", "wrong-value", "to: failed}, {to: person}]", "to: failed}, {to: scaffold}]", ""),
    # children
    ("TREE", "wrong-type", PART, "Part: {id: Text, file: Text,", "spawn:"),
    ("TREE", "wrong-type", PART, "Part: {id: Text,", "spawn:"),
    ("TREE", "wrong-type", 'parts: "Maybe [Part]"', 'parts: "[Maybe Part]"', "spawn:"),
    ("TREE", "wrong-type", 'parts: "Maybe [Part]"', 'parts: "[[Part]]"', "spawn:"),
    ("TREE", "wrong-type", 'after: "Maybe [Text]"', "after: Text", "spawn:"),
    ("TREE", "wrong-type", 'after: "Maybe [Text]"', 'before: "Maybe [Text]"', "spawn:"),
    ("TREE", "unknown-path", "inherit: [size]", "inherit: [sice]", ""),
    ("TREE", "wrong-type", "inherit: [size], ", "", ""),
    ("TREE", "wrong-type", "from_parent: [tags]", "from_parent: [file]", ""),
    ("TREE", "unknown-path", "kids.settled.merged.text", "kids.settled.merged.test", ""),
    ("TREE", "unsupplied", "{to: [kids, draft, both]}",
     "[{when: parts, to: [kids, draft, both]}, {to: done}]", ""),
    ("TREE", "wrong-value", "failed: {end: failed", "failed: {end: failed, gives: Made", ""),
    ("TREE", "unknown-exit", "gives: Made", "gives: Made.text", ""),
    ("TREE", "unknown-path", "gives: Made", "gives: Mode", ""),
    ("V3", "unknown-path", "event: MergeComplete", "event: MergeCompleted", ""),
    ("V3", "unknown-exit", "event: MergeComplete", "event: MergeComplete.changes", ""),
    ("TREE", "missing-key", "approved: Made.patch, ", "", ""),
    ("TREE", "wrong-value", "approved: Made.patch", "approved: Made.text", ""),
    ("OUTER", "unknown-child", "protocol: leaf", "protocol: lief", ""),
    ("OUTER", "bad-child", "protocol: leaf", "protocol: broken", ""),
    ("OUTER", "bad-child", "protocol: leaf", "protocol: outer", ""),
    ("OUTER", "bad-child", "protocol: leaf", "protocol: needy", ""),
    ("OUTER", "bad-child", "protocol: leaf", "protocol: early", ""),
    ("OUTER", "wrong-type", "file: FilePath}", "file: FilePath, x: Int}", "spawn:"),
]  # fmt: skip


def told_line(name: str, old: str, text: str, where: str) -> int:
    """Where a row says that its finding points."""
    at = TEXTS[name].index(old)
    if where:
        found = re.search(rf"^ *{re.escape(where)}", text, re.MULTILINE)
        assert found is not None
        at = found.end()
    return text[:at].count("\n") + 1


# Lines at which the mistake is one as well. Whoever lists the field under `inherit`, as the first
# finding proposes, still has a check of a field that a plan does not have, or not as a path.
ALSO = {
    "Part: {id: Text, file: Text,": ("Planned:",),
    "Part: {id: Text,": ("Planned:",),
}


@pytest.mark.parametrize("name, code, old, new, where", DEFECTS)
def test_t8_a_seeded_defect_is_found_at_its_line(
    name: str, code: str, old: str, new: str, where: str
) -> None:
    text = edited(name, old, new)
    found = read(text)
    line = told_line(name, old, text, where)
    assert (code, line) in [(f.code, f.place.line) for f in found if f.place], list(map(str, found))
    # What follows from the same mistake stands in the same line, but for what is known here.
    rows = text.splitlines()
    others = [f.place.line for f in found if f.severity == "error" and f.place]
    known = ALSO.get(new, ())
    assert [n for n in others if n != line and not rows[n - 1].strip().startswith(known)] == []


def test_there_are_as_many_defects_as_promised_and_no_two_are_the_same() -> None:
    assert len(DEFECTS) >= 60
    assert len({edited(name, old, new) for name, _, old, new, _ in DEFECTS}) == len(DEFECTS)


def example() -> str:
    page = (ROOT / "docs/reference/graph.md").read_text("utf-8")
    found = re.search(r"```yaml\n(document:.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


# What can be written as well.
VARIATIONS = [
    ("LINE", "rounds: 3", "rounds: {limit: 4, first: 1}"),
    ("LINE", EXISTS, "[builds, green, {exists: [instance.spec.file]}]"),
    ("LINE", EXISTS, "[{some: [summary]}]"),
    ("LINE", SOME, "[{once: remarks.line}, {some: remarks}]"),
    ("LINE", "Good: {to: done}",
     "Good: [{when: instance.spec.size == Large, to: stuck}, {to: done}]"),
    ("LINE", "Good: {to: done}", "Good: [{when: Written.words == 0, to: stuck}, {to: done}]"),
    ("LINE", "end: complete}", "end: complete, gives: Written}"),
    ("LINE", "remarks?: NotYet.remarks", "remarks: NotYet.remarks?"),
    ("LINE", "shows: [NotYet]\n", "shows: [NotYet.remarks, Written]\n"),
    ("LINE", "write.Written: {to: read}", "write.Written: {to: read, forget: [NotYet]}"),
    ("TREE", 'after: "Maybe [Text]"', 'after: "[Text]"'),
    ("TREE", ', after: "Maybe [Text]"', ""),
    ("TREE", "from_parent: [tags], ", ""),
    ("TREE", "Planned.parts, inherit", "Planned.parts, depth: 1, fan_out: 3, inherit"),
    ("TREE", "parts: kids.settled.merged.text", "parts: kids.settled.merged"),
    ("TREE", "parts: kids.settled.merged.text", "parts: kids.settled"),
    ("OUTER", "kids.settled.merged.words", "kids.settled.merged.id"),
    ("OUTER", "kids.settled.merged.words", "kids.settled.failed.spec.note"),
]  # fmt: skip


def good_texts() -> dict[str, str]:
    files = {
        "example": example(),
        "small": (ROOT / "tests/corpus/graph/small.graph.yaml").read_text("utf-8"),
        "leaf": good.LEAF,
        "needy": good.NEEDY,
    }
    varied = {f"{n}: {new}": edited(n, old, new) for n, old, new in VARIATIONS}
    return {**files, **TEXTS, **varied}


@pytest.mark.parametrize("name", good_texts())
def test_t9_a_good_graph_has_no_finding(name: str) -> None:
    assert [str(f) for f in read(good_texts()[name])] == []


def test_there_are_as_many_good_graphs_as_promised() -> None:
    assert len(set(good_texts().values())) >= 20
