"""Reviewers that gave no verdict: said wherever somebody might think that all of them spoke."""

from collections.abc import Iterator, Mapping

from porch.machine.facts import Payload
from porch.machine.state import RunState, Standing


def list_abstentions(state: RunState, standing: Standing | None = None) -> list[str]:
    """One sentence for each panel whose last round somebody was missing from.

    With a position only those of its phase and item, else of the whole run.
    """
    rounds: dict[tuple[str, str, str], Payload] = {}
    for (instance, item), memory in state.memory.items():
        if standing is None or (instance == standing.instance and item in ("", standing.item)):
            rounds |= {(instance, item, name): last for name, last in _last_rounds(memory)}
    group = standing.state.partition(":")[0] if standing else ""
    return [
        f"{name}{f' of {item}' if item else ''}: {payload['coverage']}"
        for (_, item, name), payload in rounds.items()
        if payload.get("abstained") and group in ("", name.partition(":")[0])
    ]


def _last_rounds(memory: Mapping[str, Payload]) -> Iterator[tuple[str, Payload]]:
    """Memory is in the order in which it was made, so the last of a panel's exits is its newest."""
    for path, payload in memory.items():
        if "coverage" in payload:
            yield path.rpartition(".")[0], payload
