"""Adding up measured results: many checks to one exit, many verdicts to one judgement."""

from collections.abc import Iterator, Mapping
from typing import Any

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.exits.departure import exit_moves
from porch.machine.state import InHand, RunState, Standing
from porch.model.memory_paths import (
    NEVER_PASSED,
    evidence_path,
    is_evidence_path,
    is_last_words_path,
)
from porch.model.protocol import Check, Command, Panel, Protocol

WHY_KEPT = 200
GIVEN = "given"  # the verdicts of a round that came to no decision
# In the place of a content: no files are ever like this.
_EXPIRED = "expired"


def check_result_moves(
    protocol: Protocol, state: RunState, standing: Standing, hand: InHand, fact: f.CheckEnded
) -> tuple[m.Move, ...]:
    """One more check has a result; the last of them gives the state its exit."""
    kept: dict[str, Any] = {"result": fact.result, "report": fact.report, "tree": fact.tree}
    if fact.flaky:
        kept["flaky"] = True
    mark = m.Marked(standing.position, f"check/{hand.name}", kept)
    moves = (mark, *_evidence_moves(protocol, standing, hand, fact))
    marks = {**state.marks.get(standing.position, {}), mark.key: kept}
    summed = _sum_check_results(protocol, state, standing, marks)
    if summed is None:
        return moves
    exit_, payload = summed
    return (*moves, *exit_moves(protocol, state, standing, exit_, payload))


def expired_evidence_moves(state: RunState) -> Iterator[m.Move]:
    """Everything is measured again: a check may be another command now under the same name."""
    for (instance, item), memory in state.memory.items():
        for path in filter(is_evidence_path, memory):
            yield m.Remembered(path, {"tree": _EXPIRED}, item, instance)


def due_commands(state: RunState, standing: Standing, check: Check) -> tuple[Command, ...]:
    """What is to be measured here."""
    listed = (state.recall(standing, check.listed) or {}) if check.listed else {}
    return (
        *check.commands,
        *(Command(name, setting=name) for name in listed.get("commands") or ()),
    )


def last_tree(state: RunState, standing: Standing, command: Command) -> str:
    """The content on which a repeated check passed last, for whichever item that was."""
    scopes = [known for (inst, _), known in state.memory.items() if inst == standing.instance]
    for path in reversed(command.evidence):
        for known in reversed(scopes):
            if path in known:
                return str(known[path].get("tree", ""))
    return ""


def idle_check_moves(
    protocol: Protocol, state: RunState, moves: tuple[m.Move, ...]
) -> tuple[m.Move, ...]:
    """A check that has nothing to repeat has passed as soon as it is entered."""
    for move in moves:
        actor = protocol.states[move.state].actor if isinstance(move, m.Entered) else None
        if isinstance(actor, Check) and isinstance(move, m.Entered):
            standing = state.positions[move.position]
            if not due_commands(state, standing, actor):
                nothing: dict[str, Any] = {"failed": [], "unmeasured": [], "reports": {}}
                return exit_moves(protocol, state, standing, "passed", nothing)
    return ()


def _evidence_moves(
    protocol: Protocol, standing: Standing, hand: InHand, fact: f.CheckEnded
) -> tuple[m.Move, ...]:
    if fact.result != "passed" or not fact.tree:
        return ()
    path = evidence_path(protocol.states[standing.state].group, hand.name)
    return (m.Remembered(path, {"tree": fact.tree}, standing.item, standing.instance),)


def _sum_check_results(
    protocol: Protocol, state: RunState, standing: Standing, marks: Mapping[str, Any]
) -> tuple[str, dict[str, Any]] | None:
    actor = protocol.states[standing.state].actor
    commands = due_commands(state, standing, actor) if isinstance(actor, Check) else ()
    if any(f"check/{command.name}" not in marks for command in commands):
        return None
    results = {command.name: marks[f"check/{command.name}"] for command in commands}
    binding = [command.name for command in commands if not command.optional]
    failed = [name for name in binding if results[name]["result"] == "failed"]
    missing = [name for name in binding if results[name]["result"] == "unmeasured"]
    reports = {name: results[name]["report"] for name in (*failed, *missing)}
    exit_ = "failed" if failed else "unmeasured" if missing else "passed"
    payload = {"failed": failed, "unmeasured": missing, "reports": reports}
    skipped = [name for name, each in results.items() if each["result"] == "skipped"]
    flaky = [name for name, each in results.items() if each.get("flaky")]
    never = {c.name for c in commands if c.evidence and not last_tree(state, standing, c)}
    named = {"skipped": skipped, "flaky": flaky, NEVER_PASSED: [n for n in failed if n in never]}
    return exit_, {**payload, **_named_if_any(**named)}


