"""The parts of a run that show work: turns of agents, checks, reviews, cost, and its protocol."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from porch.run.agents.turn_numbers import NumberedTurn
from porch.run.verbs.ended_work import EndedWork
from porch.show.activity import Entry, merge_message_pieces
from porch.show.cost import describe_turns
from porch.show.graph.picture import ProtocolPicture
from porch.show.graph.walk_words import describe_arrow_walk, describe_node_walk
from porch.web.pages.page_words import count_of, describe_seconds

MOST_ENTRIES = 300
_LONGEST_ENTRY = 8_000
_LABELS = {
    "said": "says",
    "tool": "uses",
    "output": "output",
    "denied": "was denied",
    "warned": "warning",
    "failed": "failed",
    "answer": "answers",
    "final": "final message",
    "used": "used",
    "note": "note",
}
_LOOKS = {
    "passed": "good",
    "APPROVE": "good",
    "failed": "bad",
    "REQUEST_CHANGES": "bad",
}


def make_turns(turns: Sequence[NumberedTurn], chosen: int, address: str) -> list[dict[str, Any]]:
    """In the order in which they come."""
    return [
        {
            "number": turn.number,
            "name": turn.name,
            "position": turn.position,
            "agent": turn.agent,
            "outcome": turn.outcome,
            "is_open": not turn.is_ended,
            "took": describe_seconds(turn.seconds) if turn.seconds is not None else "",
            "cost": f"{turn.usd:.2f} USD" if turn.usd else "",
            "address": f"{address}?turn={turn.number}",
            "is_here": turn.number == chosen,
        }
        for turn in turns
    ]


def make_activity(entries: Sequence[Entry]) -> dict[str, Any]:
    """What an agent did, a block for each thing; of very much the end."""
    blocks = [
        {"kind": kind, "label": _LABELS[kind], "text": text[-_LONGEST_ENTRY:]}
        for kind, text in _list_blocks(entries)
    ]
    return {"blocks": blocks[-MOST_ENTRIES:], "left_out": max(len(blocks) - MOST_ENTRIES, 0)}


def _list_blocks(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Without empty ones, and without a final message that was just said."""
    last = ""
    for kind, text in merge_message_pieces(entries):
        told = text.strip("\n")
        if told and not (kind == "final" and told.strip() == last):
            yield kind, told
        last = told.strip() if kind == "said" else last


def make_ended_work(work: Sequence[EndedWork]) -> list[dict[str, Any]]:
    return [
        {
            "seq": each.seq,
            "at": each.at,
            "name": each.name,
            "position": each.position,
            "result": each.result,
            "look": _LOOKS.get(each.result, "warn"),
            "took": f"{each.seconds:.1f} s" if each.seconds else "time unknown",
            "said": each.said,
            "findings": each.findings,
            "notes": each.notes,
        }
        for each in work
    ]


def make_cost(cost: Mapping[str, Any]) -> dict[str, Any]:
    """By phase, each as a part of the whole; nothing is drawn that was not used."""
    phases = cost.get("phases") or {}
    most = max((each["seconds"] for each in phases.values()), default=0) or 1
    return {
        "cost_rows": [
            {"phase": name, **_cost_cells(each), "share": round(100 * each["seconds"] / most)}
            for name, each in phases.items()
        ],
        "cost_total": _cost_cells(cost),
    }


def _cost_cells(cost: Any) -> dict[str, str]:
    return {
        "turns": describe_turns(cost),
        "usd": f"{cost['usd']:.2f} USD",
        "tokens": count_of(cost["tokens"], "token"),
        "took": describe_seconds(cost["seconds"]),
    }


def list_states(picture: ProtocolPicture) -> Iterator[dict[str, Any]]:
    """The graph as an ordered list: each state, where it leads, and what a run did there."""
    names = {node.id: node.name for node in picture.nodes}
    for node in sorted(picture.nodes, key=lambda each: each.rank):
        yield {
            "name": node.name,
            "kind": node.kind,
            "detail": node.detail,
            "is_here": node.is_here,
            "visits": describe_node_walk(node).removeprefix("here now").removeprefix(", "),
            "ways": [
                {
                    "text": f"{', '.join(arrow.exits) or ' '.join(arrow.lines)}"
                    f" to {names[arrow.target]}",
                    "taken": describe_arrow_walk(arrow),
                }
                for arrow in picture.arrows
                if arrow.source == node.id
            ],
        }
