"""What is too large for a record: files named by the hash of what they hold."""

from __future__ import annotations

import os

from porch.adapters import atomic, crash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.errors import StateError


def put(directory: str, data: bytes) -> str:
    """Keep data and return its digest; on the disk when this returns, however often it is put."""
    digest = _digest(data)
    path = os.path.join(directory, digest)
    atomic.ensure_directory(directory)
    if _is_there(path, data):
        # Whoever renamed it may have died before the directory was synced.
        atomic.sync_directory(directory)
        return digest
    crash.point("payload.before-write")
    atomic.publish(os.path.join(directory, f".tmp-{os.urandom(16).hex()}"), path, data)
    crash.point("payload.after-rename")
    return digest


def get(directory: str, digest: str) -> bytes:
    """What was put under digest, or StateError: never anything else."""
    path = os.path.join(directory, digest)
    if not _is_digest(digest):
        raise _lost(path, "is not the name of a payload")
    try:
        data = _content(path)
    except FileNotFoundError as error:
        raise _lost(path, "is missing") from error
    except OSError as error:
        raise atomic.refusal(path, "read", error) from error
    if _digest(data) != digest:
        raise _lost(path, "does not hold what its name says")
    return data


def _digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.readall()


def _is_there(path: str, data: bytes) -> bool:
    try:
        return _content(path) == data
    except OSError:
        return False


def _lost(path: str, what: str) -> StateError:
    from porch.errors import Place, StateError

    return StateError(
        f"the payload {path} {what}",
        fix="bring the file back from a backup, or start the run anew",
        code="payload-lost",
        place=Place(path),
    )
