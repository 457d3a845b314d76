"""Whoever stands behind the address of a webhook."""

import http.server
import json
import threading
from typing import Any


class Listener:
    """A server on loopback that keeps what is posted to it."""

    def __init__(self, code: int):
        bodies: list[dict[str, Any]] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                bodies.append(json.loads(self.rfile.read(size)))
                self.send_response(code)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.bodies = bodies
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook/secret-part"
        self._thread = threading.Thread(target=self.server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()
