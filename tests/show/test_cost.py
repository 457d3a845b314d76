"""What a run used, in the words of its status."""

from msgspec.structs import replace

from porch.machine.state import Cost, RunState
from porch.model import protocol as p
from porch.show.cost import format_cost, format_usd, make_cost_data
from tests.show.test_run_picture import RUN

_PANEL = p.Panel(("one", "two"), "work", "generic", 1)
_STATES = {
    "work:make": p.State("work:make", "work", p.Agent("worker", "", ())),
    "work:consult": p.State("work:consult", "work", _PANEL),
}
PROTOCOL = p.Protocol("p", p.Target("work:make"), _STATES, ())
STATE = RunState(
    run=RUN, turns=1, costs={"work:make": Cost(turns=1), "work:consult": Cost(turns=2)}
)


def test_a_phase_counts_reviews_beside_the_turns_of_agents_as_the_run_does() -> None:
    spent = make_cost_data(PROTOCOL, STATE)
    words = "1 agent turn and 2 reviews, cost unknown, 0 tokens"
    assert format_cost(STATE, spent) == words
    assert format_cost(STATE, spent["phases"]["work"]) == words


def test_only_the_scripted_agent_works_for_nothing() -> None:
    scripted = replace(STATE, run=replace(RUN, agent="scripted"))
    assert format_usd(STATE, 2, 0) == "cost unknown"
    assert format_usd(STATE, 2, 0.5) == "0.50 USD"
    assert format_usd(STATE, 0, 0) == format_usd(scripted, 2, 0) == "0.00 USD"
