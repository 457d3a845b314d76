"""The folded state of a run beside its journal, so that short commands read only what came later.

It is believed only with the mark (HMAC-SHA256) of the user's own key over all that it says, and
only at the place of the journal that carries its sum. Anything else, and it is as if there were
none: the whole journal is read and checked. Nobody is told, because nothing is lost.
"""

from __future__ import annotations

import json
import os

from porch import __version__
from porch.store import chain
from porch.store.journal import Seam
from porch.store.snapshots import user_key
from porch.system import atomic, crash_points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.machine.state import RunState

FILE = "snapshot.json"
# Counts up whenever a state is folded differently or has other parts than before.
FORM = 9
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Snapshot:
    """A state, and the place of the journal to which it was folded."""

    __slots__ = ("seam", "state")

    def __init__(self, seam: Seam, state: RunState):
        self.seam = seam
        self.state = state


def read_snapshot(directory: str, run: str) -> Snapshot | None:
    """The snapshot in a run's directory; None where the whole journal has to be read instead."""
    data = _read_file(os.path.join(directory, FILE))
    key = user_key.read_key() if data else None
    if key is None:
        return None
    head, _, body = data.partition(b"\n")
    try:
        told = json.loads(head)
        seam = Seam(told["length"], told["seq"], told["sum"])
        if not user_key.are_equal(head, _header_line(key, run, seam, body)):
            return None
        return Snapshot(seam, _decode_state(body, run, seam.seq))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def keep_snapshot(directory: str, state: RunState, length: int, sum: str) -> None:
    """For the holder of the run's lock. One that cannot be kept is nobody's problem."""
    key = user_key.make_key()
    if key is None:
        return
    from porch.errors import PorchError
    from porch.machine import state_json

    seam = Seam(length, state.seq, sum)
    try:
        # The depth of each record was measured; to do so again would take as long as to write it.
        body = chain.render_json(state_json.encode_state(state))
        data = _header_line(key, state.run.name, seam, body) + b"\n" + body
        crash_points.reach_point("snapshot.before-write")
        atomic.replace_file(os.path.join(directory, FILE), data, sync=False, mode=0o600)
        crash_points.reach_point("snapshot.after-rename")
    except (PorchError, ValueError):
        return


def _read_file(path: str) -> bytes:
    try:
        fd = os.open(path, _FLAGS)
        with open(fd, "rb", buffering=0) as file:
            return file.read() or b""
    except OSError:
        return b""


def _header_line(key: bytes, run: str, seam: Seam, body: bytes) -> bytes:
    """The first line. The release counts, too: another one may fold records differently."""
    place = {"seq": seam.seq, "length": seam.length, "sum": seam.sum}
    told = {"v": FORM, "release": __version__, "run": run, **place}
    mark = user_key.sign_bytes(key, chain.encode_json(told) + b"\n" + body).hex()
    return chain.encode_json({**told, "mac": mark})


def _decode_state(body: bytes, run: str, seq: int) -> RunState:
    """ValueError if this is the state of something else: a mark alone proves who wrote it."""
    from porch.machine import state_json

    state = state_json.decode_state(json.loads(body))
    if (state.run.name, state.seq) != (run, seq):
        raise ValueError(FILE)
    return state
