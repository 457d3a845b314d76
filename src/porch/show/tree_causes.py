"""What led to a question of a tree, in sentences, and what was answered there, field by field.

An answer is typed, so its fields have names that only the protocol knows: `failingTests` is shown
as "failing tests". What is empty says nothing and is left out, and no value is shown as JSON.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from porch.machine.path_values import budget_figures, latest_path
from porch.machine.state import RunState, Standing
from porch.model.memory_paths import FAULT
from porch.model.protocol import EXHAUSTED, NO_PROGRESS, SILENT, Agent, Children, Human, Protocol
from porch.text.printable import TEXT_REF_KEY, describe_text

# What the sentences say; the mark is for the machine.
_TOLD = ("reason", "synthetic", FAULT)


def describe_cause(protocol: Protocol, state: RunState, standing: Standing) -> Iterator[str]:
    """Why a person is asked here; nothing where a move of branches says so itself."""
    source, _, exit_ = standing.because.rpartition(".")
    kind, payload = protocol.states.get(source), state.recall(standing, standing.because)
    if kind is None or payload is None:
        return
    place, reason = kind.title or source, describe_text(payload.get("reason") or "")
    if exit_ == NO_PROGRESS:
        answer = f" ({payload['exit']})" if payload.get("exit") else ""
        yield f"{place}: the agent gave the same answer twice{answer}, and no file changed between."
    elif exit_ in (EXHAUSTED, SILENT):
        yield f"{place}: {reason}"
    elif payload.get("synthetic"):
        yield f"{place}: the agent asked for another try, and all tries are used up."
    elif isinstance(kind.actor, Agent):
        yield f"{place}: the agent answered {exit_}{f': {reason}' if reason else '.'}"
    elif isinstance(kind.actor, Children) and payload.get("failed"):
        names = [str(child["id"]) for child in payload["failed"]]
        yield f"{place}: Parts of the work failed: {', '.join(names)}."
    for edge in protocol.edges_of(source, exit_):
        if standing.state in [target.state for target in edge.spent]:
            figures = budget_figures(protocol, state, standing.instance, edge.charges)
            if not figures["left"]:
                yield f"The limit of {figures['limit']} {edge.charges} is reached."
                return


def list_answer_fields(
    protocol: Protocol, state: RunState, standing: Standing, human: Human
) -> Iterator[tuple[str, str]]:
    """What was answered that led here; and, if it is another answer, the latest that is shown."""
    cause = standing.because
    latest = latest_path(protocol, state, standing, human.shows)
    for path in dict.fromkeys((cause, latest)):
        payload = (state.recall(standing, path) if path else None) or {}
        if path and path.endswith(f".{NO_PROGRESS}"):
            payload = payload.get("payload") or {}
        front = "" if path == cause else f"{_last_name(path)}: "
        for name, value in payload.items():
            text = _format_value(value)
            if text and name not in _TOLD:
                yield f"{front}{_split_name(name)}", text


def _last_name(path: str | None) -> str:
    return (path or "").rpartition(".")[2]


def _split_name(name: str) -> str:
    """`failingTests` as people write it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower()


def _format_value(value: Any) -> str:
    """A value as text; empty if it says nothing."""
    match value:
        case None | "":
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping() if TEXT_REF_KEY not in value:
            pairs = ((_split_name(name), _format_value(each)) for name, each in value.items())
            return "; ".join(f"{name}: {text}" for name, text in pairs if text)
        case list() | tuple():
            texts = [text for each in value if (text := _format_value(each))]
            return texts[0] if len(texts) == 1 else "\n".join(f"- {text}" for text in texts)
        case _:
            return describe_text(value)
