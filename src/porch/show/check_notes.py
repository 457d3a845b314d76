"""Checks that let work pass without proving it: skipped, or passed only when run again."""

from collections.abc import Iterator, Mapping

from porch.machine.state import RunState

_MEANING: Mapping[str, str] = {
    "skipped": "there is no command to run",
    "flaky": "failed and then passed on the same files",
}


def list_check_notes(state: RunState) -> Iterator[str]:
    """One line for all that were skipped last time, one for all that were flaky."""
    passed = [
        payload
        for memory in state.memory.values()
        for path, payload in memory.items()
        if path.endswith(".passed")
    ]
    for word, meaning in _MEANING.items():
        names = dict.fromkeys(str(name) for each in passed for name in each.get(word) or ())
        if names:
            yield f"{word}: {', '.join(names)} ({meaning})"
