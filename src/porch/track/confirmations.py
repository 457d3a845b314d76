"""Every answer to a confirmation of a track, in a file for others; porch never reads it back."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from porch.model.protocol import Human, Protocol
from porch.model.track_names import gate_of_state, moment_of_gate
from porch.system import atomic
from porch.system.regular_file import read_whole_file

FILE = "confirmations.jsonl"
_VERDICTS: Mapping[str, str] = {
    "approved": "confirmed",
    "rejected": "changes",
    "changes": "changes",
    "declined": "declined",
    "stopped": "stopped",
    "undecided": "no report",
    "waived": "waived",
    "retry": "asked again",
}


def write_confirmations(track: str, directory: str, protocol: Protocol) -> None:
    """The whole file anew from the journal, where it says something else than before."""
    lines = list(list_confirmations(_read_records(directory), protocol))
    data = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()
    path = os.path.join(track, FILE)
    if lines and _read_bytes(path) != data:
        atomic.replace_file(path, data, sync=False)


def list_confirmations(
    records: Iterable[Mapping[str, Any]], protocol: Protocol
) -> Iterator[dict[str, Any]]:
    asked: dict[str, tuple[str, str]] = {}
    for record in records:
        closed: dict[str, Mapping[str, Any]] = {}
        left = [str(m["position"]) for m in record["moves"] if m["is"] == "Left"]
        for move in record["moves"]:
            match move["is"]:
                case "Entered":
                    asked.setdefault(str(move["position"]), (str(record["at"]), ""))
                case "Asked":
                    digest = str(move.get("digest", ""))
                    asked[str(move["position"])] = (str(record["at"]), digest)
                case "Closed":
                    closed[str(move["position"])] = move
                case "Remembered":
                    yield from _describe_verdict(
                        protocol, record, move, left=left, asked=asked, closed=closed
                    )
                case _:
                    pass


def _describe_verdict(
    protocol: Protocol,
    record: Mapping[str, Any],
    move: Mapping[str, Any],
    *,
    left: list[str],
    asked: Mapping[str, tuple[str, str]],
    closed: Mapping[str, Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    state, _, exit_ = str(move["path"]).rpartition(".")
    gate = gate_of_state(state)
    kind = protocol.states.get(gate)
    if kind is None or exit_ not in _VERDICTS:
        return
    position = next((each for each in left if each.rpartition("#")[0] == state), "")
    answer, payload = closed.get(position, {}), move.get("payload", {})
    asked_at, shown = asked.get(position, ("", ""))
    told = {
        "gate": kind.actor.name if isinstance(kind.actor, Human) else kind.title,
        "node": kind.group,
        "moment": moment_of_gate(gate),
        "step": state.partition(":")[2] or "asked",
        "attempt": int(position.rpartition("#")[2] or 0),
        "asked_at": asked_at,
        "answered_at": record["at"],
        "verdict": "waived" if payload.get("waived") else _VERDICTS[exit_],
        "who": payload.get("by") or payload.get("coverage") or payload.get("source", ""),
        "channel": answer.get("channel", ""),
        "digest": answer.get("digest") or shown,
        "feedback": payload.get("text") or payload.get("findings") or "",
    }
    yield told


def _read_records(directory: str) -> Iterator[Mapping[str, Any]]:
    """As far as they are whole; whoever drives the run has checked them."""
    with open(os.path.join(directory, "journal.jsonl"), "rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)


def _read_bytes(path: str) -> bytes | None:
    try:
        return read_whole_file(path)
    except OSError:
        return None
