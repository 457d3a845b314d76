"""Files that decide a measurement and that an agent changed: remembered until they are back."""

from collections.abc import Iterator, Mapping

from porch.machine import moves as m
from porch.machine.facts import Payload
from porch.machine.state import RunState, Standing
from porch.model.protocol import Protocol

_FRONT = "touched."


def touched_moves(
    protocol: Protocol, state: RunState, standing: Standing, touched: tuple[str, ...]
) -> Iterator[m.Move]:
    path = f"{_FRONT}{protocol.states[standing.state].group}"
    known = state.memory.get((standing.instance, standing.item), {}).get(path)
    told: Payload = {"paths": list(touched)}
    if touched and known != told:
        yield m.Remembered(path, told, standing.item, standing.instance)
    elif known is not None and not touched:
        yield m.Forgot(path, standing.item, standing.instance)


def list_touched_files(state: RunState) -> tuple[str, ...]:
    """All of them, of every phase and item of the run."""
    kept = [payload for memory in state.memory.values() for payload in _touched_payloads(memory)]
    return tuple(dict.fromkeys(str(path) for each in kept for path in each.get("paths", ())))


def _touched_payloads(memory: Mapping[str, Payload]) -> list[Payload]:
    return [payload for path, payload in memory.items() if path.startswith(_FRONT)]
