"""The status file: a picture of a run that people read and that says whether anybody edited it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any

from porch.machine.facts import Item
from porch.machine.state import Gate, Standing, State
from porch.model.protocol import Protocol

LOG_SHOWN = 50
Document = dict[str, Any]
GATE_STATUSES = ("waiting", "pending", "approved", "rejected")

_TAIL = re.compile(r"# porch seq=([0-9]{1,18}) sha256=([0-9a-f]{64})(?![0-9a-f])")
# Words that YAML 1.1 takes for truth values or nothing where they stand unquoted.
_PLAIN_KEY = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_][a-z0-9_-]*", re.IGNORECASE | re.ASCII
)
_CALL = "status: pending"
# As they print: with a finished item of one loop and a standing one of another, work goes on.
_RANK = ("complete", "pending", "in_progress")


def document(protocol: Protocol, state: State) -> Document:
    """The status of a run as plain data, keys in the order in which they are printed."""
    run, main = state.run, main_position(state)
    return {
        "id": run.id,
        "title": run.title,
        "protocol": run.protocol,
        "state": state.outcome or (main.label if main else ""),
        **({"paused": True} if state.paused else {}),
        "current_phase": title_of(protocol, state, main) if main and not state.outcome else "",
        "worktree": run.worktree,
        "gates": dict(_gates(protocol, state)),
        "phases": _phases(state),
        "plan_phases": [_plan_phase(item) for item in _items(state)],
        "iteration": state.turns,
        "started_at": run.started_at,
        "last_updated": state.at,
        "log": list(state.log[-LOG_SHOWN:]),
    }


def main_position(state: State) -> Standing | None:
    """The oldest position of the run itself, else of any instance inside it."""
    standing = state.positions.values()
    return next((each for each in standing if not each.instance), next(iter(standing), None))


def title_of(protocol: Protocol, state: State, standing: Standing) -> str:
    """What a position is about: its item's title, else its state's."""
    kind = protocol.states.get(standing.state)
    if kind is None:
        return standing.state
    item = state.item_of(standing, kind.loop) if kind.loop else None
    return item.title if item else kind.title or kind.group


def _gates(protocol: Protocol, state: State) -> Iterator[tuple[str, dict[str, str]]]:
    """Every gate of the protocol, then what is known of gates that it no longer has."""
    asked = {each.name for each in state.decisions.values() if each.kind == "gate"}
    for name in dict.fromkeys((*protocol.gates, *state.gates)):
        yield name, _gate(state.gates.get(name), name in asked)


def _gate(known: Gate | None, asked: bool) -> dict[str, str]:
    """Only a gate that is being asked says pending: whoever greps for it must not be misled."""
    if known is None or not (asked or known.status in ("approved", "rejected")):
        return {"status": "waiting"}
    if asked:
        return {"status": "pending", "requested_at": known.requested_at}
    told = {
        "status": known.status,
        "requested_at": known.requested_at,
        "decided_at": known.decided_at,
        "by": known.by,
    }
    return {key: value for key, value in told.items() if value}


def _items(state: State) -> Iterator[Item]:
    mine = (known for (instance, _), known in state.items.items() if not instance)
    return (item for known in mine for item in known.items)


def _phases(state: State) -> dict[str, dict[str, str]]:
    if not state.items:
        return {}
    standing = {each.item for each in state.positions.values() if not each.instance}
    found: dict[str, int] = {}
    for (instance, _), known in state.items.items():
        if instance:
            continue
        for item in known.items:
            rank = 2 if item.id in standing else 0 if item.id in known.finished else 1
            found[item.id] = max(rank, found.get(item.id, 0))
    return {name: {"status": _RANK[rank]} for name, rank in found.items()}


def _plan_phase(item: Item) -> dict[str, str]:
    return {"id": item.id, "title": item.title, "description": item.description}


def render(document: Document, seq: int) -> str:
    """The file's text; its last line names the record it shows and seals what stands above."""
    above = yaml_text(document)
    return f"{above}# porch seq={seq} sha256={_digest(above)}\n"


