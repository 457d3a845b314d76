"""Which processes hold the other end of a connection on this machine, as far as the kernel tells.

Linux lists the sockets of everybody in `/proc/net`, each with a number, and shows which process has
a descriptor of that number. Of processes of other users it does not tell, and other systems have no
such files.
"""

import contextlib
import os
import socket
import sys
from collections.abc import Iterator

Address = tuple[str, int]
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_MAPPED = bytes(10) + b"\xff\xff"
_LOCAL, _REMOTE, _INODE = 1, 2, 9


def can_tell_peers() -> bool:
    """Whether this system says who is at the other end of a connection at all."""
    return os.path.exists(_TABLES[0]) and os.path.isdir("/proc/self/fd")


def find_socket_number(peer: Address, own: Address) -> str:
    """The number of the socket at the other end; empty if the kernel does not list it."""
    wanted = {(_encode(peer, is_long), _encode(own, is_long)) for is_long in (False, True)}
    for table in _TABLES:
        for fields in _read_rows(table):
            if (fields[_LOCAL], fields[_REMOTE]) in wanted:
                return fields[_INODE]
    return ""


def list_socket_holders(number: str) -> list[int]:
    """The processes that have a descriptor of this socket; a fork may share it."""
    link = f"socket:[{number}]"
    pids = [int(name) for name in _list_names("/proc") if name.isdigit()]
    return [pid for pid in pids if _holds(pid, link)]


def _holds(pid: int, link: str) -> bool:
    directory = f"/proc/{pid}/fd"
    for name in _list_names(directory):
        with contextlib.suppress(OSError):
            if os.readlink(f"{directory}/{name}") == link:
                return True
    return False


def _list_names(directory: str) -> list[str]:
    """Processes end while one looks, and those of others are not shown."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _read_rows(table: str) -> Iterator[list[str]]:
    try:
        with open(table, encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
    except OSError:
        return
    yield from (fields for fields in rows if len(fields) > _INODE)


def _encode(address: Address, is_long: bool) -> str:
    """As the kernel prints it: each four bytes as one number of this machine, in hex."""
    host, port = address[0], address[1]
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    if is_long and len(packed) == 4:
        packed = _MAPPED + packed
    words = [packed[at : at + 4] for at in range(0, len(packed), 4)]
    told = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"{told}:{port:04X}"
