"""A memory that is the same is read once, whatever else a run remembers."""

from porch.machine.facts import Payload
from porch.machine.state import Memory, MemoryReader, RunState, Scope


class Notebook:
    """A reader of numbers, and what it was given to read."""

    def __init__(self) -> None:
        self.read: list[Memory] = []
        self._reader = MemoryReader(self._list_numbers)

    def _list_numbers(self, memory: Memory) -> tuple[int, ...]:
        self.read.append(memory)
        return tuple(payload["n"] for payload in memory.values() if "n" in payload)

    def look(self, memory: dict[Scope, dict[str, Payload]]) -> list[tuple[Scope, tuple[int, ...]]]:
        return list(self._reader.list_found(RunState(memory=memory)))


def test_only_the_memories_that_have_changed_are_read_again() -> None:
    notebook = Notebook()
    memory: dict[Scope, dict[str, Payload]] = {
        (f"m{number}", ""): {"a.b": {"n": number}} for number in range(100)
    }
    before = notebook.look(memory)
    assert len(notebook.read) == 100
    changed: dict[str, Payload] = {"a.b": {"n": 7}, "a.c": {"n": 8}}
    after = notebook.look({**memory, ("m3", ""): changed, ("new", ""): {"x": {"n": 1}}})
    assert notebook.read[100:] == [changed, {"x": {"n": 1}}]
    assert after == [*before[:3], (("m3", ""), (7, 8)), *before[4:], (("new", ""), (1,))]


def test_an_equal_memory_of_another_run_is_read_for_itself() -> None:
    notebook = Notebook()
    assert notebook.look({("", ""): {"a.b": {"n": 1}}}) == [(("", ""), (1,))]
    assert notebook.look({("", ""): {"a.b": {"n": 1}}}) == [(("", ""), (1,))]
    assert notebook.look({("", ""): {"a.b": {}}}) == []
    assert len(notebook.read) == 3
