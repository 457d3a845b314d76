"""What a person reads at a gate that was reached without all that stands in front of it."""

from collections.abc import Iterator

from porch.account.gate_requirements import find_shortcut, list_unmet_requirements
from porch.machine.state import RunState, Standing
from porch.model.protocol import Panel, Protocol


def describe_shortcuts(protocol: Protocol, state: RunState, standing: Standing) -> Iterator[str]:
    """One line each: the failed verification, what was left out, what is still required."""
    way = find_shortcut(protocol, state, standing)
    if way is not None:
        names = ", ".join(way.checks)
        times = "1 retry is" if way.retries == 1 else f"{way.retries} retries are"
        again = f", and {times} used up" if way.retries else ""
        outcome = "failed" if way.outcome == "failed" else "could not be measured"
        yield f"the verification {outcome}{again}: {names}"
        if way.left_out:
            told = ", ".join(_name_work(protocol, name) for name in way.left_out)
            yield f"left out because of that: {told}"
    unmet = list_unmet_requirements(protocol, state, standing)
    if unmet:
        yield f"required and not done: {', '.join(unmet)}"


def _name_work(protocol: Protocol, name: str) -> str:
    kind = protocol.states[name]
    step = name.removeprefix(f"{kind.group}:")
    return f"{step} (reviewers)" if isinstance(kind.actor, Panel) else step
