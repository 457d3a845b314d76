"""The graphs that children of a graph follow: found by name, read with their own texts."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from porch.run.definitions import step_files

if TYPE_CHECKING:
    from porch.dialects.result import FetchTree
    from porch.model.protocol import Protocol
    from porch.text.nodes import Node

FindFile = Callable[[str], str | None]


def make_fetcher(find_file: FindFile, seen: list[str]) -> "FetchTree":
    """Gives the tree of a protocol by its name, and notes its file."""

    def fetch(name: str) -> "Node | None":
        file = find_file(name)
        if file is None:
            return None
        if file not in seen:
            seen.append(file)
        return step_files.read_step_file(file)

    return fetch


def list_neighbours(file: str) -> list[str]:
    """Where a graph is looked for first: beside the one that names it."""
    own = os.path.dirname(os.path.abspath(file))
    return [own, os.path.dirname(own)]


def list_child_names(protocol: "Protocol") -> Iterator[str]:
    """The protocols that children of this one follow, without those that follow from them."""
    from porch.model.protocol import Children
    from porch.model.protocol_parts import part_of_name

    for name, state in protocol.states.items():
        if isinstance(state.actor, Children) and state.actor.protocol and not part_of_name(name):
            yield state.actor.protocol


def name_child_prompts(part: str, prompts: Mapping[str, str]) -> dict[str, str]:
    from porch.model.protocol_parts import name_in_part

    return {name_in_part(part, name): text for name, text in prompts.items()}
