"""Which commands of `envoy` must be loaded for a call: a plan needs the machine, others do not."""

from collections.abc import Sequence
from importlib import import_module

from porch.surfaces.cli.command import Command

# Modules with commands that stand by themselves, by the words that their commands begin with.
_ALONE = (
    (("knowledge",), "knowledge"),
    (("git",), "envoy_git"),
    (("plan", "cleanup-debug-logs"), "cleanup"),
)


def table(argv: Sequence[str]) -> Sequence[Command]:
    """All commands, or as many as are needed to answer these words the same way."""
    words = tuple(argv[:2])
    for front, module in _ALONE:
        if words[: len(front)] == front:
            commands: Sequence[Command] = _of(module)
            if " ".join(words) in [command.name for command in commands]:
                return commands
    return _of("envoy")


def _of(module: str) -> Sequence[Command]:
    found: Sequence[Command] = import_module(f"porch.surfaces.cli.{module}").COMMANDS
    return found
