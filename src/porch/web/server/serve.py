"""Serving on this machine: a port of the loopback, the link that is printed, and a clean end."""

import contextlib
import errno
import socket
from collections.abc import Callable

import uvicorn

from porch.errors import OutsideError, UsageError
from porch.web.server.app import make_app
from porch.web.server.dashboard import LOOPBACK, Dashboard

PORT = 4747
_TRIES = 50
# Pages that are open hold a stream, which ends by itself a moment after it was asked to.
_LEAVE_S = 2


def open_port(host: str, port: int) -> socket.socket:
    """A listening socket: this port, or the next one that is free; 0 is any."""
    if host not in LOOPBACK:
        raise _foreign_host_error(host, port)
    address = "127.0.0.1" if host == "localhost" else host
    for number in range(port, port + _TRIES) if port else (0,):
        found = _try_port(address, number)
        if found is not None:
            return found
    raise OutsideError(
        f"the ports {port} to {port + _TRIES - 1} of {host} are all in use",
        fix="name another one: af dashboard --port N",
    )


def _try_port(address: str, port: int) -> socket.socket | None:
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(kind, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        return None
    except OverflowError as error:
        listening.close()
        raise UsageError(f"{port} is not a port", fix="use a number from 1 to 65535") from error
    return listening


def _foreign_host_error(host: str, port: int) -> UsageError:
    return UsageError(
        f"the dashboard listens only on this machine, not on {host}: whoever reaches it decides "
        "for you",
        fix="start it here, and on the other machine: "
        f"ssh -L {port or PORT}:127.0.0.1:{port or PORT} USER@THIS-MACHINE, then open the link",
        code="not-loopback",
    )


def make_link(dashboard: Dashboard, host: str) -> str:
    """The address that lets one browser in."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{dashboard.port}/?token={dashboard.sessions.token}"


class QuietServer(uvicorn.Server):
    """Says once that it answers; whoever waits for that is told from within."""

    def __init__(self, dashboard: Dashboard, began: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                make_app(dashboard),
                log_config=None,
                log_level="error",
                access_log=False,
                lifespan="off",
                server_header=False,
                timeout_graceful_shutdown=_LEAVE_S,
            )
        )
        self._began = began
        dashboard.is_closing = lambda: self.should_exit

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._began()


def serve_dashboard(
    dashboard: Dashboard, listening: socket.socket, began: Callable[[], None] = lambda: None
) -> None:
    """Until Ctrl-C, which is the ordinary way to end it."""
    with listening, contextlib.closing(dashboard.work), contextlib.suppress(KeyboardInterrupt):
        QuietServer(dashboard, began).run(sockets=[listening])
