"""Changing the course of a run: stop, go back, read the plan again, pin another definition."""

import json
import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from porch.adapters import compiled, marks, payloads
from porch.adapters.where import Where
from porch.dialects.plan_headings import read_plan
from porch.errors import BusyError, FailedError, UsageError
from porch.machine.state import State
from porch.model.definition import canonical
from porch.model.protocol import Protocol
from porch.operations.defining import current
from porch.operations.reading import Read, read
from porch.operations.session import locked, mark_of, payload_directory, workspace_of
from porch.operations.wishing import ask
from porch.runtime.handlers.project import item_of


@dataclass(frozen=True, slots=True)
class Steered:
    """What came of it, in a sentence, with details for programs."""

    message: str
    data: dict[str, Any]
    notice: bool = False


def _granted(run: str, fact: dict[str, Any], message: str, data: dict[str, Any]) -> Steered:
    if fact["is"] == "WishTaken":
        return Steered(message, data)
    if fact.get("notice"):
        return Steered(f"{fact['reason']}; nothing was changed", data, notice=True)
    raise FailedError(f"{run}: {fact['reason']}", code="wish-refused")


def stop(where: Where, run: str) -> Steered:
    """Stop the agents of a run; everything stays, and `resume` goes on."""
    found = read(where, run)
    data = {"run": run}
    if found.state.outcome or found.state.paused:
        what = found.state.outcome or "stopped"
        return Steered(f"{run} is already {what}; nothing was changed", data, notice=True)
    fact = ask(where, run, {"kind": "stop"}, "porch stop")
    _reap(where, run)
    return _granted(
        run, fact, f"{run} is stopped; `porch resume {found.state.run.id}` goes on", data
    )


def _reap(where: Where, run: str) -> None:
    """Of a runner that was killed its agents may still be alive; a live one ends its own."""
    try:
        with locked(where.run_dir(run), run, "porch stop", 0):
            marks.reap(f"{mark_of(where, run)}:")
    except BusyError:
        return


def rollback(where: Where, run: str, target: str, as_person: bool = False) -> Steered:
    """Go back to a state; what lay at and after it is void."""
    found = read(where, run)
    state, item = resolve(found, target)
    data = {"state": state, "item": item}
    wish = {"kind": "rollback", "data": data, "as_person": as_person}
    fact = ask(where, run, wish, "porch rollback")
    back = f"{state}:{item}" if item else state
    return _granted(run, fact, f"{run} went back to {back}", {"run": run, "state": back})


def resolve(found: Read, target: str) -> tuple[str, str]:
    """A state, a phase (its first state), or either of them at an item of the plan."""
    protocol = found.definition.protocol
    whole = _state_called(protocol, target)
    if whole:
        return whole, ""
    front, _, item = target.rpartition(":")
    state = _state_called(protocol, front)
    if state and item in _item_ids(found.state):
        return state, item
    names = ", ".join(dict.fromkeys(s.group for s in protocol.states.values()))
    raise UsageError(
        f"'{target}' is not a state of {protocol.name}",
        fix=f"phases: {names}",
        code="unknown-state",
    )


def _state_called(protocol: Protocol, name: str) -> str:
    if name in protocol.states:
        return name
    return next((s.name for s in protocol.states.values() if s.group == name), "")


def _item_ids(state: State) -> set[str]:
    return {item.id for known in state.items.values() for item in known.items}


def replan(where: Where, run: str) -> Steered:
    """Read the plan again: what is finished and unchanged stays finished."""
    found = read(where, run)
    if not found.state.items:
        raise UsageError(f"{run} has read no plan yet", code="no-plan")
    (_, loop), known = next(iter(found.state.items.items()))
    source = os.path.join(
        workspace_of(where, found.state),
        found.state.run.project_dir,
        found.definition.protocol.loops[loop].source,
    )
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError as error:
        raise UsageError(f"the plan {source} cannot be read: {error.strerror}") from error
    items = [asdict(item_of(phase)) for phase in read_plan(text, source).phases]
    store = payload_directory(where, run)
    ref = payloads.put(store, json.dumps(items).encode())
    data = {"loop": loop, "items_ref": ref, "digest": sha256(text.encode()).hexdigest()}
    fact = ask(where, run, {"kind": "replan", "data": data}, "porch replan")
    old, new = {i.id for i in known.items}, {str(i["id"]) for i in items}
    told = {"added": sorted(new - old), "vanished": sorted(old - new), "kept": sorted(new & old)}
    vanished = f"; not in the plan any more: {', '.join(told['vanished'])}" if old - new else ""
    message = f"{run}: {len(new)} plan phases, {len(new - old)} new{vanished}"
    return _granted(run, fact, message, {"run": run, **told})


def upgrade(where: Where, run: str, as_person: bool = False) -> Steered:
    """Pin the definition as it is on disk now."""
    found = read(where, run)
    loaded = current(where, found.state.run.protocol)
    definition = loaded.demand()
    data = {"run": run, "digest": loaded.digest}
    if found.state.outcome or loaded.digest == found.state.run.digest:
        what = found.state.outcome and f"is already {found.state.outcome}"
        said = f"{run} {what or 'already runs this definition'}; nothing was changed"
        return Steered(said, data, notice=True)
    payloads.put(payload_directory(where, run), canonical(definition))
    data_ = {"digest": loaded.digest}
    wish = {"kind": "upgrade", "data": data_, "as_person": as_person}
    compiled.keep_stamps(where.run_dir(run), loaded.digest, loaded.files)
    fact = ask(where, run, wish, "porch upgrade")
    return _granted(run, fact, f"{run} runs the definition as it is now", data)
