"""What a person wants to know beside the files of a question: the last round, and measured work.

Of a journal only the newest records are looked at, so a long run costs no more than a short one.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from porch.account.phases import find_phase
from porch.account.positions import find_state_name
from porch.errors import PorchError
from porch.git import measured_tree, tree_changes
from porch.machine import approvals
from porch.machine.state import Decision, RunState, Standing, effect_parts
from porch.model.memory_paths import evidence_path
from porch.model.protocol import Protocol
from porch.run.decisions.decision_facts import (
    DecisionHistory,
    LastRound,
    ReviewerWords,
    WorkMeasure,
)
from porch.run.engine import run_places
from porch.store.journal_tail import read_tail
from porch.store.large_payloads import expand_payloads
from porch.store.where import ProjectPaths

MOST_RECORDS = 2_000


def read_history(
    where: ProjectPaths, protocol: Protocol, state: RunState, decision: Decision
) -> DecisionHistory:
    """Nothing where the journal cannot be believed: who reads all of it says what is wrong."""
    run = where.run_dir(state.run.name)
    tail = read_tail(os.path.join(run, "journal.jsonl"), MOST_RECORDS)
    records: Sequence[Mapping[str, Any]] = tail.records if tail else ()
    store = run_places.payload_directory(where, state.run.name)
    reviewers = tuple(
        _make_reviewer(store, fact)
        for fact in _list_last_reviews(records, protocol, state, decision)
    )
    return DecisionHistory(_find_last_round(records, decision), reviewers)


def _find_last_round(records: Sequence[Mapping[str, Any]], decision: Decision) -> LastRound | None:
    labels = (_label_of(decision.position), f"{approvals.STATE}:{decision.name}")
    for record in reversed(records):
        fact = record["fact"]
        wish = fact.get("wish") or {}
        if fact.get("is") != "WishTaken" or wish.get("kind") != "decide":
            continue
        if _label_of(str(wish.get("position", ""))) in labels:
            artifacts = {str(k): str(v) for k, v in (fact.get("artifacts") or {}).items()}
            return LastRound(
                int(record["seq"]), str(record["at"]), str(wish.get("exit", "")), artifacts
            )
    return None


def _label_of(position: str) -> str:
    """A position without how many times it was entered."""
    return position.rpartition("#")[0]


def _list_last_reviews(
    records: Sequence[Mapping[str, Any]],
    protocol: Protocol,
    state: RunState,
    decision: Decision,
) -> list[Mapping[str, Any]]:
    """The reviews of the newest round in the phase of a question, in the order they ended."""
    standing = state.positions.get(decision.position)
    group = protocol.group_of(standing.state) if standing else ""
    newest, found = "", []
    for record in reversed(records):
        fact = record["fact"]
        if fact.get("is") != "ReviewEnded":
            continue
        position = effect_parts(str(fact["effect"]))[0]
        if protocol.group_of(find_state_name(protocol, position)) != group:
            continue
        newest = newest or position
        if position == newest:
            found.append(fact)
    return found[::-1]


def _make_reviewer(store: str, fact: Mapping[str, Any]) -> ReviewerWords:
    told = expand_payloads(store, {key: fact.get(key) for key in ("summary", "findings", "reply")})
    return ReviewerWords(
        name=effect_parts(str(fact["effect"]))[2],
        verdict=str(fact["verdict"]),
        summary=str(told["summary"] or ""),
        findings=tuple(str(each) for each in told["findings"] or ()),
        why=str(fact.get("why") or ""),
        reply=str(told["reply"] or ""),
    )


def measure_work(
    where: ProjectPaths, protocol: Protocol, state: RunState, decision: Decision
) -> WorkMeasure | None:
    """None where it cannot be measured: no repository, no base, or the worktree is gone."""
    standing = state.positions.get(decision.position)
    if not where.common_dir or not state.run.base or standing is None:
        return None
    workspace = run_places.workspace_of(where, state)
    own = run_places.list_own_paths(state.run.project_dir)
    room = run_places.tree_room(where.run_dir(state.run.name))
    try:
        now = measured_tree.measure_tree(workspace, own, room)
        rows = tree_changes.count_changed_lines(workspace, state.run.base, now, own)
    except (PorchError, OSError):
        return None
    passed = _find_measured_trees(protocol, state, standing)
    return WorkMeasure(
        files=len(rows),
        added=sum(int(added) for added, _, _ in rows if added != "-"),
        removed=sum(int(removed) for _, removed, _ in rows if removed != "-"),
        fresh=tuple(name for name, tree in passed.items() if tree == now),
        stale=tuple(name for name, tree in passed.items() if tree != now),
        paths=tuple(path for _, _, path in rows),
    )


def _find_measured_trees(
    protocol: Protocol, state: RunState, standing: Standing
) -> dict[str, object]:
    """The checks of a phase that passed, and the tree on which each did."""
    phase = find_phase(protocol, state, standing)
    group = protocol.group_of(standing.state)
    names = phase.passed_checks if phase else []
    found = {name: state.recall(standing, evidence_path(group, name)) for name in names}
    return {name: known.get("tree") for name, known in found.items() if known}
