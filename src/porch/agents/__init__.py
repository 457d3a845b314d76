"""The agents that porch can drive: one row for each, loaded when it is first asked for."""

from collections.abc import Callable, Iterator, Mapping

# Said here: the process of the scripted agent does not need the rest of `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.agents.port import AgentPort


class AgentTable(Mapping[str, "AgentPort"]):
    """Agents by their kind, in the order in which people are told of them.

    Nobody pays for an agent that is not asked: the scripted one starts for every turn.
    """

    def __init__(self, rows: Mapping[str, Callable[[], "AgentPort"]]) -> None:
        self._rows = dict(rows)

    def __getitem__(self, kind: str) -> "AgentPort":
        return self._rows[kind]()

    def __contains__(self, kind: object) -> bool:
        # Mapping would load the agent to answer this; a value of the settings may be a list.
        return isinstance(kind, str) and kind in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


# A function for each, so that the checker compares every module with the port.
def _claude() -> "AgentPort":
    from porch.agents import claude

    return claude


def _codex() -> "AgentPort":
    from porch.agents import codex

    return codex


def _gemini() -> "AgentPort":
    from porch.agents import gemini

    return gemini


def _command() -> "AgentPort":
    from porch.agents import command

    return command


def _scripted() -> "AgentPort":
    from porch.agents.scripted import adapter

    return adapter


AGENTS = AgentTable(
    {
        "claude": _claude,
        "codex": _codex,
        "gemini": _gemini,
        "command": _command,
        "scripted": _scripted,
    }
)
