"""Every answer that a person can give leads where its text says (K11)."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from porch.model.protocol import Agent, Edge, End, Human, Option, Panel, Protocol, State
from porch.run.definitions import library
from porch.store.where import find_project

PACKAGED = Path(library.PACKAGED)
NAMES = [
    found.name
    for found in library.list_protocols(find_project(str(PACKAGED)))
    if found.source == "packaged"
]
Meets = Callable[[Protocol, State, Edge, str], bool]


def load(name: str) -> Protocol:
    found = library.find_protocol(find_project(str(PACKAGED)), name)
    return library.load_protocol(found.file).demand().protocol


def goals(protocol: Protocol, edge: Edge) -> Iterator[State]:
    for target in edge.targets:
        loop = protocol.loops.get(target.next_of)
        yield protocol.states[loop.first if loop else target.state]


def ends(outcome: str) -> Meets:
    def meets(protocol: Protocol, _state: State, edge: Edge, _word: str) -> bool:
        actors = [goal.actor for goal in goals(protocol, edge)]
        return all(isinstance(actor, End) and actor.outcome == outcome for actor in actors)

    return meets


def named(protocol: Protocol, _state: State, edge: Edge, word: str) -> bool:
    return [goal.name for goal in goals(protocol, edge)] == [word]


def gate(protocol: Protocol, state: State, edge: Edge, _word: str) -> bool:
    (goal,) = goals(protocol, edge)
    return goal.group == state.group and isinstance(goal.actor, Human) and goal.actor.kind == "gate"


def onward(protocol: Protocol, state: State, edge: Edge, _word: str) -> bool:
    """Not to anybody who works in the phase again."""
    (goal,) = goals(protocol, edge)
    is_next = any(target.next_of for target in edge.targets)
    return is_next or goal.group != state.group or not isinstance(goal.actor, (Agent, Panel))


def reviewers(protocol: Protocol, _state: State, edge: Edge, _word: str) -> bool:
    return all(isinstance(goal.actor, Panel) for goal in goals(protocol, edge))


# What a text promises, and what the way of the answer must then be.
WORDS: tuple[tuple[str, Meets], ...] = (
    (r"end the run", ends("abandoned")),
    (r"(?:the run|this part of the work) ends as failed(?:, and its .+ stay as they are)?",
     ends("failed")),
    (r"send it back to (\S+)", named),
    (r"start (\S+) again with new budgets", named),
    (r"continue with (?!the steps)(\S+)", named),
    (r"(?:continue with|start) the (step)s(?: again)?", lambda p, s, e, _: named(p, s, e, "work")),
    (r"go to the gate of .+", gate),
    (r"ask the reviewers again", reviewers),
    (r"run these checks again with new budgets",
     lambda p, s, e, _: named(p, s, e, s.name.removeprefix("failed:"))),
    (r"end the run as complete without them", ends("complete")),
    (r"the planner goes on with your answer|the planner plans again with .+",
     lambda p, s, e, _: named(p, s, e, "scaffold")),
    (r"try the merge again", lambda p, s, e, _: named(p, s, e, "candidate")),
    (r"continue(?: without (?:this phase|their verdict|running the checks again))?", onward),
)  # fmt: skip
CAUSES = {
    "if only the commit failed, continue without it": (":commit.refused", ":commit.conflict"),
    "if the checks of the whole plan phase failed, continue behind them": (
        ":phase_completion.failed",
        ":phase_completion.unmeasured",
    ),
}


def broken(protocol: Protocol, state: State, option: Option) -> Iterator[str]:
    plain, *special = option.meaning.split("; ")
    edges = list(protocol.edges_of(state.name, option.exit))
    caused = [edge for edge in edges if any(guard.test == "cause" for guard in edge.guards)]
    promised = [path for text in special for path in CAUSES[text]]
    if len(caused) < len(promised) or bool(caused) is not bool(promised):
        yield f"{state.name} {option.exit}: {len(caused)} special ways, promised: {special}"
    for edge in caused:
        is_told = any(edge.guards[0].path.endswith(path) for path in promised)
        if not is_told or not onward(protocol, state, edge, ""):
            yield f"{state.name} {option.exit}: {edge.guards} leads to {edge.targets}"
    found = [(meets, said) for text, meets in WORDS if (said := re.fullmatch(text, plain))]
    if not found:
        yield f"{state.name} {option.exit}: nobody knows what '{plain}' promises"
    for edge in edges:
        for meets, said in found[:1]:
            word = said[1] if said.re.groups else ""
            if edge not in caused and not meets(protocol, state, edge, word):
                yield f"{state.name}: '{plain}' leads to {edge.targets}"


@pytest.mark.parametrize("name", NAMES)
def test_k11_every_answer_leads_where_its_text_says(name: str) -> None:
    protocol = load(name)
    asked = [state for state in protocol.states.values() if isinstance(state.actor, Human)]
    options = [(s, option) for s in asked for option in getattr(s.actor, "options", ())]
    assert options, "a protocol in which nobody is ever asked"
    assert [text for s, option in options for text in broken(protocol, s, option)] == []


@pytest.mark.parametrize("name", ["spider", "change", "tick", "bugfix"])
def test_k11_a_retry_forgets_that_the_commit_failed(name: str) -> None:
    protocol = load(name)
    for state in protocol.states:
        commit = f"{protocol.states[state].group}:commit"
        if state.startswith("failed:") and commit in protocol.states:
            (retry,) = protocol.edges_of(state, "retry")
            assert {f"{commit}.refused", f"{commit}.conflict"} <= set(retry.forgets)
