"""The ways a turn can come out; on its own, so that naming them costs nobody an import of more."""

from typing import Literal

Kind = Literal[
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
Way = Literal["schema", "file", "message"]

# The command lines that can be driven; the scripted agent is for trying protocols out.
AGENT_KINDS = ("claude", "codex", "gemini", "command", "scripted")
