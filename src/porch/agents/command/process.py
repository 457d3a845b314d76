"""Stands above a command of a person's own and writes its turn down as events.

How a command ended must be in the transcript, for whoever asked it may be dead by then. Nothing of
porch is imported: this file is run by its path, apart from whatever the workspace holds. All that
it imports is waited for before the command begins, so what few commands need comes late.
"""

from __future__ import annotations

import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator
    from typing import Any
else:
    # The same without names for its numbers: making those takes longer than all else in here.
    import _signal as signal

DONE = "done"
# Nobody knows when a command asks its provider; most print nothing before their last words.
WAITING = "waiting"
EVENT_TYPES = ("session", "text", "tool_start", "tool_end", "usage", "final", "answer", "failed")
MUST_WAIT = 75
NOT_STARTED = 127
# Small enough that a line that holds it, in whatever way it is written, is never left out.
LONGEST_TEXT = 128 * 1024
_CHUNK_BYTES = 64 * 1024
_LONGEST_LINE = 1024 * 1024
# A command that left somebody behind who holds its output does not keep it open for ever.
_LINGER_S = 0.5
_ESCAPE_PATTERN = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
_CONTROL_CHARACTERS = frozenset(map(chr, (*range(9), *range(11, 32), 127)))
# The same as the json module makes of a text: all that JSON does not take as it is.
_JSON_ESCAPES = {code: f"\\u{code:04x}" for code in range(32)} | {
    ord(char): f"\\{name}" for char, name in zip('\b\f\n\r\t"\\', 'bfnrt"\\', strict=True)
}


class EventPrinter:
    """What the command prints, told as events while it prints."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._are_events: bool | None = None
        self._text = ""
        self.types: set[str] = set()

    def line(self, raw: bytes) -> None:
        text = raw.decode(errors="replace")
        if self._are_events is None and text.strip():
            self._are_events = _parse_event(text) is not None
        if self._are_events:
            self._event(text)
        else:
            self._plain(text)

    def said_anything(self) -> bool:
        return bool(self._text.strip() or self.types - {"session", "usage"})

    def end(self) -> None:
        """The last words of a good end."""
        if not self._are_events:
            print_event("final", text=self._text.strip())
        elif "final" not in self.types and "failed" not in self.types:
            print_event(DONE)

    def _event(self, text: str) -> None:
        event = _parse_event(text) or {}
        # A conversation that the command cannot be told to go on with is none.
        if event.get("type") == "session" and not self._session:
            return
        self.types.add(str(event.get("type", "")))
        _print_line(text.rstrip("\r\n"))

    def _plain(self, text: str) -> None:
        text = _strip_escapes(text)
        self._text = (self._text + text)[-LONGEST_TEXT:]
        for start in range(0, len(text), LONGEST_TEXT):
            print_event("text", text=text[start : start + LONGEST_TEXT])


def _parse_event(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    import json

    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and event.get("type") in EVENT_TYPES else None


def _strip_escapes(text: str) -> str:
    if _CONTROL_CHARACTERS.isdisjoint(text):
        return text
    import re

    return re.sub(_ESCAPE_PATTERN, "", text)


def print_event(type: str, **more: str) -> None:
    pairs = (
        f'"{key}": "{text.translate(_JSON_ESCAPES)}"'
        for key, text in {"type": type, **more}.items()
    )
    _print_line(f"{{{', '.join(pairs)}}}")


def _print_line(line: str) -> None:
    sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
    sys.stdout.buffer.flush()


class StartedCommand:
    """The started command; its standard output is `output`, all else it has from us."""

    def __init__(self, words: list[str], output: int) -> None:
        # Python ignores these two, and a command would go on ignoring them.
        usual = (signal.SIGPIPE, signal.SIGXFSZ)
        moved = ((os.POSIX_SPAWN_DUP2, output, 1),)
        self._pid = os.posix_spawnp(
            words[0], words, os.environ, file_actions=moved, setsigdef=usual
        )
        self._code: int | None = None

    def has_ended(self) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code is not None

    def wait(self) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code


def read_lines(command: StartedCommand, pipe: int) -> Iterator[bytes]:
    """Its lines with their ends, and parts of lines that are too long to wait for."""
    kept = b""
    while chunk := _read_chunk(command, pipe):
        *whole, kept = (kept + chunk).split(b"\n")
        yield from (line + b"\n" for line in whole)
        if len(kept) > _LONGEST_LINE:
            yield kept
            kept = b""
    if kept:
        yield kept


def _read_chunk(command: StartedCommand, pipe: int) -> bytes:
    while not select.select([pipe], [], [], _LINGER_S)[0]:
        if command.has_ended():
            return b""
    return os.read(pipe, _CHUNK_BYTES)


def main(arguments: list[str]) -> int:
    session, exit_file, *words = arguments
    # Whoever stops us stops the command too, and its last words are still to be written down.
    signal.signal(signal.SIGINT, _ignore_signal)
    if session:
        print_event("session", id=session)
    read, write = os.pipe()
    try:
        command = StartedCommand(words, write)
    except OSError as error:
        print_event(
            "failed", kind="bad_request", text=f"`{words[0]}` could not be started: {error}"
        )
        return NOT_STARTED
    os.close(write)
    print_event(WAITING)
    telling = EventPrinter(session)
    for line in read_lines(command, read):
        telling.line(line)
    return report_command_end(telling, command.wait(), os.path.exists(exit_file))


def _ignore_signal(*_: object) -> None:
    """A handler, not SIG_IGN: that one the command would inherit."""


def report_command_end(telling: EventPrinter, code: int, has_exit_file: bool) -> int:
    if code == MUST_WAIT:
        print_event("failed", kind="rate_limit", text="it asked to wait (exit code 75)")
    elif code == 0 and not telling.said_anything() and not has_exit_file:
        print_event(
            "failed", kind="crashed", text="it ended with exit code 0, but it printed nothing"
        )
    elif code == 0:
        telling.end()
    elif code < 0:
        if code != -signal.SIGKILL:  # nobody can catch it, so nobody need let go of it
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
