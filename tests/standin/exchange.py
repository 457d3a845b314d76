"""One connection to the stand-in: reads requests, plays the step that the script has for each."""

import gzip
import json
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from types import ModuleType
from typing import Any, Protocol, TypeVar, cast

from tests.standin import anthropic, google, openai
from tests.standin.request import Request
from tests.standin.steps import Failure, Step, Where
from tests.standin.wire import Stream

T = TypeVar("T")
_PATHS: dict[str, ModuleType] = {
    "/messages": anthropic,
    "/responses": openai,
    ":generateContent": google,
    ":streamGenerateContent": google,
}
_COUNTS = {"/messages/count_tokens": {"input_tokens": 100}, ":countTokens": {"totalTokens": 100}}
_NOTHING = {"object": "list", "data": [], "models": []}


class Desk(Protocol):
    """Who knows the script, and when it is over."""

    stopping: threading.Event

    def next_step(self, request: Request) -> Step: ...


class Cut(ConnectionError):
    """The script wants the connection gone."""


class Exchange(BaseHTTPRequestHandler):
    """Serves a connection while it is constructed, as its base class does."""

    protocol_version = "HTTP/1.1"

    def __init__(self, connection: socket.socket, desk: Desk) -> None:
        self.desk = desk
        # The base class hands the server on and asks nothing of it.
        super().__init__(connection, ("", 0), cast(Any, None))

    def handle(self) -> None:
        # A killed agent, a cut and the end of the test all look alike from here.
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the requests are kept, and a test's output is its own."""

    def do_HEAD(self) -> None:
        self._send_json(200, {})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        is_models = path.endswith("/models")
        self._send_json(200 if is_models else 404, _NOTHING if is_models else {})

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        count = _longest(_COUNTS, path)
        if count is not None:
            self._send_json(200, count)
            return
        vendor = _longest(_PATHS, path)
        if vendor is None:
            self._send_json(404, {"error": {"message": f"the stand-in has no {path}"}})
            return
        self._play(vendor, vendor.read(self.path, body))

    def _body(self) -> Any:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if "chunked" in self.headers.get("transfer-encoding", ""):
            data = b"".join(iter(self._chunk, b""))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        return json.loads(data or b"{}")

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().strip() or b"0", 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _play(self, vendor: ModuleType, request: Request) -> None:
        step = self.desk.next_step(request)
        if self.desk.stopping.wait(step.delay_s):
            raise Cut
        self._misbehave(step, "start")
        if step.failure is not None:
            self._fail(step.failure, vendor.failure)
        elif request.streams:
            self._stream(step, vendor.stream(request, step))
        else:
            self._misbehave(step, "middle")
            self._misbehave(step, "end")
            self._send_json(200, vendor.plain(request, step))

    def _fail(self, failure: Failure, form: Callable[[Failure], dict[str, Any]]) -> None:
        wait = {"retry-after": failure.retry_after} if failure.retry_after else {}
        self._send_json(failure.code, form(failure), {**wait, **dict(failure.headers)})

    def _stream(self, step: Step, stream: Stream) -> None:
        self._send_head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        half = (len(stream.body) + 1) // 2
        self._send(0, stream.head)
        self._send(step.pause_s, stream.body[:half])
        self._misbehave(step, "middle")
        self._send(step.pause_s, stream.body[half:])
        self._misbehave(step, "end")
        self._send(0, stream.tail)
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, pause_s: float, frames: tuple[bytes, ...]) -> None:
        for frame in frames:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
            if pause_s and self.desk.stopping.wait(pause_s):
                raise Cut

    def _misbehave(self, step: Step, where: Where) -> None:
        if step.hangs == where:
            self.desk.stopping.wait()
        if where in (step.hangs, step.drops):
            self.connection.shutdown(socket.SHUT_RDWR)
            raise Cut

    def _send_json(self, code: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        length = {"content-type": "application/json", "content-length": str(len(data))}
        self._send_head(code, {**length, **(headers or {})})
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_head(self, code: int, headers: Mapping[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _longest(table: Mapping[str, T], path: str) -> T | None:
    ends = [end for end in table if path.endswith(end)]
    return table[max(ends, key=len)] if ends else None
