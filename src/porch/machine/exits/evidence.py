"""Adding up measured results: many checks to one exit, many verdicts to one judgement."""

from collections.abc import Mapping
from typing import Any

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.exits.departure import exit_moves
from porch.machine.state import InHand, RunState, Standing
from porch.model.memory_paths import evidence_path, is_last_words_path
from porch.model.protocol import Check, Panel, Protocol


def check_result_moves(
    protocol: Protocol, state: RunState, standing: Standing, hand: InHand, fact: f.CheckEnded
) -> tuple[m.Move, ...]:
    """One more check has a result; the last of them gives the state its exit."""
    kept = {"result": fact.result, "report": fact.report, "tree": fact.tree}
    mark = m.Marked(standing.position, f"check/{hand.name}", kept)
    moves = (mark, *_evidence_moves(protocol, standing, hand, fact))
    marks = {**state.marks.get(standing.position, {}), mark.key: kept}
    summed = _sum_check_results(protocol, standing, marks)
    if summed is None:
        return moves
    exit_, payload = summed
    return (*moves, *exit_moves(protocol, state, standing, exit_, payload))


def _evidence_moves(
    protocol: Protocol, standing: Standing, hand: InHand, fact: f.CheckEnded
) -> tuple[m.Move, ...]:
    if fact.result != "passed" or not fact.tree:
        return ()
    path = evidence_path(protocol.states[standing.state].group, hand.name)
    return (m.Remembered(path, {"tree": fact.tree}, standing.item, standing.instance),)


def _sum_check_results(
    protocol: Protocol, standing: Standing, marks: Mapping[str, Any]
) -> tuple[str, dict[str, Any]] | None:
    actor = protocol.states[standing.state].actor
    commands = actor.commands if isinstance(actor, Check) else ()
    if any(f"check/{command.name}" not in marks for command in commands):
        return None
    results = {command.name: marks[f"check/{command.name}"] for command in commands}
    binding = [command.name for command in commands if not command.optional]
    failed = [name for name in binding if results[name]["result"] == "failed"]
    missing = [name for name in binding if results[name]["result"] == "unmeasured"]
    reports = {name: results[name]["report"] for name in (*failed, *missing)}
    exit_ = "failed" if failed else "unmeasured" if missing else "passed"
    return exit_, {"failed": failed, "unmeasured": missing, "reports": reports}


def review_payload(fact: f.ReviewEnded) -> dict[str, Any]:
    """What is kept of a review until the round is complete."""
    return {
        "verdict": fact.verdict,
        "summary": fact.summary,
        "findings": list(fact.findings),
        "why": fact.why,
        "seconds": fact.seconds,
        "usd": fact.usd,
        "tokens": fact.tokens,
    }


def review_round_moves(
    protocol: Protocol, state: RunState, standing: Standing, path: str
) -> tuple[m.Move, ...]:
    """The round is complete and kept in a file; a missing verdict is never an approval."""
    actor = protocol.states[standing.state].actor
    if not isinstance(actor, Panel):
        return ()
    reviews = {name: state.marked(standing.position, f"review/{name}") for name in actor.reviewers}
    real = [r["verdict"] for r in reviews.values() if r["verdict"] != "ABSTAIN"]
    if not real or len(real) < actor.quorum:
        exit_ = "undecided"
    else:
        exit_ = "changes" if "REQUEST_CHANGES" in real else "approved"
    coverage = f"{len(real)} of {len(reviews)} reviewers gave a verdict"
    payload = {
        "round": standing.visit,
        "file": path,
        "coverage": coverage,
        "findings": _requested_changes(reviews),
        "earlier": _earlier_rounds(protocol, state, standing),
    }
    return exit_moves(protocol, state, standing, exit_, payload)


def _earlier_rounds(
    protocol: Protocol, state: RunState, standing: Standing
) -> list[dict[str, Any]]:
    """What rounds before this one found, and what was said to that: nobody remembers but us."""
    last = state.recall(standing, f"{standing.state}.changes")
    if last is None:
        return []
    inputs = protocol.states[standing.state].inputs
    said = [
        state.recall(standing, given.path) for given in inputs if is_last_words_path(given.path)
    ]
    answer = [each["text"] for each in said if each]
    kept = {"round": last.get("round", 0), "findings": last.get("findings", []), "answer": answer}
    return [*last.get("earlier", []), kept]


def _requested_changes(reviews: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"by": name, "finding": finding}
        for name, review in reviews.items()
        if review["verdict"] == "REQUEST_CHANGES"
        for finding in (review["findings"] or [review["summary"]])
    ]
