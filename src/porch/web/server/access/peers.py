"""The processes that connect: an agent of a run must not decide, also not by a page."""

from typing import Any

from porch.run.engine.caller import find_agent_sign
from porch.system import process_marks, socket_peer

_MOST_KEPT = 512


class Peers:
    """Asks the kernel once for each connection; what is not known is let pass."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], str] = {}

    def find_sign(self, scope: Any) -> str:
        """By what the process at the other end is known for an agent; empty if by nothing."""
        peer, own = scope.get("client"), scope.get("server")
        try:
            number = socket_peer.find_socket_number(tuple(peer), tuple(own))
        except (OSError, TypeError, ValueError):
            return ""  # no address of a network: the kernel cannot be asked
        if not number:
            return ""
        key = (number, *peer)
        if key not in self._known:
            while len(self._known) >= _MOST_KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = _find_holders_sign(number)
        return self._known[key]


def _find_holders_sign(number: str) -> str:
    """Whoever shares the connection with an agent is one."""
    pids = socket_peer.list_socket_holders(number)
    signs = (find_agent_sign(process_marks.read_environment(pid), pid) for pid in pids)
    return next(filter(None, signs), "")
