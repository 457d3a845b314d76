"""The ways a turn can come out; on its own, so that naming them costs nobody an import of more."""

from typing import Literal

OutcomeKind = Literal[
    "ok",
    "crashed",
    "interrupted",
    "timeout",
    "refused",
    "rate_limit",
    "auth",
    "server",
    "bad_request",
    "budget",
    "max_turns",
    "schema_missing",
]

# How a typed answer comes: in a form that the vendor holds to, in a file, at a message's end.
AnswerWay = Literal["schema", "file", "message"]
