"""Good graphs to spoil: a line of work, a tree of its own kind, and one whose children differ."""

LINE = """\
document: {name: line}
spec: Task
types:
  Task: {id: Text, file: FilePath, size: Size}
  Size: Small | Large
  Remark: {line: Int, text: Text}
budgets: {rounds: 3}
supervision: {silence: 60, nudges: 3, silent: stuck, exhausted: stuck, no_progress: stuck}
states:
  write:
    role: writer
    template: write.j2
    allows: [instance.spec.file]
    input: {task: instance.spec, remarks?: NotYet.remarks}
    exits:
      Written: {summary: Text, words: Int}
    checks:
      Written: [{exists: instance.spec.file}]
  read:
    role: reader
    workspace: read
    template: read.j2
    input: {task: instance.spec, done: Written}
    exits:
      Good: {why: Text}
      NotYet: {remarks: "[Remark]"}
    checks:
      NotYet: [{some: remarks}]
    unused: [Good.why]
  stuck:
    human: failure
    shows: [NotYet]
    options:
      retry: {means: again}
      stop: {means: it ends}
  done: {end: complete}
  failed: {end: failed, shows: [NotYet]}
edges:
  write.Written: {to: read}
  read.Good: {to: done}
  read.NotYet: {to: write, charge: rounds, spent: stuck}
  stuck.retry: {to: write, reset: [rounds]}
  stuck.stop: {to: failed}
"""
TREE = """\
document: {name: tree}
spec: Task
types:
  Task: {id: Text, file: FilePath, size: Size, tags: "[Text]"}
  Part: {id: Text, file: FilePath, tags: "[Text]", after: "Maybe [Text]"}
  Size: Small | Large
budgets: {rounds: 3}
supervision: {silent: halt, exhausted: halt, no_progress: halt}
spawn: {state: kids, specs: Planned.parts, inherit: [size], from_parent: [tags], suite: file}
states:
  plan:
    role: planner
    template: plan.j2
    input: {task: instance.spec, room: engine.children}
    exits:
      Planned: {parts: "Maybe [Part]"}
    checks:
      Planned: [{names: parts.id}, {disjoint: [parts.file]}]
  draft:
    role: writer
    workspace: tests
    template: draft.j2
    exits:
      Drafted: {note: Text}
  work:
    role: writer
    template: work.j2
    input:
      parts: kids.settled.merged.text
      note: Drafted.note
      refusal?: [candidate.refused, candidate.conflict]
    exits:
      Made: {text: Text, patch: Text = engine.patch}
  candidate: {git: candidate, holds: [target], approved: Made.patch, own: [instance.spec.file]}
  publish: {git: publish, holds: [target], candidate: candidate.clean}
  stuck:
    human: failure
    shows: [kids.settled, publish.refused]
    options: {retry: {means: again}, stop: {means: it ends}}
  done: {end: complete, gives: Made}
  failed: {end: failed}
joins:
  both: {latched: [Drafted, kids.settled], to: work}
choices:
  halt: [{when: parent, to: failed}, {to: stuck}]
edges:
  plan.Planned: {to: [kids, draft, both]}
  kids.settled: [{when: failed, to: halt}, {to: both}]
  draft.Drafted: {to: both}
  work.Made: [{when: instance.target, to: candidate}, {to: done}]
  candidate.clean: {to: publish}
  candidate.refused: {to: work, charge: rounds, spent: halt}
  candidate.conflict: {to: work, charge: rounds, spent: halt}
  publish.clean: {to: done}
  publish.refused: {to: halt}
  publish.conflict: {to: candidate, charge: rounds, spent: halt}
  stuck.retry: {to: plan, reset: [rounds]}
  stuck.stop: {to: failed}
"""
OUTER = """\
document: {name: outer}
spec: Job
types:
  Job: {id: Text, size: Int}
  Part: {id: Text, file: FilePath}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
spawn: {state: kids, specs: Split.parts, protocol: leaf}
states:
  split: {role: r, template: t.j2, exits: {Split: {parts: "[Part]"}}}
  join:
    role: r
    template: join.j2
    input: {words: kids.settled.merged.words}
    exits: {Ok: {}}
  done: {end: complete}
  lost: {end: failed}
edges:
  split.Split: {to: kids}
  kids.settled: {to: join}
  join.Ok: {to: done}
"""
LEAF = """\
document: {name: leaf}
spec: Item
types: {Item: {id: Text, file: FilePath, note: Maybe Text}}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
states:
  work: {role: r, template: work.j2, input: {item: instance.spec}, exits: {Done: {words: Int}}}
  done: {end: complete, gives: Done}
  lost: {end: failed}
edges:
  work.Done: {to: done}
"""
# It needs what only a parent of its own kind has said.
NEEDY = LEAF.replace("{item: instance.spec}", "{item: instance.spec, of: parent.Done}").replace(
    "  work: {", "  look: {role: r, template: t.j2, exits: {Go: {}}}\n  work: {"
)
NEEDY = f"{NEEDY}  look.Go: [{{when: parent, to: work}}, {{to: lost}}]\n"
OTHERS = {
    "leaf": LEAF,
    "broken": LEAF.replace("to: done", "to: dune"),
    "needy": NEEDY,
    "early": LEAF.replace("{to: done}", "[{when: words == 0, to: none}, {to: done}]").replace(
        "  lost: {", "  none: {end: complete}\n  lost: {"
    ),
}
