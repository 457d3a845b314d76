"""Stands above a command of a person's own and writes its turn down as events.

How a command ended must be in the transcript, for whoever asked it may be dead by then. Nothing of
porch is imported: this file is run by its path, apart from whatever the workspace holds.
"""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

DONE = "done"
TYPES = ("session", "text", "tool_start", "tool_end", "usage", "final", "answer", "failed")
MUST_WAIT = 75
NOT_STARTED = 127
# Small enough that a line that holds it, in whatever way it is written, is never left out.
LONGEST_TEXT = 128 * 1024
_CHUNK = 64 * 1024
_LONGEST_LINE = 1024 * 1024
# A command that left somebody behind who holds its output does not keep it open for ever.
_LINGER_S = 0.5
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)


class Telling:
    """What the command prints, told as events while it prints."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._are_events: bool | None = None
        self._text = ""
        self.types: set[str] = set()

    def line(self, raw: bytes) -> None:
        text = raw.decode(errors="replace")
        if self._are_events is None and text.strip():
            self._are_events = _event(text) is not None
        if self._are_events:
            self._event(text)
        else:
            self._plain(text)

    def said_anything(self) -> bool:
        return bool(self._text.strip() or self.types - {"session", "usage"})

    def end(self) -> None:
        """The last words of a good end."""
        if not self._are_events:
            tell("final", text=self._text.strip())
        elif "final" not in self.types and "failed" not in self.types:
            tell(DONE)

    def _event(self, text: str) -> None:
        event = _event(text) or {}
        # A conversation that the command cannot be told to go on with is none.
        if event.get("type") == "session" and not self._session:
            return
        self.types.add(str(event.get("type", "")))
        _print(text.rstrip("\r\n"))

    def _plain(self, text: str) -> None:
        text = _ESCAPES.sub("", text)
        self._text = (self._text + text)[-LONGEST_TEXT:]
        for start in range(0, len(text), LONGEST_TEXT):
            tell("text", text=text[start : start + LONGEST_TEXT])


def _event(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    with contextlib.suppress(ValueError, RecursionError):
        event = json.loads(text)
        if isinstance(event, dict) and event.get("type") in TYPES:
            return event
    return None


def tell(type: str, **more: str) -> None:
    _print(json.dumps({"type": type, **more}, ensure_ascii=False))


def _print(line: str) -> None:
    sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
    sys.stdout.buffer.flush()


def lines(command: "subprocess.Popen[bytes]", pipe: int) -> Iterator[bytes]:
    """Its lines with their ends, and parts of lines that are too long to wait for."""
    kept = b""
    while chunk := _read(command, pipe):
        *whole, kept = (kept + chunk).split(b"\n")
        yield from (line + b"\n" for line in whole)
        if len(kept) > _LONGEST_LINE:
            yield kept
            kept = b""
    if kept:
        yield kept


def _read(command: "subprocess.Popen[bytes]", pipe: int) -> bytes:
    while not select.select([pipe], [], [], _LINGER_S)[0]:
        if command.poll() is not None:
            return b""
    return os.read(pipe, _CHUNK)


def main(arguments: list[str]) -> int:
    told, words = json.loads(arguments[0]), arguments[1:]
    # Whoever stops us stops the command too, and its last words are still to be written down.
    signal.signal(signal.SIGINT, _ignore)
    if told["session"]:
        tell("session", id=told["session"])
    read, write = os.pipe()
    try:
        command = subprocess.Popen(words, stdout=write)
    except OSError as error:
        tell("failed", kind="bad_request", text=f"`{words[0]}` could not be started: {error}")
        return NOT_STARTED
    os.close(write)
    telling = Telling(told["session"])
    for line in lines(command, read):
        telling.line(line)
    return ended(telling, command.wait(), os.path.exists(told["exit_file"]))


def _ignore(*_: object) -> None:
    """A handler, not SIG_IGN: that one the command would inherit."""


def ended(telling: Telling, code: int, has_exit_file: bool) -> int:
    if code == MUST_WAIT:
        tell("failed", kind="rate_limit", text="it said that it must wait (exit code 75)")
    elif code == 0 and not telling.said_anything() and not has_exit_file:
        tell("failed", kind="crashed", text="it ended well (exit code 0) but said nothing at all")
    elif code == 0:
        telling.end()
    elif code < 0:
        with contextlib.suppress(OSError):  # nobody can catch SIGKILL, so nobody need let go of it
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
