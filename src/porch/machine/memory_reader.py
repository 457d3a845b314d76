"""What is looked for in everything that a run remembers, read again only where that has changed.

A tree remembers of each member what it did, and nothing of that changes once the member has ended.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from porch.machine.facts import Payload
from porch.machine.state import RunState, Scope

Memory = Mapping[str, Payload]
T = TypeVar("T", bound=tuple[Any, ...])


class MemoryReader(Generic[T]):
    """Reads each memory of a state once; which memory it is says enough, for none is changed.

    Of each scope the latest is kept, so there are never more than one run has.
    """

    def __init__(self, read: Callable[[Memory], T]):
        self._read = read
        self._kept: dict[Scope, tuple[Memory, T]] = {}

    def list_found(self, state: RunState) -> Iterator[tuple[Scope, T]]:
        """Where something is found, in the order in which the run began to remember."""
        kept = self._kept
        for scope, memory in state.memory.items():
            known = kept.get(scope)
            if known is None or known[0] is not memory:
                known = kept[scope] = (memory, self._read(memory))
            if known[1]:
                yield scope, known[1]