def yaml_text(document: Document) -> str:
    """The document alone, for where nobody reads it back: a prompt."""
    return "".join([_known_part(key, value) for key, value in document.items()])


# Entries of the log never change and large parts rarely do; measured, printing them anew was
# half of all the work.
_SLOW = ("gates", "phases", "plan_phases")
_PARTS: dict[str, tuple[Any, str]] = {}
_ENTRIES: dict[int, tuple[Any, str]] = {}
_KEYS: dict[str, str] = {}
_KEPT = 1000


def _known_part(key: str, value: Any) -> str:
    if key == "log" and value:
        return f"{key}:\n{''.join(_entries(value))}"
    if key not in _SLOW:
        return _part(key, value)
    known = _PARTS.get(key)
    if known is None or known[0] != value:
        # A copy, since whoever holds the document may still change it.
        known = _PARTS[key] = (deepcopy(value), _part(key, value))
    return known[1]


def _part(key: str, value: Any) -> str:
    if not isinstance(value, (dict, list)) or not value:
        return _calm(f"{key}: {_flow(value)}\n")
    if key == "gates" and isinstance(value, dict):
        lines = [f"  {_calm(_key(name))}: {_gate_flow(gate)}\n" for name, gate in value.items()]
        return f"{key}:\n{''.join(lines)}"
    if isinstance(value, dict):
        lines = [f"  {_key(name)}: {_flow(each)}\n" for name, each in value.items()]
    else:
        lines = [f"  - {_flow(each)}\n" for each in value]
    return _calm(f"{key}:\n{''.join(lines)}")


def _gate_flow(gate: Mapping[str, str]) -> str:
    """The one place where `status: pending` stands in plain letters: hooks grep for it."""
    told = "".join([f", {key}: {_flow(gate[key])}" for key in gate if key != "status"])
    return f"{{ status: {gate['status']}{_calm(told)} }}"


def _calm(text: str) -> str:
    """A plan or a log may quote those words; only a gate that is asked may be found by them."""
    return text.replace(_CALL, _CALL.replace(" ", "\\x20"))


def signature(text: str) -> tuple[int, bool] | None:
    """The record that a file of ours shows and whether it is as we wrote it; None if not ours."""
    tails = list(_TAIL.finditer(text))
    if not tails:
        return None
    tail = tails[-1]
    is_last = text[tail.end() :] == "\n"
    return int(tail[1]), is_last and _digest(text[: tail.start()]) == tail[2]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _flow(value: Any) -> str:
    if type(value) is str:
        return _quoted(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        inside = ", ".join([f"{_key(key)}: {_flow(each)}" for key, each in value.items()])
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([_flow(each) for each in value])}]"
    return _quoted(str(value))


def _entries(log: Sequence[Any]) -> Iterator[str]:
    for entry in log:
        known = _ENTRIES.get(id(entry))
        yield known[1] if known is not None and known[0] is entry else _entry(entry)


def _entry(entry: Any) -> str:
    if len(_ENTRIES) >= _KEPT:
        _ENTRIES.clear()
    text = _calm(f"  - {_flow(entry)}\n")
    _ENTRIES[id(entry)] = (entry, text)
    return text


def _key(name: str) -> str:
    known = _KEYS.get(name)
    if known is None:
        known = name if _PLAIN_KEY.fullmatch(name) else _quoted(name)
        if len(_KEYS) < _KEPT:
            _KEYS[name] = known
    return known


def _quoted(text: str) -> str:
    """Always quoted, so that `0073` stays text; nothing invisible reaches a terminal raw."""
    quoted = encode_basestring(text)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else _escape(ord(char)) for char in quoted)


def _escape(point: int) -> str:
    if 0xD800 <= point <= 0xDFFF:
        return "\\uFFFD"  # half a character has no place in a UTF-8 file
    return f"\\x{point:02x}" if point < 0x100 else f"\\U{point:08x}"
