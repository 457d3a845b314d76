"""The live tree of a run: every instance with its states, budgets left and branch."""

from collections.abc import Iterator
from typing import Any, TypedDict

from porch.machine.path_values import budget_figures
from porch.machine.state import Instance, RunState
from porch.model.protocol import Protocol

# As people say it of a member of the tree.
OUTCOME_WORDS = {"complete": "merged", "failed": "failed", "abandoned": "cancelled"}


class InstanceShape(TypedDict):
    """One instance of a tree for programs; `why` is what its end state gave."""

    instance: str
    id: str
    parent: str | None
    branch: str
    outcome: str
    why: dict[str, Any]
    positions: list[str]
    budgets: dict[str, str]


def make_tree_data(protocol: Protocol, state: RunState) -> list[InstanceShape]:
    """One entry for each instance, parents before their children."""
    names = _order_instances(state, "") if state.instances else ()
    return [_instance_data(protocol, state, name) for name in names]


def _order_instances(state: RunState, name: str) -> Iterator[str]:
    yield name
    for other, known in state.instances.items():
        if other and known.parent == name:
            yield from _order_instances(state, other)


def _instance_data(protocol: Protocol, state: RunState, name: str) -> InstanceShape:
    known = state.instances.get(name, Instance())
    counts = {each: budget_figures(protocol, state, name, each) for each in protocol.budgets}
    return {
        "instance": name,
        "id": known.key,
        "parent": known.parent if name else None,
        "branch": known.branch,
        "outcome": OUTCOME_WORDS.get(known.outcome, ""),
        "why": dict(known.why),
        "positions": [s.position for s in state.positions.values() if s.instance == name],
        "budgets": {each: f"{count['left']} left" for each, count in counts.items()},
    }


def render_tree(protocol: Protocol, state: RunState) -> list[str]:
    """Drawn for a terminal: one line each, the branch and spent budgets below where it lives."""
    if not state.instances:
        return ["this run has no tree: its protocol has no instances"]
    return list(_draw_instance(protocol, state, "", "", ""))


def _draw_instance(
    protocol: Protocol, state: RunState, name: str, front: str, below: str
) -> Iterator[str]:
    known = state.instances[name]
    yield f"{front}{known.key}  {_describe_instance_place(state, name, known)}"
    children = [n for n, k in state.instances.items() if n and k.parent == name]
    stem = f"{below}{'│ ' if children else '  '}"
    yield f"{stem}{known.branch}{_describe_spent_budgets(protocol, state, name)}"
    for number, child in enumerate(children):
        is_last = number == len(children) - 1
        yield from _draw_instance(
            protocol,
            state,
            child,
            f"{below}{'└─ ' if is_last else '├─ '}",
            f"{below}{'   ' if is_last else '│  '}",
        )


def _describe_instance_place(state: RunState, name: str, known: Instance) -> str:
    if known.outcome:
        why = str(known.why.get("kind", "")) if known.outcome != "complete" else ""
        return OUTCOME_WORDS[known.outcome] + (f": {why}" if why else "")
    if known.after:
        return f"waits for {', '.join(state.instances[each].key for each in known.after)}"
    mine = [s for s in state.positions.values() if s.instance == name]
    busy = {hand.position for hand in state.in_hand.values()}
    told = [f"{s.state}#{s.visit}{'*' if s.position in busy else ''}" for s in mine]
    return ", ".join(told) or "nowhere"


def _describe_spent_budgets(protocol: Protocol, state: RunState, name: str) -> str:
    counts = {each: budget_figures(protocol, state, name, each) for each in protocol.budgets}
    used = [f"{n}: {c['left']} of {c['limit']} left" for n, c in counts.items() if c["spent"]]
    return f"  ({', '.join(used)})" if used else ""
