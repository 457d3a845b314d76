"""Stands in for the vendors of the agents on the loopback, so that the real command lines can run.

It does what a test's script says: text, tool calls that the command line really executes, errors,
streams that are cut or never end. Everything that was asked is kept.
"""

import contextlib
import json
import os
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

from tests.standin.exchange import Exchange
from tests.standin.request import Request
from tests.standin.steps import Step, Tries, say
from tests.standin.wire import smallest

Decide = Callable[[Request], Step | Tries]
_BACKLOG = 128


class Vendors:
    """The running stand-in. `door` takes in listening sockets from other network namespaces."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.requests: list[Request] = []
        self.default: Decide = lambda _: say("hello from the stand-in")
        self._scripts: dict[str, tuple[Step | Tries, ...]] = {}
        self._asked: Counter[tuple[str, int]] = Counter()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._directory = tempfile.mkdtemp(prefix="standin-")
        self.door = os.path.join(self._directory, "door")
        self.port = self._open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def script(self, key: str, *steps: Step | Tries) -> None:
        """What is answered to a prompt that holds `key`, and to all that follows it.

        One step for each answer of the model: tool results and further prompts of the same
        conversation move on by one. After the last step the last one is repeated.
        """
        self._scripts[key] = steps

    def asked(self, key: str = "") -> list[Request]:
        """The requests of the person's conversations whose history holds `key`, in order."""
        with self._changed:
            return self._matching(key)

    def wait(self, count: int = 1, key: str = "", timeout_s: float = 30) -> list[Request]:
        """The requests, once there are so many: the moment to kill or to stop an agent."""
        end = time.monotonic() + timeout_s
        with self._changed:
            while len(found := self._matching(key)) < count:
                left = end - time.monotonic()
                assert left > 0, f"{len(found)} of {count} requests came within {timeout_s} s"
                self._changed.wait(left)
        return found

    def next_step(self, request: Request) -> Step:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            if request.is_chore:
                return Step(text=_json(request))
            return self._scripted(request)

    def stop(self) -> None:
        """Ends every stream, also one that hangs, and waits until nobody serves any more."""
        self.stopping.set()
        with self._changed:
            sockets, threads = self._sockets, self._threads
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(timeout=10)
        for each in sockets:
            each.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _matching(self, key: str) -> list[Request]:
        mine = (each for each in self.requests if not each.is_chore)
        return [each for each in mine if any(key in said for said in each.users)]

    def _scripted(self, request: Request) -> Step:
        positions = {key: request.position(key) for key in self._scripts}
        found = {key: place for key, place in positions.items() if place is not None}
        if not found:
            return self._tried(self.default(request), ("", len(request.history)))
        # The key that was said last; of two in one text the longer, which is the more exact.
        key = min(found, key=lambda each: (found[each], -len(each)))
        steps = self._scripts[key]
        return self._tried(steps[min(found[key], len(steps) - 1)], (key, found[key]))

    def _tried(self, step: Step | Tries, at: tuple[str, int]) -> Step:
        if isinstance(step, Step):
            return step
        self._asked[at] += 1
        return step.steps[min(self._asked[at], len(step.steps)) - 1]

    def _open(self) -> int:
        loopback = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        door.bind(self.door)
        door.listen(_BACKLOG)
        port: int = loopback.getsockname()[1]
        self._accept(loopback, self._serve)
        self._accept(door, self._take_in)
        return port

    def _accept(self, listener: socket.socket, use: Callable[[socket.socket], object]) -> None:
        self._sockets.append(listener)

        def loop() -> None:
            for connection in _connections(listener):
                self._start(use, connection)

        self._start(lambda _: loop(), listener)

    def _start(self, work: Callable[[socket.socket], object], mine: socket.socket) -> None:
        thread = threading.Thread(target=work, args=(mine,), daemon=True)
        with self._changed:
            if self.stopping.is_set():
                mine.close()
                return
            self._threads.append(thread)
            self._sockets.append(mine)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            Exchange(connection, self)

    def _take_in(self, visitor: socket.socket) -> None:
        """A listening socket of another network namespace; the byte back says that we listen."""
        with visitor:
            _, descriptors, _, _ = socket.recv_fds(visitor, 1, 1)
            for descriptor in descriptors:
                self._accept(socket.socket(fileno=descriptor), self._serve)
            visitor.sendall(b"k")


def _connections(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        try:
            yield listener.accept()[0]
        except OSError:
            return


def _json(request: Request) -> str:
    return json.dumps(smallest(dict(request.schema or {})))


@contextlib.contextmanager
def standing_in() -> Iterator[Vendors]:
    vendors = Vendors()
    try:
        yield vendors
    finally:
        vendors.stop()
