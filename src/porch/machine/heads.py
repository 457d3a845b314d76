"""The part that all requests share: an id that is derived and never repeats in a run."""

from typing import Any

from porch.machine.state import Standing, State


def head(
    state: State, standing: Standing, kind: str, name: str, uses: tuple[str, ...] = ()
) -> dict[str, Any]:
    attempt = state.tries.get(standing.position, {}).get(f"{kind}/{name}", 0)
    effect = f"{standing.position}/{kind}/{name}/{attempt}"
    return {
        "id": effect,
        "position": standing.position,
        "kind": kind,
        "name": name,
        "uses": uses,
    }
