"""The bytes of a snapshot, once its mark has been found to be ours; with os alone."""

from __future__ import annotations

import os

from porch import __version__
from porch.store.snapshots import user_key
from porch.text.quick_json import parse_value

FILE = "snapshot.json"
# Counts up whenever a state is folded differently or has other parts than before.
FORM = 5
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_MARK = b',"mac":"'
_MARK_LENGTH = len(_MARK) + 64 + len(b'"}')


class SignedState:
    """A state as JSON, and the place of the journal to which it was folded."""

    __slots__ = ("body", "length", "seq", "sum")

    def __init__(self, body: bytes, length: int, seq: int, sum: str):
        self.body = body
        self.length = length
        self.seq = seq
        self.sum = sum


def read_signed_state(directory: str, run: str) -> SignedState | None:
    """None where there is none of this run, of this release and with the mark of this user."""
    data = _read_file(os.path.join(directory, FILE))
    key = user_key.read_key() if data else None
    if key is None:
        return None
    head, _, body = data.partition(b"\n")
    told, mark = head[:-_MARK_LENGTH] + b"}", head[-_MARK_LENGTH:]
    signed = user_key.sign_bytes(key, told + b"\n" + body).hex().encode()
    if not user_key.are_equal(mark, _MARK + signed + b'"}'):
        return None
    try:
        return _read_header(told, run, body)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _read_header(told: bytes, run: str, body: bytes) -> SignedState | None:
    """The release counts, too: another one may fold records differently."""
    header = parse_value(told.decode())
    if (header["v"], header["release"], header["run"]) != (FORM, __version__, run):
        return None
    return SignedState(body, int(header["length"]), int(header["seq"]), str(header["sum"]))


def _read_file(path: str) -> bytes:
    try:
        fd = os.open(path, _FLAGS)
        with open(fd, "rb", buffering=0) as file:
            return file.read() or b""
    except OSError:
        return b""