def _named_if_any(**lists: list[str]) -> dict[str, list[str]]:
    """Release 1 wrote neither, so nothing of an old record changes."""
    return {name: names for name, names in lists.items() if names}


def review_payload(fact: f.ReviewEnded) -> dict[str, Any]:
    """What is kept of a review until the round is complete."""
    kept = {
        "verdict": fact.verdict,
        "summary": fact.summary,
        "findings": list(fact.findings),
        "why": fact.why,
        "seconds": fact.seconds,
        "usd": fact.usd,
        "tokens": fact.tokens,
    }
    more = {"reply": fact.reply, "cause": fact.cause, "tree": fact.tree}
    return {**kept, **{name: value for name, value in more.items() if value}}


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
    absent = [
        {"by": name, "why": _shorten_words(review["why"]), **_cause(review)}
        for name, review in reviews.items()
        if review["verdict"] == "ABSTAIN"
    ]
    payload = {
        "round": standing.visit,
        "file": path,
        "coverage": _describe_coverage(len(reviews), absent),
        "findings": _list_findings(reviews),
        "earlier": _earlier_rounds(protocol, state, standing),
        **({"abstained": absent} if absent else {}),
    }
    given = {name: r for name, r in reviews.items() if r["verdict"] != "ABSTAIN" and r.get("tree")}
    if exit_ == "undecided" and given:
        payload[GIVEN] = given
    return exit_moves(protocol, state, standing, exit_, payload)


def _cause(review: Mapping[str, Any]) -> dict[str, str]:
    return {"cause": review["cause"]} if review.get("cause") else {}


def _describe_coverage(asked: int, absent: list[dict[str, str]]) -> str:
    """How many gave a verdict, and of each other one why not."""
    unable = [each for each in absent if "cause" in each]
    told = [f"{asked - len(absent)} of {asked} reviewers gave a verdict"]
    told += [f"{each['by']} abstained: {each['why']}" for each in absent if each not in unable]
    if unable:
        told.append(f"{len(unable)} of {asked} reviewers could not answer")
    return "; ".join(told) + _list_causes(unable)


def _list_causes(unable: list[dict[str, str]]) -> str:
    """`: codex: timeout: it was still working ...; gemini: ...`."""
    return "".join(
        f"{';' if number else ':'} {each['by']}: {each['why']}"
        for number, each in enumerate(unable)
    )


def _shorten_words(text: Any) -> str:
    """One line of it; of a long one, which is kept beside the journal, how it begins."""
    told = text.get("clip", "") if isinstance(text, Mapping) else text
    words = " ".join(str(told or "no verdict").split())
    return words if len(words) <= WHY_KEPT else f"{words[:WHY_KEPT]} ..."


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


# What a reviewer notes beside an approval, or without a verdict, is told with that.
_BESIDE: Mapping[str, str] = {"APPROVE": " (approved)", "ABSTAIN": " (no verdict)"}


def _list_findings(reviews: Mapping[str, Any]) -> list[dict[str, str]]:
    """All that reviewers named, whatever they decided; those who ask for changes come first."""
    refused = [name for name in reviews if reviews[name]["verdict"] == "REQUEST_CHANGES"]
    return [
        {"by": f"{name}{_BESIDE.get(reviews[name]['verdict'], '')}", "finding": finding}
        for name in dict.fromkeys((*refused, *reviews))
        for finding in (reviews[name]["findings"] or [reviews[name]["summary"]] * (name in refused))
    ]
