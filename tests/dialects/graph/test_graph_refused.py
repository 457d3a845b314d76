"""A wrong word of a graph file is refused where it stands, with its code and what to do."""

from pathlib import Path

import pytest

from porch.dialects.registry import parse_definition
from porch.errors import Finding, errors_in

CORPUS = Path(__file__).parents[2] / "corpus" / "graph"
FILE = "small.graph.yaml"
SMALL = (CORPUS / FILE).read_text("utf-8")


def findings(text: str) -> tuple[Finding, ...]:
    return parse_definition(text, FILE).findings


# What is written instead, with ^ before the place that the finding points at.
REFUSED = [
    # blocks
    ("unknown-key", "spec: Task\n", "spec: Task\n^statez: {}\n", "did you mean 'states'?"),
    ("wrong-type", "budgets: {rounds: 3, tries: {limit: 4, first: 1}, plans: 2}",
     "budgets: ^[]", ""),
    ("wrong-type", "document: {name: small, version: 1.10, description: about it, subject: task}",
     "document: ^small", ""),
    ("missing-key", "{name: small, ", "^{", "write 'name'"),
    ("bad-name", "name: small,", "name: ^not a name,", "use letters"),
    ("unknown-key", "subject: task", "^subjet: task", "did you mean 'subject'?"),
    ("wrong-type", "version: 1.10", "version: ^[1]", ""),
    # types
    ("unknown-type", "spec: Task", "spec: ^Tusk", "did you mean 'Task'?"),
    ("unknown-type", "spec: Task", "spec: ^Size", ""),
    ("wrong-type", "spec: Task", "spec: ^[Task]", ""),
    ("wrong-type", "spec: Task", "spec: ^{a: b}", ""),
    ("unknown-type", '"[Part]", size', '^"[Port]", size', "did you mean 'Part'?"),
    ("bad-type", "Size: Small | Large", "Size: Small | ^Small", ""),
    ("bad-type", "Size: Small | Large", "Size: ^small", ""),
    ("bad-name", "  Size: Small", "  ^size: Small", "start with a capital"),
    ("bad-name", "  Size: Small", "  ^Count: Small", "start with a capital"),
    ("bad-name", "  Part: {id: Text", "  Part: {^i.d: Text", "use letters"),
    ("endless-type", "  Part: {id: Text", "  ^Part: {id: Part", "put a list or Maybe"),
    # budgets and epochs
    ("bad-budget", "rounds: 3", "rounds: ^many", "write a number"),
    ("bad-budget", "rounds: 3", "rounds: ^[3]", "write a number"),
    ("bad-budget", "rounds: 3", "rounds: ^-3", "write a number"),
    ("missing-key", "{limit: 4, first: 1}", "^{first: 0}", "write 'limit'"),
    ("bad-budget", "{limit: 4, first: 1}", "^{limit: 4, first: 5}", ""),
    ("unknown-key", "{limit: 4, first: 1}", "{limit: 4, ^frist: 1}", "did you mean 'first'?"),
    ("reserved-name", "rounds: 3", "rounds: 3, ^diff: 3", "rename it"),
    ("unknown-state", "epoch: {state: plan", "epoch: {state: ^plon", "did you mean 'plan'?"),
    ("unknown-budget", "charge: plans", "charge: ^plens", "did you mean 'plans'?"),
    ("unknown-budget", "reset: [rounds]", "reset: [^round]", "did you mean 'rounds'?"),
    ("missing-key", "epoch: {state: plan, ", "epoch: ^{", "write 'state'"),
    ("missing-key", "spent: lost, reset: [rounds]}", "reset: [rounds]}", "write 'spent'"),
    ("unknown-key", "epoch: {state: plan, ", "epoch: {state: plan, ^cost: 1, ", "remove it"),
    ("wrong-type", "epoch: {state: plan, charge: plans, spent: lost, reset: [rounds]}",
     "epoch: ^plan", ""),
    # supervision
    ("missing-key", "silent: lost, ", "", "write 'silent'"),
    ("unknown-state", "silent: lost", "silent: ^lest", "did you mean 'lost'?"),
    ("wrong-type", "{silence: 30, nudges: 2, silent: lost, exhausted: lost, no_progress: halt}",
     "^lost", ""),
    ("wrong-type", "silence: 30", "silence: ^soon", ""),
    ("unknown-key", "nudges: 2", "^nudge: 2", "did you mean 'nudges'?"),
    # spawn
    ("missing-key", "spawn: {state: kids, ", "spawn: ^{", "write 'state'"),
    ("missing-key", "specs: Planned.parts, ", "", "write 'specs'"),
    ("unknown-path", "specs: Planned.parts", "specs: ^Planned.ports", "did you mean 'parts'?"),
    ("unknown-path", "specs: Planned.parts", "specs: ^Planned.file", ""),
    ("unknown-path", "suite: file", "suite: ^fill", "did you mean 'file'?"),
    ("wrong-type", "depth: 1", "depth: ^deep", ""),
    ("reserved-name", "spawn: {state: kids", "spawn: {state: ^plan", "rename it"),
    ("unknown-key", "depth: 1", "^depht: 1", "did you mean 'depth'?"),
    # interrupts
    ("unknown-key", "  sibling: {state", "  sibling: {^stat: 1, state", ""),
    ("unknown-key", "  sibling: {state", "  ^cousin: {}\n  sibling: {state", "remove it"),
    ("missing-key", "event: Merged, ", "", "write 'event'"),
    ("missing-key", "on: publish.clean, ", "", "write 'on'"),
    ("unknown-exit", "event: Merged", "event: ^Merged.author", "name an exit"),
    ("unknown-exit", "on: publish.clean", "on: ^publish.clean.commit", "name an exit"),
    ("unknown-state", "{state: update, on", "{state: ^updote, on", "did you mean 'update'?"),
    ("missing-key", "{state: update, on", "^{on", "write 'state'"),
    ("unknown-state", "before: [work]", "before: [^wark]", "did you mean 'work'?"),
    ("unknown-state", "{work: plan}", "{^wark: plan}", "did you mean 'work'?"),
    ("unknown-state", "{work: plan}", "{work: ^plen}", "did you mean 'plan'?"),
    # states
    ("bad-name", "  redo: {git", "  ^re do: {git: contract}\n  redo: {git", "use letters"),
    ("reserved-name", "  redo: {git", "  ^parent: {git: contract}\n  redo: {git", "rename it"),
    ("reserved-name", "  redo: {git", "  ^budget: {git: contract}\n  redo: {git", "rename it"),
    ("reserved-name", "  redo: {git", "  ^due: {git: contract}\n  redo: {git", "rename it"),
    ("wrong-type", "redo: {git: contract, reads: [Planned.file]}", "redo: ^contract", ""),
    ("unknown-word", "git: contract", "git: ^contrast", "did you mean 'contract'?"),
    ("unknown-word", "git: contract", "git: ^commit", ""),
    ("wrong-type", "git: contract", "git: ^[contract]", ""),
    ("unknown-path", "candidate: candidate.clean", "candidate: ^candidate.cleen", "'clean'?"),
    ("unknown-key", "git: contract", "git: contract, ^exits: {}", "remove it"),
    ("unknown-word", "holds: [target]", "holds: [^targets]", "did you mean 'target'?"),
    ("unknown-word", "human: failure", "human: ^falure", "did you mean 'failure'?"),
    ("no-exits", "person: {human: failure", "who: ^{human: gate}\n  person: {human: failure", ""),
    ("missing-key", "stop: {means: it ends}", "stop: ^{}", "write some text"),
    ("unknown-key", "text: true", "^texts: true", ""),
    ("wrong-type", "text: true", "text: ^maybe", ""),
    ("wrong-type", "stop: {means: it ends}", "stop: ^stop", ""),
    ("bad-name", "stop: {means: it ends}", "^s top: {means: it ends}", "use letters"),
    ("unknown-word", "end: complete", "end: ^completed", "did you mean 'complete'?"),
    ("unknown-exit", "failed, shows: [Hard]", "failed, shows: [^Hard.why]", "name an exit"),
    # agents
    ("missing-key", "    role: planner\n", "", "write some text for 'role'"),
    ("missing-key", "    template: plan.j2\n", "", "write some text for 'template'"),
    ("unknown-key", "    timeout: 90", "    ^timeot: 90", "did you mean 'timeout'?"),
    ("unknown-word", "fork: planner", "fork: ^plonner", "did you mean 'planner'?"),
    ("unknown-word", "workspace: tests", "workspace: ^test", "did you mean 'tests'?"),
    ("wrong-type", "workspace: tests", "workspace: ^[tests, read]", ""),
    ("wrong-type", "mechanical: true", "mechanical: ^1", ""),
    ("unknown-exit", "severity: {Bad", "severity: {^Bed", "did you mean 'Bad'?"),
    ("wrong-type", "severity: {Bad: MINOR}", "severity: {Bad: ^[MINOR]}", ""),
    ("unknown-exit", "hints: {Bad", "hints: {^Bed", "did you mean 'Bad'?"),
    ("wrong-type", "denies: [Planned.file]", "denies: [^Planned.base]", ""),
    ("wrong-type", "allows: [instance.spec.file]", "allows: [^instance.spec]", ""),
    ("wrong-type", "at: candidate.clean.commit", "at: ^candidate.clean.evidence", ""),
    ("wrong-type", "at: candidate.clean.commit", "at: ^[candidate.clean.commit]", ""),
    ("missing-key", "diff: {from: candidate.clean.old, to", "diff: ^{to", "write 'from'"),
    ("missing-key", "    diff: {from: candidate.clean.old, to: candidate.clean.commit}\n", "",
     "write `diff"),
    ("unknown-key", "diff: {from: candidate.clean.old, to", "diff: {from: candidate.clean.old, ^t",
     "did you mean 'to'?"),
    ("wrong-type", "diff: {from: candidate.clean.old, to: candidate.clean.commit}",
     "diff: ^HEAD", ""),
    # exits
    ("no-exits", "  redo: {git", "  idle: ^{role: r, template: t}\n  redo: {git", "write 'exits'"),
    ("bad-name", "Hard: {why: Text}", "^Ha rd: {why: Text}", "use letters"),
    ("reserved-name", "Hard: {why: Text}", "Hard: {why: Text}\n      ^silent: {}", "rename it"),
    ("bad-type", "Hard: {why: Text}", "Hard: ^Size", ""),
    ("unknown-type", "Hard: {why: Text}", "Hard: ^Sise", "did you mean 'Size'?"),
    ("bad-type", "Hard: {why: Text}", "Hard: {why: ^text}", ""),
    ("bad-type", "Hard: {why: Text}", "Hard: {why: ^{a: Text}}", "under 'types'"),
    ("unknown-type", "Hard: {why: Text}", "Hard: {why: ^Taxt}", ""),
    ("bad-name", "Hard: {why: Text}", "Hard: {^w y: Text}", "use letters"),
    ("wrong-type", "Commit = engine.head", "^Text = engine.head", ""),
    ("unknown-path", "Commit = engine.head", "^Commit = engine.hed", "did you mean 'head'?"),
    ("unknown-path", "Commit = engine.head", "^Commit = engine.diff", ""),
    ("unknown-path", "Commit = engine.head", "^Commit = parent.engine.head", ""),
    # input
    ("reserved-name", "{task: instance.spec, again",
     "{task: instance.spec, ^where: parent, again", ""),
    ("bad-name", "{plan: Planned", "{^p lan: Planned", "use letters"),
    ("empty-list", "again?: [Bad, person.retry]", "^again?: []", "write the path"),
    ("empty-list", 'outer?: {text: "@parent.Planned.file"}', "^outer?: {}", "write the path"),
    ("unknown-path", "round: engine.rounds.count", "round: ^engine.roundz.count", "'rounds'?"),
    ("unknown-path", "round: engine.rounds.count", "round: ^engine", "possible: head"),
    ("unknown-path", "round: engine.rounds.count", "round: ^instance.spec.id.x", ""),
    ("unknown-path", "round: engine.rounds.count", "round: ^engine.head", ""),
    ("unknown-path", "round: engine.rounds.count", "round: ^memory.seen", ""),
    ("unknown-path", "round: engine.rounds.count", "round: ^parent.Plonned", "did you mean"),
    ("unknown-path", "round: engine.rounds.count",
     "round: ^instance.spec.pair.2", "possible: 0, 1"),
    ("ambiguous-path", "round: engine.rounds.count",
     "round: ^refused", "write candidate.refused or"),
    ("unknown-path", "[Bad, person.retry]", "[Bad, ^engine.evidence]", ""),
    ("wrong-value", "[Bad, person.retry]", "[Bad, ^parent.Bad]", ""),
    ("wrong-type", '"@parent.Planned.file"', '^"@parent.Planned.base"', ""),
    ("wrong-type", "{plan: Planned,", "{plan: ^true,", ""),
    # memory
    ("unknown-path", "memory: [seen, passed]", "memory: [seen, ^pased]", "did you mean 'passed'?"),
    ("dead-field", "keep: {passed: tests}",
     "keep: {passed: tests, ^more: tests}", "under 'memory'"),
    ("bad-name", "keep: {passed: tests}", "keep: {^p assed: tests}", "use letters"),
    ("unknown-path", "keep: {passed: tests}", "keep: {passed: ^test}", ""),
    ("wrong-type", "keep: {passed: tests}", "keep: {passed: ^[tests]}", ""),
    ("unknown-path", "fresh_when_stalled: seen.failing", "fresh_when_stalled: ^sean.failing", ""),
    ("unknown-path", "fresh_when_stalled: seen.failing", "fresh_when_stalled: ^seen.fell", ""),
    ("unknown-path", "fresh_when_stalled: seen.failing", "fresh_when_stalled: ^passed.id", ""),
    ("wrong-type", "fresh_when_stalled: seen.failing", "fresh_when_stalled: ^seen.size", ""),
    # checks
    ("unknown-check", "[builds,", "[^build,", "did you mean 'builds'?"),
    ("unknown-check", "{exists: file}", "{^exist: file}", "did you mean 'exists'?"),
    ("unknown-exit", "Done: [{red", "^Don: [{red", "did you mean 'Done'?"),
    ("wrong-type", "[builds,", "[^exists,", ""),
    ("wrong-type", "[builds,", "[{^builds: file},", ""),
    ("wrong-type", "[builds,", "[^[builds],", ""),
    ("wrong-type", "{exists: file}", "^{exists: file, empty: file}", ""),
    ("wrong-type", "{exists: file}", "^{}", ""),
    ("empty-list", "{exists: file}", "{^exists: []}", "write a list of paths"),
    ("empty-list", "{every: task.parts.id, by: [parts.id]}",
     "{every: task.parts.id}", "`every` and"),
    ("wrong-type", "{every: task.parts.id, by: [parts.id]}", "^parts", ""),
    ("unknown-key", "{every: task.parts.id, by", "{^evry: task.parts.id, by", "'every'?"),
    ("unknown-path", "{every: task.parts.id, by", "{every: ^task.parts.idd, by", "'id'?"),
    ("wrong-value", "red: {every: Planned.file, by: [Planned.base]}",
     "^red: {every: Planned.file, by: [Planned.base, Planned.base]}", ""),
    ("wrong-value", "raised: {every: impact, by: [candidate.clean.old, candidate.clean.commit]}",
     "^raised: {every: impact, by: [candidate.clean.old]}", ""),
    ("wrong-value", "raised: {every: impact, by", "^raised: {every: Bad.size, by", ""),
    ("unknown-path", "unused: [Done.count]", "unused: [^Done.cound]", "did you mean 'count'?"),
    # git states name what they are given (V5)
    ("missing-key", "{git: candidate, approved: Planned.print, own: [instance.spec.file]}",
     "^{git: candidate, own: [instance.spec.file]}", "`approved: Exit.field`"),
    ("missing-key", "{git: candidate, approved: Planned.print, own: [instance.spec.file]}",
     "^{git: candidate, approved: Planned.print}", "`own: [paths]`"),
    ("wrong-value", "approved: Planned.print", "approved: ^Planned.file", "`= engine.patch`"),
    ("wrong-value", "approved: Planned.print", "approved: ^Planned", "`= engine.patch`"),
    ("unknown-path", "approved: Planned.print", "approved: ^Planned.prent", "'print'?"),
    ("missing-key", ", candidate: candidate.clean}", "}", "`candidate: state.clean`"),
    ("wrong-value", "candidate: candidate.clean}", "candidate: ^redo.clean}", "of the state"),
    ("unknown-key", "{git: candidate, approved", "{git: candidate, ^reads: [Planned], approved",
     ""),
    # joins and choices
    ("unknown-exit", "rearm: [Done]", "rearm: [^Done.tests]", "name an exit"),
    ("empty-list", "{rearm: [Done], latched: [redo.clean], to: candidate}", "{to: candidate}", ""),
    ("reserved-name", "  both: {rearm", "  ^plan: {rearm", "rename it"),
    ("unknown-key", "{rearm: [Done], latched", "{rearm: [Done], ^late: 1, latched", ""),
    ("wrong-type", "{rearm: [Done], latched: [redo.clean], to: candidate}", "^Done", ""),
    ("missing-edge", ", latched: [redo.clean], to: candidate}", ", latched: [redo.clean]}", "'to'"),
    ("reserved-name", "  halt: [{when", "  ^plan: [{when", "rename it"),
    ("empty-list", "  halt: [{when: parent, to: lost}, {to: person}]",
     "  ^halt: []", "list them"),
    ("missing-key", "{when: parent, to: lost}", "^{when: parent}", "write 'to'"),
    ("unknown-key", "{when: parent, to: lost}", "{^if: parent, to: lost}", ""),
    ("wrong-type", "{when: parent, to: lost}", "^lost", ""),
    ("unknown-state", "{when: parent, to: lost}", "{when: parent, to: ^lest}", "'lost'?"),
    # edges
    ("unknown-state", "  redo.clean: {to: both}", "  ^rado.clean: {to: both}", "'redo'?"),
    ("unknown-exit", "  redo.clean: {to: both}", "  ^redo.cleen: {to: both}", "'redo.clean'?"),
    ("wrong-type", "redo.clean: {to: both}", "redo.clean: ^both", ""),
    ("missing-edge", "redo.clean: {to: both}", "redo.clean: ^{}", "write 'to'"),
    ("unknown-state", "redo.clean: {to: both}", "redo.clean: {to: ^bath}", "did you mean 'both'?"),
    ("unknown-key", "redo.clean: {to: both}", "redo.clean: {to: both, ^two: 1}", ""),
    ("unknown-budget", "charge: tries", "charge: ^trees", "did you mean 'tries'?"),
    ("wrong-type", "charge: tries", "charge: ^[tries]", ""),
    ("unknown-exit", "spent_as: Hard", "spent_as: ^Herd", "did you mean 'Hard'?"),
    ("bad-budget", "redo.conflict: {to: halt}",
     "redo.conflict: ^{to: halt, spent: lost}", "'charge'"),
    ("bad-budget", "charge: tries, spent_as: Hard", "charge: tries", ""),
    ("unknown-budget", "reset: [tries]", "reset: [^trees]", "did you mean 'tries'?"),
    ("unknown-exit", "forget: [Bad, Hard]", "forget: [Bad, ^Hard.why]", "name an exit"),
    ("wrong-value", "redo.conflict: {to: halt}",
     "redo.conflict: ^{to: halt, free: true}", "remove"),
    ("wrong-value", "redo.conflict: {to: halt}",
     "redo.conflict: ^{to: halt, same_epoch: true}", ""),
    # guards
    ("unknown-path", "when: failed", "when: ^fail", ""),
    ("unknown-path", "unless: instance.target", "unless: ^instance.targets", "'target'?"),
    ("unknown-path", "when: impact == Large", "when: ^impct == Large", ""),
    ("wrong-value", "when: impact == Large", "when: ^impact == Huge", ""),
    ("wrong-value", "when: impact == Large", "when: ^engine.rounds.count == few", ""),
    ("wrong-value", "when: impact == Large", "when: ^engine.children.allowed == true", ""),
    ("unknown-path", "when: files within Planned.file", "when: ^files within Planned.fill", ""),
    ("unknown-path", "unless: instance.target,", "unless: ^instance.target == x,", ""),
    ("wrong-type", "when: failed", "when: ^[failed]", ""),
]  # fmt: skip


