"""What an answer would do, in the words of a button: the way on that the account expects.

`starts Plan after its checks`, `asks you: plan_approval`, `ends the run: complete`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from porch.account.consequences import (
    PAUSED,
    Consequence,
    FilesNow,
    Objection,
    Stop,
    foresee_answers,
    object_to_nothing,
)
from porch.machine.base_commands import is_trial
from porch.machine.budgets import ASK, DRIVERLESS, PLAN
from porch.machine.state import Decision, RunState, Standing
from porch.model.protocol import TRACK, Human, Protocol
from porch.show.phase_words import describe_gap

_KEPT: Mapping[str, str] = {
    ASK: "is kept; nothing else starts",
    PLAN: "is kept; the next `envoy` command of this plan goes on from there",
}


def describe_answers(
    protocol: Protocol,
    state: RunState,
    decision: Decision,
    objection: Objection = object_to_nothing,
    now: FilesNow | None = None,
) -> dict[str, str]:
    """For each answer what follows; nothing where that is not known beforehand."""
    if decision.position not in state.positions:
        return {}
    standing = state.positions[decision.position]
    answers = foresee_answers(protocol, state, decision, objection=objection, now=now)
    return {
        answer.exit: describe_consequence(protocol, state, standing, answer) for answer in answers
    }


def list_effect_sentences(decisions: Iterable[Mapping[str, Any]]) -> list[str]:
    """What follows from each answer of the open questions, a sentence for each question."""
    return [
        f"{asked['name']}: {'; '.join(told)}."
        for asked in decisions
        if (told := [f"{o['answer']} {o['then']}" for o in asked["options"] if o.get("then")])
    ]


def describe_consequence(
    protocol: Protocol, state: RunState, standing: Standing, answer: Consequence
) -> str:
    # What is refused in a run without a driver may only be the form that nobody has filled in yet.
    if answer.refused and not (protocol.subject in DRIVERLESS and answer.exit == "answered"):
        return f"cannot be given now: {answer.refused}"
    needs = f"needs --accept-changes: {', '.join(answer.changed)} changed" if answer.changed else ""
    ways = _describe_ways(protocol, state, standing, answer)
    return "; ".join(filter(None, (ways, _describe_gaps(protocol, state, answer), needs)))


def _describe_gaps(protocol: Protocol, state: RunState, answer: Consequence) -> str:
    """Why the merge that the protocol promises needs another command."""
    gaps = answer.ways[0].gaps if answer.ways else ()
    if not gaps:
        return ""
    command = f"porch finish {state.run.id or state.run.name} --{protocol.finish} --accept REASON"
    return f"merging then needs `{command}`, because {'; '.join(map(describe_gap, gaps))}"


def _describe_ways(
    protocol: Protocol, state: RunState, standing: Standing, answer: Consequence
) -> str:
    if protocol.subject in DRIVERLESS:
        return _describe_kept(protocol, answer)
    if not answer.ways:
        return ""
    expected = answer.ways[0]
    words = list(
        dict.fromkeys(_describe_stop(protocol, state, standing, s) for s in expected.stops)
    )
    text = " and ".join(filter(None, words))
    results = {"failed": "failed", "could not measure": "could not be measured"}
    bad = [
        f"{step.name} {results[step.result]}" for step in expected.steps if step.result in results
    ]
    if bad:
        return f"{text}, because {', '.join(bad)} before on the same files"
    is_open = len(answer.ways) > 1 and any(step.kind == "check" for step in expected.steps)
    return f"{text} after its checks" if text and is_open else text


def _describe_kept(protocol: Protocol, answer: Consequence) -> str:
    """Without a driver nothing starts by itself: commands of people go on from what is kept."""
    ends = [stop for way in answer.ways for stop in way.stops if stop.who == "end"]
    return f"ends the run: {ends[0].name}" if ends else _KEPT[protocol.subject]


def _describe_stop(protocol: Protocol, state: RunState, standing: Standing, stop: Stop) -> str:
    if stop.who == "end":
        return f"ends the run: {stop.name}{f', and merges into {stop.into}' if stop.into else ''}"
    if stop.name == PAUSED:
        return "pauses the run"
    kind = protocol.states.get(stop.state)
    if kind is None:
        return ""
    title = kind.title or kind.group
    if stop.guard == "budget":
        return f"asks you first: the budget {stop.name} is used up"
    if stop.guard == "approval":
        return f"asks you first: {stop.name} again, because its files changed"
    if stop.who == "person":
        if stop.state == standing.state:
            return "asks you again"
        name = kind.title if protocol.subject == TRACK else stop.name
        return (
            f"asks you: {name}"
            if isinstance(kind.actor, Human)
            else f"asks you what to do in {title}"
        )
    here = protocol.states[standing.state]
    if here.loop and kind.loop == here.loop and stop.item != standing.item:
        return "goes on with the next phase of the plan"
    if stop.who == "reviewers":
        return f"starts the review of {title}"
    if stop.who == "git":
        return f"goes on in {title}"
    if is_trial(protocol, here.name) and here.name != stop.state:
        return f"starts {title}"  # nobody has worked yet
    # What asks before its own work stands in one group with it, and in front of it.
    is_ahead = here.name in protocol.states_in_front(stop.state)
    is_back = not is_ahead and kind.group == here.group
    is_back = is_back or protocol.order(stop.state) < protocol.order(here.name)
    count = _count_items(state, kind.loop) if kind.loop != here.loop else ""
    return f"{'goes back to' if is_back else 'starts'} {title}{count}"


def _count_items(state: RunState, loop: str) -> str:
    listed = state.items.get(("", loop)) if loop else None
    if listed is None:
        return ""
    number = len(listed.items)
    return " (1 phase)" if number == 1 else f" ({number} phases)"
