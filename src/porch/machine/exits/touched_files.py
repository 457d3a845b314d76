"""Files that decide a measurement and that an agent changed: remembered until they are back.

Where the files could not be compared, the reason is remembered beside what was known before.
"""

from collections.abc import Iterator, Mapping

from porch.machine import moves as m
from porch.machine.facts import ExitAccepted, Payload, TurnEndedSilent
from porch.machine.state import MemoryReader, RunState, Standing
from porch.model.protocol import Protocol

_FRONT = "touched."


def touched_moves(
    protocol: Protocol,
    state: RunState,
    standing: Standing,
    fact: ExitAccepted | TurnEndedSilent,
) -> Iterator[m.Move]:
    """What an agent left at the end of its turn: all that is known of its phase."""
    path, known = _find_known_files(protocol, state, standing)
    paths = [*(known or {}).get("paths", ())] if fact.uncompared else list(fact.touched)
    told: Payload = {"paths": paths}
    if fact.uncompared:
        told = {**told, "uncompared": fact.uncompared}
    if (paths or fact.uncompared) and known != told:
        yield m.Remembered(path, told, standing.item, standing.instance)
    elif known is not None and not (paths or fact.uncompared):
        yield m.Forgot(path, standing.item, standing.instance)


def more_touched_moves(
    protocol: Protocol, state: RunState, standing: Standing, touched: tuple[str, ...]
) -> Iterator[m.Move]:
    """What a check changed comes to what is known already."""
    path, known = _find_known_files(protocol, state, standing)
    paths = list(dict.fromkeys((*(known or {}).get("paths", ()), *touched)))
    if touched:
        told = {**(known or {}), "paths": paths}
        yield m.Remembered(path, told, standing.item, standing.instance)


def _find_known_files(
    protocol: Protocol, state: RunState, standing: Standing
) -> tuple[str, Payload | None]:
    path = f"{_FRONT}{protocol.states[standing.state].group}"
    return path, state.memory.get((standing.instance, standing.item), {}).get(path)


def list_touched_files(state: RunState) -> tuple[str, ...]:
    """All of them, of every phase and item of the run."""
    return tuple(dict.fromkeys(path for _, paths in _TOUCHED.list_found(state) for path in paths))


def list_uncompared(state: RunState) -> tuple[str, ...]:
    """Why files could not be compared at the end of the last turn of a phase, each reason once."""
    return tuple(
        dict.fromkeys(why for _, reasons in _UNCOMPARED.list_found(state) for why in reasons)
    )


def _read_uncompared(memory: Mapping[str, Payload]) -> tuple[str, ...]:
    known = [payload for path, payload in memory.items() if path.startswith(_FRONT)]
    return tuple(str(each["uncompared"]) for each in known if each.get("uncompared"))


def _read_touched_files(memory: Mapping[str, Payload]) -> tuple[str, ...]:
    known = [payload for path, payload in memory.items() if path.startswith(_FRONT)]
    return tuple(str(path) for each in known for path in each.get("paths", ()))


_TOUCHED = MemoryReader(_read_touched_files)
_UNCOMPARED = MemoryReader(_read_uncompared)
