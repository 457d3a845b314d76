"""Approvals are for bytes: what a person approved is asked again once it is no longer that.

A question about a changed approval stands beside whatever the run does, in a state that every
protocol has while it runs; its item is the gate. Whether files changed is a fact from outside.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.base_commands import CHECK as COMMANDS_CHECK
from porch.machine.base_commands import STATE as COMMANDS
from porch.machine.base_commands import add_base_commands, is_trial
from porch.machine.budgets import STATE as BUDGET
from porch.machine.budgets import add_budget_state
from porch.machine.exits.target_questions import add_target_questions
from porch.machine.instances.git_state_inputs import add_unnamed_questions
from porch.machine.outside import STATE as TARGET
from porch.machine.outside import add_outside_state
from porch.machine.state import CHANGED, RunState, Standing, position_text
from porch.model.memory_paths import QUESTIONS, name_question_state
from porch.model.protocol import Agent, Edge, Human, Option, Panel, Protocol
from porch.model.protocol import State as Kind

STATE = CHANGED
FOUND = f"{STATE}.found"
APPROVED = ("approved", "waived")
_IN_SPITE = "continue although they ask for changes"


def add_changed_state(protocol: Protocol) -> Protocol:
    """The protocol of a run: with the state in which a person is asked to approve again."""
    if STATE in protocol.states:
        # Ours already, or a phase of an old file; nothing begins then, and nobody can be asked.
        return protocol
    asked = Human(
        "undecided",
        STATE,
        "Approve it again?",
        (
            Option("approved", "approve it as it is now and continue where the run is"),
            Option("rejected", "go back to the phase of this gate", needs_text=True),
        ),
        shows=(FOUND,),
    )
    states = {**protocol.states, STATE: Kind(STATE, STATE, asked, "Changed after the approval")}
    edges = (*protocol.edges, *(Edge(STATE, exit_, ()) for exit_ in ("approved", "rejected")))
    return replace(protocol, states=states, edges=edges)


def add_engine_states(protocol: Protocol) -> Protocol:
    """The protocol as it is driven: with every state in which the engine itself asks a person."""
    if protocol.spec:
        from porch.machine.exits.fault_questions import add_fault_questions  # only trees have them

        protocol = add_fault_questions(protocol)
    asked = add_target_questions(add_unnamed_questions(protocol))
    return add_outside_state(add_base_commands(add_changed_state(add_budget_state(asked))))


def list_engine_states(protocol: Protocol) -> set[str]:
    """The states of a driven protocol in which the engine itself asks a person."""
    beside = {name_question_state(name, word) for name in protocol.states for word in QUESTIONS}
    trials = {name for name in (COMMANDS, COMMANDS_CHECK) if is_trial(protocol, name)}
    return (beside | trials | {BUDGET, STATE, TARGET}) & protocol.states.keys()


def list_gates(protocol: Protocol) -> Iterator[tuple[Kind, Human]]:
    for kind in protocol.states.values():
        if isinstance(kind.actor, Human) and kind.actor.kind == "gate":
            yield kind, kind.actor


def find_gate(protocol: Protocol, name: str) -> tuple[Kind, Human] | None:
    """The state in which a gate of this name is asked the first time, and its question."""
    return next((each for each in list_gates(protocol) if each[1].name == name), None)


def asked_human(protocol: Protocol, standing: Standing, human: Human) -> Human:
    """What a position asks: the question about a changed approval is the gate, asked again.

    Reviewers who still ask for changes in their last round have given their verdict.
    """
    if standing.state != STATE:
        return _ask_about_changes(protocol, standing, human)
    gate = find_gate(protocol, standing.item)
    title = f"{standing.item}: approve it again?"
    about = gate[1].artifacts if gate else ()
    return replace(human, kind="gate", name=standing.item, title=title, artifacts=about)


def _ask_about_changes(protocol: Protocol, standing: Standing, human: Human) -> Human:
    source, _, exit_ = standing.because.rpartition(".")
    panel, kind = protocol.states.get(source), protocol.states.get(standing.state)
    is_panel = panel is not None and isinstance(panel.actor, Panel)
    if kind is None or not (is_panel and exit_ == "changes" and human.kind == "undecided"):
        return human
    options = tuple(
        replace(each, meaning=_IN_SPITE) if each.exit == "waived" else each
        for each in human.options
    )
    title = f"{kind.title or kind.group}: the reviewers ask for changes, and no rounds are left"
    return replace(human, title=title, options=options)


def open_questions(state: RunState) -> Mapping[str, Standing]:
    """The positions that ask to approve again, by gate."""
    return {each.item: each for each in state.positions.values() if each.state == STATE}


def outdated_moves(
    protocol: Protocol, state: RunState, fact: f.ApprovalOutdated
) -> Iterator[m.Move]:
    """Nothing is left and nothing is stopped; what is shown of one gate is the latest.

    Behind the end nobody can be asked; there it is only said.
    """
    if fact.gate in state.approvals and not state.outcome:
        yield from question_moves(protocol, state, {fact.gate: fact.question})


def question_moves(
    protocol: Protocol, state: RunState, gates: Mapping[str, f.GateQuestion]
) -> Iterator[m.Move]:
    """Ask about these gates at once; a question that stands already is put anew."""
    standing = open_questions(state)
    for gate, asked in gates.items() if _has_question(protocol) else ():
        if gate in state.positions:
            continue  # being asked already, at the gate itself; `upgraded_gates` asks it anew
        if gate in standing:
            yield m.Left(standing[gate].position)
        visit = state.visits.get(("", STATE, gate), 0) + 1
        position = position_text("", STATE, gate, visit)
        told = {"reason": asked.reason, "difference": dict(asked.difference)}
        yield m.Remembered(FOUND, {**told, "is_changed": asked.is_changed}, gate, "")
        yield m.Entered(position, STATE, visit, gate, "", 0, FOUND)
        yield m.Asked(position, "gate", gate, asked.digest, asked.artifacts)


def _has_question(protocol: Protocol) -> bool:
    kind = protocol.states.get(STATE)
    return kind is not None and isinstance(kind.actor, Human) and kind.actor.shows == (FOUND,)


def restored_moves(state: RunState, fact: f.ApprovalRestored) -> Iterator[m.Move]:
    """The bytes are as they were approved, so there is nothing to ask."""
    standing, known = open_questions(state).get(fact.gate), state.approvals.get(fact.gate)
    if standing is not None and known is not None:
        yield m.Forgot(FOUND, fact.gate, "")
        yield m.Left(standing.position)
        yield m.GateNoted(fact.gate, known.status, known.by)


def reopened_gate_moves(
    protocol: Protocol, state: RunState, moves: tuple[m.Move, ...]
) -> Iterator[m.Move]:
    """Whoever works in front of a gate again may change what was approved; it is asked again."""
    begun = [
        protocol.states[move.state]
        for move in moves
        if isinstance(move, m.Entered) and isinstance(protocol.states[move.state].actor, Agent)
    ]
    if not begun or protocol.spec:
        return
    approved = _approved_now(state, moves)
    noted = {move.name for move in moves if isinstance(move, m.GateNoted)} - approved
    left = {move.position for move in moves if isinstance(move, m.Left)}
    asked = open_questions(state)
    for gate, human in list_gates(protocol):
        name, known = human.name, state.gates.get(human.name)
        if known is None or name in noted or not _lies_behind(protocol, gate, begun):
            continue
        if name in asked and asked[name].position not in left:
            yield m.Left(asked[name].position)
        if name in asked or name in approved or known.status in APPROVED:
            yield m.GateNoted(name, "waiting")


def _lies_behind(protocol: Protocol, gate: Kind, begun: list[Kind]) -> bool:
    """Whether some of this work is in front of a gate, and not beside it."""
    return any(
        protocol.order(work.name) < protocol.order(gate.name)
        and not (work.beside and work.beside == gate.beside and work.group != gate.group)
        for work in begun
    )


def _approved_now(state: RunState, moves: tuple[m.Move, ...]) -> set[str]:
    """Gates approved by these very moves: in a loop, the work on the next item begins at once."""
    closed = [move for move in moves if isinstance(move, m.Closed) and move.exit in APPROVED]
    asked = (state.decisions.get(move.position) for move in closed)
    return {decision.name for decision in asked if decision and decision.kind == "gate"}