def place_of(text: str) -> tuple[str, str]:
    """The text without its mark, and line and column of what the mark stands before."""
    before, _, after = text.partition("^")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return before + after, f"{FILE}:{line}:{column}"


@pytest.mark.parametrize("code, old, new, fix", REFUSED)
def test_a_wrong_word_is_refused_where_it_stands(code: str, old: str, new: str, fix: str) -> None:
    assert SMALL.count(old) == 1, f"{SMALL.count(old)} times in the file"
    text, place = place_of(SMALL.replace(old, new))
    found = [f for f in findings(text) if f.code == code]
    assert found, [str(f) for f in findings(text)]
    if "^" in new:
        assert place in [str(f.place) for f in found]
        found = [f for f in found if str(f.place) == place]
    assert any(fix in f.fix for f in found), [f.fix for f in found]
    assert all(f.place is not None and f.place.line > 0 for f in found)


def test_every_mistake_is_told_and_not_only_the_first_in_the_order_of_the_file() -> None:
    text = SMALL.replace("git: contract", "git: contrast").replace("to: due", "to: dew")
    text = text.replace("rounds: 3", "rounds: many").replace(
        "Hard: {why: Text}", "Hard: {why: Taxt}"
    )
    found = errors_in(findings(text))
    lines = [f.place.line for f in found if f.place]
    assert {f.code for f in found} >= {
        "bad-budget",
        "unknown-type",
        "unknown-word",
        "unknown-state",
    }
    assert lines == sorted(lines)


def test_what_is_said_to_be_unused_and_is_used_is_a_warning() -> None:
    text, place = place_of(SMALL.replace("unused: [Done.count]", "unused: [Done.count, ^Bad.size]"))
    reading = parse_definition(text, FILE)
    (found,) = reading.findings
    assert (found.code, found.severity, str(found.place)) == ("not-unused", "warning", place)
    assert reading.protocol is not None


def test_a_field_of_a_named_record_that_nobody_consumes_is_told_at_its_exit() -> None:
    text, place = place_of(SMALL.replace("Hard: {why: Text}", "^Hard: Part"))
    found = findings(text.replace("shows: [Hard]", "shows: []"))
    assert {(f.code, str(f.place)) for f in found} == {("dead-field", place)}


def test_a_graph_that_is_no_mapping_is_refused() -> None:
    (found,) = findings("[]")
    assert (found.code, str(found.place)) == ("wrong-type", f"{FILE}:1:1")


def test_an_empty_graph_is_told_everything_that_it_lacks() -> None:
    missing = [f.message for f in findings("{}") if f.code == "missing-key"]
    assert missing == [
        "'spec' of a graph is missing",
        "'document' is missing",
        "there are no states",
    ]
