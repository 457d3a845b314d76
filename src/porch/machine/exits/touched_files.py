"""Files that decide a measurement and that an agent changed: remembered until they are back."""

from collections.abc import Iterator, Mapping

from porch.machine import moves as m
from porch.machine.facts import Payload
from porch.machine.state import MemoryReader, RunState, Standing
from porch.model.protocol import Protocol

_FRONT = "touched."


def touched_moves(
    protocol: Protocol, state: RunState, standing: Standing, touched: tuple[str, ...]
) -> Iterator[m.Move]:
    """What an agent left at the end of its turn: all that is known of its phase."""
    path, known = _find_known_files(protocol, state, standing)
    told: Payload = {"paths": list(touched)}
    if touched and known != told:
        yield m.Remembered(path, told, standing.item, standing.instance)
    elif known is not None and not touched:
        yield m.Forgot(path, standing.item, standing.instance)


def more_touched_moves(
    protocol: Protocol, state: RunState, standing: Standing, touched: tuple[str, ...]
) -> Iterator[m.Move]:
    """What a check changed comes to what is known already."""
    path, known = _find_known_files(protocol, state, standing)
    paths = list(dict.fromkeys((*(known or {}).get("paths", ()), *touched)))
    if touched:
        yield m.Remembered(path, {"paths": paths}, standing.item, standing.instance)


def _find_known_files(
    protocol: Protocol, state: RunState, standing: Standing
) -> tuple[str, Payload | None]:
    path = f"{_FRONT}{protocol.states[standing.state].group}"
    return path, state.memory.get((standing.instance, standing.item), {}).get(path)


def list_touched_files(state: RunState) -> tuple[str, ...]:
    """All of them, of every phase and item of the run."""
    return tuple(dict.fromkeys(path for _, paths in _TOUCHED.list_found(state) for path in paths))


def _read_touched_files(memory: Mapping[str, Payload]) -> tuple[str, ...]:
    known = [payload for path, payload in memory.items() if path.startswith(_FRONT)]
    return tuple(str(path) for each in known for path in each.get("paths", ()))


_TOUCHED = MemoryReader(_read_touched_files)
