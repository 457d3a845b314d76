"""Which commands of git this process starts: for tests of what is asked no more than once."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# Both say by which words a process is started in the same place.
STARTS = ("subprocess.Popen", "os.posix_spawn")


class _GitCalls:
    """Hears every start of a process; hooks of the interpreter cannot be taken out."""

    def __init__(self) -> None:
        self._names: list[str] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self._names is None or event not in STARTS or isinstance(args[1], str):
            return
        words = [os.fsdecode(word) for word in args[1]]
        if os.path.basename(words[0]) == "git":
            self._names.append(_find_command(words[1:]))

    @contextmanager
    def heard(self) -> Iterator[list[str]]:
        """The names of the commands, in order, while somebody listens."""
        names: list[str] = []
        self._names = names
        try:
            yield names
        finally:
            self._names = None


def _find_command(words: Sequence[str]) -> str:
    """The first word that is neither an option nor the value of one."""
    ahead = iter(words)
    for word in ahead:
        if not word.startswith("-"):
            return word
        if word in ("-c", "-C"):
            next(ahead)
    return ""


GIT = _GitCalls()
