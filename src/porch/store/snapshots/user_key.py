"""A key that belongs to the user and lies outside of every repository.

It tells what porch wrote itself from what came with a checkout, an archive or an agent's edit. Who
can read it has the rights of the user, and could write the journal anew as well.
"""

from __future__ import annotations

import os
import stat

from porch.system import atomic
from porch.system.variables import find_state_home

SIZE = 32
FILE = "snapshot.key"
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def read_key() -> bytes | None:
    """The key of this user; None if there is none, or if somebody else could know it."""
    path = _key_path()
    return _read_key(path) if path else None


def make_key() -> bytes | None:
    """The same; made at the first use, if the user has a home for it."""
    path = _key_path()
    if not path:
        return None
    known = _read_key(path)
    if known is None and not os.path.lexists(path):
        _create_key(path)
        known = _read_key(path)
    return known


def sign_bytes(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256, as RFC 2104 has it; the module of that name loads OpenSSL for it."""
    from porch.text.sha256 import sha256

    padded = key.ljust(64, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in padded) + data).digest()
    return sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


def are_equal(one: bytes, other: bytes) -> bool:
    """Compared by their sums, so that the time it takes tells nobody how far they agree."""
    from porch.text.sha256 import sha256

    return sha256(one).digest() == sha256(other).digest()


def _key_path() -> str:
    state = find_state_home(os.environ)
    return os.path.join(state, "porch", FILE) if state else ""


def _read_key(path: str) -> bytes | None:
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        is_ours = found.st_uid == os.geteuid() and not found.st_mode & 0o077
        if not (is_ours and stat.S_ISREG(found.st_mode) and found.st_size == SIZE):
            return None
        return os.read(fd, SIZE)
    except OSError:
        return None
    finally:
        os.close(fd)


def _create_key(path: str) -> None:
    """Whole or not at all, and never over the key of somebody who was quicker."""
    temporary = f"{path}.{os.getpid()}.tmp"
    directory = os.path.dirname(path)
    try:
        os.makedirs(directory, 0o700, exist_ok=True)
        # With borrowed rights (sudo) it would be a key that the user cannot read.
        if os.stat(directory).st_uid != os.geteuid():
            return
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, os.urandom(SIZE))
            os.fsync(fd)
        finally:
            os.close(fd)
        os.link(temporary, path)
    except OSError:
        pass
    atomic.try_os_call(os.unlink, temporary)
