"""What is too large for a record: files named by the hash of what they hold."""

from __future__ import annotations

import os

from porch.system import atomic, crash_points
from porch.system.regular_file import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from porch.errors import StateError


def write_payload(directory: str, data: bytes) -> str:
    """Keep data and return its digest; on the disk when this returns, however often it is put."""
    digest = _hash_data(data)
    path = os.path.join(directory, digest)
    atomic.ensure_directory(directory)
    if _holds_data(path, data):
        # Whoever renamed it may have died before the directory was synced.
        atomic.sync_directory(directory)
        return digest
    crash_points.reach_point("payload.before-write")
    atomic.publish_file(os.path.join(directory, f".tmp-{os.urandom(16).hex()}"), path, data)
    crash_points.reach_point("payload.after-rename")
    return digest


def read_payload(directory: str, digest: str) -> bytes:
    """What was put under digest, or StateError: never anything else."""
    path = os.path.join(directory, digest)
    if not _is_digest(digest):
        raise _lost_payload_error(path, "is not a valid name")
    try:
        data = _read_file(path)
    except FileNotFoundError as error:
        raise _lost_payload_error(path, "is missing") from error
    except OSError as error:
        raise atomic.disk_error(path, "read", error) from error
    if _hash_data(data) != digest:
        raise _lost_payload_error(path, "is damaged: its content does not match its checksum")
    return data


def _hash_data(data: bytes) -> str:
    from porch.text.sha256 import sha256

    return sha256(data).hexdigest()


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _read_file(path: str) -> bytes:
    with open(path, "rb", buffering=0, opener=open_regular) as file:
        return file.readall()


def _holds_data(path: str, data: bytes) -> bool:
    try:
        return _read_file(path) == data
    except OSError:
        return False


def _lost_payload_error(path: str, what: str) -> StateError:
    from porch.errors import Place, StateError

    return StateError(
        f"the stored text {path} {what}",
        fix="restore the file from a backup, or start a new run",
        code="payload-lost",
        place=Place(path),
    )
