"""What every dialect hands back: the protocol if there is one, and all that was noticed."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from porch.errors import Finding, Place
from porch.model.parameters import Parameter
from porch.model.protocol import Protocol
from porch.text.nodes import Node

# The tree of the file with this name, or nothing; DefinitionError if it is no tree.
FetchTree = Callable[[str], Node | None]


class ProtocolReading(Struct, frozen=True):
    """`protocol` is there exactly if no finding is an error.

    `places` knows states by name, `state.exit` for edges and `state.prompt` for prompts;
    `prompts` lists for each agent state the files that may hold its prompt, best first,
    relative to the directory of the definition; `samples` are values with which the template of
    a state must render. `texts` are prompts that stand in the definition itself, `parameters`
    what a run must be given; None if that is not declared. `reviewers` are all that are named,
    with the place of each. `draft` is what was understood of a file with errors, not fit to run:
    the texts that it names are still looked at.
    """

    protocol: Protocol | None
    places: Mapping[str, Place] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    prompts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    samples: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] | None = None
    reviewers: Mapping[str, Place] = field(default_factory=dict)
    draft: Protocol | None = None


def in_file_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, sorted by where it points."""
    return tuple(sorted(dict.fromkeys(findings), key=_finding_position))


def refused_reading(findings: Iterable[Finding]) -> ProtocolReading:
    return ProtocolReading(None, findings=in_file_order(findings))


def _finding_position(finding: Finding) -> tuple[int, int]:
    place = finding.place
    return (place.line, place.column) if place else (0, 0)
