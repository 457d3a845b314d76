"""Sends what is due and was not sent, beside the run: no channel ever makes a run wait.

A key is noted after its notice went out. A crash between the two sends that one again.
"""

import contextlib
import json
import os
import queue
import threading
from collections.abc import Callable, Mapping

from porch.fleet.notices.channels import TIMEOUT_S, Send, send_notice
from porch.fleet.notices.due_notices import Notice, due_notices
from porch.machine.state import RunState
from porch.model.protocol import Protocol
from porch.system.regular_file import open_regular

FILE = "notices.jsonl"
Tell = Callable[[str], None]


class Notifier:
    """One for each drive; `look` is asked after every record, `close` before the process ends."""

    def __init__(self, directory: str, channels: Mapping[str, Send], tell: Tell):
        self._path = os.path.join(directory, FILE)
        self._channels = channels
        self._tell = tell
        self._known = read_sent_keys(directory)
        self._due: queue.SimpleQueue[Notice | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def look(self, state: RunState, protocol: Protocol | None = None) -> None:
        """What this state makes due goes out, once."""
        for notice in due_notices(state, protocol):
            if notice.key not in self._known:
                self._known.add(notice.key)
                self._due.put(notice)
                self._ensure_thread()

    def close(self) -> None:
        """Whatever is on its way gets its time; then the process may end."""
        if self._thread is not None:
            self._due.put(None)
            self._thread.join(TIMEOUT_S * max(len(self._channels), 1))

    def _ensure_thread(self) -> None:
        if self._thread is None:
            # A channel that hangs must not keep a finished process alive.
            self._thread = threading.Thread(target=self._work, name="notices", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (notice := self._due.get()) is not None:
            for fault in send_notice(self._channels, notice):
                self._tell(str(fault))
            _keep_key(self._path, notice.key)


def read_sent_keys(directory: str) -> set[str]:
    """The keys of all notices of a run that went out; a torn last line counts as not sent."""
    try:
        with open(
            os.path.join(directory, FILE), encoding="utf-8", errors="replace", opener=open_regular
        ) as file:
            return set(filter(None, map(_read_key, file)))
    except OSError:
        return set()


def _read_key(line: str) -> str:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(json.loads(line)["key"])
    return ""


def _keep_key(path: str, key: str) -> None:
    # A notice that cannot be noted is sent again some day, which is better than never.
    with (
        contextlib.suppress(OSError),
        open(path, "a", encoding="utf-8", opener=open_regular) as file,
    ):
        file.write(json.dumps({"key": key}) + "\n")
