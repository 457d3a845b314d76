"""The project's commands run once before anybody is paid, and a person is asked where they fail.

A test command that cannot run says nothing about the work of an agent, and still every turn behind
it would be charged. So the driver says what has to run before the first paid effect. The checks and
the question stand beside the work, in states that every protocol has while it runs. With the
scripted agent nothing is paid; there it is only said what is known already.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.budgets import DRIVERLESS
from porch.machine.state import RunState, Standing, position_text
from porch.model.protocol import Check, Edge, End, Human, Option, Protocol, State, Target

STATE = "commands"
CHECK = f"{STATE}:check"
GO_ON, EXPECTED, FIX, RETRY, STOPPED = "go_on", "expected", "fix", "retry", "stopped"
_DUE = f"{STATE}.due"
_END = f"{STATE}:stopped"
_FAILED = (f"{CHECK}.failed", f"{CHECK}.unmeasured")


def add_base_commands(protocol: Protocol) -> Protocol:
    """The protocol as it is driven: with the checks before all work, and their question."""
    has_name = any(kind.group == STATE for kind in protocol.states.values())
    if has_name or STATE in protocol.states or protocol.subject in DRIVERLESS:
        # Ours already, or a phase of this name; nothing is tried beforehand then.
        return protocol
    asked = Human(
        "failure",
        STATE,
        "Commands of the settings do not pass, and no work has begun. Begin all the same?",
        (
            Option(GO_ON, "begin the work all the same"),
            Option(EXPECTED, "this is expected, for example because the run is to fix it: begin"),
            Option(RETRY, "run the commands again"),
            Option(FIX, "fix it first: the run pauses; resumed, it runs the commands again"),
            Option(STOPPED, "stop here; the run ends as abandoned"),
        ),
        shows=_FAILED,
    )
    title = "Commands before the work"
    states = {
        **protocol.states,
        CHECK: State(CHECK, STATE, Check((), listed=_DUE), title),
        STATE: State(STATE, STATE, asked, title),
        _END: State(_END, STATE, End("abandoned")),
    }
    again = (Target(CHECK),)
    edges = (
        *protocol.edges,
        Edge(CHECK, "passed", ()),
        Edge(CHECK, "failed", (Target(STATE),)),
        Edge(CHECK, "unmeasured", (Target(STATE),)),
        Edge(STATE, GO_ON, ()),
        Edge(STATE, EXPECTED, ()),
        Edge(STATE, RETRY, again, forgets=_FAILED),
        Edge(STATE, FIX, again, forgets=_FAILED),
        Edge(STATE, STOPPED, (Target(_END),), is_alone=True),
    )
    return replace(protocol, states=states, edges=edges)


def is_ours(protocol: Protocol) -> bool:
    """Whether the state of this name is the one that was added here."""
    kind = protocol.states.get(CHECK)
    return kind is not None and isinstance(kind.actor, Check) and kind.actor.listed == _DUE


def is_trial(protocol: Protocol, name: str) -> bool:
    """Whether a state is one of those that were added here; a phase may be called the same."""
    kind = protocol.states.get(name)
    return kind is not None and kind.group == STATE and is_ours(protocol)


def is_open(state: RunState) -> bool:
    """Whether the commands run now, or a person is asked about them."""
    return any(each.state in (STATE, CHECK) for each in state.positions.values())


def tried_commands(state: RunState) -> dict[str, str] | None:
    """Name and digest of what was to run before the work; None if nobody has asked for it."""
    known = state.memory.get(("", ""), {}).get(_DUE)
    return None if known is None else dict(known.get("commands") or {})


def has_tried(state: RunState) -> bool:
    return tried_commands(state) is not None


def due_moves(protocol: Protocol, state: RunState, fact: f.CommandsDue) -> Iterator[m.Move]:
    """Nothing is left and nothing is stopped; what begins next waits for the checks."""
    if not is_ours(protocol) or is_open(state):
        return
    yield m.Remembered(_DUE, {"commands": dict(fact.commands)}, "", "")
    if fact.results:
        return
    visit = state.visits.get(("", CHECK, ""), 0) + 1
    yield m.Entered(position_text("", CHECK, "", visit), CHECK, visit, "", "", 0, _DUE)


def answer_moves(standing: Standing, exit_: str) -> Iterator[m.Move]:
    """Whoever wants to fix it first has time: nothing runs until the run is resumed."""
    if standing.state == STATE and exit_ == FIX:
        yield m.Paused()


class BaseFailure(Struct, frozen=True):
    """What did not pass before the work, and what a person said to it."""

    failed: tuple[str, ...]
    unmeasured: tuple[str, ...]
    answer: str = ""
    by: str = ""


def find_base_failure(state: RunState) -> BaseFailure | None:
    """None where everything passed, or nothing was tried."""
    memory = state.memory.get(("", ""), {})
    payload = next((memory[path] for path in _FAILED if path in memory), None)
    if payload is None:
        return None
    failed, unmeasured = (tuple(payload.get(key) or ()) for key in ("failed", "unmeasured"))
    for answer in (GO_ON, EXPECTED):
        said = memory.get(f"{STATE}.{answer}")
        if said is not None and not is_open(state):
            return BaseFailure(failed, unmeasured, answer, str(said.get("by") or ""))
    return BaseFailure(failed, unmeasured)
