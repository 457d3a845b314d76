"""What the question tools of agents can carry: looked up here, and never found out by asking."""

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

TransportName = Literal["text", "claude", "codex", "gemini", "opencode", "mcp"]
NAMES: tuple[TransportName, ...] = get_args(TransportName)
_MANY = 1000


class Transport(Struct, frozen=True, kw_only=True):
    """One way to a person: how much it carries, and whether it always takes text.

    A tool that adds a place for text gets none of ours, and a closed question that goes through it
    can come back with anything.
    """

    name: TransportName
    tool: str
    most_questions: int = _MANY
    least_options: int = 0
    most_options: int = _MANY
    has_multi: bool = True
    header: int = 30


TRANSPORTS: Mapping[TransportName, Transport] = {
    each.name: each
    for each in (
        Transport(name="text", tool=""),
        Transport(
            name="claude",
            tool="AskUserQuestion",
            most_questions=4,
            least_options=2,
            most_options=4,
            header=12,
        ),
        Transport(
            name="codex",
            tool="request_user_input",
            most_questions=3,
            least_options=1,
            has_multi=False,
            header=12,
        ),
        Transport(
            name="gemini",
            tool="ask_user",
            most_questions=4,
            least_options=2,
            most_options=4,
            header=16,
        ),
        Transport(name="opencode", tool="question"),
        Transport(name="mcp", tool="elicitation/create"),
    )
}
