"""Budgets of money, tokens, turns and time: asking a person without leaving any work.

The settings that hold them are not the machine's business; a fact says that one was reached. The
question stands beside whatever the run does, in a state that every protocol has while it runs.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from porch.machine import facts as f
from porch.machine import moves as m
from porch.machine.state import Cost, RunState, Standing, position_text
from porch.model.protocol import Edge, End, Human, Option, Protocol, Target
from porch.model.protocol import State as Kind

STATE = "budget"
_STOPPED = "budget:stopped"
_REACHED = f"{STATE}.reached"
PLAN = "plan"
ASK = "ask"
# Runs that commands move and nobody drives.
DRIVERLESS = (PLAN, ASK)
_MEANING = (
    "stop here; the run ends as abandoned",
    "start no review now; porch asks again at the next one",
)
NAMES = ("max_usd", "max_tokens", "max_turns", "max_minutes")
RUN = "run"


def add_budget_state(protocol: Protocol) -> Protocol:
    """The protocol of a run: with the state in which a person is asked about a budget."""
    if STATE in protocol.states:
        return protocol
    asked = Human(
        "undecided",
        STATE,
        "The budget is used up: continue or stop?",
        (
            Option("retry", "allow the same amount again and continue"),
            Option("stopped", _MEANING[protocol.subject in DRIVERLESS]),
        ),
        shows=(_REACHED,),
    )
    states = {
        **protocol.states,
        STATE: Kind(STATE, STATE, asked, "Budget"),
        _STOPPED: Kind(_STOPPED, STATE, End("abandoned")),
    }
    # Nobody drives a plan: what does not begin there ends nothing.
    ends = () if protocol.subject in DRIVERLESS else (Target(_STOPPED),)
    edges = (
        *protocol.edges,
        Edge(STATE, "retry", ()),
        Edge(STATE, "stopped", ends, is_alone=bool(ends)),
    )
    return replace(protocol, states=states, edges=edges)


def used_amount(protocol: Protocol, state: RunState, budget: str) -> float:
    """What counts against a budget so far: `run.max_usd`, `implement.max_tokens`."""
    owner, _, name = budget.rpartition(".")
    total = Cost()
    for each, cost in state.costs.items():
        known = protocol.states.get(each)
        if owner == RUN or (known.group if known else each) == owner:
            total = total.plus(cost)
    return round(_amounts_by_name(total)[name], 6)


def _amounts_by_name(cost: Cost) -> Mapping[str, float]:
    minutes = cost.seconds / 60
    return dict(zip(NAMES, (cost.usd, cost.tokens, cost.turns, minutes), strict=True))


def allowed_amount(state: RunState, budget: str, limit: float) -> float:
    """What the settings allow, or what a person has allowed since."""
    granted = state.memory.get(("", ""), {}).get(_grant_path(budget), {})
    return max(limit, float(granted.get("allowed", 0)))


def is_question_open(state: RunState, budget: str) -> bool:
    return any(each.state == STATE and each.item == budget for each in state.positions.values())


def budget_question_moves(
    protocol: Protocol, state: RunState, fact: f.BudgetReached
) -> Iterator[m.Move]:
    """Nothing is left and nothing is stopped; a question about this budget stands once."""
    if STATE not in protocol.states or is_question_open(state, fact.budget):
        return
    said = f"the budget {fact.budget} is used up: {fact.spent:g} of {fact.limit:g}"
    told = {"reason": f"{said}; continuing allows {fact.step:g} more", "step": fact.step}
    visit = state.visits.get(("", STATE, fact.budget), 0) + 1
    yield m.Remembered(_REACHED, told, fact.budget, "")
    yield m.Entered(
        position_text("", STATE, fact.budget, visit), STATE, visit, fact.budget, "", 0, _REACHED
    )


def budget_grant_moves(
    protocol: Protocol, state: RunState, standing: Standing, exit_: str
) -> Iterator[m.Move]:
    """Whoever says to go on allows as much again from here, however far it went beyond."""
    if standing.state == STATE and exit_ == "retry":
        step = float((state.recall(standing, _REACHED) or {}).get("step", 0))
        more = {"allowed": used_amount(protocol, state, standing.item) + step}
        yield m.Remembered(_grant_path(standing.item), more, "", "")


def _grant_path(budget: str) -> str:
    return f"granted.{budget}"
