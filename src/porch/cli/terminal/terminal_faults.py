"""What can happen to a terminal under a run: it is taken away, or the process is suspended."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:  # a pipe needs nothing of it
    from rich.console import Console


class _FaultlessFile:
    """Writes as long as there is somebody to read; a run must not fail because nobody does."""

    def __init__(self, file: TextIO):
        self._file = file

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except OSError:
            silence_output(self._file)
            return len(text)

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            silence_output(self._file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def silence_output(file: TextIO) -> None:
    """Whoever watched has gone; what is still written goes nowhere, and so do errors to them."""
    nowhere, gone = os.open(os.devnull, os.O_WRONLY), os.fstat(file.fileno())
    for number in {file.fileno(), sys.stderr.fileno()}:
        if os.path.samestat(os.fstat(number), gone):
            os.dup2(nowhere, number)
    os.close(nowhere)


def open_console() -> "Console":
    """The terminal of this process; a window that was closed swallows what is written to it."""
    from rich.console import Console

    return Console(highlight=False, file=cast("TextIO", _FaultlessFile(sys.stdout)))


@contextlib.contextmanager
def on_suspend(let_go: Callable[[], None], take_back: Callable[[], None]) -> Iterator[None]:
    """Ctrl-Z: gives the terminal back, stops, and takes it again when the shell lets us go on."""

    def suspend(*_: object) -> None:
        let_go()
        # The usual way: where no shell could continue us, the system does not stop us either.
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, suspend)
        take_back()

    before = signal.signal(signal.SIGTSTP, suspend)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, before)
