"""Small graphs with children: one that divides its work, and one that its children can follow."""

LEAF = """\
document: {name: leaf}
spec: Item
types: {Item: {id: Text, file: FilePath, note: Maybe Text}}
budgets: {rounds: 1}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
states:
  work:
    role: worker
    template: work.j2
    input: {item: instance.spec, left: engine.rounds.left, again?: Bad}
    exits: {Done: {size: Int, of: Item}, Bad: {why: Text}}
  done: {end: complete, gives: Done}
  lost: {end: failed, shows: [Bad]}
edges:
  work.Done: {to: done}
  work.Bad: {to: work, charge: rounds, spent: lost}
"""
MAP = """\
document: {name: map}
spec: Job
types:
  Job: {id: Text, items: "[Item]", file: FilePath}
  Item: {id: Text, file: FilePath, after: "Maybe [Text]"}
budgets: {rounds: 3, plans: 2}
supervision: {silent: lost, exhausted: lost, no_progress: lost}
spawn: {state: kids, specs: Split.items, rework: Again.ids, protocol: leaf}
states:
  split:
    role: planner
    template: split.j2
    input: {job: instance.spec, room: engine.children, lost?: kids.settled}
    exits: {Split: {items: "Maybe [Item]"}}
  reduce:
    role: planner
    template: reduce.j2
    input: {parts: kids.settled.merged}
    exits: {Reduced: {text: Text}, Again: {ids: "[Text]"}}
    unused: [Reduced.text]
  done: {end: complete}
  lost: {end: failed}
edges:
  split.Split: {to: kids, forget: [kids.settled]}
  kids.settled: [{when: failed, to: split, charge: plans, spent: lost}, {to: reduce}]
  reduce.Reduced: {to: done}
  reduce.Again: {to: kids, charge: rounds, spent: lost}
"""
JOB = {"id": "job", "items": [], "file": "all.txt"}


def item(name: str, *after: str) -> dict[str, object]:
    """One planned child."""
    return {"id": name, "file": f"{name}.txt", "after": list(after) or None}
